package details

import (
	"strings"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/widget"
)

const promptShown = 8

// Prompt returns the whole prompt.
func Prompt(src *Source, d *Inspection) []string {
	p := newPage(src)
	switch {
	case src.Agents.Find(d.Name) == nil:
		p.Add("This agent is no longer part of the city.")
		return p.Lines
	case d.Problem != "":
		p.Add(p.Paint(themes.Bad, "The prompt is not available: "+d.Problem))
		return p.Lines
	case d.About == nil:
		p.Dim("loading " + p.Glyphs.More)
		return p.Lines
	case d.About.Prompt == "":
		p.Dim("This agent starts without a prompt.")
		return p.Lines
	}
	if file := d.About.PromptFile; file != "" {
		p.Show("from", inCity(src, file))
	}
	p.ShowKnown("passed", promptMethod(d.About))
	if len(p.Lines) > 0 {
		p.Add("")
	}
	p.Add(widget.AllPlain(d.About.Prompt)...)
	return p.Lines
}

func (p *page) showPrompt(in *city.Inspection) {
	if in.Prompt == "" {
		return
	}
	p.Heading("Prompt")
	text := widget.AllPlain(in.Prompt)
	if n := len(text) - promptShown; n > 1 {
		p.Add(text[:promptShown]...)
		p.Dim(p.Glyphs.More + " " + widget.Count(n, "more line") + "; " +
			p.KeyOf("reader.told") + " shows the whole prompt")
		return
	}
	p.Add(text...)
}

func promptSource(src *Source, in *city.Inspection) string {
	way := promptMethod(in)
	switch {
	case way == "":
		return "none"
	case in.PromptFile == "":
		return way
	}
	return inCity(src, in.PromptFile) + ", " + way
}

func promptMethod(in *city.Inspection) string {
	switch in.PromptMode {
	case "arg":
		return "as the last argument of the command"
	case "flag":
		return strings.TrimSpace("as the argument of the flag " + widget.Plain(in.PromptFlag))
	case "typed":
		return "typed when the agent is ready"
	case "none":
		return "not passed; the agent can request it with `gc prime`"
	}
	return widget.Plain(in.PromptMode)
}
