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
	switch {
	case src.Agents.Find(d.Name) == nil:
		return []string{"This agent is no longer part of the city."}
	case d.Problem != "":
		return []string{src.Look.Paint(themes.Bad, "The prompt is not available: "+d.Problem)}
	case d.About == nil:
		return []string{src.Look.Paint(themes.Dim, "loading "+src.Look.Glyphs.More)}
	case d.About.Prompt == "":
		return []string{src.Look.Paint(themes.Dim, "This agent starts without a prompt.")}
	}
	lines := promptFields(src, d.About)
	if len(lines) > 0 {
		lines = append(lines, "")
	}
	return append(lines, promptText(d.About.Prompt)...)
}

func promptLines(src *Source, in *city.Inspection) []string {
	if in.Prompt == "" {
		return nil
	}
	text := promptText(in.Prompt)
	more := ""
	if n := len(text) - promptShown; n > 1 {
		text = text[:promptShown]
		more = src.Look.Paint(themes.Dim, src.Look.Glyphs.More+" "+widget.Count(n, "more line")+
			"; "+
			src.KeyOf("reader.told")+" shows the whole prompt")
	}
	lines := append(heading(src, "Prompt"), text...)
	if more != "" {
		lines = append(lines, more)
	}
	return lines
}

func promptFields(src *Source, in *city.Inspection) []string {
	var lines []string
	if in.PromptFile != "" {
		lines = append(lines, src.Look.Field("from", inCity(src, in.PromptFile)))
	}
	if way := promptMethod(in); way != "" {
		lines = append(lines, src.Look.Field("passed", way))
	}
	return lines
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

func promptText(prompt string) []string {
	var lines []string
	for part := range strings.SplitSeq(strings.TrimRight(prompt, "\n"), "\n") {
		lines = append(lines, widget.Plain(part))
	}
	return lines
}
