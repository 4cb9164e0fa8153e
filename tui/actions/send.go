package actions

import (
	"fmt"
	"slices"
	"strings"

	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/dialog"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func sendActions() []state.Action {
	return append([]state.Action{
		{ID: state.UnsendID,
			Key:  keymap.Bind("cancel the nudges that are queued for the agent", "U"),
			Risk: keymap.Confirmed,
			Why:  needWaiting, Run: askUnsend},
		{ID: state.SendNowID,
			Key: keymap.Bind("send now: type the queued nudge despite a draft",
				"I"), Risk: keymap.Confirmed,
			Why: needKnownWaiting, Run: askSendNow},

		{ID: "reader.unsend", Key: keymap.Bind("from an agent's details: cancel the queued nudge",
			"U"),
			In:  []keymap.Zone{keymap.InReader},
			Why: ofOpenAgent(needWaiting), Run: fromDetails(askUnsend)},
		{ID: "reader.send.now",
			Key: keymap.Bind("from an agent's details: type the queued nudge now", "I"),
			In:  []keymap.Zone{keymap.InReader},
			Why: ofOpenAgent(needKnownWaiting), Run: fromDetails(askSendNow)},
	}, in([]state.Action{
		{ID: "composer.send", Key: keymap.Bind("send the text", "enter"),
			Run: sendComposed},
		{ID: "composer.newline", Key: keymap.Bind("insert a new line", "alt+enter", "ctrl+j"),
			Run: noEffects(func(m *state.Room) { m.Dialogs.Composer().Newline() })},
		{ID: "composer.up",
			Key: keymap.Bind("up one line; from the first line: earlier texts", "up",
				"ctrl+p"),
			Run: noEffects(func(m *state.Room) { m.Dialogs.Composer().Up() })},
		{ID: "composer.down",
			Key: keymap.Bind("down one line; from the last line: later texts", "down",
				"ctrl+n"),
			Run: noEffects(func(m *state.Room) { m.Dialogs.Composer().Down() })},
		{ID: "composer.leave",
			Key: keymap.Bind("close and keep the draft for these agents", "esc",
				"ctrl+c"), Run: leaveComposer},
	}, keymap.InComposer)...)
}

func needRunning(m *state.Room) string {
	if why := needVerb(m); why != "" {
		return why
	}
	if able, unable := textRecipients(m); len(able) == 0 {
		return noSession(m, unable[0])
	}
	return ""
}

func textRecipients(m *state.Room) (able, unable []*panel.AgentRow) {
	for _, r := range state.Targets(m) {
		if r.AcceptsText() {
			able = append(able, r)
		} else {
			unable = append(unable, r)
		}
	}
	return able, unable
}

func askSend(m *state.Room) {
	rows, unable := textRecipients(m)
	to := namesOf(rows)
	var begun state.Unsent
	if i := state.DraftOf(m, to); i >= 0 {
		begun = m.Drafts[i].Unsent
	}
	c := openComposer(m, &state.Composer{To: to, Label: sendLabel(to)}, begun)
	if len(unable) > 0 {
		c.Problem = fmt.Sprintf("agents that cannot receive text are left out: %s",
			details.ListRows(unable))
	}
}

func namesOf(rows []*panel.AgentRow) []string {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Name
	}
	return names
}

func openComposer(m *state.Room, c *state.Composer, begun state.Unsent) *state.Composer {
	c.Sent = m.Sent
	c = dialog.NewComposer(c, begun)
	c.Fit(m.W, m.H)
	m.Dialogs.Open(c)
	return c
}

func sendLabel(to []string) string {
	shown := make([]string, len(to))
	for i, name := range to {
		shown[i] = widget.Plain(name)
	}
	if len(shown) == 1 {
		return "send to " + shown[0]
	}
	return fmt.Sprintf("send to %s: %s", widget.Count(len(shown), "agent"),
		strings.Join(shown, ", "))
}

