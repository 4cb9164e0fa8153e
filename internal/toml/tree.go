package toml

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Shape is the form in which a value is written in the file.
type Shape int

const (
	ShapeTime Shape = iota // a date, a time, or both
	ShapeString
	ShapeBool
	ShapeInt
	ShapeArray
	ShapeTable
	ShapeTables // written with [[…]] headers
	ShapeFloat
)

func (s Shape) String() string {
	return [...]string{"a date or time", "a string", "true or false",
		"a whole number", "a list", "a table", "a list of tables", "a floating-point number"}[s]
}

// Span is a range of bytes in the file.
type Span struct{ Start, End int }

// Node is a value in a file, with its position. Kids contains the members of a table or the elements of a list.
// Elements have no keys.
type Node struct {
	Key   string
	Shape Shape
	Text  string // decoded text of a string; other scalars as written in the file
	Kids  []*Node
	index map[string]*Node // kids by key; set only if there are many kids

	At int // offset of the key, of the bracket of a header, or of an element
	// where a table or element is first mentioned, or the last known offset before that; 0 if Line is set
	first int
	Value Span // range of the value, or of the header's line without the line ending
	Line  Span // range of the whole "key = value"; zero for elements and headers
	// a table with a header ([name]) or inline ({…}); neither = dotted keys
	Header, Inline bool
}

// Get returns a member of a table, or nil.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	if n.index != nil {
		return n.index[key]
	}
	for _, k := range n.Kids {
		if k.Key == key {
			return k
		}
	}
	return nil
}

// Add appends a member or an element and returns it.
func (n *Node) Add(k *Node) *Node {
	n.Kids = append(n.Kids, k)
	switch {
	case n.index != nil:
		n.index[k.Key] = k
	case n.Shape == ShapeTable && len(n.Kids) > 16:
		n.index = make(map[string]*Node, 64)
		for _, k := range n.Kids {
			n.index[k.Key] = k
		}
	}
	return k
}

// Fault is an error at an offset in a file.
type Fault struct {
	At  int
	Key string
	Msg string
}

// Everywhere is the value of Fault.At for a fault that concerns the whole file.
const Everywhere = -1

func (f *Fault) Error() string { return f.Msg }

const (
	maxKeys  = 200_000
	maxDepth = 32
)

// readTree builds the tree of a file. It is not strict; for example, it accepts duplicate keys.
func readTree(data []byte) (*Node, *Fault) {
	b := &builder{data: data, root: &Node{Shape: ShapeTable}}
	b.table = b.root
	b.p.Reset(data)
	for b.p.NextExpression() {
		if err := b.expression(b.p.Expression()); err != nil {
			return nil, err
		}
	}
	if err := b.p.Error(); err != nil {
		var pe *unstable.ParserError
		f := &Fault{Msg: err.Error()}
		if errors.As(err, &pe) {
			f.Msg = pe.Message
			if len(pe.Highlight) > 0 {
				f.At = int(b.p.Range(pe.Highlight).Offset)
			}
		}
		return nil, f
	}
	return b.root, nil
}

type builder struct {
	p     unstable.Parser
	data  []byte
	root  *Node
	table *Node
}

func (b *builder) expression(e *unstable.Node) *Fault {
	switch e.Kind {
	case unstable.Table, unstable.ArrayTable:
		return b.header(e)
	case unstable.KeyValue:
		return b.keyValue(b.table, e)
	}
	return nil
}

func (b *builder) header(e *unstable.Node) *Fault {
	parent, last, err := b.walk(b.root, e.Key(), true)
	if err != nil {
		return err
	}
	at := b.bracket(last)
	end := int(last.Raw.Offset + last.Raw.Length)
	end += bytes.IndexByte(b.data[end:], ']') + 1
	key := string(last.Data)
	if e.Kind == unstable.Table {
		t := parent.Get(key)
		if t == nil || t.Header ||
			t.Shape != ShapeTable {
			t = parent.Add(&Node{Key: key, Shape: ShapeTable, first: at})
		}
		t.At, t.Value, t.Header = at, Span{at, end}, true
		b.table = t
		return nil
	}
	list := parent.Get(key)
	if list == nil {
		list = parent.Add(&Node{Key: key, Shape: ShapeTables, At: at, first: at})
	}
	if list.Shape != ShapeTables {
		return &Fault{At: at, Msg: fmt.Sprintf("[[%s]] is defined as %s above", key, list.Shape)}
	}
	b.table = list.Add(
		&Node{Shape: ShapeTable, At: at, first: at, Value: Span{at, end + 1}, Header: true},
	)
	return nil
}

