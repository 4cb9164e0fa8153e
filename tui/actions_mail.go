package tui

import (
	"cmp"

	"gcity/beads"
	"gcity/city"
	"gcity/mail"
	"gcity/tui/widget"
)

const (
	mailID  = "agent.mail"
	slingID = "agent.sling"
)

// mailActions are about what agents and people write to each other, and about handing out work.
func mailActions() []action {
	global, k, r := []zone{everywhere}, []zone{inMail}, []zone{inReader}
	by := func(n int) func(*model) []effect {
		return func(m *model) []effect { m.inbox.move(n); return nil }
	}
	return []action{
		{id: "mail.show", key: bind("show the mail for people; from there everybody's", "L"), short: "mail", in: global, why: needCity, run: (*model).showInbox},
		{id: mailID, key: bind("write mail to the agent or the pool: it waits until it is read", "W"), in: global, why: needAddressees, run: (*model).askMailTo},
		{id: slingID, key: bind("hand work to the agent or the pool, and tell it", "B"), in: global, why: needTaker, run: (*model).askSling},
		{id: "work.sling", key: bind("hand it to an agent or a pool, and tell it", "s"), in: []zone{inWork}, why: needBeadVerb, run: (*model).askTaker},

		{id: "mail.down", key: bind("down", "j", "down"), in: k, run: by(1)},
		{id: "mail.up", key: bind("up", "k", "up"), in: k, run: by(-1)},
		{id: "mail.page.down", key: bind("a page down", "pgdown", "ctrl+d"), in: k, run: by(10)},
		{id: "mail.page.up", key: bind("a page up", "pgup", "ctrl+u"), in: k, run: by(-10)},
		{id: "mail.first", key: bind("to the beginning", "g", "home"), in: k, run: by(-far)},
		{id: "mail.last", key: bind("to the end", "G", "end"), in: k, run: by(far)},
		{id: "mail.read", key: bind("read it", "enter", "d"), in: k, why: needMail, run: (*model).openMail},
		{id: "mail.reply", key: bind("reply", "r"), in: k, why: needMailVerb, run: onMail((*model).reply)},
		{id: "mail.archive", key: bind("archive it", "A"), in: k, why: needMailVerb, run: onMail((*model).archive)},
		{id: "mail.unread", key: bind("undo the archiving; else mark it as not read", "u"), in: k, why: needUnread, run: (*model).markUnread},
		{id: "mail.write", key: bind("write mail", "n"), in: k, why: needWritable, run: (*model).askRecipient},
		{id: "mail.others", key: bind("everybody's mail, or people's only", "o"), in: k, run: (*model).toggleOthers},
		{id: "mail.refresh", key: bind("look anew", "ctrl+r"), in: k, run: (*model).refreshMail},
		{id: "mail.verbs", key: bind("show all verbs for it", "x"), in: k, why: needMail, run: (*model).showVerbs},
		{id: "mail.yank", key: bind("copy from it", "y"), in: k, why: needMail, run: (*model).showCopies},
		{id: "mail.close", key: bind("close", "esc", "q", "L", "ctrl+c"), in: k, run: func(m *model) []effect { m.inbox = nil; return nil }},

		{id: "reader.reply", key: bind("from a message: reply", "r"), in: r, why: ofLetter(needWritable), run: fromLetter((*model).reply)},
		{id: "reader.archive", key: bind("from a message: archive it", "A"), in: r, why: ofLetter(needWritable), run: fromLetter((*model).archive)},
	}
}

func needMail(m *model) string {
	if m.inbox == nil || m.inbox.under() == nil {
		return "no mail is selected"
	}
	return ""
}

func needMailVerb(m *model) string { return cmp.Or(needWritable(m), needMail(m)) }

func needUnread(m *model) string {
	why := needMailVerb(m)
	switch {
	case m.undoable():
		return ""
	case why == "" && !m.inbox.under().Read:
		return "it has not been read"
	}
	return why
}

// ofLetter is for what is done to the message that is read.
func ofLetter(why func(*model) string) func(*model) string {
	return func(m *model) string {
		if m.reader == nil || m.reader.letter == nil {
			return "no mail is read just now"
		}
		return why(m)
	}
}

// onMail does something with the message under the cursor.
func onMail(do func(*model, mail.Message) []effect) func(*model) []effect {
	return func(m *model) []effect {
		l := m.inbox.under()
		if l == nil {
			return nil
		}
		return do(m, *l)
	}
}

// fromLetter does something with the message that is read, and closes it.
func fromLetter(do func(*model, mail.Message) []effect) func(*model) []effect {
	return func(m *model) []effect {
		l := m.reader.letter
		if l == nil {
			return nil
		}
		m.reader = nil
		return do(m, *l)
	}
}

func (m *model) toggleOthers() []effect {
	m.inbox.others = !m.inbox.others
	m.listMail()
	return nil
}

// refreshMail asks anew, once the question under way is answered.
func (m *model) refreshMail() []effect {
	if m.inbox.stale = true; m.inbox.asked == 0 {
		m.askMail()
	}
	return nil
}

// openMail shows a message over the list, which stays behind it. Reading marks it where it is for people: of an agent's mail
// nothing is taken away from it.
func (m *model) openMail() []effect {
	l := m.inbox.under()
	if l == nil {
		return nil
	}
	own := *l
	m.reader = &reader{title: widget.Plain(own.ID), letter: &own,
		lines: func(m *model, w int) []string { return widget.WrapAll(m.mailDetails(&own), w) }}
	if own.Read || m.mode == ReadOnly || m.snap == nil || !m.snap.ForPeople(own.To) {
		return nil
	}
	m.inbox.mark(own.ID, true)
	m.actions++
	return []effect{dispatch{id: m.actions, title: "reading", errands: []errand{readMail{own.ID}}, quiet: true}}
}

func (m *model) markUnread() []effect {
	if m.undoable() {
		return m.takeBack()
	}
	l := m.inbox.under()
	if l == nil {
		return nil
	}
	m.inbox.mark(l.ID, false)
	return m.carry("marking", widget.Plain(l.ID)+" as not read",
		[]city.Command{city.UpdateBead{ID: l.ID, Patch: mail.UnreadPatch()}})
}

// archive puts a message away; for a while it can be had again. What an agent has not read yet is taken from it, and asked
// about.
func (m *model) archive(l mail.Message) []effect {
	q := question{title: "Archive " + widget.Plain(l.ID) + "?",
		body: []string{widget.Plain(l.Subject)}, verb: "archive it", do: func(m *model) []effect {
			todo := m.send("archiving", widget.Plain(l.ID), archiveMail{l.ID})
			open := beads.StatusOpen
			m.undo = undo{id: m.status.id, what: "archiving " + widget.Plain(l.ID),
				until:    m.now.Add(undoFor),
				commands: []city.Command{city.UpdateBead{ID: l.ID, Patch: beads.Patch{Status: &open}}}}
			m.drop(l.ID)
			return todo
		}}
	if !l.Read && m.snap != nil && !m.snap.ForPeople(l.To) {
		q.body = append(q.body, widget.Plain(l.To)+
			" has not read it, and will not find it any more.")
		m.ask(q)
		return nil
	}
	return m.perhaps(q)
}
