package config

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/pelletier/go-toml/v2/unstable"
)

// shape is what a node is in the file.
type shape int

const (
	shapeOther shape = iota // float, date, time
	shapeString
	shapeBool
	shapeInt
	shapeArray
	shapeTable
	shapeTables // from [[…]] headers
)

func (s shape) String() string {
	return [...]string{"a number or date of another kind", "a string", "true or false", "a whole number", "a list", "a table",
		"a list of tables"}[s]
}

// span is a range of bytes of the file.
type span struct{ start, end int }

// node is one value of a file and where it stands. Arrays and lists of tables have their elements as kids, without keys.
type node struct {
	key   string
	shape shape
	text  string // the decoded string; other scalars as they are written
	kids  []*node
	index map[string]*node // of kids, once there are many

	at    int  // offset of the key, of a header's bracket, or of an element
	value span // of the value, or of the header's line without the end of line
	line  span // of the whole "key = value", zero for elements and headers
	// How the table is written: by a header (value is its range), inline (value too), or only by dotted keys.
	header, inline bool
}

// get finds a member of a table; nil if there is none.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	if n.index != nil {
		return n.index[key]
	}
	for _, k := range n.kids {
		if k.key == key {
			return k
		}
	}
	return nil
}

func (n *node) add(k *node) *node {
	n.kids = append(n.kids, k)
	switch {
	case n.index != nil:
		n.index[k.key] = k
	case n.shape == shapeTable && len(n.kids) > 16:
		n.index = make(map[string]*node, 64)
		for _, k := range n.kids {
			n.index[k.key] = k
		}
	}
	return k
}

// fault is something wrong at an offset of a file.
type fault struct {
	at  int
	key string
	msg string
}

const everywhere = -1

func (f *fault) Error() string { return f.msg }

// Limits on what a file may hold; see also MaxSize and MaxAgents. They are far above any city that is meant.
const (
	maxKeys  = 200_000
	maxDepth = 32
)

// tree reads a file into nodes. Its grammar is checked, but not its sense: that a key is there twice is for duplicates to
// say, and other contradictions for the strict decoder.
func tree(data []byte) (*node, *fault) {
	b := &builder{data: data, root: &node{shape: shapeTable}}
	b.table = b.root
	b.p.Reset(data)
	for b.p.NextExpression() {
		if err := b.expression(b.p.Expression()); err != nil {
			return nil, err
		}
	}
	if err := b.p.Error(); err != nil {
		var pe *unstable.ParserError
		f := &fault{msg: err.Error()}
		if errors.As(err, &pe) {
			f.msg = pe.Message
			if len(pe.Highlight) > 0 {
				f.at = int(b.p.Range(pe.Highlight).Offset)
			}
		}
		return nil, f
	}
	return b.root, nil
}

type builder struct {
	p     unstable.Parser
	data  []byte
	root  *node
	table *node // where keys go
}

func (b *builder) expression(e *unstable.Node) *fault {
	switch e.Kind {
	case unstable.Table, unstable.ArrayTable:
		return b.header(e)
	case unstable.KeyValue:
		return b.keyValue(b.table, e)
	}
	return nil
}

func (b *builder) header(e *unstable.Node) *fault {
	parent, last, err := b.walk(b.root, e.Key())
	if err != nil {
		return err
	}
	at := bytes.LastIndexByte(b.data[:last.Raw.Offset], '\n') + 1
	at += bytes.IndexByte(b.data[at:], '[')
	end := int(last.Raw.Offset + last.Raw.Length)
	end += bytes.IndexByte(b.data[end:], ']') + 1
	key := string(last.Data)
	if e.Kind == unstable.Table {
		t := parent.get(key)
		if t == nil || t.header || t.shape != shapeTable { // a table written twice is kept apart: duplicates finds it
			t = parent.add(&node{key: key, shape: shapeTable})
		}
		t.at, t.value, t.header = at, span{at, end}, true
		b.table = t
		return nil
	}
	list := parent.get(key)
	if list == nil {
		list = parent.add(&node{key: key, shape: shapeTables, at: at})
	}
	if list.shape != shapeTables {
		return &fault{at: at, msg: fmt.Sprintf("[[%s]] was written as %s above", key, list.shape)}
	}
	b.table = list.add(&node{shape: shapeTable, at: at, value: span{at, end + 1}, header: true})
	return nil
}

// walk goes down from t along all parts of a dotted key but the last, which it returns, making tables on the way.
func (b *builder) walk(t *node, parts unstable.Iterator) (*node, *unstable.Node, *fault) {
	for parts.Next() {
		part := parts.Node()
		at := int(part.Raw.Offset)
		if parts.IsLast() {
			return t, part, nil
		}
		next := t.get(string(part.Data))
		if next == nil {
			next = t.add(&node{key: string(part.Data), shape: shapeTable, at: at})
		}
		if next.shape == shapeTables && len(next.kids) > 0 {
			next = next.kids[len(next.kids)-1]
		}
		if next.shape != shapeTable {
			return nil, nil, &fault{at: at, msg: fmt.Sprintf("%q was written as %s above, so nothing can be put into it", part.Data, next.shape)}
		}
		t = next
	}
	return nil, nil, &fault{msg: "a key without a name"}
}

func (b *builder) keyValue(t *node, e *unstable.Node) *fault {
	first := -1
	for it := e.Key(); it.Next(); {
		first = int(it.Node().Raw.Offset)
		break
	}
	parent, last, err := b.walk(t, e.Key())
	if err != nil {
		return err
	}
	n := &node{key: string(last.Data), at: int(last.Raw.Offset)}
	n.line = span{first, int(e.Raw.Offset + e.Raw.Length)}
	v := int(last.Raw.Offset + last.Raw.Length)
	v += bytes.IndexByte(b.data[v:], '=') + 1
	for v < n.line.end && (b.data[v] == ' ' || b.data[v] == '\t') {
		v++
	}
	n.value = span{v, n.line.end}
	parent.add(n)
	return b.fill(n, e.Value())
}

// fill sets a node's value.
func (b *builder) fill(n *node, v *unstable.Node) *fault {
	switch v.Kind {
	case unstable.String:
		n.shape, n.text = shapeString, string(v.Data)
	case unstable.Bool:
		n.shape, n.text = shapeBool, string(v.Data)
	case unstable.Integer:
		n.shape, n.text = shapeInt, string(v.Data)
	case unstable.InlineTable:
		n.shape, n.inline = shapeTable, true
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				if err := b.keyValue(n, it.Node()); err != nil {
					return err
				}
			}
		}
	case unstable.Array:
		n.shape = shapeArray
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.Comment {
				continue
			}
			at := int(it.Node().Raw.Offset)
			if at == 0 { // a list within a list has no range of its own
				at = n.at
			}
			if err := b.fill(n.add(&node{at: at}), it.Node()); err != nil {
				return err
			}
		}
	}
	return nil
}
