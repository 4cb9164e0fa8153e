package formula

import (
	"strings"

	"gcity/internal/toml"
)

func (f *Formula) warnUndeclared(root toml.Table) {
	names := make([]string, len(f.Vars))
	for i, v := range f.Vars {
		names[i] = v.Name
	}
	look := func(t toml.Table, key, text string) {
		for _, name := range placeholders(text) {
			if f.hasVariable(name) {
				continue
			}
			if near := toml.Meant(name, names); near != "" {
				t.Warn(key, "{{%s}} is not a variable and stays as it is; did you mean {{%s}}?",
					name, near)
			} else {
				t.Warn(key, "{{%s}} is not a variable and stays as it is; add [vars.%s] "+
					"to declare it", name, name)
			}
		}
	}
	look(root, "description", f.Description)
	for i, t := range root.Tables("steps")[:len(f.Steps)] {
		look(t, "title", f.Steps[i].Title)
		look(t, "description", f.Steps[i].Description)
	}
}

func placeholders(text string) (names []string) {
	seen := map[string]bool{}
	for {
		open := strings.Index(text, "{{")
		if open < 0 {
			return names
		}
		text = text[open+2:]
		inner, _, closed := strings.Cut(text[:min(len(text), MaxName+20)], "}}")
		if name := strings.Trim(inner, " "); closed && isVar(name) && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
}
