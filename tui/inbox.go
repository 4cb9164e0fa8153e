package tui

import (
	"fmt"
	"slices"
	"strings"

	"gcity/mail"
	"gcity/themes"
	"gcity/tui/dialog"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// inbox is the dialog that lists mail: that for people, or all of it.
type inbox struct {
	all     []mail.Message // all messages received that are not archived, newest first
	rows    []mail.Message // the messages listed
	others  bool           // also mail for agents and pools
	chosen  string         // ID under the cursor
	at      int            // index into rows
	offset  int
	problem string // why the mail could not be read; "" = no error
	known   bool   // an answer has arrived
	asked   int    // ID of the request in progress; 0 = none
	counts  [2]int // the city's counts at the time of the request
	stale   bool   // something has changed since the request

	dialog.List[task]
}

// mailLimit bounds the list to the newest messages.
const mailLimit = 2000

func (k *inbox) title() string {
	what := "Mail"
	if k.others {
		what = "All mail"
	}
	if !k.known {
		return what
	}
	unread := 0
	for i := range k.rows {
		if !k.rows[i].Read {
			unread++
		}
	}
	text := fmt.Sprintf("%s %d", what, len(k.rows))
	if unread > 0 {
		text += fmt.Sprintf(", %d unread", unread)
	}
	if len(k.all) >= mailLimit {
		text += ", newest only"
	}
	return text
}

// unread returns the number of unread messages for people.
func unread(m *model) int {
	if m.snap == nil {
		return 0
	}
	return max(0, m.snap.Mail.Unread)
}

func showInbox(m *model) []feed.Effect {
	k := &inbox{}
	k.List = dialog.List[task]{In: keymap.InMail, Title: k.title, Move: k.move,
		Lines: func(w int) []string { return inboxSheet(m, w) }}
	m.dialogs.Open(k)
	askMail(m)
	return nil
}

// askMail requests all mail that is not archived.
func askMail(m *model) {
	k := m.dialogs.inbox()
	k.stale, k.counts = false, mailCounts(m)
	q := mail.Query("")
	q.Limit = mailLimit
	k.asked = seekBeads(m, q)
}

// mailCounts returns counts that change with the mail: all mail for people, and unread mail of people and agents.
func mailCounts(m *model) [2]int {
	if m.snap == nil {
		return [2]int{}
	}
	n := m.snap.Mail.Unread
	for i := range m.snap.Agents {
		n += m.snap.Agents[i].Mail
	}
	return [2]int{m.snap.Mail.Total, n}
}

// mailChanged requests the mail again if the open list is outdated.
func mailChanged(m *model) {
	if k := m.dialogs.inbox(); k != nil && k.asked == 0 && (k.stale || k.counts != mailCounts(m)) {
		askMail(m)
	}
}

// takeMail handles an answer. The cursor stays on its message.
func takeMail(m *model, f feed.FoundBeads) {
	k := m.dialogs.inbox()
	k.asked, k.known, k.problem = 0, true, widget.Plain(f.Problem)
	if f.Problem != "" {
		return // keep the previous list
	}
	k.all = k.all[:0]
	for _, b := range f.Beads {
		if l, ok := mail.Of(b); ok && !l.Archived {
			k.all = append(k.all, l)
		}
	}
	slices.SortStableFunc(k.all, func(a, b mail.Message) int { return b.Sent.Compare(a.Sent) })
	listMail(m)
}

// listMail fills the list.
func listMail(m *model) {
	k := m.dialogs.inbox()
	k.rows = k.rows[:0]
	for _, l := range k.all {
		if k.others || m.snap == nil || m.snap.ForPeople(l.To) {
			k.rows = append(k.rows, l)
		}
	}
	at := k.at
	for i := range k.rows {
		if k.rows[i].ID == k.chosen {
			at = i
		}
	}
	k.at = 0
	k.move(at)
}

func (k *inbox) move(n int) {
	k.at = max(0, min(k.at+n, len(k.rows)-1))
	k.chosen = ""
	if l := k.under(); l != nil {
		k.chosen = l.ID
	}
}

// under returns the message under the cursor, or nil.
func (k *inbox) under() *mail.Message {
	if k.at < len(k.rows) {
		return &k.rows[k.at]
	}
	return nil
}

// columns returns the widths of senders and recipients in a list of w columns. 0 = not shown: too narrow, or all
// mail is for the only user.
func (k *inbox) columns(w int) (from, to int) {
	most := min(max(8, w/6), 24)
	named := false
	for i := range k.rows {
		from, to = min(most, max(from, widget.Width(widget.Plain(k.rows[i].From)))),
			min(most, max(to, widget.Width(widget.Plain(k.rows[i].To))))
		named = named || k.rows[i].To != mail.Person
	}
	if !named || w < 50 {
		to = 0
	}
	return from, to
}

// mark changes whether a message is shown as read, before the city confirms it.
func (k *inbox) mark(id string, read bool) {
	for _, all := range [][]mail.Message{k.all, k.rows} {
		for i := range all {
			if all[i].ID == id {
				all[i].Read = read
			}
		}
	}
}

// drop removes a message from the list before the city confirms it.
func drop(m *model, id string) {
	k := m.dialogs.inbox()
	if k == nil {
		return
	}
	k.all = slices.DeleteFunc(k.all, func(l mail.Message) bool { return l.ID == id })
	if k.chosen == id {
		k.chosen = ""
	}
	listMail(m)
}

func inboxSheet(m *model, w int) []string {
	k := m.dialogs.inbox()
	return listSheet(m, w, listing{problem: k.problem, known: k.known, none: noMail(m),
		rows: len(k.rows), at: k.at, offset: &k.offset,
		row: func(i, w int) string {
			return mailLine(m, &k.rows[i], i == k.at, w)
		}, keys: inboxKeys(m)})
}

// noMail returns the text of an empty list, which explains how mail is written.
func noMail(m *model) string {
	text := "No mail for people. Agents write it with `gc mail send " + mail.Person + "`"
	if m.dialogs.inbox().others {
		text = "No mail. Agents write it with `gc mail send`"
	}
	if m.mode != ReadOnly {
		text += ", and " + m.keys.KeyOf("mail.write") + " writes some to them"
	}
	if len(m.dialogs.inbox().all) > 0 && !m.dialogs.inbox().others {
		text += "; " + m.keys.KeyOf("mail.others") + " shows the mail between them"
	}
	return text + "."
}

// inboxKeys returns the keys that currently work.
func inboxKeys(m *model) []string {
	k, others := m.dialogs.inbox(), "all mail"
	if k.others {
		others = "only for people"
	}
	switch {
	case m.mode == ReadOnly && k.under() == nil:
		return m.keys.Hints("mail.others", others, "mail.close", "closes")
	case m.mode == ReadOnly:
		return m.keys.Hints("mail.read", "read", "mail.others", others, "mail.close", "closes")
	case k.under() == nil:
		return m.keys.Hints("mail.write", "write", "mail.others", others, "mail.close", "closes")
	}
	return m.keys.Hints("mail.read", "read", "mail.reply", "reply", "mail.archive", "archive",
		"mail.write", "write", "mail.others", others, "mail.unread", "unread",
		"mail.yank", "copy", "mail.close", "closes")
}

func mailLine(m *model, l *mail.Message, here bool, w int) string {
	more := m.look.Glyphs.More
	row := widget.Line{Styles: &m.look, Selected: here}
	mark := "  "
	if here {
		mark = m.look.Glyphs.Cursor + " "
	}
	row.Add(themes.Accent, mark)
	sign, token, subject := " ", themes.Dim, themes.Text
	if !l.Read {
		sign, token, subject = m.look.Glyphs.Mail, themes.Accent, themes.Title
	}
	row.Add(token, sign+" ")
	from, to := m.dialogs.inbox().columns(w)
	row.Add(themes.Text, widget.FitName(widget.Plain(l.From), from, more))
	row.Space(2)
	if to > 0 {
		row.Add(themes.Dim, "to "+widget.FitName(widget.Plain(l.To), to, more))
		row.Space(2)
	}
	row.Add(subject, widget.Fit(widget.Plain(l.Subject), w-row.Width-5, more))
	row.Space(1)
	row.Add(themes.Dim, widget.FitRight(widget.Age(m.now.Sub(l.Sent)), 4, ""))
	return widget.Crop(row.Fill(w), w)
}

func mailDetails(m *model, l *mail.Message) []string {
	lines := []string{
		m.look.Field("from", widget.Plain(l.From)),
		m.look.Field("to", widget.Plain(l.To)),
		m.look.Field("subject", m.look.Paint(themes.Title, widget.Plain(l.Subject))),
		m.look.Field("sent", widget.Clock(l.Sent, m.now)+", "+widget.Age(m.now.Sub(l.Sent))+" ago"),
	}
	if l.ReplyTo != "" {
		lines = append(lines, m.look.Field("reply to", widget.Plain(l.ReplyTo)))
	}
	lines = append(lines, "")
	if strings.TrimSpace(l.Text) == "" {
		return append(lines, m.look.Paint(themes.Dim, "It has no text."))
	}
	for part := range strings.SplitSeq(l.Text, "\n") {
		lines = append(lines, widget.Plain(part))
	}
	return lines
}

// mailCopies returns what can be copied from a message.
func mailCopies(l *mail.Message) []panel.Copied {
	return []panel.Copied{{What: "text", Text: l.Text}, {What: "subject", Text: l.Subject},
		{What: "from", Text: l.From}, {What: "id", Text: l.ID}}
}

// subject returns the message under the cursor.
func (k *inbox) subject() panel.Ref {
	ref := panel.Ref{Kind: panel.KindMessage}
	if l := k.under(); l != nil {
		ref.Name = l.ID
	}
	return ref
}

// copies returns what can be copied from the row under the cursor.
func (k *inbox) copies() []panel.Copied {
	if r := k.under(); r != nil {
		return mailCopies(r)
	}
	return nil
}
