package details

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gcity/city"
	"gcity/describe"
	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// MoreDetails returns what the snapshot does not say about an agent: configuration drift, crashes, and how the agent
// starts.
func MoreDetails(src *Source, d *Inspection) []string {
	p := newPage(src)
	if d.Problem != "" {
		p.Add("", p.Paint(themes.Bad, "Further details are not available: "+d.Problem))
	}
	if d.About == nil {
		if d.Problem == "" {
			p.Add("", p.Paint(themes.Dim, "loading further details "+p.Glyphs.More))
		}
		return p.Lines
	}
	for _, problem := range d.About.Problems {
		p.Add("", p.Paint(themes.Warn, widget.Plain(problem)))
	}
	p.showDrift(d.About.Drift)
	p.showCrashes(d.About.Crashes)
	p.showSpec(d.About)
	p.showPrompt(d.About)
	p.showEnvironment(d.About.Env)
	return p.Lines
}

func (p *page) showDrift(all []city.Difference) {
	if len(all) > 0 {
		p.Heading("Differs from the configuration")
	}
	for _, d := range all {
		p.Add(p.Paint(themes.Warn, widget.Plain(d.Field)) + " " + widget.Plain(d.What))
		switch {
		case d.Hidden:
			p.Show("", p.Paint(themes.Dim, "a secret: not shown"))
			continue
		case d.RunsUnknown:
			p.Show("  runs", p.Paint(themes.Dim, describe.Unrecorded))
		case d.What != "added":
			p.showText("  runs", d.Runs)
		}
		if d.What != "removed" {
			p.showText("  wants", d.Wants)
		}
	}
}

func (p *page) showText(label, text string) {
	lines := widget.PlainLines(text)
	if len(lines) == 0 {
		lines = []string{p.Paint(themes.Dim, "nothing")}
	}
	p.ShowAll(label, lines)
}

func (p *page) showCrashes(all []city.Crash) {
	room := 0
	for i := range all {
		room = max(room, widget.Width(widget.Clock(all[i].At, p.Now)))
	}
	if len(all) > 0 {
		p.Heading("Crashes")
	}
	for i := range all {
		c := &all[i]
		text := p.Paint(themes.Dim, widget.Fit(widget.Clock(c.At, p.Now), room, "")) + "  " +
			p.Paint(themes.Bad, crashText(c))
		if said := widget.PlainLines(c.Output); len(said) > 0 {
			text += "  " + p.Paint(themes.Dim, said[len(said)-1])
		}
		p.Add(text)
	}
}

func crashText(c *city.Crash) string {
	if c.NoStart {
		return describe.NotStarted(widget.Plain(c.Why))
	}
	return panel.LastExit(&c.Exit)
}

func (p *page) showSpec(in *city.Inspection) {
	s := in.Spec
	p.Heading("Start")
	if s == nil {
		p.Dim("The active configuration does not declare this agent.")
		return
	}
	p.Show("terminal", fmt.Sprintf("%d columns, %d rows, provider %s", s.Cols, s.Rows,
		cmp.Or(widget.Plain(s.Provider), "-")))
	p.Show("ready", readyText(s))
	if s.Limits != "" {
		p.Show("", "which "+widget.Plain(s.Limits))
	}
	if s.Program != "" {
		p.Show("program", programText(s))
	}
	p.Show("prompt", promptSource(p.Source, in))
	if s.Overlay != "" {
		p.Show("overlay", "files from "+inCity(p.Source, s.Overlay)+
			", copied to the agent's folder")
	}
	if len(s.Hooks) > 0 {
		p.Show("hooks", "files for "+widget.Plain(strings.Join(s.Hooks, ", "))+
			", copied to the agent's folder")
	}
	p.ShowAll("pre-start", plainAll(s.PreStart))
	after := slices.DeleteFunc(append(slices.Clone(s.Setup), s.SetupScript),
		func(line string) bool { return line == "" })
	p.ShowAll("after start", plainAll(after))
	p.ShowKnownPlain("first nudge", s.Nudge)
	if s.IdleTimeout <= 0 { // a timeout has a line of its own
		p.Show("idle", "no restart when idle")
	}
	p.ShowAll("restart", plainAll(describe.RestartLines(s)))
}

func plainAll(texts []string) []string {
	lines := make([]string, len(texts))
	for i, text := range texts {
		lines[i] = widget.Plain(text)
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

func readyText(s *city.Spec) string {
	if s.ReadyPrefix == "" && s.ReadyDelay <= 0 {
		return "immediately"
	}
	c := *s
	c.ReadyPrefix = widget.Plain(s.ReadyPrefix)
	return describe.Ready(&c)
}

func (p *page) showEnvironment(env []city.Variable) {
	for _, group := range describe.Environment(env) {
		p.Heading(strings.ToUpper(group.Title[:1]) + group.Title[1:])
		for _, v := range group.All {
			value := widget.Plain(v.Value)
			if v.Hidden {
				value = p.Paint(themes.Dim, "(a secret: not shown)")
			}
			p.Add(p.Paint(themes.Dim, widget.Plain(v.Name)+"=") + value)
		}
	}
}

// Inspection contains the latest inspection of the agent in the open reader.
type Inspection struct {
	Name      string
	About     *city.Inspection // the latest response; nil = none yet
	Problem   string           // why the latest request failed; "" = no error
	RequestID int              // ID of the request in progress; 0 = none
	StateKey  string           // state of the agent when the request was sent
}
