package edit

import (
	"bytes"
	"fmt"
	"gcity/config"
	"gcity/internal/toml"
	"slices"
	"strconv"
	"strings"
)

type flagPlace struct{ config.Flag }

func placeOf(c *config.City, t config.Target) (flagPlace, error) {
	f, err := c.SuspendedFlag(t)
	return flagPlace{f}, err
}

func (s flagPlace) set(data []byte, on bool) ([]byte, error) {
	root, faults := config.ParseTOML(data)
	if len(faults) > 0 {
		return nil, faults[0]
	}
	var after []byte
	if s.NoTable {
		after = s.patch(data, root, on)
	} else {
		after = splice(data, s.table(root), on)
	}
	if err := s.verifyChange(data, after, on); err != nil {
		return nil, fmt.Errorf("cannot edit %s without changing more than one key (%w); set "+
			"suspended = %t by hand", s.File, err, on)
	}
	return after, nil
}

func (s flagPlace) patch(data []byte, root *toml.Node, on bool) []byte {
	keys := []string{"name = " + toml.Quote(s.Name), "suspended = " + strconv.FormatBool(on)}
	if s.Dir != "" {
		keys = append([]string{"dir = " + toml.Quote(s.Dir)}, keys...)
	}
	patches := root.Get("patches")
	agents := patches.Get("agents")
	inline := "{ " + strings.Join(keys, ", ") + " }"
	switch {
	case agents != nil && agents.Shape == toml.ShapeArray:
		if len(agents.Kids) > 0 {
			inline += ", "
		}
		return cut(data, toml.Span{Start: agents.Value.Start + 1, End: agents.Value.Start + 1},
			inline)
	case patches != nil && patches.Inline:
		inline = " agents = [" + inline + "] "
		return cut(data, toml.Span{Start: patches.Value.Start + 1, End: patches.Value.Start + 1},
			inline)
	}
	return appendTable(data, "[[patches.agents]]", strings.Join(keys, lineBreak(data)))
}

func splice(data []byte, t *toml.Node, on bool) []byte {
	value := strconv.FormatBool(on)
	if n := t.Get("suspended"); n != nil {
		return cut(data, n.Value, value)
	}
	flag := "suspended = " + value
	if t == nil {
		return appendTable(data, "[workspace]", flag)
	}
	var near *toml.Node
	for _, kid := range t.Kids {
		if kid.Line.End > 0 && (near == nil || kid.Key == "name") {
			near = kid
		}
	}
	switch {
	case t.Inline && near != nil:
		return cut(data, toml.Span{Start: near.Line.End, End: near.Line.End}, ", "+flag)
	case t.Inline:
		return cut(data, toml.Span{Start: t.Value.Start + 1, End: t.Value.Start + 1}, " "+flag+" ")
	case near != nil && (t.Get("name") == near || !t.Header):
		prefix := string(data[near.Line.Start:near.At]) // indentation and dotted path
		return insertLine(data, near.Line, prefix+flag)
	}
	return insertLine(data, t.Value, flag)
}

func cut(data []byte, s toml.Span, text string) []byte {
	out := make([]byte, 0, len(data)+len(text))
	out = append(out, data[:s.Start]...)
	out = append(out, text...)
	return append(out, data[s.End:]...)
}

func insertLine(data []byte, s toml.Span, text string) []byte {
	start := bytes.LastIndexByte(data[:s.Start], '\n') + 1
	indent := string(data[start:s.Start])
	if len(bytes.TrimLeft([]byte(indent), " \t")) > 0 {
		indent = ""
	}
	eol := lineBreak(data)
	end := s.End + toml.LineEnd(data[s.End:])
	if end == len(data) {
		return append(cut(data, toml.Span{Start: end, End: end}, eol+indent+text), eol...)
	}
	return cut(data, toml.Span{Start: end + 1, End: end + 1}, indent+text+eol)
}

// appendTable appends at the end, because a table in the middle would capture the keys that follow it.
func appendTable(data []byte, header, text string) []byte {
	eol := lineBreak(data)
	gap := eol
	if !bytes.HasSuffix(data, []byte("\n")) {
		gap += eol
	}
	return append(bytes.Clone(data), (gap + header + eol + text + eol)...)
}

func lineBreak(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

func (s flagPlace) table(root *toml.Node) *toml.Node {
	var tables []*toml.Node
	switch s.List {
	case "workspace":
		return root.Get("workspace")
	case "patches.agents", "patches.rigs":
		_, of, _ := strings.Cut(s.List, ".")
		tables = toml.TablesOf(root.Get("patches").Get(of))
	case "rigs.overrides":
		return s.override(root)
	case "agents":
		tables = slices.Concat(toml.TablesOf(root.Get("agents")), toml.TablesOf(root.Get("agent")))
	default:
		tables = toml.TablesOf(root.Get(s.List))
	}
	for _, t := range tables {
		if t.TextOf("name") == s.Name && t.TextOf("dir") == s.Dir {
			return t
		}
	}
	return nil
}

func (s flagPlace) override(root *toml.Node) *toml.Node {
	for _, r := range toml.TablesOf(root.Get("rigs")) {
		for _, t := range toml.TablesOf(r.Get("overrides")) {
			if r.TextOf("name") == s.Rig && (t.TextOf("name") == s.Name ||
				t.TextOf("agent") == s.Name) {
				return t
			}
		}
	}
	return nil
}
