package details

import (
	"fmt"

	"gcity/city"
	"gcity/describe"
	"gcity/themes"
	"gcity/tui/widget"
)

const maxCrashLines = 12

// Crashes returns an agent's state and the reason for it, followed by the agent's crashes with their last output.
func Crashes(src *Source, d *Inspection, w int) []string {
	r := src.Agents.Find(d.Name)
	if r == nil {
		return []string{"This agent is no longer part of the city."}
	}
	p := newPage(src)
	p.showState(r)
	if r.Crashes > 0 {
		p.Show("crashes", fmt.Sprintf("%d counted", r.Crashes))
	}
	if d.About != nil && d.About.Spec != nil {
		for _, text := range describe.RestartLines(d.About.Spec)[1:] {
			p.Show("", p.Paint(themes.Dim, text))
		}
	}
	switch {
	case d.Problem != "":
		p.Add("", p.Paint(themes.Bad, "The agent's crashes cannot be read: "+d.Problem))
	case d.About == nil:
		p.Add("", p.Paint(themes.Dim, "loading "+p.Glyphs.More))
	case len(d.About.Crashes) == 0:
		p.Add("", p.Paint(themes.Dim,
			"The event log contains no crashes of this agent in the last seven days."))
	}
	if d.About == nil {
		return p.Lines
	}
	for i := range d.About.Crashes {
		p.showCrash(&d.About.Crashes[i], w)
	}
	return p.Lines
}

func (p *page) showCrash(c *city.Crash, w int) {
	p.Add("", p.Paint(themes.Title, widget.Clock(c.At, p.Now))+"  "+
		p.Paint(themes.Bad, crashText(c))+
		p.Paint(themes.Dim, "  "+widget.Ago(c.At, p.Now)))
	said := widget.PlainLines(c.Output)
	if n := len(said) - maxCrashLines; n > 0 {
		p.Dim("  " + p.Glyphs.More + " " + widget.Count(n, "line") + " before")
		said = said[n:]
	}
	for _, text := range said {
		p.Add("  " + text)
	}
	if len(said) == 0 && !c.NoStart {
		p.Dim("  no output")
	}
	if c.File != "" {
		p.Dim("  stored output: " + outputFile(p.Source, c.File, w-20))
	}
}
