package panel

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/mail"
	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// Mail is requested in pages, newest messages first, up to maxMail.
const (
	MailPage = 500
	maxMail  = 4 * MailPage
)

// MailRow is a message ready to be drawn. The unexported strings are sanitized.
type MailRow struct {
	mail.Message
	from, to, subject string
	people            bool
}

func (r *MailRow) Key() string { return r.ID }

// ForPeople reports whether the message is addressed to users.
func (r *MailRow) ForPeople() bool { return r.people }

// Mail is the panel that lists messages.
type Mail struct {
	Table[*MailRow]
	pager
	Others bool // also list messages to agents and pools

	all    []mail.Message // newest first, without archived messages
	agents *Agents
}

func newMail(all *Agents) *Mail {
	k := &Mail{pager: newPager(MailPage, maxMail), agents: all}
	k.Table = NewTable(Definition[*MailRow]{
		About: About{ID: IDMail, Title: "Mail", Hotkey: "9", Key2: "L",
			Short: "mail", Noun: "message",
			Zone: keymap.InMail, Kind: KindMessage,
			Opens: "mail.read", Details: "mail.read", Nouns: []string{"mail"},
			Explains: true, InSlot: true, Follows: true, Described: true},
		Rows:    k.rows,
		Orders:  mailSorts,
		Matches: (*MailRow).matches,
		Needs:   func(r *MailRow, _ time.Time) bool { return r.people && !r.Read },
		Belongs: func(r *MailRow) bool {
			return r.people || k.Others || k.Filter.HasField("to") || k.Filter.HasField("from")
		},
		Columns: mailColumnsOf,
		Count: func(e *Env) string {
			if e.Snap == nil {
				return ""
			}
			if k.Others && k.Known {
				return strconv.Itoa(len(k.Rows))
			}
			return strconv.Itoa(max(e.Snap.Mail.Total, e.Snap.Mail.Unread))
		},
		Issues: k.issues,
		Help:   k.help,
		Empty:  k.empty,
		Agent:  func(r *MailRow) string { return r.agent(all) },
		Called: func(r *MailRow) string { return widget.Plain(r.ID) },
		Copies: func(r *MailRow) []Copied {
			return []Copied{{"text", r.Text}, {"subject", r.Subject}, {"from", r.From},
				{"id", r.ID}}
		},
		Summary: k.summary,
	})
	return k
}

func (r *MailRow) agent(all *Agents) string {
	for _, name := range []string{r.From, r.To} {
		if all.Has(name) {
			return name
		}
	}
	return ""
}

// RequestBeads requests the newest unarchived messages.
func (k *Mail) RequestBeads(e *Env, visible bool, seek func(beads.Query) int) {
	if e.Snap == nil || !visible {
		return
	}
	at, _, n, _ := k.Cursor()
	unread := e.Snap.Mail.Unread
	for i := range e.Snap.Agents {
		unread += e.Snap.Agents[i].Mail
	}
	k.renew([2]int{e.Snap.Mail.Total, unread},
		k.agents.findName(k.Filter.FieldPrefix("to")), n > 0 && at == n-1)
	if limit := k.next(e.Now); limit > 0 {
		q := mail.Query(k.agent)
		q.Limit = limit
		k.Begin(e.Now, seek, q)
	}
}

// Take handles the result of a query.
func (k *Mail) Take(id int, found []beads.Bead, problem string) bool {
	all, ours := k.Fetch.Take(id, found, problem)
	if all == nil {
		return ours
	}
	k.more, k.all = len(all[0]) >= k.limit, nil
	for _, b := range all[0] {
		if m, ok := mail.FromBead(b); ok && !m.Archived {
			k.all = append(k.all, m)
		}
	}
	return true
}

// SetRead marks a message as read or unread without waiting for the city to confirm the change.
func (k *Mail) SetRead(id string, read bool) {
	for i := range k.all {
		if k.all[i].ID == id {
			k.all[i].Read = read
		}
	}
}

// Remove removes a message without waiting for the city to confirm the removal.
func (k *Mail) Remove(id string) {
	k.all = slices.DeleteFunc(k.all, func(m mail.Message) bool { return m.ID == id })
}

