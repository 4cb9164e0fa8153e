package tui

import (
	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// inspectActions returns the actions about the details of an agent.
func inspectActions() []action {
	r := []keymap.Zone{keymap.InReader}
	return []action{
		{ID: "agent.crashes", Key: keymap.Bind("show the agent's crashes with its last output"),
			In:  []keymap.Zone{keymap.Everywhere},
			Why: needAgent, Run: showCrashes},
		{ID: "agent.told",
			Key: keymap.Bind("show the agent's prompt"),
			In:  []keymap.Zone{keymap.Everywhere}, Why: needAgent, Run: showPrompt},
		{ID: "reader.told", Key: keymap.Bind("from an agent's details: show the whole prompt", "p"),
			In: r, Why: needDossier, Run: showPrompt},
		{ID: "reader.crashes", Key: keymap.Bind("from an agent's details: show its crashes", "l"),
			In: r, Why: needDossier, Run: showCrashes},
		{ID: "reader.release", Key: keymap.Bind(
			"from an agent's details or crashes: release the agent", "u"),
			In: r, Why: needHeldDossier, Run: releaseRead},
	}
}

func needDossier(m *model) string {
	if m.dialogs.dossier() == nil {
		return "this text shows " + m.dialogs.reader().Title + ", not an agent"
	}
	return ""
}

func needHeldDossier(m *model) string {
	if why := needDossier(m); why != "" {
		return why
	}
	if m.mode == ReadOnly {
		return "this control room is read-only"
	}
	if r := m.Agents.Find(m.dialogs.dossier().Name); r == nil || !r.Releasable() {
		return "nothing to release: only agents in quarantine, in backoff or draining can " +
			"be released"
	}
	return ""
}

// releaseRead releases the agent of the open details, regardless of marks.
func releaseRead(m *model) []feed.Effect {
	r := m.Agents.Find(m.dialogs.dossier().Name)
	m.dialogs.CloseIn(keymap.InReader)
	var command city.Command = city.Release{Agent: r.Name}
	if r.State == city.Draining {
		command = city.Undrain{Agent: r.Name}
	}
	return carry(m, "releasing", r.Shown, []city.Command{command})
}

func showAgent(m *model) []feed.Effect {
	r := singleAgent(m)
	d := &details.Inspection{Name: r.Name}
	openReader(m, &reader{Title: r.Shown, About: agentText{Inspection: d}, Lines: func(w int) []string {
		return widget.WrapAll(append(details.Agent(m.details(), d.Name, w),
			details.Rest(m.details(), d, w)...), w)
	}})
	askAbout(m, d)
	return nil
}

// readerKeys returns the keys for the open text, except scrolling and closing.
func readerKeys(m *model) []string {
	if name := m.dialogs.eventAgent(); name != "" && needReadAgent(m) == "" {
		return []string{m.keys.KeyOf("reader.agent") + " selects " + widget.Plain(name)}
	}
	if m.dialogs.openMessage() != nil && m.mode != ReadOnly {
		return m.keys.Hints("reader.reply", "reply", "reader.archive", "archive")
	}
	r, ok := m.dialogs.about().(agentText)
	if !ok {
		return nil
	}
	var keys []string
	if !r.crashes && r.About != nil && len(r.About.Crashes) > 0 {
		keys = append(keys, m.keys.KeyOf("reader.crashes")+" crashes")
	}
	if !r.prompt && r.About != nil && r.About.Prompt != "" {
		keys = append(keys, m.keys.KeyOf("reader.told")+" prompt")
	}
	if needEditableDossier(m) == "" && !r.crashes {
		keys = append(keys, m.keys.KeyOf("reader.edit")+" edits its configuration")
	}
	if needHeldDossier(m) == "" {
		keys = append(keys, m.keys.KeyOf("reader.release")+" releases it")
	}
	if m.keys.ByID("reader.unsend").Refused(m) == "" && !r.crashes && !r.prompt {
		keys = append(keys, m.keys.KeyOf("reader.unsend")+" cancels the queued texts")
	}
	if m.keys.ByID("reader.send.now").Refused(m) == "" && !r.crashes && !r.prompt {
		keys = append(keys, m.keys.KeyOf("reader.send.now")+" sends the next text now")
	}
	return keys
}

// showPrompt opens the prompt of the agent of the open details or, without details, of the selected agent.
func showPrompt(m *model) []feed.Effect {
	d := &details.Inspection{Name: m.Agents.Chosen}
	if known := m.dialogs.dossier(); known != nil {
		d = known
	}
	r := m.Agents.Find(d.Name)
	if r == nil {
		return nil
	}
	openReader(m, &reader{Title: "prompt of " + r.Shown, About: agentText{Inspection: d, prompt: true},
		Lines: func(w int) []string { return widget.WrapAll(details.Prompt(m.details(), d), w) }})
	if d.About == nil && d.Asked == 0 {
		askAbout(m, d)
	}
	return nil
}

// enterAgent shows the crashes of an agent in quarantine, and the terminal of any other agent.
func enterAgent(m *model) []feed.Effect {
	if m.focus == panel.IDQuarantine {
		return showCrashes(m)
	}
	return zoomIn(m)
}

// showCrashes shows the crashes of the agent of the open details or, without details, of the selected agent.
func showCrashes(m *model) []feed.Effect {
	d := &details.Inspection{Name: m.Agents.Chosen}
	if known := m.dialogs.dossier(); known != nil {
		d = known
	}
	r := m.Agents.Find(d.Name)
	if r == nil {
		return nil
	}
	openReader(m, &reader{Title: "crashes of " + r.Shown, About: agentText{Inspection: d, crashes: true},
		Lines: func(w int) []string {
			return widget.WrapAll(details.Crashes(m.details(), d, w), w)
		}})
	if d.About == nil && d.Asked == 0 {
		askAbout(m, d)
	}
	return nil
}
