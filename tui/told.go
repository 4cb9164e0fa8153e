package tui

import (
	"strings"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/widget"
)

// toldShown is how many lines of a prompt stand in an agent's details.
const toldShown = 8

// showTold opens what an agent is told at its start: the one that is read about, else the selected one.
func showTold(m *model) []effect {
	d := &dossier{name: m.Agents.Chosen}
	if known := m.dialogs.dossier(); known != nil {
		d = known
	}
	r := m.Agents.Find(d.name)
	if r == nil {
		return nil
	}
	m.read(&reader{Title: "prompt of " + r.Shown, About: agentText{dossier: d, told: true},
		Lines: func(w int) []string { return widget.WrapAll(toldText(m, d), w) }})
	if d.about == nil && d.asked == 0 {
		askAbout(m, d)
	}
	return nil
}

// toldText is a prompt, all of it.
func toldText(m *model, d *dossier) []string {
	switch {
	case m.Agents.Find(d.name) == nil:
		return []string{"This agent is no longer part of the city."}
	case d.problem != "":
		return []string{m.look.Paint(themes.Bad, "Its prompt cannot be had: "+d.problem)}
	case d.about == nil:
		return []string{m.look.Paint(themes.Dim, "asking "+m.look.Glyphs.More)}
	case d.about.Prompt == "":
		return []string{m.look.Paint(themes.Dim, "It is told nothing at its start.")}
	}
	lines := toldFields(m, d.about)
	if len(lines) > 0 {
		lines = append(lines, "")
	}
	return append(lines, promptText(d.about.Prompt)...)
}

// toldLines are how a prompt begins, in an agent's details.
func toldLines(m *model, in *city.Inspection) []string {
	if in.Prompt == "" {
		return nil
	}
	text := promptText(in.Prompt)
	more := ""
	if n := len(text) - toldShown; n > 1 {
		text = text[:toldShown]
		more = m.look.Paint(themes.Dim, m.look.Glyphs.More+" "+widget.Count(n, "more line")+"; "+
			m.keys.KeyOf("reader.told")+" reads all of it")
	}
	lines := append(heading(m, "Prompt"), text...)
	if more != "" {
		lines = append(lines, more)
	}
	return lines
}

// toldFields say where a prompt is from and how it goes in.
func toldFields(m *model, in *city.Inspection) []string {
	var lines []string
	if in.PromptFile != "" {
		lines = append(lines, m.look.Field("from", inCity(m, in.PromptFile)))
	}
	if way := toldWay(in); way != "" {
		lines = append(lines, m.look.Field("goes in", way))
	}
	return lines
}

// givenText says in one line from where an agent's prompt is and how it goes in.
func givenText(m *model, in *city.Inspection) string {
	way := toldWay(in)
	switch {
	case way == "":
		return "none"
	case in.PromptFile == "":
		return way
	}
	return inCity(m, in.PromptFile) + ", " + way
}

// toldWay says how a prompt goes in, "" = there is none.
func toldWay(in *city.Inspection) string {
	switch in.PromptMode {
	case "arg":
		return "as the last argument of the command"
	case "flag":
		return strings.TrimSpace("as the argument of the flag " + widget.Plain(in.PromptFlag))
	case "typed":
		return "typed once it is ready"
	case "none":
		return "not at all: it can ask with `gc prime`"
	}
	return widget.Plain(in.PromptMode)
}

func promptText(prompt string) []string {
	var lines []string
	for part := range strings.SplitSeq(strings.TrimRight(prompt, "\n"), "\n") {
		lines = append(lines, widget.Plain(part))
	}
	return lines
}
