package tui

import (
	"cmp"

	"gcity/beads"
	"gcity/city"
	"gcity/mail"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

const (
	mailID  = "agent.mail"
	slingID = "agent.sling"
)

// mailActions returns the actions for mail and for handing out work.
func mailActions() []action {
	global, k, r := []keymap.Zone{keymap.Everywhere}, []keymap.Zone{keymap.InMail},
		[]keymap.Zone{keymap.InReader}
	by := func(n int) func(*model) []feed.Effect {
		return func(m *model) []feed.Effect { m.dialogs.inbox().move(n); return nil }
	}
	return []action{
		{ID: "mail.show", Key: keymap.Bind("show mail for people, or all mail", "L"),
			Short: "mail", In: global, Why: needCity, Run: showInbox},
		{ID: mailID,
			Key: keymap.Bind("write mail to the agent or the pool: it waits until it is read", "W"),
			In:  global, Why: needAddressees, Run: askMailTo},
		{ID: slingID, Key: keymap.Bind("hand work to the agent or the pool, and notify it", "B"),
			In: global, Why: needTaker, Run: askSling},

		{ID: "mail.down", Key: keymap.Bind("down", "j", "down"), In: k, Run: by(1)},
		{ID: "mail.up", Key: keymap.Bind("up", "k", "up"), In: k, Run: by(-1)},
		{ID: "mail.page.down", Key: keymap.Bind("a page down", "pgdown", "ctrl+d"), In: k,
			Run: by(10)},
		{ID: "mail.page.up", Key: keymap.Bind("a page up", "pgup", "ctrl+u"), In: k, Run: by(-10)},
		{ID: "mail.first", Key: keymap.Bind("to the beginning", "g", "home"), In: k,
			Run: by(-widget.Far)},
		{ID: "mail.last", Key: keymap.Bind("to the end", "G", "end"), In: k, Run: by(widget.Far)},
		{ID: "mail.read", Key: keymap.Bind("read it", "enter", "d"), In: k, Why: needMail,
			Run: openMail},
		{ID: "mail.reply", Key: keymap.Bind("reply", "r"), In: k, Why: needMailVerb,
			Run: onMail(reply)},
		{ID: "mail.archive", Key: keymap.Bind("archive it", "A"), In: k, Why: needMailVerb,
			Run: onMail(archive)},
		{ID: "mail.unread", Key: keymap.Bind("mark as unread, or undo archiving",
			"u"),
			In: k, Why: needUnread, Run: markUnread},
		{ID: "mail.write", Key: keymap.Bind("write mail", "n"), In: k, Why: needWritable,
			Run: askRecipient},
		{ID: "mail.others", Key: keymap.Bind("show all mail, or only mail for people", "o"), In: k,
			Run: toggleOthers},
		{ID: "mail.refresh", Key: keymap.Bind("refresh", "ctrl+r"), In: k,
			Run: refreshMail},
		{ID: "mail.verbs", Key: keymap.Bind("show all verbs for the message", "x"), In: k,
			Why: needMail,
			Run: showVerbs},
		{ID: "mail.yank", Key: keymap.Bind("copy from the message", "y"), In: k, Why: needMail,
			Run: showCopies},
		{ID: "mail.close", Key: keymap.Bind("close", "esc", "q", "L", "ctrl+c"), In: k,
			Run: func(m *model) []feed.Effect { m.dialogs.CloseIn(keymap.InMail); return nil }},

		{ID: "reader.reply", Key: keymap.Bind("from a message: reply", "r"), In: r,
			Why: ofLetter(needWritable), Run: fromLetter(reply)},
		{ID: "reader.archive", Key: keymap.Bind("from a message: archive it", "A"), In: r,
			Why: ofLetter(needWritable), Run: fromLetter(archive)},
	}
}

func needMail(m *model) string {
	if m.dialogs.inbox() == nil || m.dialogs.inbox().under() == nil {
		return "no mail is selected"
	}
	return ""
}

func needMailVerb(m *model) string { return cmp.Or(needWritable(m), needMail(m)) }

func needUnread(m *model) string {
	why := needMailVerb(m)
	switch {
	case undoable(m):
		return ""
	case why == "" && !m.dialogs.inbox().under().Read:
		return "it is already unread"
	}
	return why
}

// ofLetter adds the condition that a message is open.
func ofLetter(why func(*model) string) func(*model) string {
	return func(m *model) string {
		if m.dialogs.letter() == nil {
			return "no message is open"
		}
		return why(m)
	}
}

// onMail returns an action that runs do on the message under the cursor.
func onMail(do func(*model, mail.Message) []feed.Effect) func(*model) []feed.Effect {
	return func(m *model) []feed.Effect {
		l := m.dialogs.inbox().under()
		if l == nil {
			return nil
		}
		return do(m, *l)
	}
}

// fromLetter returns an action that closes the open message and runs do on it.
func fromLetter(do func(*model, mail.Message) []feed.Effect) func(*model) []feed.Effect {
	return func(m *model) []feed.Effect {
		l := m.dialogs.letter()
		if l == nil {
			return nil
		}
		m.dialogs.CloseIn(keymap.InReader)
		return do(m, *l)
	}
}

func toggleOthers(m *model) []feed.Effect {
	m.dialogs.inbox().others = !m.dialogs.inbox().others
	listMail(m)
	return nil
}

// refreshMail requests the mail again, once a request in progress has been answered.
func refreshMail(m *model) []feed.Effect {
	if m.dialogs.inbox().stale = true; m.dialogs.inbox().asked == 0 {
		askMail(m)
	}
	return nil
}

// openMail shows a message over the list. It marks the message as read only if it is for people: an agent's unread
// mail must stay unread for the agent.
func openMail(m *model) []feed.Effect {
	l := m.dialogs.inbox().under()
	if l == nil {
		return nil
	}
	own := *l
	m.read(&reader{Title: widget.Plain(own.ID), About: &own,
		Lines: func(w int) []string { return widget.WrapAll(mailDetails(m, &own), w) }})
	if own.Read || m.mode == ReadOnly || m.snap == nil || !m.snap.ForPeople(own.To) {
		return nil
	}
	m.dialogs.inbox().mark(own.ID, true)
	m.actions++
	return []feed.Effect{feed.RunTasks{ID: m.actions, Title: "reading",
		Errands: []feed.Task{feed.ReadMail{ID: own.ID}},
		Quiet:   true}}
}

func markUnread(m *model) []feed.Effect {
	if undoable(m) {
		return takeBack(m)
	}
	l := m.dialogs.inbox().under()
	if l == nil {
		return nil
	}
	m.dialogs.inbox().mark(l.ID, false)
	return carry(m, "marking", widget.Plain(l.ID)+" as unread",
		[]city.Command{city.UpdateBead{ID: l.ID, Patch: mail.UnreadPatch()}})
}

// archive archives a message and offers undo. It asks first if the message is for an agent that has not read it.
func archive(m *model, l mail.Message) []feed.Effect {
	q := question{title: "Archive " + widget.Plain(l.ID) + "?",
		body: []string{widget.Plain(l.Subject)}, verb: "archive it",
		do: func(m *model) []feed.Effect {
			todo := send(m, "archiving", widget.Plain(l.ID), feed.ArchiveMail{ID: l.ID})
			open := beads.StatusOpen
			m.undo = undo{id: m.status.id, what: "archiving " + widget.Plain(l.ID),
				until: m.now.Add(undoFor),
				commands: []city.Command{city.UpdateBead{ID: l.ID,
					Patch: beads.Patch{Status: &open}}}}
			drop(m, l.ID)
			return todo
		}}
	if !l.Read && m.snap != nil && !m.snap.ForPeople(l.To) {
		q.body = append(q.body, widget.Plain(l.To)+
			" has not read it and will not see it any more.")
		ask(m, q)
		return nil
	}
	return perhaps(m, q)
}
