package mail

import (
	"fmt"
	"regexp"
	"strings"
)

// Limits of a Reminder.
const (
	maxReminder = 5   // messages
	remindText  = 500 // bytes of each text
)

// Reminder returns a text that reminds an agent of its unread mail, or "" without mail. It shows the oldest messages.
// The list must be sorted, newest first.
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
	fmt.Fprintf(&b, "<system-reminder>\nYou have mail: %d unread %s.\n", len(unread), noun)
	for i := range min(len(unread), maxReminder) {
		m := unread[len(unread)-1-i]
		fmt.Fprintf(&b, "\n%s from %s: %s\n", m.ID, plain(m.From), plain(m.Subject))
		text := strings.TrimSpace(m.Text)
		if text == "" || text == m.Subject {
			continue
		}
		short := cut(text, remindText)
		fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(plain(short), "\n", "\n  "))
		if short != text {
			fmt.Fprintf(&b, "  (shortened)\n")
		}
	}
	if more := len(unread) - maxReminder; more > 0 {
		fmt.Fprintf(&b, "\n%d more; run `gc mail inbox` to list all.\n", more)
	}
	fmt.Fprintf(&b, "\n`gc mail read ID` shows a message and marks it as read, `gc mail reply ID "+
		"TEXT` replies to it, and `gc mail archive ID` archives it.\n</system-reminder>\n")
	return b.String()
}

func unmarked() func(string) string {
	mark := regexp.MustCompile(`(?i)<(\s*/?\s*system-reminder)`)
	return func(s string) string { return mark.ReplaceAllString(s, "‹$1") }
}

// leftMessagesText is the maximum size of each message's text, in bytes.
const leftMessagesText = 8 << 10

// LeftMessages returns a text that shows a starting agent the messages that it left for itself, or "" if the list is
// empty. The list must be sorted, newest first.
func LeftMessages(own []Message) string {
	if len(own) == 0 {
		return ""
	}
	plain := unmarked()
	var b strings.Builder
	b.WriteString("<system-reminder>\nYou have been restarted. These are the messages that you " +
		"left for yourself, newest last.\n")
	for i := range min(len(own), maxReminder) {
		m := own[min(len(own), maxReminder)-1-i]
		fmt.Fprintf(&b, "\n%s, sent %s: %s\n", m.ID, m.Sent.UTC().Format("2006-01-02 15:04:05Z"),
			plain(m.Subject))
		if text := strings.TrimSpace(m.Text); text != "" && text != m.Subject {
			short := cut(text, leftMessagesText)
			fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(plain(short), "\n", "\n  "))
			if short != text {
				b.WriteString("  (shortened)\n")
			}
		}
	}
	if more := len(own) - maxReminder; more > 0 {
		fmt.Fprintf(&b, "\n%d older; run `gc mail inbox` to list all.\n", more)
	}
	b.WriteString("\n`gc mail read ID` marks one as read, so that it is not repeated at the next " +
		"start.\n</system-reminder>\n")
	return b.String()
}
