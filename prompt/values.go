package prompt

import (
	"context"
	"fmt"
	"maps"
	"path"
	"reflect"
	"strings"
	"text/template"
)

// Values is what a template is filled in with.
type Values struct {
	CityRoot  string // the city's folder, absolute
	AgentName string // qualified
	// the name that the configuration has for it: of a pool's member, the pool's
	TemplateName  string
	RigName       string
	WorkDir       string // absolute
	IssuePrefix   string // of the ids of its work
	Branch        string // that is checked out in WorkDir
	DefaultBranch string
	WorkQuery     string // a shell line that shows its work
	SlingQuery    string // a shell line that gives it some: {} stands for the id

	// of the agent itself, each under its own name; the values above go first
	Env     map[string]string
	Session func(name string) string // what an agent's session is called; nil = the name itself
}

// Draft is a template with what is known of its values. Immutable.
type Draft struct {
	Template *Template
	Values   Values
}

// Names are the values that every template has.
func Names() []string {
	return []string{"CityRoot", "AgentName", "TemplateName", "RigName", "WorkDir", "IssuePrefix",
		"Branch", "DefaultBranch", "WorkQuery", "SlingQuery"}
}

func (v *Values) data() map[string]string {
	out := make(map[string]string, len(v.Env)+10)
	maps.Copy(out, v.Env)
	for i, value := range []string{v.CityRoot, v.AgentName, v.TemplateName, v.RigName, v.WorkDir,
		v.IssuePrefix, v.Branch, v.DefaultBranch, v.WorkQuery, v.SlingQuery} {
		out[Names()[i]] = value
	}
	return out
}

// Bounds of one rendering. A step is one way through a block, work what functions put together, in bytes.
const (
	maxSteps = 20_000
	maxWork  = 64 << 20
	maxWide  = 3       // digits of a width or a precision in printf
	maxFmt   = 4 << 10 // bytes of a format
)

// budget is what is left of one rendering. It is its goroutine's own.
type budget struct {
	ctx          context.Context
	steps, bytes int
}

// limitError says which bound was met.
type limitError struct{ why string }

func (e *limitError) Error() string { return e.why }

// step takes one.
func (b *budget) step() error {
	if b.steps--; b.steps < 0 {
		return &limitError{fmt.Sprintf("it takes more than %d steps; does it repeat something "+
			"without end?", maxSteps)}
	}
	if b.steps%64 == 0 && b.ctx.Err() != nil {
		return &limitError{"it was not done in time"}
	}
	return nil
}

// spend takes the bytes of something that is to be put together.
func (b *budget) spend(n int) error {
	switch b.bytes -= n; {
	case b.ctx.Err() != nil:
		return &limitError{"it was not done in time"}
	case n > 8*MaxText || b.bytes < 0:
		return &limitError{fmt.Sprintf("it becomes too long; a prompt of %d KiB is the longest",
			MaxText>>10)}
	}
	return nil
}

// functions are what a template may call. The builtin ones that put texts together are bounded; with a nil budget
// none may be called.
func functions(b *budget, v *Values) template.FuncMap {
	joined := func(times int, do func(args ...any) string) func(args ...any) (string, error) {
		return func(args ...any) (string, error) {
			if err := b.spend(times * size(args...)); err != nil {
				return "", err
			}
			text := do(args...)
			if len(text) > MaxText {
				return "", b.spend(9 * MaxText)
			}
			return text, nil
		}
	}
	return template.FuncMap{
		"cmd":      func() string { return "gc" },
		"basename": func(name string) string { return base(name) },
		"session": func(name string) string {
			if v == nil || v.Session == nil {
				return name
			}
			return v.Session(name)
		},
		"print": joined(2, fmt.Sprint), "println": joined(2, fmt.Sprintln),
		"html": joined(32, template.HTMLEscaper), "js": joined(32, template.JSEscaper),
		"urlquery": joined(32, template.URLQueryEscaper),
		"printf": func(format string, args ...any) (string, error) {
			if err := b.spend(printed(format, args)); err != nil {
				return "", err
			}
			return joined(0, func(args ...any) string {
				return fmt.Sprintf(format, args...)
			})(args...)
		},
		tick: func() (string, error) { return "", b.step() },
	}
}

// base is the last part of a qualified name, "" of an empty one.
func base(name string) string {
	if name == "" {
		return ""
	}
	return path.Base(name)
}

// size is how long values are at most when they are printed.
func size(args ...any) int {
	n := 0
	for _, a := range args {
		switch a := a.(type) {
		case string:
			n += len(a)
		case map[string]string:
			for k, v := range a {
				n += len(k) + len(v) + 8
			}
		default:
			n += 64
			if v := reflect.ValueOf(a); v.IsValid() && v.Kind() == reflect.String {
				n += v.Len()
			}
		}
	}
	return n
}

// printed is how long a format becomes at most, and more than there is for one that asks for too much.
func printed(format string, args []any) int {
	const tooMuch = 9 * MaxText
	if len(format) > maxFmt || strings.Contains(format, "*") {
		return tooMuch
	}
	digits := 0
	for _, r := range format {
		if digits++; r < '0' || r > '9' {
			digits = 0
		}
		if digits > maxWide {
			return tooMuch
		}
	}
	longest := 0
	for _, a := range args {
		longest = max(longest, size(a))
	}
	return len(format) + strings.Count(format, "%")*(4*longest+1000)
}

// paper is what is rendered onto: MaxText bytes of it.
type paper struct{ strings.Builder }

func (p *paper) Write(data []byte) (int, error) {
	if p.Len()+len(data) > MaxText {
		return 0, &limitError{fmt.Sprintf("it becomes too long; a prompt of %d KiB is the longest",
			MaxText>>10)}
	}
	return p.Builder.Write(data)
}
