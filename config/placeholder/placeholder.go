// Package placeholder expands the templates of a configuration. It does not perform any I/O.
package placeholder

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"gcity/internal/suggest"
	"gcity/internal/toml"
)

// Values contains the values that a template can use.
type Values struct {
	City, CityName string // the city's name
	CityRoot       string // absolute path
	ConfigDir      string // folder of the file that declares the agent
	Agent          string // qualified name
	Name           string // name without the rig
	Rig            string
	Session        string
	Dir            string // working folder as configured
	WorkDir        string // absolute path of the folder
}

// Max is the size limit in bytes of a template and of its expansion.
const Max = 64 << 10

// Expand expands a template, and rejects references to the fields in unknown. The language is text/template without
// loops and definitions, so every expansion terminates.
func Expand(text string, v Values, unknown ...string) (string, error) {
	if out, ok := plain(text, v, unknown); ok {
		return out, nil
	}
	if len(text) > Max {
		return "", fmt.Errorf("is a template of %d bytes; at most %d are allowed", len(text), Max)
	}
	t, err := template.New("").Option("missingkey=error").Funcs(functions()).Parse(text)
	if err != nil {
		return "", fmt.Errorf("is not a valid template: %s", plainly(err))
	}
	if err := allowed(t, unknown); err != nil {
		return "", err
	}
	var out capped
	if err := t.Execute(&out, v); err != nil {
		return "", fmt.Errorf("cannot be rendered: %s", plainly(err))
	}
	return out.String(), nil
}

// plain expands a template that contains only fields, a hundred times faster than text/template.
func plain(text string, v Values, unknown []string) (string, bool) {
	var b strings.Builder
	for {
		before, rest, more := strings.Cut(text, "{{")
		b.WriteString(before)
		if !more {
			return b.String(), b.Len() <= Max
		}
		field, after, closed := strings.Cut(rest, "}}")
		name, isField := strings.CutPrefix(field, ".")
		value, known := v.get(name)
		if !closed || !isField || !known || slices.Contains(unknown, name) ||
			b.Len()+len(value) > Max {
			return "", false
		}
		b.WriteString(value)
		text = after
	}
}

func (v *Values) get(name string) (string, bool) {
	switch name {
	case "City", "CityName":
		return v.City, true
	case "CityRoot":
		return v.CityRoot, true
	case "ConfigDir":
		return v.ConfigDir, true
	case "Agent":
		return v.Agent, true
	case "Name":
		return v.Name, true
	case "Rig":
		return v.Rig, true
	case "Session":
		return v.Session, true
	case "Dir":
		return v.Dir, true
	case "WorkDir":
		return v.WorkDir, true
	}
	return "", false
}

func plainly(err error) string {
	msg := strings.TrimPrefix(err.Error(), "template: ")
	if _, after, ok := strings.Cut(msg, ": "); ok && strings.HasPrefix(msg, ":") {
		msg = after
	}
	return msg
}

// capped is a strings.Builder that accepts at most Max bytes.
type capped struct{ strings.Builder }

var errTooLong = errors.New("the result is too long")

func (c *capped) Write(p []byte) (int, error) {
	if c.Len()+len(p) > Max {
		return 0, errTooLong
	}
	return c.Builder.Write(p)
}

// maxWork limits the text in bytes that the functions of one expansion produce.
const maxWork = 16 * Max

// functions returns the functions of text/template that produce text, with limits on what they accept and produce.
// Without them, a template could use up all memory: a pipeline of 40 functions can double its text 40 times.
func functions() template.FuncMap {
	left := maxWork
	limited := func(do func(args ...any) string) func(args ...any) (string, error) {
		return func(args ...any) (string, error) {
			size := 0
			for _, arg := range args {
				if text, ok := arg.(string); ok {
					size += len(text)
				} else {
					size += len(fmt.Sprint(arg))
				}
			}
			if size > Max {
				return "", errTooLong
			}
			out := do(args...)
			if left -= len(out); len(out) > Max || left < 0 {
				return "", errTooLong
			}
			return out, nil
		}
	}
	return template.FuncMap{
		"print": limited(fmt.Sprint), "html": limited(template.HTMLEscaper),
		"js": limited(template.JSEscaper), "urlquery": limited(template.URLQueryEscaper),
	}
}

func allowed(t *template.Template, unknown []string) error {
	if len(t.Templates()) > 1 {
		return errors.New("defines a template; definitions are not allowed here")
	}
	if t.Tree == nil || t.Root == nil {
		return nil
	}
	return allowedNode(t.Root, unknown)
}

func allowedNode(n parse.Node, unknown []string) error {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return nil
		}
		for _, kid := range n.Nodes {
			if err := allowedNode(kid, unknown); err != nil {
				return err
			}
		}
	case *parse.ActionNode:
		return allowedNode(n.Pipe, unknown)
	case *parse.IfNode:
		return allowedBranch(&n.BranchNode, unknown)
	case *parse.WithNode:
		return allowedBranch(&n.BranchNode, unknown)
	case *parse.PipeNode:
		if len(n.Decl) > 0 {
			return fmt.Errorf("sets %s; variables are not allowed here", n.Decl[0])
		}
		for _, c := range n.Cmds {
			for _, arg := range c.Args {
				if err := allowedNode(arg, unknown); err != nil {
					return err
				}
			}
		}
	case *parse.FieldNode:
		return allowedField(n.Ident, unknown)
	case *parse.IdentifierNode:
		switch n.Ident {
		case "and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "len", "index", "slice",
			"print", "urlquery", "html", "js":
		default:
			return fmt.Errorf("uses %s, which is not allowed here", n.Ident)
		}
	case *parse.TextNode, *parse.CommentNode, *parse.StringNode, *parse.NumberNode,
		*parse.BoolNode, *parse.DotNode:
	default:
		return fmt.Errorf("uses %s, which is not allowed here", n)
	}
	return nil
}

func allowedBranch(b *parse.BranchNode, unknown []string) error {
	for _, n := range []parse.Node{b.Pipe, b.List, b.ElseList} {
		if err := allowedNode(n, unknown); err != nil {
			return err
		}
	}
	return nil
}

func allowedField(ident, unknown []string) error {
	t := reflect.TypeFor[Values]()
	var names []string
	for i := range t.NumField() {
		if name := t.Field(i).Name; !slices.Contains(unknown, name) {
			names = append(names, name)
		}
	}
	name := strings.Join(ident, ".")
	if slices.Contains(unknown, name) {
		return fmt.Errorf("uses {{.%s}}, which has no value yet at this point; use one of %s", name,
			toml.List(names))
	}
	if slices.Contains(names, name) {
		return nil
	}
	near := suggest.Nearest(ident[0], names)
	if slices.Contains(names, ident[0]) {
		near = ident[0]
	}
	if near != "" {
		return fmt.Errorf("uses {{.%s}}, which does not exist; did you mean {{.%s}}?", name, near)
	}
	return fmt.Errorf("uses {{.%s}}, which does not exist; use one of %s", name, toml.List(names))
}