func (b *builder) bracket(part *unstable.Node) int {
	line := bytes.LastIndexByte(b.data[:part.Raw.Offset], '\n') + 1
	return line + bytes.IndexByte(b.data[line:], '[')
}

// walk follows a dotted key and creates missing tables. It returns the innermost table and the key's last part.
func (b *builder) walk(
	t *Node,
	parts unstable.Iterator,
	header bool,
) (*Node, *unstable.Node, *Fault) {
	for parts.Next() {
		part := parts.Node()
		at := int(part.Raw.Offset)
		if parts.IsLast() {
			return t, part, nil
		}
		next := t.Get(string(part.Data))
		if next == nil {
			next = t.Add(&Node{Key: string(part.Data), Shape: ShapeTable, At: at, first: at})
			if header {
				next.first = b.bracket(part)
			}
		}
		if next.Shape == ShapeTables && len(next.Kids) > 0 {
			next = next.Kids[len(next.Kids)-1]
		}
		if next.Shape != ShapeTable {
			return nil, nil, &Fault{
				At: at,
				Msg: fmt.Sprintf(
					"%q is defined as %s above, so nothing can be added to it",
					part.Data,
					next.Shape,
				),
			}
		}
		t = next
	}
	return nil, nil, &Fault{Msg: "a key without a name"}
}

func (b *builder) keyValue(t *Node, e *unstable.Node) *Fault {
	first := -1
	for it := e.Key(); it.Next(); {
		first = int(it.Node().Raw.Offset)
		break
	}
	parent, last, err := b.walk(t, e.Key(), false)
	if err != nil {
		return err
	}
	n := &Node{Key: string(last.Data), At: int(last.Raw.Offset)}
	n.Line = Span{first, int(e.Raw.Offset + e.Raw.Length)}
	v := int(last.Raw.Offset + last.Raw.Length)
	v += bytes.IndexByte(b.data[v:], '=') + 1
	for v < n.Line.End && (b.data[v] == ' ' || b.data[v] == '\t') {
		v++
	}
	n.Value = Span{v, n.Line.End}
	parent.Add(n)
	return b.fill(n, e.Value())
}

func (b *builder) fill(n *Node, v *unstable.Node) *Fault {
	switch v.Kind {
	case unstable.String:
		n.Shape, n.Text = ShapeString, string(v.Data)
	case unstable.Bool:
		n.Shape, n.Text = ShapeBool, string(v.Data)
	case unstable.Integer:
		n.Shape, n.Text = ShapeInt, string(v.Data)
	case unstable.Float:
		n.Shape, n.Text = ShapeFloat, string(v.Data)
	case unstable.LocalDate, unstable.LocalTime, unstable.LocalDateTime, unstable.DateTime:
		n.Shape, n.Text = ShapeTime, string(v.Data)
	case unstable.InlineTable:
		n.Shape, n.Inline = ShapeTable, true
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				if err := b.keyValue(n, it.Node()); err != nil {
					return err
				}
			}
		}
	case unstable.Array:
		n.Shape = ShapeArray
		first := max(n.Value.Start, n.first)
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.Comment {
				continue
			}
			at := int(it.Node().Raw.Offset)
			if at == 0 { // the parser returns no range for a list inside a list
				at = n.At
			} else {
				first = at
			}
			if err := b.fill(n.Add(&Node{At: at, first: first}), it.Node()); err != nil {
				return err
			}
		}
	}
	return nil
}

// TextOf returns the text of a scalar member of a table, or "".
func (n *Node) TextOf(key string) string {
	if k := n.Get(key); k != nil {
		return k.Text
	}
	return ""
}

// TablesOf returns a table itself, or the tables in a list.
func TablesOf(n *Node) []*Node {
	switch {
	case n == nil:
	case n.Shape == ShapeTable:
		return []*Node{n}
	case n.Shape == ShapeTables || n.Shape == ShapeArray:
		var out []*Node
		for _, kid := range n.Kids {
			if kid.Shape == ShapeTable {
				out = append(out, kid)
			}
		}
		return out
	}
	return nil
}
