package details

import (
	"fmt"

	"gcity/describe"
	"gcity/themes"
	"gcity/tui/widget"
)

const maxCrashLines = 12

// Crashes returns an agent's state and the reason for it, followed by the agent's crashes with their last output.
func Crashes(src *Source, d *Inspection, w int) []string {
	r := src.Agents.Find(d.Name)
	a, ok := src.Snap.Agent(d.Name)
	if r == nil || !ok {
		return []string{"This agent is no longer part of the city."}
	}
	lines := stateFields(src, r, a)
	if r.Crashes > 0 {
		lines = append(lines, src.Look.Field("crashes", fmt.Sprintf("%d counted", r.Crashes)))
	}
	if d.About != nil && d.About.Spec != nil {
		for _, text := range describe.RestartLines(d.About.Spec)[1:] {
			lines = append(lines, src.Look.Field("", src.Look.Paint(themes.Dim, text)))
		}
	}
	switch {
	case d.Problem != "":
		lines = append(lines, "", src.Look.Paint(themes.Bad, "The agent's crashes cannot be read: "+
			d.Problem))
	case d.About == nil:
		lines = append(lines, "", src.Look.Paint(themes.Dim, "loading "+src.Look.Glyphs.More))
	case len(d.About.Crashes) == 0:
		lines = append(lines, "", src.Look.Paint(themes.Dim,
			"The event log contains no crashes of this agent in the last seven days."))
	}
	if d.About == nil {
		return lines
	}
	for i := range d.About.Crashes {
		c := &d.About.Crashes[i]
		lines = append(lines, "", src.Look.Paint(themes.Title, widget.Clock(c.At, src.Now))+"  "+
			src.Look.Paint(themes.Bad, crashText(c))+
			src.Look.Paint(themes.Dim, "  "+widget.Age(src.Now.Sub(c.At))+" ago"))
		said := widget.PlainLines(c.Output)
		if n := len(said) - maxCrashLines; n > 0 {
			lines = append(lines, src.Look.Paint(themes.Dim,
				"  "+src.Look.Glyphs.More+" "+widget.Count(n, "line")+" before"))
			said = said[n:]
		}
		for _, text := range said {
			lines = append(lines, "  "+text)
		}
		if len(said) == 0 && !c.NoStart {
			lines = append(lines, src.Look.Paint(themes.Dim, "  no output"))
		}
		if c.File != "" {
			lines = append(lines, src.Look.Paint(themes.Dim, "  stored output: "+
				outputFile(src, c.File, w-20)))
		}
	}
	return lines
}