func sendComposed(m *state.Room) []feed.Effect {
	c := m.Dialogs.Composer()
	if _, ok := c.About.(*mailDraft); ok {
		return mailComposed(m)
	}
	text, left := c.Text(), state.DraftTo{To: c.To, Unsent: c.HiddenDraft()}
	if strings.TrimSpace(text) == "" {
		state.ReplaceDraft(m, left)
		m.Dialogs.Close(c)
		return nil
	}
	if len(text) > city.MaxSend {
		c.Problem = dialog.TooLong(len(text))
		return nil
	}
	var rows []*panel.AgentRow
	var gone []string
	for _, name := range c.To {
		if r := m.Agents.Find(name); r != nil {
			rows = append(rows, r)
		} else {
			gone = append(gone, widget.Plain(name))
		}
	}
	if len(rows) == 0 {
		c.Problem = "none of the recipients exists any longer"
		return nil
	}
	dropped := state.NoLonger(gone) + "; enter sends to the others"
	if len(gone) > 0 && c.Problem != dropped {
		c.Problem = dropped
		return nil
	}
	leaveComposer(m)
	return deliver(m, rows, text, c.Unsent(), left)
}

// deliver asks about the text if necessary and sends it. Immediately before, the draft left replaces the one that the
// text came from.
func deliver(m *state.Room, rows []*panel.AgentRow, text string, draft state.Unsent,
	left state.DraftTo) []feed.Effect {
	first, _, _ := strings.Cut(text, "\n")
	build := about(m, rows, m.Agents.Find, func(m *state.Room, rows []*panel.AgentRow) question {
		return question{title: "Send to " + state.TargetNames(m, rows) + "?",
			targets: state.TargetLines(m, rows), verb: "send", count: len(rows), of: "agents",
			harms: len(rows) >= manyTargets,
			body: []string{
				fmt.Sprintf("%q", m.Look.Cut(widget.Plain(first), 60)),
				widget.Count(widget.LineCount(text), "line") + ", " + widget.Bytes(len(text))},
			do: func(m *state.Room) []feed.Effect {
				state.ReplaceDraft(m, left)
				state.RememberSent(m, text)
				todo := state.CommandRows(m, "sending to", rows, func(name string) city.Command {
					return city.Nudge{Agent: name, Text: text}
				})
				state.ExpectDelivery(m, state.DraftTo{To: namesOf(rows), Unsent: draft}, 0)
				return todo
			}}
	})
	return askLiveIfWanted(m, build)
}

func composerDraft(c *state.Composer, text state.Unsent) state.DraftTo {
	d := state.DraftTo{To: c.To, Unsent: text}
	if e, ok := c.About.(*mailDraft); ok && e.repliesTo == nil {
		d.Subject = e.subject
	}
	return d
}

func leaveComposer(m *state.Room) []feed.Effect {
	c := m.Dialogs.Composer()
	m.Dialogs.Close(c)
	state.ReplaceDraft(m, composerDraft(c, c.DraftToKeep()))
	return nil
}

// waitingRows returns the targets that have queued nudges. If no target has one and no agent is marked or named, it
// returns all agents for which a nudge from this room is queued.
func waitingRows(m *state.Room) []*panel.AgentRow {
	var rows []*panel.AgentRow
	for _, r := range state.Targets(m) {
		if len(r.Waiting) > 0 {
			rows = append(rows, r)
		}
	}
	if len(rows) > 0 || len(m.NamedAgents) > 0 || len(m.Agents.Marks) > 0 {
		return rows
	}
	for _, l := range m.Following {
		r := m.Agents.Find(l.Agent)
		if r != nil && !slices.Contains(rows, r) &&
			slices.ContainsFunc(r.Waiting, func(s city.Send) bool { return s.ID == l.Send.ID }) {
			rows = append(rows, r)
		}
	}
	return rows
}

func needWaiting(m *state.Room) string {
	if why := needVerb(m); why != "" {
		return why
	}
	if len(waitingRows(m)) == 0 {
		return "no nudge is queued for " + state.TargetNames(m, state.Targets(m))
	}
	return ""
}

// A snapshot lacks the end of a long text.
func needKnownWaiting(m *state.Room) string {
	if why := needWaiting(m); why != "" {
		return why
	}
	for _, r := range waitingRows(m) {
		if _, ok := state.FullText(m, r.Name, &r.Waiting[0]); !ok {
			return "the nudge came from a different client, and only its beginning is " +
				"known here; " + m.Keys.KeyText(state.UnsendID) + " cancels it"
		}
	}
	return ""
}

