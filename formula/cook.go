package formula

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"gcity/internal/toml"
)

// maxCooked is the maximum total size of a molecule's titles and descriptions, in bytes.
const maxCooked = 4 << 20

// maxHeading is the maximum length, in bytes, of a title that is taken from a description.
const maxHeading = 120

// Molecule is the work that a formula describes: a root, and a child for each step.
type Molecule struct {
	Root  Item
	Steps []Item // in the formula's order
}

// Item is the root or a step of a molecule.
type Item struct {
	Ref string // for the root, the formula's name; for a step, the step's ID
	// one line of at most MaxTitle bytes
	Title       string
	Description string
	Needs       []string // the Ref of each step that must be done first
}

// Cook expands a formula with values for its variables. It replaces {{name}} with the variable's value or default, or
// with "". It leaves undeclared names unchanged. It returns an error if a variable is unknown or missing, or if a value
// makes a title invalid.
func Cook(f *Formula, vars map[string]string) (Molecule, error) {
	values, err := f.values(vars)
	if err != nil {
		return Molecule{}, err
	}
	m := Molecule{Root: Item{Ref: f.Name}, Steps: make([]Item, len(f.Steps))}
	if m.Root.Description, err = f.text("its description", f.Description, values); err != nil {
		return Molecule{}, err
	}
	m.Root.Title = heading(f.Name, m.Root.Description)
	size := len(m.Root.Description)
	for i, s := range f.Steps {
		item := Item{Ref: s.ID, Needs: slices.Clone(s.Needs)}
		if item.Title, err = f.title(s, values); err != nil {
			return Molecule{}, err
		}
		if item.Description, err = f.text("the description of step "+s.ID, s.Description,
			values); err != nil {
			return Molecule{}, err
		}
		if size += len(item.Title) + len(item.Description); size > maxCooked {
			return Molecule{}, fmt.Errorf("formula %s expands to more than %d MB with these "+
				"variables; use shorter values", f.Name, maxCooked>>20)
		}
		m.Steps[i] = item
	}
	return m, nil
}

func (f *Formula) values(vars map[string]string) (map[string]string, error) {
	var names []string
	out := make(map[string]string, len(f.Vars))
	for _, v := range f.Vars {
		names = append(names, v.Name)
		value, given := vars[v.Name]
		switch {
		case given && (!v.Required || strings.TrimSpace(value) != ""):
			out[v.Name] = value
		case v.Required && (given || !v.HasDefault):
			about := ""
			if v.Description != "" {
				about = " (" + v.Description + ")"
			}
			return nil, fmt.Errorf("formula %s needs the variable %s%s; give it a value: "+
				"--var %s=VALUE", f.Name, v.Name, about, v.Name)
		default:
			out[v.Name] = v.Default
		}
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if f.hasVariable(name) {
			continue
		}
		if near := toml.Meant(name, names); near != "" {
			return nil, fmt.Errorf("formula %s has no variable %q; did you mean %q?", f.Name, name,
				near)
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("formula %s has no variables, so %q cannot be set",
				f.Name, name)
		}
		return nil, fmt.Errorf("formula %s has no variable %q; its variables are %s", f.Name, name,
			strings.Join(names, ", "))
	}
	return out, nil
}

func (f *Formula) title(s Step, values map[string]string) (string, error) {
	// a title is one line, so join the lines of a value
	title := strings.Join(strings.FieldsFunc(replace(s.Title, values), hidden), " ")
	switch title = strings.TrimSpace(title); {
	case title == "":
		return "", fmt.Errorf("formula %s: the title of step %s, %q, is empty with these variables",
			f.Name, s.ID, s.Title)
	case len(title) > MaxTitle:
		return "", fmt.Errorf("formula %s: the title of step %s has %d bytes with these "+
			"variables; the limit is %d. Put longer text into the description", f.Name, s.ID,
			len(title), MaxTitle)
	}
	return title, nil
}

func heading(name, description string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(description), "\n")
	title := strings.TrimSpace(strings.Join(strings.FieldsFunc(first, hidden), " "))
	if title == "" {
		return name
	}
	if len(title) > maxHeading {
		end := maxHeading
		for end > 0 && !utf8.RuneStart(title[end]) {
			end--
		}
		title = strings.TrimRight(title[:end], " ") + "…"
	}
	return title
}

func (f *Formula) text(what, text string, values map[string]string) (string, error) {
	out := replace(text, values)
	switch {
	case len(out) > MaxText:
		return "", fmt.Errorf("formula %s: %s has %d bytes with these variables; the limit is %d",
			f.Name, what, len(out), MaxText)
	case strings.IndexByte(out, 0) >= 0:
		return "", fmt.Errorf("formula %s: %s contains a NUL character with these "+
			"variables; remove it", f.Name, what)
	}
	return out, nil
}

func replace(text string, values map[string]string) string {
	const longest = MaxName + 20 // maximum length of the text between the braces, including spaces
	var b strings.Builder
	for len(values) > 0 && b.Len() <= MaxText {
		open := strings.Index(text, "{{")
		if open < 0 {
			break
		}
		inner := text[open+2:]
		end := strings.Index(inner[:min(len(inner), longest)], "}}")
		value, declared := values[strings.Trim(inner[:max(end, 0)], " ")]
		if declared {
			b.WriteString(text[:open])
			b.WriteString(value)
			text = inner[end+2:]
		} else { // another variable may begin within the braces
			b.WriteString(text[:open+1])
			text = text[open+1:]
		}
	}
	b.WriteString(text)
	return b.String()
}
