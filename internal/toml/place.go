package toml

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// span is where a key and its value begin.
type span struct{ key, value int }

// places is where everything in a file stands, by path. The decoder that gives the values does not tell.
type places map[string]span

// sep joins the parts of a path; no key can contain it, since a file with NUL is refused. Elements of lists have their
// index as a part.
const sep = "\x00"

func below(path, part string) string {
	if path == "" {
		return part
	}
	return path + sep + part
}

func element(path string, i int) string { return below(path, strconv.Itoa(i)) }

// locator walks the file once more. The grammar and sense of the file have been checked.
type locator struct {
	p     unstable.Parser
	data  []byte
	found places
	lists map[string]int // how many elements a list of tables has so far
}

func locate(data []byte) places {
	l := &locator{data: data, found: places{}, lists: map[string]int{}}
	l.p.Reset(data)
	table := ""
	for l.p.NextExpression() {
		switch e := l.p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = l.header(e)
		case unstable.KeyValue:
			l.keyValue(table, e)
		}
	}
	return l.found
}

// header gives the path of the table that a header opens.
func (l *locator) header(e *unstable.Node) string {
	path, at := "", 0
	for it := e.Key(); it.Next(); {
		part := it.Node()
		path = below(path, string(part.Data))
		at = bytes.LastIndexByte(l.data[:part.Raw.Offset], '\n') + 1
		at += bytes.IndexByte(l.data[at:], '[')
		l.note(path, span{at, at})
		if it.IsLast() && e.Kind == unstable.ArrayTable {
			l.lists[path]++
		}
		if n := l.lists[path]; n > 0 {
			path = element(path, n-1)
		}
	}
	l.note(path, span{at, at})
	return path
}

// note keeps the first place of a path: a table may be opened by its member.
func (l *locator) note(path string, at span) {
	if _, there := l.found[path]; !there {
		l.found[path] = at
	}
}

func (l *locator) keyValue(table string, e *unstable.Node) {
	path, key, end := table, 0, 0
	for it := e.Key(); it.Next(); {
		part := it.Node()
		path = below(path, string(part.Data))
		key, end = int(part.Raw.Offset), int(part.Raw.Offset+part.Raw.Length)
		l.note(path, span{key, key})
	}
	v := end + bytes.IndexByte(l.data[end:], '=') + 1
	v += len(l.data[v:]) - len(bytes.TrimLeft(l.data[v:], " \t"))
	l.found[path] = span{key, v}
	l.value(path, e.Value(), v)
}

func (l *locator) value(path string, v *unstable.Node, at int) {
	switch v.Kind {
	case unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				l.keyValue(path, it.Node())
			}
		}
	case unstable.Array:
		i := 0
		for it := v.Children(); it.Next(); {
			n := it.Node()
			if n.Kind == unstable.Comment {
				continue
			}
			if n.Raw.Offset > 0 { // a list or table within a list has no range of its own
				at = int(n.Raw.Offset)
			}
			l.found[element(path, i)] = span{at, at}
			l.value(element(path, i), n, at)
			i++
		}
	}
}

const maxDepth = 32

// tooDeep finds nesting that no parser is to be given, since parsers recurse.
func tooDeep(data []byte) (at int, found bool) {
	depth, dots := 0, 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		case '.':
			dots++
		case '=', ',', '\n':
			dots = 0
		case '#':
			if n := bytes.IndexByte(data[i:], '\n'); n >= 0 {
				i += n - 1
			} else {
				i = len(data)
			}
		case '"', '\'':
			i += quoted(string(data[i:]), c) - 1
		}
		if depth > maxDepth || dots > maxDepth {
			return i, true
		}
	}
	return 0, false
}

// quoted is the length of the string that s begins with. One without an end goes to the end of its line, or of the file.
func quoted(s string, quote byte) int {
	mark := strings.Repeat(string(quote), 3)
	long := strings.HasPrefix(s, mark)
	if !long {
		mark = mark[:1]
	}
	for i := len(mark); i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == '"':
			i++
		case strings.HasPrefix(s[i:], mark):
			return i + len(mark)
		case s[i] == '\n' && !long:
			return i
		}
	}
	return len(s)
}
