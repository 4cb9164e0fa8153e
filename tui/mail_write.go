package tui

import (
	"fmt"
	"slices"
	"strings"

	"gcity/beads"
	"gcity/mail"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// envelope is what a text goes out in that is written as mail.
type envelope struct {
	to      []string // addresses
	subject string
	answers *mail.Message // nil = it begins something
}

// shelf is under which names the text is kept while nobody writes at it.
func (e *envelope) shelf() []string {
	about := ""
	if e.answers != nil {
		about = " about " + e.answers.ID
	}
	names := make([]string, len(e.to))
	for i, to := range e.to {
		names[i] = "mail to " + to + about
	}
	return names
}

// messages are what it becomes.
func (e *envelope) messages(text string) []mail.Message {
	all := make([]mail.Message, len(e.to))
	for i, to := range e.to {
		all[i] = mail.Message{From: mail.Person, To: to, Subject: e.subject, Text: text}
		if e.answers != nil {
			all[i] = mail.Reply(*e.answers, mail.Person, text)
		}
	}
	return all
}

// addressees are whom mail would go to: the pools where Pools has the focus, else the agents.
func (m *model) addressees() []string {
	var all []string
	switch m.subject().Kind {
	case panel.KindPool:
		for _, p := range m.Pools.Targets() {
			all = append(all, mail.PoolPrefix+p.Name)
		}
	case panel.KindAutomation:
	default:
		for _, r := range m.targets() {
			all = append(all, r.Name)
		}
	}
	return all
}

func needAddressees(m *model) string {
	switch {
	case m.mode == ReadOnly:
		return needWritable(m)
	case m.subject().Kind == panel.KindAutomation:
		return m.amongRuns()
	case m.subject().Kind == panel.KindPool:
		return needPool(m)
	case len(m.addressees()) == 0:
		return m.nobody()
	}
	return ""
}

func (m *model) askMailTo() []effect { return m.askSubject(&envelope{to: m.addressees()}) }

// askSubject asks for the subject of mail, and then for its text. One that was begun goes on.
func (m *model) askSubject(e *envelope) []effect {
	begun := ""
	if i := m.draftOf(e.shelf()); i >= 0 {
		begun = m.drafts[i].subject
	}
	m.dialogs.Open(&prompt{
		Label: "mail to " + addressed(e.to) + ", subject",
		Hint:  m.keys.Hint("  ", "prompt.done", "goes on", "prompt.cancel", "leaves"),
		Edit:  widget.NewEntry(begun),
		Refuse: func(text string) string {
			if len(text) > beads.MaxTitle {
				return fmt.Sprintf("too long: at most %d bytes", beads.MaxTitle)
			}
			return ""
		},
		Done: func(text string) task {
			return func(m *model) []effect {
				e.subject = strings.TrimSpace(text)
				return m.compose(e)
			}
		},
	})
	return nil
}

// compose opens what was being written, or nothing.
func (m *model) compose(e *envelope) []effect {
	var begun unsent
	if i := m.draftOf(e.shelf()); i >= 0 {
		begun = m.drafts[i].unsent
	}
	label := "mail to " + addressed(e.to)
	if e.subject != "" {
		label += fmt.Sprintf(", %q", widget.Plain(e.subject))
	}
	m.write(&composer{To: e.shelf(), Label: label, About: e}, begun)
	return nil
}

func (m *model) reply(l mail.Message) []effect {
	answer := mail.Reply(l, mail.Person, "")
	return m.compose(&envelope{to: []string{answer.To}, subject: answer.Subject, answers: &l})
}

// addressed names addresses: "builder", "3 addresses".
func addressed(to []string) string {
	if len(to) == 1 {
		return widget.Plain(to[0])
	}
	return fmt.Sprintf("%d addresses", len(to))
}

// mailComposed sends what is written, or says why not.
func (m *model) mailComposed() []effect {
	c := m.dialogs.composer()
	e, ok := c.About.(*envelope)
	if !ok {
		return nil
	}
	all := e.messages(c.Text())
	var errands []errand
	for _, l := range all {
		if err := mail.Check(l); err != nil {
			c.Problem = err.Error()
			return nil
		}
		errands = append(errands, sendMail{l})
	}
	m.leaveComposer()
	q := question{title: "Mail to " + addressed(e.to) + "?", verb: "send", count: len(all),
		body: []string{widget.Plain(all[0].Subject)}, do: func(m *model) []effect {
			i := m.draftOf(c.To)
			todo := m.send("sending", "mail to "+addressed(e.to), errands...)
			if i >= 0 {
				m.posted = append(m.posted, posting{m.status.id, m.drafts[i]})
			}
			m.forgetDraft(c.To)
			return todo
		}}
	if len(all) > 1 {
		q.whom = []string{widget.Plain(strings.Join(e.to, ", "))}
	}
	if len(all) >= many {
		m.ask(q)
		return nil
	}
	return m.perhaps(q)
}

// askRecipient offers whom one may write to.
func (m *model) askRecipient() []effect {
	f := &finder{Title: "Mail to",
		None: "Nobody is called that; in the palette `mail NAME` writes to any name.",
		Verb: "takes it"}
	for _, w := range m.mailNames(nil) {
		f.All = append(f.All, item{Title: widget.Plain(w.word), Line: w.word,
			Tail: widget.Plain(w.note), Run: func(m *model) []effect {
				return m.askSubject(&envelope{to: []string{w.word}})
			}})
	}
	m.open(f)
	return nil
}

// mailNames are the addresses that are known: those of agents and pools, and of people who have written or were
// written to.
func (m *model) mailNames([]string) []word {
	all := m.agentNames(nil)
	for _, w := range m.poolNames() {
		all = append(all, word{mail.PoolPrefix + w.word, w.note + ", any of its members"})
	}
	people := []string{mail.Person}
	if m.inbox != nil {
		for i := range m.inbox.all {
			for _, name := range []string{m.inbox.all[i].From, m.inbox.all[i].To} {
				if m.snap != nil && m.snap.ForPeople(name) && !slices.Contains(people, name) {
					people = append(people, name)
				}
			}
		}
	}
	for _, name := range people {
		all = append(all, word{name, "a person"})
	}
	return all
}

// writeLine writes to whom is named; what follows is the subject.
func (m *model) writeLine(args []string) ([]effect, string) {
	if m.snap == nil {
		return nil, needCity(m)
	}
	to, err := m.snap.Address(args[0])
	if err != nil {
		return nil, widget.Plain(err.Error())
	}
	e := &envelope{to: []string{to}}
	if len(args) < 2 || strings.TrimSpace(args[1]) == "" {
		return m.askSubject(e), ""
	}
	if e.subject = strings.TrimSpace(args[1]); len(e.subject) > beads.MaxTitle {
		return nil, fmt.Sprintf("the subject is too long: at most %d bytes", beads.MaxTitle)
	}
	return m.compose(e), ""
}

// posting is mail under way, and the draft that it was.
type posting struct {
	id    int // of the result that is waited for
	draft draftTo
}

// undelivered makes mail that could not be sent a draft again, for those whom it has not reached.
func (m *model) undelivered(r *result) {
	i := slices.IndexFunc(m.posted, func(p posting) bool { return p.id == r.id })
	if i < 0 {
		return
	}
	d := m.posted[i].draft
	m.posted = slices.Delete(slices.Clone(m.posted), i, i+1)
	var to []string
	for n, name := range d.to {
		if slices.Contains(r.refused, n) {
			to = append(to, name)
		}
	}
	if d.to = to; len(to) > 0 && m.draftOf(to) < 0 {
		m.keepDraft(d)
	}
}

func (m *model) keepDraft(d draftTo) {
	m.drafts = append(m.drafts, d)
	m.drafts = m.drafts[max(0, len(m.drafts)-maxDrafts):]
}
