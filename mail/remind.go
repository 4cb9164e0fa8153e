package mail

import (
	"fmt"
	"regexp"
	"strings"
)

// What of mail a Reminder shows.
const (
	remindMost = 5   // messages, the oldest
	remindText = 500 // bytes of a text
)

// Reminder is unread mail, given newest first, as an agent is told of it in the middle of its work: who wrote what,
// and how the whole is read. It is "" where there is none. No text can end it before its end.
func Reminder(unread []Message) string {
	if len(unread) == 0 {
		return ""
	}
	plain := unmarked()
	var b strings.Builder
	noun := "messages"
	if len(unread) == 1 {
		noun = "message"
	}
	fmt.Fprintf(&b, "<system-reminder>\nThere is mail for you: %d unread %s.\n", len(unread), noun)
	for i := range min(len(unread), remindMost) {
		m := unread[len(unread)-1-i]
		fmt.Fprintf(&b, "\n%s from %s: %s\n", m.ID, plain(m.From), plain(m.Subject))
		text := strings.TrimSpace(m.Text)
		if text == "" || text == m.Subject {
			continue
		}
		short := cut(text, remindText)
		fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(plain(short), "\n", "\n  "))
		if short != text {
			fmt.Fprintf(&b, "  (there is more of it)\n")
		}
	}
	if more := len(unread) - remindMost; more > 0 {
		fmt.Fprintf(&b, "\n%d more: `gc mail inbox` lists all.\n", more)
	}
	fmt.Fprintf(&b, "\n`gc mail read ID` shows a message and marks it as read, `gc mail reply ID "+
		"TEXT` answers it, `gc mail archive ID` puts it away.\n</system-reminder>\n")
	return b.String()
}

// unmarked takes from texts what would end a reminder.
func unmarked() func(string) string {
	mark := regexp.MustCompile(`(?i)<(\s*/?\s*system-reminder)`)
	return func(s string) string { return mark.ReplaceAllString(s, "‹$1") }
}

// leftText is how much of each message Left tells, in bytes.
const leftText = 8 << 10

// Left is what an agent is told at its start of messages that the session before has left, given newest first; ""
// if there is none. No text can end it before its end.
func Left(own []Message) string {
	if len(own) == 0 {
		return ""
	}
	plain := unmarked()
	var b strings.Builder
	b.WriteString("<system-reminder>\nYou have been started anew. This is what you have left for " +
		"yourself, the newest last.\n")
	for i := range min(len(own), remindMost) {
		m := own[min(len(own), remindMost)-1-i]
		fmt.Fprintf(&b, "\n%s of %s: %s\n", m.ID, m.Sent.UTC().Format("2006-01-02 15:04:05Z"),
			plain(m.Subject))
		if text := strings.TrimSpace(m.Text); text != "" && text != m.Subject {
			short := cut(text, leftText)
			fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(plain(short), "\n", "\n  "))
			if short != text {
				b.WriteString("  (there is more of it)\n")
			}
		}
	}
	if more := len(own) - remindMost; more > 0 {
		fmt.Fprintf(&b, "\n%d older: `gc mail inbox` lists all.\n", more)
	}
	b.WriteString("\n`gc mail read ID` marks one as read: it is not told again then.\n" +
		"</system-reminder>\n")
	return b.String()
}
