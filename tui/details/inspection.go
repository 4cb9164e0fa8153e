package details

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

// MoreDetails returns what the snapshot does not say about an agent: configuration drift, crashes, and how the agent
// starts.
func MoreDetails(src *Source, d *Inspection, w int) []string {
	var lines []string
	if d.Problem != "" {
		lines = append(lines, "", src.Look.Paint(themes.Bad,
			"Further details are not available: "+d.Problem))
	}
	if d.About == nil {
		if d.Problem == "" {
			lines = append(lines, "", src.Look.Paint(themes.Dim,
				"loading further details "+src.Look.Glyphs.More))
		}
		return lines
	}
	for _, p := range d.About.Problems {
		lines = append(lines, "", src.Look.Paint(themes.Warn, widget.Plain(p)))
	}
	lines = append(lines, driftLines(src, d.About.Drift)...)
	lines = append(lines, crashSummary(src, d.About.Crashes)...)
	lines = append(lines, specLines(src, d.About)...)
	lines = append(lines, promptLines(src, d.About)...)
	return append(lines, envLines(src, d.About.Env)...)
}

func heading(src *Source, text string) []string {
	return []string{"", src.Look.Paint(themes.Title, text)}
}

func driftLines(src *Source, all []city.Difference) []string {
	if len(all) == 0 {
		return nil
	}
	lines := heading(src, "Differs from the configuration")
	for _, d := range all {
		lines = append(lines, src.Look.Paint(themes.Warn, widget.Plain(d.Field))+" "+
			widget.Plain(d.What))
		switch {
		case d.Hidden:
			lines = append(lines, src.Look.Field("",
				src.Look.Paint(themes.Dim, "a secret: not shown")))
			continue
		case d.RunsUnknown:
			lines = append(lines, src.Look.Field("  runs",
				src.Look.Paint(themes.Dim, describe.Unrecorded)))
		case d.What != "added":
			lines = append(lines, fieldLines(src, "  runs", d.Runs)...)
		}
		if d.What != "removed" {
			lines = append(lines, fieldLines(src, "  wants", d.Wants)...)
		}
	}
	return lines
}

func fieldLines(src *Source, label, text string) []string {
	var lines []string
	for _, part := range widget.PlainLines(text) {
		lines = append(lines, src.Look.Field(label, part))
		label = ""
	}
	if lines == nil {
		return []string{src.Look.Field(label, src.Look.Paint(themes.Dim, "nothing"))}
	}
	return lines
}

func crashSummary(src *Source, all []city.Crash) []string {
	if len(all) == 0 {
		return nil
	}
	lines := heading(src, "Crashes")
	room := 0
	for i := range all {
		room = max(room, widget.Width(widget.Clock(all[i].At, src.Now)))
	}
	for i := range all {
		c := &all[i]
		text := src.Look.Paint(themes.Dim, widget.Fit(widget.Clock(c.At, src.Now), room, "")) +
			"  " +
			src.Look.Paint(themes.Bad, crashText(c))
		if said := widget.PlainLines(c.Output); len(said) > 0 {
			text += "  " + src.Look.Paint(themes.Dim, said[len(said)-1])
		}
		lines = append(lines, text)
	}
	return lines
}

func crashText(c *city.Crash) string {
	if c.NoStart {
		return describe.NotStarted(widget.Plain(c.Why))
	}
	return panel.LastExit(&c.Exit)
}

func specLines(src *Source, in *city.Inspection) []string {
	s := in.Spec
	if s == nil {
		return append(heading(src, "Start"), src.Look.Paint(themes.Dim,
			"The active configuration does not declare this agent."))
	}
	lines := append(heading(src, "Start"),
		src.Look.Field("terminal", fmt.Sprintf("%d columns, %d rows, provider %s", s.Cols, s.Rows,
			orDash(widget.Plain(s.Provider)))),
		src.Look.Field("ready", readyText(s)))
	if s.Limits != "" {
		lines = append(lines, src.Look.Field("", "which "+widget.Plain(s.Limits)))
	}
	if s.Program != "" {
		lines = append(lines, src.Look.Field("program", programText(s)))
	}
	lines = append(lines, src.Look.Field("prompt", promptSource(src, in)))
	if s.Overlay != "" {
		lines = append(lines, src.Look.Field("overlay", "files from "+inCity(src, s.Overlay)+
			", copied to the agent's folder"))
	}
	if len(s.Hooks) > 0 {
		lines = append(lines, src.Look.Field("hooks",
			"files for "+widget.Plain(strings.Join(s.Hooks, ", "))+
				", copied to the agent's folder"))
	}
	label := "pre-start"
	for _, line := range s.PreStart {
		lines = append(lines, src.Look.Field(label, widget.Plain(line)))
		label = ""
	}
	label = "after start"
	for _, line := range append(append([]string(nil), s.Setup...), s.SetupScript) {
		if line != "" {
			lines = append(lines, src.Look.Field(label, widget.Plain(line)))
			label = ""
		}
	}
	if s.Nudge != "" {
		lines = append(lines, src.Look.Field("first nudge", widget.Plain(s.Nudge)))
	}
	if s.IdleTimeout <= 0 { // a timeout has a line of its own
		lines = append(lines, src.Look.Field("idle", "no restart when idle"))
	}
	for i, text := range describe.RestartLines(s) {
		label := ""
		if i == 0 {
			label = "restart"
		}
		lines = append(lines, src.Look.Field(label, widget.Plain(text)))
	}
	return lines
}

func programText(s *city.Spec) string {
	if s.Found {
		return widget.Plain(s.Program) +
			", the first one found on this host; none is configured"
	}
	return widget.Plain(s.Program)
}

func inCity(src *Source, path string) string {
	if rel, err := filepath.Rel(src.Snap.Path, path); err == nil && filepath.IsLocal(rel) {
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

func readyText(s *city.Spec) string {
	if s.ReadyPrefix == "" && s.ReadyDelay <= 0 {
		return "immediately"
	}
	c := *s
	c.ReadyPrefix = widget.Plain(s.ReadyPrefix)
	return describe.Ready(&c)
}

func envLines(src *Source, env []city.Variable) []string {
	var lines []string
	for _, group := range describe.Environment(env) {
		lines = append(lines, heading(src, strings.ToUpper(group.Title[:1])+group.Title[1:])...)
		for _, v := range group.All {
			value := widget.Plain(v.Value)
			if v.Hidden {
				value = src.Look.Paint(themes.Dim, "(a secret: not shown)")
			}
			lines = append(lines, src.Look.Paint(themes.Dim, widget.Plain(v.Name)+"=")+value)
		}
	}
	return lines
}

// Inspection contains the latest inspection of the agent in the open reader.
type Inspection struct {
	Name      string
	About     *city.Inspection // the latest response; nil = none yet
	Problem   string           // why the latest request failed; "" = no error
	RequestID int              // ID of the request in progress; 0 = none
	StateKey  string           // state of the agent when the request was sent
}