// People returns the users that have sent or received mail.
func (k *Mail) People(s *city.Snapshot) (names []string) {
	for i := range k.all {
		for _, name := range []string{k.all[i].From, k.all[i].To} {
			if s != nil && s.IsUserAddress(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func (k *Mail) rows(e *Env) []*MailRow {
	rows := make([]MailRow, len(k.all))
	for i, m := range k.all {
		rows[i] = MailRow{Message: m, from: widget.Plain(m.From), to: widget.Plain(m.To),
			subject: widget.Plain(m.Subject), people: e.Snap.IsUserAddress(m.To)}
	}
	return widget.Pointers(rows)
}

// unread returns the number of unread messages for users. If the panel shows all mail, it returns the number of unread
// messages in the list, because the snapshot counts a message to a pool once for each member.
func (k *Mail) unread(s *city.Snapshot) (n int) {
	if !k.Others {
		return s.Mail.Unread
	}
	for i := range k.all {
		if !k.all[i].Read {
			n++
		}
	}
	return n
}

func (k *Mail) issues(e *Env) (text string, alert bool) {
	var parts []string
	if k.Others {
		parts = append(parts, "all mail")
	}
	if e.Snap != nil && k.unread(e.Snap) > 0 {
		parts = append(parts, fmt.Sprintf("%d unread", k.unread(e.Snap)))
	}
	if k.more {
		parts = append(parts, fmt.Sprintf("newest %d", k.limit))
	}
	if k.Problem != "" {
		return "cannot be read", true
	}
	return strings.Join(parts, ", "), false
}

func (r *MailRow) matches(t *widget.Term, _ time.Time) bool {
	switch t.Field {
	case "to":
		return t.BeginsName(r.To)
	case "from", "by":
		return t.BeginsName(r.From)
	case "state":
		if r.Read {
			return t.Begins("read")
		}
		return t.Begins("unread")
	case "name":
		return t.Begins(r.ID)
	case "", "subject":
		return t.In(r.subject) || !t.Fuzzy && t.Field == "" && (t.In(r.from) || t.In(r.to))
	}
	return false
}

func mailSorts(time.Time) []widget.SortKey[*MailRow] {
	newest := func(a, b *MailRow) int { return b.Sent.Compare(a.Sent) }
	return []widget.SortKey[*MailRow]{
		{Name: "age", Cmp: newest},
		{Name: "unread", Desc: true, Cmp: func(a, b *MailRow) int {
			if a.Read != b.Read {
				if b.Read {
					return -1
				}
				return 1
			}
			return newest(a, b)
		}},
		{Name: "from", Cmp: func(a, b *MailRow) int {
			return cmp.Or(city.CompareNames(a.from, b.from), newest(a, b))
		}},
		{Name: "to", Cmp: func(a, b *MailRow) int {
			return cmp.Or(city.CompareNames(a.to, b.to), newest(a, b))
		}},
		{Name: "subject", Cmp: func(a, b *MailRow) int {
			return cmp.Or(widget.CompareText(a.subject, b.subject), newest(a, b))
		}},
	}
}

func mailColumnsOf(e *Env, rows []*MailRow, w int) []Column[*MailRow] {
	const age = 4
	from, to, gap := 4, 0, 2
	named := false
	for _, r := range rows {
		from, to = max(from, widget.Width(r.from)), max(to, widget.Width(r.to))
		named = named || r.To != mail.Person
	}
	whole := min(from, 24)
	from, to = min(whole, max(8, w/6)), min(to, max(8, w/6), 24)
	if !named || w < 50 {
		to = 0
	}
	if w < 50 {
		gap = 1
	}
	subject := w - 4 - 1 - gap - from - gap - gap - age
	if to > 0 {
		subject -= to + gap
	}
	if from < whole { // the subjects might leave room for whole senders
		longest := 0
		for _, r := range rows {
			longest = max(longest, widget.Width(r.subject))
		}
		spare := max(0, min(subject-longest, whole-from))
		from, subject = from+spare, subject-spare
	}
	return append([]Column[*MailRow]{
		{Order: "unread", W: 1, Text: styled(themes.Accent, func(r *MailRow) string {
			if r.Read {
				return " "
			}
			return e.Look.Glyphs.Mail
		})},
	}, Spaced(gap,
		textColumn("from", from, themes.Text,
			func(r *MailRow) string { return r.from }).keepingEnds(),
		textColumn("to", to, themes.Dim, func(r *MailRow) string { return r.to }).keepingEnds(),
		Column[*MailRow]{Head: "subject", W: subject,
			Cell: func(l *widget.Line, r *MailRow, s widget.RowState) {
				token := s.NameToken()
				if !r.Read {
					token = themes.Title
				}
				l.Add(token, e.Look.Fit(r.subject, subject))
			}},
		ageColumn(e, age, func(r *MailRow) time.Time { return r.Sent }))...)
}

func ageColumn[R any](e *Env, w int, since func(r R) time.Time) Column[R] {
	return textColumn("age", w, themes.Dim, func(r R) string {
		return widget.Since(since(r), e.Now)
	}).right()
}

func (k *Mail) empty(e *Env, w int) []string {
	if n := len(k.Rows); n > 0 && (k.Filter.Active() || e.Attention) {
		return e.Look.Notes(w, widget.NoneOf(n, "message")+".",
			e.Clears())
	}
	return k.help(e, w)
}

func (k *Mail) help(e *Env, w int) []string {
	switch {
	case k.Problem != "":
		return k.unreadable(e, w, "Mail", "mail.refresh")
	case k.loading():
		return e.Look.Notes(w, "loading "+e.Look.Glyphs.More)
	}
	text := "No mail for users."
	if k.Others {
		text = "No mail."
	}
	if !e.ReadOnly {
		text += " " + e.KeyOf("mail.write") + " writes to an agent, like `gcity mail send`."
	}
	text += " Agents write to users with `gc mail send " + mail.Person + "`."
	if len(k.Rows) > 0 && !k.Others {
		text += " " + e.KeyOf("mail.others") + " shows the mail between agents."
	}
	return e.Look.Notes(w, text)
}

// the text comes first, because there might be room for only a few lines
func (k *Mail) summary(e *Env, r *MailRow, w int) []string {
	all := append(MailDetails(e, &r.Message), "")
	text := slices.Index(all, "")
	return description(e, w, r.ID, "from "+r.from, append(all[text+1:], all[:text]...))
}

// MailDetails returns the details of a message.
func MailDetails(e *Env, m *mail.Message) []string {
	p := widget.Page{Styles: e.Look}
	p.ShowPlain("from", m.From)
	p.ShowPlain("to", m.To)
	p.Show("subject", p.Paint(themes.Title, widget.Plain(m.Subject)))
	p.Show("sent", widget.Clock(m.Sent, e.Now)+", "+widget.Ago(m.Sent, e.Now))
	p.ShowKnownPlain("reply to", m.ReplyTo)
	p.Add("")
	if strings.TrimSpace(m.Text) == "" {
		p.Dim("The message has no text.")
		return p.Lines
	}
	for part := range strings.SplitSeq(m.Text, "\n") {
		p.Add(widget.Plain(part))
	}
	return p.Lines
}
