package tui

import (
	"strings"
	"time"

	"gcity/city"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// inspect asks what is known of an agent beyond the snapshot, and answers with one inspected.
type inspect struct {
	id    int
	agent string
}

func (inspect) effect() {}

// inspected is what an inspect came to.
type inspected struct {
	id      int
	about   *city.Inspection
	problem string // why there is no answer, "" = there is
}

// dossier is what has been heard of an agent that is looked at.
type dossier struct {
	name    string
	about   *city.Inspection // nil = nothing yet
	problem string           // why the newest could not be had, "" = it could
	asked   int              // the question under way, 0 = none
	sign    string           // how the agent was when it was asked about
}

// inspectDeadline bounds one look at an agent.
const inspectDeadline = 10 * time.Second

// inspectActions are about what is known of an agent.
func inspectActions() []action {
	r := []keymap.Zone{keymap.InReader}
	return []action{
		{ID: "agent.crashes", Key: keymap.Bind("show how the agent crashed, with its last words"),
			In:  []keymap.Zone{keymap.Everywhere},
			Why: needAgent, Run: showCrashes},
		{ID: "agent.told",
			Key: keymap.Bind("show the agent's prompt: what it is told at its start"),
			In:  []keymap.Zone{keymap.Everywhere}, Why: needAgent, Run: showTold},
		{ID: "reader.told", Key: keymap.Bind("from an agent's details: all of its prompt", "p"),
			In: r, Why: needDossier, Run: showTold},
		{ID: "reader.crashes", Key: keymap.Bind("from an agent's details: how it crashed", "l"),
			In: r, Why: needDossier, Run: showCrashes},
		{ID: "reader.release", Key: keymap.Bind("from an agent's details or crashes: release it",
			"u"), In: r, Why: needHeldDossier, Run: releaseRead},
	}
}

func needDossier(m *model) string {
	if m.dialogs.dossier() == nil {
		return "this text is not about an agent"
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
	if r := m.Agents.Find(m.dialogs.dossier().name); r == nil || !r.HeldBack() {
		return "nothing is held back: only an agent in quarantine or backoff, or one that " +
			"drains, is released"
	}
	return ""
}

// releaseRead releases the agent that is read about, and nobody else, whoever is marked.
func releaseRead(m *model) []effect {
	r := m.Agents.Find(m.dialogs.dossier().name)
	m.dialogs.CloseIn(keymap.InReader)
	var command city.Command = city.Release{Agent: r.Name}
	if r.State == city.Draining {
		command = city.Undrain{Agent: r.Name}
	}
	return carry(m, "releasing", r.Shown, []city.Command{command})
}

// showAgent opens an agent's details.
func showAgent(m *model) []effect {
	r := singleAgent(m)
	d := &dossier{name: r.Name}
	m.read(&reader{Title: r.Shown, About: agentText{dossier: d}, Lines: func(w int) []string {
		return widget.WrapAll(append(details(m, d.name, w), dossierLines(m, d, w)...), w)
	}})
	askAbout(m, d)
	return nil
}

// askAbout asks for what is known of an agent.
func askAbout(m *model, d *dossier) {
	m.seeks++
	d.asked, d.sign = m.seeks, signOf(m, d.name)
	m.todo = append(m.todo, inspect{id: d.asked, agent: d.name})
}

// signOf changes when there may be more to know of an agent.
func signOf(m *model, name string) string {
	a, ok := m.snap.Agent(name)
	if !ok {
		return ""
	}
	life, file := "", ""
	if a.Session != nil {
		life = a.Session.ID
	}
	if a.Exit != nil {
		file = a.Exit.File + a.Exit.At.String()
	}
	return strings.Join(append(a.Drift, string(a.State), life, file, m.snap.Config.Revision),
		"\x00")
}

// dossierChanged asks anew when the agent that is looked at is no longer as it was.
func dossierChanged(m *model) {
	d := m.dialogs.dossier()
	if d == nil {
		return
	}
	if sign := signOf(m, d.name); d.asked == 0 && sign != "" && sign != d.sign {
		askAbout(m, d)
	}
}

// heardAbout takes an answer in; one that nobody waits for any more is let go.
func heardAbout(m *model, in inspected) {
	d := m.dialogs.dossier()
	if d == nil || d.asked != in.id {
		return
	}
	m.ui++
	d.asked, d.problem = 0, widget.Plain(in.problem)
	if in.problem == "" {
		d.about = in.about
	}
	dossierChanged(m)
}

// readerKeys are the keys that do something about what is read, besides scrolling and closing.
func readerKeys(m *model) []string {
	if name := m.dialogs.eventAgent(); name != "" && needReadAgent(m) == "" {
		return []string{m.keys.KeyOf("reader.agent") + " selects " + widget.Plain(name)}
	}
	if m.dialogs.letter() != nil && m.mode != ReadOnly {
		return m.keys.Hints("reader.reply", "reply", "reader.archive", "archive")
	}
	r, ok := m.dialogs.about().(agentText)
	if !ok {
		return nil
	}
	var keys []string
	if !r.crashes && r.about != nil && len(r.about.Crashes) > 0 {
		keys = append(keys, m.keys.KeyOf("reader.crashes")+" crashes")
	}
	if !r.told && r.about != nil && r.about.Prompt != "" {
		keys = append(keys, m.keys.KeyOf("reader.told")+" prompt")
	}
	if needEditableDossier(m) == "" && !r.crashes {
		keys = append(keys, m.keys.KeyOf("reader.edit")+" edits where it is declared")
	}
	if needHeldDossier(m) == "" {
		keys = append(keys, m.keys.KeyOf("reader.release")+" releases it")
	}
	if m.keys.ByID("reader.unsend").Refused(m) == "" && !r.crashes && !r.told {
		keys = append(keys, m.keys.KeyOf("reader.unsend")+" takes texts back")
	}
	if m.keys.ByID("reader.send.now").Refused(m) == "" && !r.crashes && !r.told {
		keys = append(keys, m.keys.KeyOf("reader.send.now")+" sends the next one now")
	}
	return keys
}
