package tui

import (
	"fmt"
	"path/filepath"
	"strings"

	"gcity/city"
	"gcity/describe"
	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// dossierLines are what is known of an agent beyond the snapshot: what differs, how it crashed, how it is started.
func dossierLines(m *model, d *dossier, w int) []string {
	var lines []string
	if d.problem != "" {
		lines = append(lines, "", m.look.Paint(themes.Bad, "The rest cannot be had: "+d.problem))
	}
	if d.about == nil {
		if d.problem == "" {
			lines = append(lines, "", m.look.Paint(themes.Dim,
				"asking for the rest "+m.look.Glyphs.More))
		}
		return lines
	}
	for _, p := range d.about.Problems {
		lines = append(lines, "", m.look.Paint(themes.Warn, widget.Plain(p)))
	}
	lines = append(lines, driftLines(m, d.about.Drift)...)
	lines = append(lines, crashSummary(m, d.about.Crashes)...)
	lines = append(lines, specLines(m, d.about)...)
	lines = append(lines, toldLines(m, d.about)...)
	return append(lines, envLines(m, d.about.Env)...)
}

func heading(m *model, text string) []string {
	return []string{"", m.look.Paint(themes.Title, text)}
}

// driftLines say, field by field, what runs and what is wanted.
func driftLines(m *model, all []city.Difference) []string {
	if len(all) == 0 {
		return nil
	}
	lines := heading(m, "Not as configured")
	for _, d := range all {
		lines = append(lines, m.look.Paint(themes.Warn, widget.Plain(d.Field))+" "+
			widget.Plain(d.What))
		switch {
		case d.Hidden:
			lines = append(lines, m.look.Field("", m.look.Paint(themes.Dim, "a secret: not shown")))
			continue
		case d.RunsUnknown:
			lines = append(lines, m.look.Field("  runs",
				m.look.Paint(themes.Dim, describe.Unrecorded)))
		case d.What != "added":
			lines = append(lines, fieldLines(m, "  runs", d.Runs)...)
		}
		if d.What != "removed" {
			lines = append(lines, fieldLines(m, "  wants", d.Wants)...)
		}
	}
	return lines
}

// fieldLines are a field whose text may have several lines.
func fieldLines(m *model, label, text string) []string {
	var lines []string
	for _, part := range widget.PlainLines(text) {
		lines = append(lines, m.look.Field(label, part))
		label = ""
	}
	if lines == nil {
		return []string{m.look.Field(label, m.look.Paint(themes.Dim, "nothing"))}
	}
	return lines
}

// crashSummary is a line for each crash, the newest first.
func crashSummary(m *model, all []city.Crash) []string {
	if len(all) == 0 {
		return nil
	}
	lines := heading(m, "Crashes")
	room := 0
	for i := range all {
		room = max(room, widget.Width(widget.Clock(all[i].At, m.now)))
	}
	for i := range all {
		c := &all[i]
		text := m.look.Paint(themes.Dim, widget.Fit(widget.Clock(c.At, m.now), room, "")) + "  " +
			m.look.Paint(themes.Bad, crashText(c))
		if said := widget.PlainLines(c.Output); len(said) > 0 {
			text += "  " + m.look.Paint(themes.Dim, said[len(said)-1])
		}
		lines = append(lines, text)
	}
	return lines
}

// crashText says how a life ended, or that it did not begin.
func crashText(c *city.Crash) string {
	if c.NoStart {
		return describe.NotStarted(widget.Plain(c.Why))
	}
	return panel.LastExit(&c.Exit)
}

// specLines are how an agent is started, and started again, as far as its details do not say so already.
func specLines(m *model, in *city.Inspection) []string {
	s := in.Spec
	if s == nil {
		return append(heading(m, "Start"), m.look.Paint(themes.Dim,
			"The configuration in force declares no such agent."))
	}
	lines := append(heading(m, "Start"),
		m.look.Field("terminal", fmt.Sprintf("%d columns, %d rows, by %s", s.Cols, s.Rows,
			orDash(widget.Plain(s.Provider)))),
		m.look.Field("ready", readyText(s)))
	if s.Limits != "" {
		lines = append(lines, m.look.Field("", "which "+widget.Plain(s.Limits)))
	}
	if s.Program != "" {
		lines = append(lines, m.look.Field("program", programText(s)))
	}
	lines = append(lines, m.look.Field("prompt", givenText(m, in)))
	if s.Overlay != "" {
		lines = append(lines, m.look.Field("overlay", "the files of "+inCity(m, s.Overlay)+
			", put into its folder"))
	}
	if len(s.Hooks) > 0 {
		lines = append(lines, m.look.Field("hooks",
			"files for "+widget.Plain(strings.Join(s.Hooks, ", "))+", put into its folder"))
	}
	label := "before it"
	for _, line := range s.PreStart {
		lines = append(lines, m.look.Field(label, widget.Plain(line)))
		label = ""
	}
	label = "after it"
	for _, line := range append(append([]string(nil), s.Setup...), s.SetupScript) {
		if line != "" {
			lines = append(lines, m.look.Field(label, widget.Plain(line)))
			label = ""
		}
	}
	if s.Nudge != "" {
		lines = append(lines, m.look.Field("is told", widget.Plain(s.Nudge)))
	}
	if s.IdleTimeout <= 0 { // else it stands above, with how long it has been quiet
		lines = append(lines, m.look.Field("idle", "never restarted for its silence"))
	}
	for i, text := range describe.RestartLines(s) {
		label := ""
		if i == 0 {
			label = "restart"
		}
		lines = append(lines, m.look.Field(label, widget.Plain(text)))
	}
	return lines
}

// programText names the program that an agent is, and says where nothing in the configuration does.
func programText(s *city.Spec) string {
	if s.Found {
		return widget.Plain(s.Program) +
			", the first that was found on this host: nothing names one"
	}
	return widget.Plain(s.Program)
}

// inCity is a path, below the city's folder relative to it.
func inCity(m *model, path string) string {
	if rel, err := filepath.Rel(m.snap.Path, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return widget.Plain(path)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// readyText says when an agent counts as running.
func readyText(s *city.Spec) string {
	if s.ReadyPrefix == "" && s.ReadyDelay <= 0 {
		return "at once"
	}
	c := *s
	c.ReadyPrefix = widget.Plain(s.ReadyPrefix)
	return describe.Ready(&c)
}

// envLines are an environment: what the configuration names, what the city sets, what is inherited.
func envLines(m *model, env []city.Variable) []string {
	var lines []string
	for _, group := range describe.Environment(env) {
		lines = append(lines, heading(m, strings.ToUpper(group.Title[:1])+group.Title[1:])...)
		for _, v := range group.All {
			value := widget.Plain(v.Value)
			if v.Hidden {
				value = m.look.Paint(themes.Dim, "(a secret: not shown)")
			}
			lines = append(lines, m.look.Paint(themes.Dim, widget.Plain(v.Name)+"=")+value)
		}
	}
	return lines
}
