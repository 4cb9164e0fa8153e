package actions

import (
	"fmt"
	"strings"

	"gcity/beads"
	"gcity/mail"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

type mailDraft struct {
	to        []string
	subject   string
	repliesTo *mail.Message // nil = the message is not a reply
}

func (e *mailDraft) draftKey() []string {
	about := ""
	if e.repliesTo != nil {
		about = " about " + e.repliesTo.ID
	}
	names := make([]string, len(e.to))
	for i, to := range e.to {
		names[i] = "mail to " + to + about
	}
	return names
}

func (e *mailDraft) messages(text string) []mail.Message {
	all := make([]mail.Message, len(e.to))
	for i, to := range e.to {
		all[i] = mail.Message{From: mail.Person, To: to, Subject: e.subject, Text: text}
		if e.repliesTo != nil {
			all[i] = mail.Reply(*e.repliesTo, mail.Person, text)
		}
	}
	return all
}

func addressees(m *state.Room) []string {
	var all []string
	switch m.Subject().Kind {
	case panel.KindPool:
		for _, p := range m.Pools.Targets() {
			all = append(all, mail.PoolPrefix+p.Name)
		}
	case panel.KindAutomation, panel.KindRig, panel.KindBead, panel.KindMessage:
	default:
		for _, r := range state.Targets(m) {
			all = append(all, r.Name)
		}
	}
	return all
}

func needAddressees(m *state.Room) string {
	switch {
	case state.NeedWritable(m) != "":
		return state.NeedWritable(m)
	case state.AgentVerbsUnavailable(m):
		return WhyNotHere(m)
	case m.Subject().Kind == panel.KindPool:
		return needPool(m)
	case len(addressees(m)) == 0:
		return noAgent(m)
	}
	return ""
}

func askMailTo(m *state.Room) []feed.Effect { return askSubject(m, &mailDraft{to: addressees(m)}) }

func askSubject(m *state.Room, e *mailDraft) []feed.Effect {
	begun := ""
	if i := state.DraftOf(m, e.draftKey()); i >= 0 {
		begun = m.Drafts[i].Subject
	}
	m.Dialogs.Open(&state.Prompt{
		Label: "mail to " + addressed(e.to) + ", subject",
		Hint:  promptHint(m, "continues"),
		Edit:  widget.NewEntry(begun),
		Leads: true,
		Validate: func(text string) string {
			if len(text) > beads.MaxTitle {
				return fmt.Sprintf("too long: at most %d bytes", beads.MaxTitle)
			}
			return ""
		},
		Done: func(text string) state.Task {
			return func(m *state.Room) []feed.Effect {
				e.subject = strings.TrimSpace(text)
				return compose(m, e)
			}
		},
	})
	return nil
}

func compose(m *state.Room, e *mailDraft) []feed.Effect {
	var begun state.Unsent
	if i := state.DraftOf(m, e.draftKey()); i >= 0 {
		begun = m.Drafts[i].Unsent
	}
	label := "mail to " + addressed(e.to)
	if e.subject != "" {
		label += fmt.Sprintf(", %q", widget.Plain(e.subject))
	}
	openComposer(m, &state.Composer{To: e.draftKey(), Label: label, About: e}, begun)
	return nil
}

func reply(m *state.Room, l mail.Message) []feed.Effect {
	re := mail.Reply(l, mail.Person, "")
	return compose(m, &mailDraft{to: []string{re.To}, subject: re.Subject, repliesTo: &l})
}

func addressed(to []string) string {
	if len(to) == 1 {
		return widget.Plain(to[0])
	}
	return fmt.Sprintf("%d addresses", len(to))
}

func mailComposed(m *state.Room) []feed.Effect {
	c := m.Dialogs.Composer()
	e, ok := c.About.(*mailDraft)
	if !ok {
		return nil
	}
	all := e.messages(c.Text())
	var tasks []feed.Task
	for _, l := range all {
		if err := mail.Check(l); err != nil {
			c.Problem = err.Error()
			return nil
		}
		tasks = append(tasks, feed.SendMail{Message: l})
	}
	leaveComposer(m)
	q := question{title: "Mail to " + addressed(e.to) + "?", verb: "send", count: len(all),
		of: "messages", body: []string{widget.Plain(all[0].Subject)},
		do: func(m *state.Room) []feed.Effect {
			todo := state.RunTasks(m, "sending", "mail to "+addressed(e.to), tasks...)
			state.ExpectDelivery(m, composerDraft(c, c.Unsent()), 0)
			state.ReplaceDraft(m, state.DraftTo{To: c.To, Unsent: c.HiddenDraft()})
			return todo
		}}
	if len(all) > 1 {
		q.targets = []string{widget.Plain(strings.Join(e.to, ", "))}
	}
	q.harms = len(all) >= manyTargets
	return askIfWanted(m, q)
}

func askRecipient(m *state.Room) []feed.Effect {
	openFinderOf(m, &state.Finder{Title: "Mail to",
		EmptyText: "No recipient matches; in the palette, `mail NAME` accepts any name.",
		Verb:      "chooses it",
		All: nameItems(mailNames(m), func(m *state.Room, name string) []feed.Effect {
			return askSubject(m, &mailDraft{to: []string{name}})
		})})
	return nil
}

// nameItems returns rows for names. A row runs choose with its name.
func nameItems(names []state.Word,
	choose func(m *state.Room, name string) []feed.Effect) []state.Item {
	items := make([]state.Item, len(names))
	for i, w := range names {
		items[i] = state.Item{Title: widget.Plain(w.Word), Line: w.Word, Note: widget.Plain(w.Note),
			Run: func(m *state.Room) []feed.Effect { return choose(m, w.Word) }}
	}
	return items
}

func mailNames(m *state.Room) []state.Word {
	all := agentNames(m)
	for _, w := range poolNames(m) {
		all = append(all, state.Word{Word: mail.PoolPrefix + w.Word,
			Note: w.Note + ", any of its members"})
	}
	people := []string{mail.Person}
	for _, name := range m.Mail.People(m.Snap) {
		if name != mail.Person {
			people = append(people, name)
		}
	}
	for _, name := range people {
		all = append(all, state.Word{Word: name, Note: "a user"})
	}
	return all
}

func writeLine(m *state.Room, args []string) ([]feed.Effect, string) {
	if m.Snap == nil {
		return nil, needCity(m)
	}
	to, err := m.Snap.Address(args[0])
	if err != nil {
		return nil, widget.Plain(err.Error())
	}
	e := &mailDraft{to: []string{to}}
	if len(args) < 2 || strings.TrimSpace(args[1]) == "" {
		return askSubject(m, e), ""
	}
	if e.subject = strings.TrimSpace(args[1]); len(e.subject) > beads.MaxTitle {
		return nil, fmt.Sprintf("the subject is too long: at most %d bytes", beads.MaxTitle)
	}
	return compose(m, e), ""
}
