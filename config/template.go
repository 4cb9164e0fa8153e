package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"text/template"
	"text/template/parse"

	"gcity/session"
)

// Vars is what a template may name. In session_template every value goes through session.Encode, and Session, WorkDir and
// Dir are not known yet; in dir, WorkDir and Dir are not.
type Vars struct {
	City, CityName string // the city's name
	CityRoot       string // absolute path of its folder
	ConfigDir      string // of the file that declares the agent
	Agent          string // qualified name
	Name           string // the same without a rig
	Rig            string
	Session        string // name of its sessions
	Dir            string // working folder as configured
	WorkDir        string // working folder, absolute
}

// Vars are the values for an agent's templates before its working folder is known.
func (c *City) Vars(a *Agent) Vars {
	return Vars{City: c.Workspace.Name, CityName: c.Workspace.Name, CityRoot: c.Path, ConfigDir: c.Path, Agent: a.Name,
		Name: a.Name, Session: a.SessionName}
}

// MaxExpanded is the size in bytes that a template and what it becomes may have.
const MaxExpanded = 64 << 10

// Expand fills a template in. The language is a part of text/template: fields, if, with, comparisons and the like. What
// loops, grows or defines is refused, so an expansion ends and is small.
func Expand(text string, v Vars) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	if len(text) > MaxExpanded {
		return "", fmt.Errorf("is a template of %d bytes; %d are the most", len(text), MaxExpanded)
	}
	t, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", fmt.Errorf("is no template: %s", plainly(err))
	}
	if err := allowed(t); err != nil {
		return "", err
	}
	var out capped
	if err := t.Execute(&out, v); err != nil {
		return "", fmt.Errorf("cannot be filled in: %s", plainly(err))
	}
	return out.String(), nil
}

// plainly takes the name of the template, which has none, out of an error.
func plainly(err error) string {
	msg := strings.TrimPrefix(err.Error(), "template: ")
	if _, after, ok := strings.Cut(msg, ": "); ok && strings.HasPrefix(msg, ":") {
		msg = after
	}
	return msg
}

// capped is a writer that takes MaxExpanded bytes.
type capped struct{ strings.Builder }

var errTooLong = errors.New("it becomes too long")

func (c *capped) Write(p []byte) (int, error) {
	if c.Len()+len(p) > MaxExpanded {
		return 0, errTooLong
	}
	return c.Builder.Write(p)
}

// allowed walks a template and refuses what it may not use.
func allowed(t *template.Template) error {
	if len(t.Templates()) > 1 {
		return errors.New("defines a template within a template; that cannot be done here")
	}
	if t.Tree == nil || t.Root == nil {
		return nil
	}
	return allowedNode(t.Root)
}

func allowedNode(n parse.Node) error {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return nil
		}
		for _, kid := range n.Nodes {
			if err := allowedNode(kid); err != nil {
				return err
			}
		}
	case *parse.ActionNode:
		return allowedNode(n.Pipe)
	case *parse.IfNode:
		return allowedBranch(&n.BranchNode)
	case *parse.WithNode:
		return allowedBranch(&n.BranchNode)
	case *parse.PipeNode:
		if len(n.Decl) > 0 {
			return fmt.Errorf("sets %s; variables cannot be used here", n.Decl[0])
		}
		for _, c := range n.Cmds {
			for _, arg := range c.Args {
				if err := allowedNode(arg); err != nil {
					return err
				}
			}
		}
	case *parse.FieldNode:
		return allowedField(n.Ident)
	case *parse.IdentifierNode:
		switch n.Ident {
		case "and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "len", "index", "slice", "print", "urlquery", "html", "js":
		default:
			return fmt.Errorf("uses %s, which cannot be used here", n.Ident)
		}
	case *parse.TextNode, *parse.CommentNode, *parse.StringNode, *parse.NumberNode, *parse.BoolNode, *parse.DotNode:
	default:
		return fmt.Errorf("uses %s, which cannot be used here", n)
	}
	return nil
}

func allowedBranch(b *parse.BranchNode) error {
	return errors.Join(allowedNode(b.Pipe), allowedNode(b.List), allowedNode(b.ElseList))
}

func allowedField(ident []string) error {
	t := reflect.TypeFor[Vars]()
	var names []string
	for i := range t.NumField() {
		names = append(names, t.Field(i).Name)
	}
	if _, ok := t.FieldByName(ident[0]); ok && len(ident) == 1 {
		return nil
	}
	name := strings.Join(ident, ".")
	if near := suggest(ident[0], names); near != "" {
		return fmt.Errorf("names {{.%s}}, which does not exist; did you mean {{.%s}}?", name, near)
	}
	return fmt.Errorf("names {{.%s}}, which does not exist; there are %s", name, list(names))
}

// sessionName fills in the name of an agent's sessions.
func (c *City) sessionName(a *Agent) (string, error) {
	v := c.Vars(a)
	for _, s := range []*string{&v.City, &v.CityName, &v.CityRoot, &v.ConfigDir, &v.Agent, &v.Name, &v.Rig} {
		*s = session.Encode(*s)
	}
	name, err := Expand(c.Workspace.SessionTemplate, v)
	if err != nil {
		return "", err
	}
	for _, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
		default:
			return "", fmt.Errorf("makes the name %q for the sessions of %q; letters, digits, \"_\" and \"-\" make one", name, a.Name)
		}
	}
	if name == "" || len(name) > maxSessionName {
		return "", fmt.Errorf("makes a name of %d letters for the sessions of %q; 1 to %d are possible", len(name), a.Name, maxSessionName)
	}
	return name, nil
}

const maxSessionName = 200
