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

// Values contains the values for a template.
type Values struct {
	CityRoot  string // absolute path of the city's folder
	AgentName string // qualified name
	// name of the declared agent or pool
	TemplateName  string
	RigName       string
	WorkDir       string // absolute path of the working folder
	IssuePrefix   string // ID prefix of the agent's beads
	Branch        string // branch that is checked out in WorkDir
	DefaultBranch string
	WorkQuery     string // shell command that lists the agent's work
	// shell command that assigns work to the agent; {} is replaced with the bead's ID
	SlingQuery string

	// the agent's configured variables, by name; the fields above take precedence over them
	Env map[string]string
	// Session returns the name of an agent's session. If it is nil, the session has the agent's name.
	Session func(name string) string
}

// Draft is a template with the values that are already known. It is immutable.
type Draft struct {
	Template *Template
	Values   Values
}

// Names returns the names of the values that every template has.
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

// Limits for one rendering. A step is one execution of a block. Work is the number of bytes that functions produce.
const (
	maxSteps = 20_000
	maxWork  = 64 << 20
	maxWide  = 3       // maximum number of digits of a width or precision in printf
	maxFmt   = 4 << 10 // maximum length of a format in bytes
)

type budget struct {
	ctx          context.Context
	steps, bytes int
}

type limitError struct{ why string }

func (e *limitError) Error() string { return e.why }

func (b *budget) step() error {
	if b.steps--; b.steps < 0 {
		return &limitError{fmt.Sprintf("it takes more than %d steps; does it loop endlessly?",
			maxSteps)}
	}
	if b.steps%64 == 0 && b.ctx.Err() != nil {
		return &limitError{"it took too long"}
	}
	return nil
}

func (b *budget) spend(n int) error {
	switch b.bytes -= n; {
	case b.ctx.Err() != nil:
		return &limitError{"it took too long"}
	case n > 8*MaxText || b.bytes < 0:
		return &limitError{fmt.Sprintf("it is too long; the limit of a prompt is %d KiB",
			MaxText>>10)}
	}
	return nil
}

// functions returns a template's functions. If b is nil, they must not be called.
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

func base(name string) string {
	if name == "" {
		return ""
	}
	return path.Base(name)
}

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

type limitedText struct{ strings.Builder }

func (p *limitedText) Write(data []byte) (int, error) {
	if p.Len()+len(data) > MaxText {
		return 0, &limitError{fmt.Sprintf("it is too long; the limit of a prompt is %d KiB",
			MaxText>>10)}
	}
	return p.Builder.Write(data)
}
