package actions

import (
	"cmp"
	"strings"

	"gcity/beads"
	"gcity/city"
	"gcity/mail"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func mailActions() []state.Action {
	r := []keymap.Zone{keymap.InReader}
	return append([]state.Action{
		{ID: state.MailID,
			Key: keymap.Bind("write mail to the agent or the pool, to be read later", "W"),
			Why: needAddressees, Run: askMailTo},
		{ID: state.SlingID, Key: keymap.Bind("sling a bead to the agent or the pool, and notify it",
			"B"),
			Why: needRecipient, Run: askSling},

		{ID: "agent.inbox", Key: keymap.Bind("show the agent's mail"), Why: needAgent,
			Run: goFiltered(panel.IDMail, "to:")},
		{ID: "agent.work", Key: keymap.Bind("show the agent's beads"), Why: needAgent,
			Run: goFiltered(panel.IDWork, "assignee:")},
	}, in([]state.Action{
		{ID: "mail.read", Key: keymap.Bind("read the message", "enter"), Short: "read",
			Why: needMail, Run: openMail},
		{ID: "mail.reply", Key: keymap.Bind("reply", "r"), Short: "reply",
			Why: needReply, Run: onMail(reply)},
		{ID: "mail.write", Key: keymap.Bind("write mail", "n"), Short: "new",
			Why: state.NeedWritable, Run: askRecipient},
		{ID: "mail.archive", Key: keymap.Bind("archive the message", "A"), Short: "archive",
			Why: needMailVerb, Run: archiveListed},
		{ID: "mail.unread", Key: keymap.Bind("mark as unread, or undo archiving", "u"),
			Short: "unread", Why: needUnread, Run: markUnread},
		{ID: "mail.others", Key: keymap.Bind("show all mail, or only mail for users", "t"),
			Short: "all mail", Run: noEffects(toggleOthers)},
		{ID: "mail.agent", Key: keymap.Bind("go to the agent that sent or received "+
			"the message", "."),
			Why: needMailAgent, Run: func(m *state.Room) []feed.Effect {
				return runRequest(m, panel.Request{Select: m.Mail.Agent()})
			}},
		{ID: "mail.refresh", Key: keymap.Bind("refresh", "ctrl+r"),
			Run: noEffects(func(m *state.Room) { m.Mail.Outdated() })},

		{ID: "reader.reply", Key: keymap.Bind("from a message: reply", "r"), In: r,
			Why: ofOpenMail(needOpenReply), Run: fromOpenMail(reply)},
		{ID: "reader.archive", Key: keymap.Bind("from a message: archive it", "A"), In: r,
			Why: ofOpenMail(state.NeedWritable), Run: fromOpenMail(func(m *state.Room,
				l mail.Message) []feed.Effect {
				return archive(m, []*panel.MailRow{{Message: l}})
			})},
	}, keymap.InMail)...)
}

func goFiltered(to panel.ID, field string) state.Task {
	return func(m *state.Room) []feed.Effect {
		return runRequest(m, panel.Request{GoTo: to, Filter: field + state.Selected(m).Name})
	}
}

func pointedMail(m *state.Room) *panel.MailRow {
	if m.Focus != panel.IDMail {
		return nil
	}
	return m.Mail.Row()
}

func needMail(m *state.Room) string {
	if pointedMail(m) == nil {
		return state.NothingSelected(m, m.Mail)
	}
	return ""
}

func needMailAgent(m *state.Room) string {
	why := needMail(m)
	if why == "" && m.Mail.Agent() == "" {
		return "neither the sender nor the recipient is an agent"
	}
	return why
}

func needMailVerb(m *state.Room) string { return cmp.Or(state.NeedWritable(m), needMail(m)) }

func needReply(m *state.Room) string {
	if why := needMailVerb(m); why != "" {
		return why
	}
	return state.CannotReply(m, &pointedMail(m).Message)
}

func needOpenReply(m *state.Room) string {
	return cmp.Or(state.NeedWritable(m), state.CannotReply(m, m.Dialogs.OpenMessage()))
}

func needUnread(m *state.Room) string {
	why := needMailVerb(m)
	switch {
	case state.Undoable(m):
		return ""
	case why == "" && !pointedMail(m).Read:
		return "the message is already unread"
	}
	return why
}

func ofOpenMail(why func(*state.Room) string) func(*state.Room) string {
	return func(m *state.Room) string {
		if m.Dialogs.OpenMessage() == nil {
			return "no message is open"
		}
		return why(m)
	}
}

func onMail(do func(*state.Room, mail.Message) []feed.Effect) state.Task {
	return func(m *state.Room) []feed.Effect {
		return do(m, pointedMail(m).Message)
	}
}

func fromOpenMail(do func(*state.Room, mail.Message) []feed.Effect) func(
	*state.Room) []feed.Effect {
	return func(m *state.Room) []feed.Effect {
		l := m.Dialogs.OpenMessage()
		if l == nil {
			return nil
		}
		m.Dialogs.CloseIn(keymap.InReader)
		return do(m, *l)
	}
}

func toggleOthers(m *state.Room) {
	m.Mail.Others = !m.Mail.Others
	m.Refill()
}

func listMail(m *state.Room) {
	m.Mail.Update(m.Env())
	m.ApplyNewData()
}

// Mail for an agent stays unread, because the agent has not read it.
func openMail(m *state.Room) []feed.Effect {
	own := pointedMail(m).Message
	openReader(m, &state.Reader{Title: widget.Plain(own.ID), About: &own,
		Lines: func(int) []string { return panel.MailDetails(m.Env(), &own) }})
	if own.Read || m.Mode == state.ReadOnly || m.Snap == nil || !m.Snap.IsUserAddress(own.To) {
		return nil
	}
	m.Mail.SetRead(own.ID, true)
	listMail(m)
	m.Actions++
	return []feed.Effect{feed.RunTasks{ID: m.Actions, Title: "marking as read",
		Tasks:        []feed.Task{feed.ReadMail{ID: own.ID}},
		FailuresOnly: true}}
}

func markUnread(m *state.Room) []feed.Effect {
	if state.Undoable(m) {
		return undo(m)
	}
	l := pointedMail(m)
	if l == nil {
		return nil
	}
	id, shown := l.ID, widget.Plain(l.ID)
	return askIfWanted(m, question{title: "Mark " + shown + " as unread?",
		verb: "mark it as unread", do: func(m *state.Room) []feed.Effect {
			m.Mail.SetRead(id, false)
			listMail(m)
			return state.SendCommands(m, "marking", shown+" as unread",
				city.UpdateBead{ID: id, Patch: mail.UnreadPatch()})
		}})
}

func archive(m *state.Room, all []*panel.MailRow) []feed.Effect {
	return askLiveIfWanted(m, aboutListed(m, all, m.Mail.Find, archiveQuestion))
}

func archiveQuestion(m *state.Room, all []*panel.MailRow) question {
	what := widget.Plain(all[0].ID)
	if len(all) > 1 {
		what = widget.Count(len(all), "message")
	}
	q := question{title: "Archive " + what + "?", verb: "archive it", count: len(all),
		of: "messages"}
	var tasks []feed.Task
	var back []city.Command
	var ids, unread []string
	open := beads.StatusOpen
	for _, l := range all {
		ids = append(ids, l.ID)
		tasks = append(tasks, feed.ArchiveMail{ID: l.ID})
		back = append(back, city.UpdateBead{ID: l.ID, Patch: beads.Patch{Status: &open}})
		q.body = append(q.body, widget.Plain(l.Subject))
		if !l.Read && m.Snap != nil && !m.Snap.IsUserAddress(l.To) {
			unread = append(unread, widget.Plain(l.To))
		}
	}
	q.do = func(m *state.Room) []feed.Effect {
		todo := state.RunTasks(m, "archiving", what, tasks...)
		m.Undo = state.Undo{ID: m.Status.ID, What: "archiving " + what,
			Until: m.Now.Add(state.UndoDuration), Commands: back,
			Then: func(m *state.Room) { m.Mail.SelectNew(ids[0]) }}
		m.Mail.Marks = nil
		for _, id := range ids {
			m.Mail.Remove(id)
		}
		listMail(m)
		return todo
	}
	if len(unread) > 0 {
		has := " has"
		if len(unread) > 1 {
			has = " have"
		}
		q.harms, q.body = true, append(q.body, strings.Join(unread, ", ")+has+
			" not read it and will no longer see it.")
	}
	return q
}

func archiveListed(m *state.Room) []feed.Effect {
	if all := m.Mail.Targets(); len(all) > 0 {
		return archive(m, all)
	}
	return nil
}
