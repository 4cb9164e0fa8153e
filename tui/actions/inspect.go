package actions

import (
	"cmp"

	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/palette"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func inspectActions() []state.Action {
	r := []keymap.Zone{keymap.InReader}
	return []state.Action{
		{ID: "agent.crashes", Key: keymap.Bind("show the agent's crashes with their last output"),
			Why: needAgent, Run: showCrashes},
		{ID: "agent.told",
			Key: keymap.Bind("show the agent's prompt"),
			Why: needAgent, Run: showPrompt},
		{ID: "reader.told", Key: keymap.Bind("from an agent's details: show the whole prompt", "p"),
			In: r, Why: needInspection, Run: showPrompt},
		{ID: "reader.crashes", Key: keymap.Bind("from an agent's details: show its crashes", "l"),
			In: r, Why: needInspection, Run: showCrashes},
		{ID: "reader.release", Key: keymap.Bind(
			"from an agent's details or crashes: release the agent", "u"),
			In: r, Why: needHeldAgent, Run: releaseOpen},
	}
}

func needInspection(m *state.Room) string {
	if m.Dialogs.Inspection() == nil {
		return "this page shows " + m.Dialogs.Reader().Title + ", not an agent"
	}
	return ""
}

func needHeldAgent(m *state.Room) string {
	if why := cmp.Or(needInspection(m), state.NeedWritable(m)); why != "" {
		return why
	}
	if r := m.Agents.Find(m.Dialogs.Inspection().Name); r != nil {
		return whyNotHeld(m, r)
	}
	return palette.OnlyHeld
}

func releaseOpen(m *state.Room) []feed.Effect {
	name := m.Dialogs.Inspection().Name
	for m.Dialogs.Reader() != nil {
		m.Dialogs.CloseIn(keymap.InReader)
	}
	todo, _ := onNamed(m, []string{name}, func() ([]feed.Effect, string) { return release(m), "" })
	return todo
}

func showAgent(m *state.Room) []feed.Effect {
	r := state.SingleAgent(m)
	d := &details.Inspection{Name: r.Name}
	openReader(m, &state.Reader{Title: r.Shown, About: state.AgentText{Inspection: d},
		Lines: func(w int) []string {
			return append(details.Agent(m.Details(), d, w),
				details.MoreDetails(m.Details(), d)...)
		}})
	state.RequestInspection(m, d)
	return nil
}

func readerKeys(m *state.Room) []string {
	if name := m.Dialogs.EventAgent(); name != "" && needOpenAgent(m) == "" {
		return []string{m.Keys.KeyText("reader.agent") + " selects " + widget.Plain(name)}
	}
	if a := state.SelectedProblem(m); a != nil {
		keys := []string{m.Keys.KeyText("reader.problem") + " goes to " + widget.Plain(a.Rows[0])}
		if m.Dialogs.Subject().(*state.CityText).Cursor(m) != "" {
			keys = append(keys, m.Keys.KeyText("reader.down")+" "+m.Keys.KeyText("reader.up")+
				" select another problem")
		}
		return keys
	}
	if m.Dialogs.OpenMessage() != nil && m.Mode != state.ReadOnly {
		return m.Keys.Hints("reader.reply", "reply", "reader.archive", "archive")
	}
	r, ok := m.Dialogs.Subject().(state.AgentText)
	if !ok {
		return nil
	}
	var keys []string
	add := func(id, does string, shown bool) {
		if shown && m.Keys.ByID(id).WhyUnavailable(m) == "" {
			keys = append(keys, m.Keys.KeyText(id)+" "+does)
		}
	}
	add("reader.crashes", "crashes", !r.Crashes && r.About != nil && len(r.About.Crashes) > 0)
	add("reader.told", "prompt", !r.Prompt && r.About != nil && r.About.Prompt != "")
	add("reader.edit", "edits its configuration", !r.Crashes)
	add("reader.release", "releases it", true)
	add("reader.unsend", "cancels the queued nudge", !r.Crashes && !r.Prompt)
	add("reader.send.now", "types the next queued nudge now", !r.Crashes && !r.Prompt)
	return keys
}

func showPrompt(m *state.Room) []feed.Effect {
	return showText(m, "prompt", state.AgentText{Prompt: true},
		func(d *details.Inspection, _ int) []string { return details.Prompt(m.Details(), d) })
}

func showCrashes(m *state.Room) []feed.Effect {
	return showText(m, "crashes", state.AgentText{Crashes: true},
		func(d *details.Inspection, w int) []string { return details.Crashes(m.Details(), d, w) })
}

// showText shows a text about the agent in the open reader, or else about the selected agent.
func showText(m *state.Room, what string, about state.AgentText,
	text func(d *details.Inspection, w int) []string) []feed.Effect {
	d := m.Dialogs.Inspection()
	if d == nil {
		d = &details.Inspection{}
		if r := state.SingleAgent(m); r != nil {
			d.Name = r.Name
		}
	}
	r := m.Agents.Find(d.Name)
	if r == nil {
		return nil
	}
	about.Inspection = d
	openPage(m, &state.Reader{Title: what + " of " + r.Shown, About: about,
		Lines: func(w int) []string { return text(d, w) }})
	if d.About == nil && d.RequestID == 0 {
		state.RequestInspection(m, d)
	}
	return nil
}

func openPage(m *state.Room, r *state.Reader) {
	r = withKeys(m, r)
	t, ok := m.Dialogs.Subject().(state.AgentText)
	switch {
	case ok && !t.Crashes && !t.Prompt:
		m.Dialogs.OpenOver(r)
	case ok:
		m.Dialogs.CloseIn(keymap.InReader)
		m.Dialogs.OpenOver(r)
	default:
		m.Dialogs.Open(r)
	}
}

func enterAgent(m *state.Room) []feed.Effect {
	if m.Focus == panel.IDQuarantine {
		return showCrashes(m)
	}
	return zoomIn(m)
}
