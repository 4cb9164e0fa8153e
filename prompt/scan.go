package prompt

import (
	"strings"
	"text/template/parse"
)

// scan collects the fragments and values that a definition uses. It inserts nodes that count the steps of a rendering,
// because a rendering can repeat parts of a template.
type scan struct {
	file   File
	calls  []named
	fields []Field
}

// tick is the name of the function that counts steps. Templates cannot call it.
const tick = "_step"

func step(pos parse.Pos) parse.Node {
	call := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pos,
		Args: []parse.Node{parse.NewIdentifier(tick).SetPos(pos)}}
	pipe := &parse.PipeNode{NodeType: parse.NodePipe, Pos: pos, Cmds: []*parse.CommandNode{call}}
	return &parse.ActionNode{NodeType: parse.NodeAction, Pos: pos, Pipe: pipe}
}

func (s *scan) node(n parse.Node, tested bool) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, kid := range n.Nodes {
			s.node(kid, false)
		}
		n.Nodes = append([]parse.Node{step(n.Pos)}, n.Nodes...)
	case *parse.ActionNode:
		s.node(n.Pipe, false)
	case *parse.IfNode:
		s.branch(&n.BranchNode, true)
	case *parse.WithNode:
		s.branch(&n.BranchNode, true)
	case *parse.RangeNode:
		s.branch(&n.BranchNode, false)
	case *parse.TemplateNode:
		s.calls = append(s.calls, named{n.Name, n.Line})
		s.node(n.Pipe, false)
	case *parse.PipeNode:
		if n == nil {
			return
		}
		for _, c := range n.Cmds {
			for _, arg := range c.Args {
				s.node(arg, tested)
			}
		}
	case *parse.ChainNode:
		s.node(n.Node, tested)
	case *parse.FieldNode:
		s.field(n.Ident[0], n.Pos, tested)
	case *parse.VariableNode:
		if n.Ident[0] == "$" && len(n.Ident) > 1 {
			s.field(n.Ident[1], n.Pos, tested)
		}
	}
}

func (s *scan) branch(b *parse.BranchNode, tests bool) {
	s.node(b.Pipe, tests)
	s.node(b.List, false)
	s.node(b.ElseList, false)
}

func (s *scan) field(name string, pos parse.Pos, tested bool) {
	line := 1 + strings.Count(s.file.Text[:min(int(pos), len(s.file.Text))], "\n")
	s.fields = append(s.fields, Field{Name: name, File: s.file.Name, Line: line, Tested: tested})
}
