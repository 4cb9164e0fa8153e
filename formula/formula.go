// Package formula expands recipes into work. It reads *.formula.toml files, and reports their errors with positions.
// If several layers contain a formula with the same name, it selects the file to use. It converts ("cooks") a formula
// to a molecule, which a store can save.
package formula

import (
	"fmt"
	"slices"
	"strings"

	"gcity/internal/toml"
)

// Suffix is the end of every formula file's name. The part before it is the formula's name.
const Suffix = ".formula.toml"

// Limits for a formula.
const (
	MaxSize  = 256 << 10 // maximum size of a file in bytes
	MaxSteps = 1000
	MaxVars  = 100
	// maximum length of a formula's name, a step's ID or a variable's name, in characters
	MaxName  = 64
	MaxTitle = 500 // maximum length of a title after cooking, in bytes
	MaxText  = 256 << 10
)

// Formula is a valid formula, as read from its file.
type Formula struct {
	Name        string
	Description string // can contain {{variables}}
	Version     string
	Vars        []Var  // in file order
	Steps       []Step // in file order; at least one
	Source      string // path of the formula's file

	Warnings toml.Problems
}

// Var is a variable that a formula declares.
type Var struct {
	Name        string
	Description string
	Required    bool // must be given a value unless it has a default
	Default     string
	HasDefault  bool
}

// Step is one step of a formula.
type Step struct {
	ID, Title, Description string
	Needs                  []string // IDs of the steps that must be done first
}

// Parse parses the formula in data. file is the file name that problems mention. The error is a toml.Problems.
func Parse(file string, data []byte) (*Formula, error) {
	return read(toml.Read(file, data, MaxSize), file)
}

// Load reads a file and parses it.
func Load(path string) (*Formula, error) {
	doc, err := toml.Load(path, path, MaxSize)
	if err != nil {
		return nil, fmt.Errorf("cannot read the formula: %w", err)
	}
	return read(doc, path)
}

func read(doc *toml.Doc, file string) (*Formula, error) {
	if p := doc.Problems(); len(p) > 0 {
		return nil, p
	}
	root := doc.Root()
	f := &Formula{Source: file}
	f.Name = nameOf(root, "formula", "a formula needs a name: formula = \"…\"")
	f.Description = root.Text("description")
	f.Version = version(root)
	f.Vars = vars(root)
	f.Steps = steps(root)
	f.warnUndeclared(root)
	// other programs also read formulas and support more keys, so an unknown key is only a warning
	root.WarnUnknown("formula", "description", "version", "vars", "steps")
	if p := doc.Problems(); len(p) > 0 {
		return nil, p
	}
	if stem, ok := strings.CutSuffix(file[strings.LastIndexByte(file, '/')+1:], Suffix); ok &&
		stem != f.Name {
		root.Warn("formula", "is %q, but the file is called %s; commands use the name %q", f.Name,
			stem+Suffix, stem)
	}
	f.Warnings = doc.Warnings()
	return f, nil
}

func nameOf(t toml.Table, key, missing string) string {
	name := t.Text(key)
	switch wrong := NameProblem(name); {
	case !t.Has(key):
		t.Wrong("", "%s", missing)
	case wrong != "":
		t.Wrong(key, "%s", wrong)
	}
	return name
}

// NameProblem returns why text is not a valid name for a formula, step or automation, or "".
func NameProblem(text string) string {
	switch {
	case text == "":
		return "is empty; a name is required"
	case len(text) > MaxName:
		return fmt.Sprintf("is %d characters long; the limit is %d", len(text), MaxName)
	case strings.ContainsFunc(text, func(r rune) bool {
		return !letter(r) && !strings.ContainsRune("._-", r)
	}) || !letter(rune(text[0])):
		return fmt.Sprintf(
			`invalid name %q: use letters, digits, ".", "_" and "-", `+
				`and begin with a letter or digit`, text)
	}
	return ""
}

func letter(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

func version(t toml.Table) string {
	if !t.Has("version") {
		return ""
	}
	if text, ok := t.Scalar("version"); ok {
		return text
	}
	t.Wrong("version", "must be a string or a number")
	return ""
}

func vars(root toml.Table) []Var {
	table, _ := root.Table("vars")
	var out []Var
	for _, name := range table.Keys() {
		if len(out) == MaxVars {
			table.Wrong(name, "is one variable too many; the limit is %d", MaxVars)
			break
		}
		if !isVar(name) {
			table.Wrong(name,
				`invalid variable %q: use letters, digits, "_" and "-", `+
					`and begin with a letter or "_"`, name)
		}
		t, _ := table.Table(name)
		v := Var{Name: name, Description: t.Text("description"),
			Required: t.Flag("required", false), HasDefault: t.Has("default")}
		if v.HasDefault {
			var ok bool
			if v.Default, ok = t.Scalar("default"); !ok {
				t.Wrong("default", "must be a string: put it in quotes")
			}
			if v.Required {
				t.Wrong("default", "is never used, because required = true requires a value; "+
					"keep only one of the two")
			}
		}
		t.WarnUnknown("description", "required", "default")
		out = append(out, v)
	}
	return out
}

func isVar(name string) bool {
	if name == "" || len(name) > MaxName || name[0] == '-' || '0' <= name[0] && name[0] <= '9' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !letter(r) && r != '_' && r != '-'
	})
}

func steps(root toml.Table) []Step {
	tables := root.Tables("steps")
	switch {
	case !root.Has("steps"), root.Empty("steps"):
		root.Wrong("", "a formula needs steps: add [[steps]] with an id and a title for each")
		return nil
	case len(tables) > MaxSteps:
		tables[MaxSteps].Wrong("", "is one step too many; the limit is %d", MaxSteps)
		return nil
	}
	out := make([]Step, len(tables))
	first := make(map[string]toml.Table, len(tables))
	for i, t := range tables {
		s := &out[i]
		s.ID = nameOf(t, "id", "this step has no id; every step needs one: id = \"…\"")
		if before, twice := first[s.ID]; twice && s.ID != "" {
			t.Wrong("id", "step %q already exists on line %d", s.ID, before.Place("id").Line)
		} else {
			first[s.ID] = t
		}
		s.Title = t.Text("title")
		if strings.TrimSpace(s.Title) == "" {
			t.Wrong("title", "this step has no title; every step needs one: title = \"…\"")
		}
		if strings.ContainsFunc(s.Title, hidden) {
			t.Wrong("title", "has several lines or invisible characters; a title must be one "+
				"line of text")
		}
		s.Description = t.Text("description")
		// in other programs this key is called depends_on
		s.Needs = append(t.Texts("needs"), t.Texts("depends_on")...)
		t.WarnUnknown("id", "title", "description", "needs", "depends_on")
	}
	readNeeds(out, tables)
	return out
}

func hidden(r rune) bool {
	return r < ' ' || 0x7f <= r && r < 0xa0 || r == 0x2028 || r == 0x2029
}

func ids(all []Step) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = s.ID
	}
	return out
}

// RequiredVars returns the required variables without a default.
func (f *Formula) RequiredVars() []string {
	var out []string
	for _, v := range f.Vars {
		if v.Required && !v.HasDefault {
			out = append(out, v.Name)
		}
	}
	return out
}

func (f *Formula) hasVariable(name string) bool {
	return slices.ContainsFunc(f.Vars, func(v Var) bool { return v.Name == name })
}
