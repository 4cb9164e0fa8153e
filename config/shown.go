package config

import (
	"gcity/internal/toml"
	"regexp"
	"strings"
	"sync"
)

// mark matches an unexpanded {{.ConfigDir}}.
var mark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\{ *\.ConfigDir *\}\}`)
})

func (c printer) movedRows(a *Agent, all []row) (out []row, notes []string) {
	folder := c.folderOf(a.Origin)
	quoted := strings.Trim(toml.Quote(folder), `"`)
	if c.topologyPrompts[a.Qualified()] {
		notes = append(notes, "its prompt uses fragments that this file does not contain; "+
			"copy them from the topology to prompts/shared in the city")
	}
	if note := c.providerNote(a); note != "" {
		notes = append(notes, toml.Visible(note))
	}
	for _, r := range all {
		switch r.key {
		case "prompt_template", "inject_fragments":
			if c.topologyPrompts[a.Qualified()] {
				r.key = "# " + r.key
			}
		case "dir", "pre_start", "session_setup", "session_setup_script":
			if folder == c.Path {
				break
			}
			if r.value = mark().ReplaceAllLiteralString(r.value, quoted); strings.Contains(r.value,
				".ConfigDir") {
				notes = append(notes, "in "+r.key+", {{.ConfigDir}} stands for a different folder "+
					"in this file")
			}
		}
		out = append(out, r)
	}
	return out, notes
}

func (c printer) omittedParts(secrets bool) []string {
	var out []string
	if secrets {
		out = append(out, "secrets are shown as *** or …")
	}
	for _, p := range c.cityTopologies {
		if p.Formulas.Dir != "" {
			out = append(out, "this file does not contain the formulas and automations from "+
				"the topology "+p.Topology.Name)
		}
	}
	return out
}