func ofOpenAgent(why func(*state.Room) string) func(*state.Room) string {
	return func(m *state.Room) string {
		if no := needInspection(m); no != "" {
			return no
		}
		_, no := onNamed(m, []string{m.Dialogs.Inspection().Name},
			func() ([]feed.Effect, string) { return nil, why(m) })
		return no
	}
}

func fromDetails(do state.Task) state.Task {
	return func(m *state.Room) []feed.Effect {
		name := m.Dialogs.Inspection().Name
		m.Dialogs.CloseIn(keymap.InReader)
		todo, _ := onNamed(m, []string{name}, func() ([]feed.Effect, string) { return do(m), "" })
		return todo
	}
}

func askUnsend(m *state.Room) []feed.Effect {
	nudges := state.QueuedNudges(waitingRows(m), false)
	return askLive(m, aboutLeft(m, state.RemainingNudges(nudges), state.NotQueued, unsendQuestion))
}

func unsendQuestion(m *state.Room, nudges []state.QueuedNudge) question {
	rows := state.RecipientsOf(nudges)
	var commands []city.Command
	var body []string
	for _, n := range nudges {
		commands = append(commands, city.Unsend{Agent: n.Agent.Name, ID: n.Send.ID})
		body = append(body, n.Agent.Shown+": "+panel.Quoted(n.Send))
	}
	what := widget.Count(len(commands), "nudge") + " to " + state.TargetNames(m, rows)
	return question{title: "Cancel " + what + "?", verb: "cancel", count: len(rows), of: "agents",
		body: body,
		do: func(m *state.Room) []feed.Effect {
			state.Unmark(m, commands)
			todo := state.SendCommands(m, "canceling", what, commands...)
			state.ExpectUnsent(m, commands)
			return todo
		}}
}

// The text leaves the queue first, so that it is typed only once.
func askSendNow(m *state.Room) []feed.Effect {
	nudges := state.QueuedNudges(waitingRows(m), true)
	return askLive(m, aboutLeft(m, state.RemainingNudges(nudges), state.NotQueued, sendNowQuestion))
}

func sendNowQuestion(m *state.Room, nudges []state.QueuedNudge) question {
	rows := state.RecipientsOf(nudges)
	var first, commands []city.Command
	body := []string{"The text will be appended to the input line, and the line will be submitted."}
	for _, n := range nudges {
		r, s := n.Agent, n.Send
		text, _ := state.FullText(m, r.Name, s)
		first = append(first, city.Unsend{Agent: r.Name, ID: s.ID})
		commands = append(commands, city.Nudge{Agent: r.Name, Text: text, Now: true})
		body = append(body, r.Shown+": "+panel.Quoted(s))
		if s.Why != "" {
			body[len(body)-1] += " (" + widget.Plain(s.Why) + ")"
		}
	}
	return question{title: "Send to " + state.TargetNames(m, rows) + " now?", verb: "send now",
		count: len(rows), of: "agents",
		body: body,
		do: func(m *state.Room) []feed.Effect {
			what := state.TargetNames(m, rows)
			state.Unmark(m, commands)
			todo := state.SendCommands(m, "sending to", what, commands...)
			for i, c := range commands {
				// keep the text: once it has left the queue, this is the only copy
				n := c.(city.Nudge)
				state.RememberSent(m, n.Text)
				state.ExpectDelivery(m, state.DraftTo{To: []string{n.Agent},
					Unsent: state.AsDraft(n.Text)}, i)
			}
			for i, e := range todo {
				if p, ok := e.(feed.SendCommands); ok {
					p.Prerequisites = first
					todo[i] = p
				}
			}
			state.ExpectUnsent(m, first)
			return todo
		}}
}

func sendLine(m *state.Room, args []string) ([]feed.Effect, string) {
	if why := needRunning(m); why != "" {
		return nil, why
	}
	return deliver(m, state.Targets(m), args[0], state.AsDraft(args[0]), state.DraftTo{}), ""
}

func nudgeLine(m *state.Room, args []string) ([]feed.Effect, string) {
	return onNamed(m, args[:1], func() ([]feed.Effect, string) {
		if len(args) < 2 {
			return nil, "the text after the name is missing"
		}
		return sendLine(m, args[1:])
	})
}

// The argument is free text.
func noWords(*state.Room, []string) []state.Word { return nil }
