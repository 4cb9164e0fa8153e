package edit

import (
	"bytes"
	"cmp"
	"gcity/internal/toml"
	"slices"
)

func rigTables(root *toml.Node, rig string) []*toml.Node {
	var out []*toml.Node
	pick := func(n *toml.Node, key string) {
		for _, t := range toml.TablesOf(n) {
			if t.TextOf(key) == rig {
				out = append(out, t)
			}
		}
	}
	pick(root.Get("rigs"), "name")
	pick(root.Get("agents"), "dir")
	pick(root.Get("agent"), "dir")
	pick(root.Get("patches").Get("agents"), "dir")
	pick(root.Get("patches").Get("rigs"), "name")
	pick(root.Get("watchdogs"), "rig")
	pick(root.Get("patches").Get("watchdogs"), "rig")
	pick(root.Get("automations").Get("overrides"), "rig")
	pick(root.Get("orders").Get("overrides"), "rig")
	return out
}

func withoutRig(m map[string]any, rig string) {
	drop := func(in map[string]any, list, key string) {
		if in == nil {
			return
		}
		in[list] = slices.DeleteFunc(decodedTables(in[list]), func(t map[string]any) bool {
			return t[key] == rig
		})
		if len(in[list].([]map[string]any)) == 0 {
			delete(in, list)
		}
	}
	drop(m, "rigs", "name")
	drop(m, "agents", "dir")
	drop(m, "agent", "dir")
	drop(m, "watchdogs", "rig")
	for _, inner := range []struct{ table, list, key string }{
		{"patches", "agents", "dir"}, {"patches", "rigs", "name"}, {"patches", "watchdogs", "rig"},
		{"automations", "overrides", "rig"}, {"orders", "overrides", "rig"},
	} {
		t, _ := m[inner.table].(map[string]any)
		drop(t, inner.list, inner.key)
		if len(t) == 0 {
			delete(m, inner.table)
		}
	}
}

// without removes what rigTables returns, the last table first. The caller must check the result with differ.
func without(data []byte, rig string) []byte {
	for before := len(data) + 1; len(data) < before; {
		before = len(data)
		root, faults := toml.Parse(toml.BlankBOM(data))
		tables := rigTables(root, rig)
		if len(faults) > 0 || len(tables) == 0 {
			break
		}
		last := slices.MaxFunc(tables, func(a, b *toml.Node) int { return cmp.Compare(a.At, b.At) })
		gone := []toml.Span{itemSpan(data, last)}
		if last.Header {
			gone = chunks(data, last)
		}
		// cut from the last to the first, so that the remaining positions stay valid
		slices.SortFunc(gone, func(a, b toml.Span) int { return cmp.Compare(b.Start, a.Start) })
		for _, s := range gone {
			data = cut(data, withBlank(s, data), "")
		}
	}
	return data
}

// itemSpan returns the range of a table in a list in brackets, with a comma: the whole line if the table is alone on
// it.
func itemSpan(data []byte, t *toml.Node) toml.Span {
	s := toml.Span{Start: t.At, End: itemEnd(data, t)}
	blank := func(at int) int {
		return at + len(data[at:]) - len(bytes.TrimLeft(data[at:], " \t"))
	}
	after := blank(s.End)
	comma := bytes.HasPrefix(data[after:], []byte(","))
	if comma {
		s.End = after + 1
		after = blank(s.End)
	}
	line := bytes.LastIndexByte(data[:s.Start], '\n') + 1
	before := bytes.TrimRight(data[line:s.Start], " \t")
	rest := data[after : after+toml.LineEnd(data[after:])]
	switch ends := bytes.HasPrefix(rest, []byte("#")) || len(bytes.TrimSpace(rest)) == 0; {
	case ends && len(before) == 0:
		return toml.Span{Start: line, End: min(after+len(rest)+1, len(data))}
	case comma && !ends:
		s.End = after
	case !comma && bytes.HasSuffix(before, []byte(",")):
		s.Start = line + len(before) - 1
	}
	return s
}

func chunks(data []byte, t *toml.Node) []toml.Span {
	end := t.Value.End
	var out []toml.Span
	var within func(n *toml.Node)
	within = func(n *toml.Node) {
		for _, kid := range n.Kids {
			switch {
			case kid.Line.End > 0:
				end = max(end, kid.Line.End)
			case kid.Header:
				out = append(out, chunks(data, kid)...)
			default: // dotted keys, or a list of tables
				within(kid)
			}
		}
	}
	within(t)
	start := bytes.LastIndexByte(data[:t.At], '\n') + 1
	if end += toml.LineEnd(data[end:]); end < len(data) {
		end++
	}
	return append(out, toml.Span{Start: start, End: end})
}

func withBlank(s toml.Span, data []byte) toml.Span {
	rest := data[s.End:]
	if line := bytes.TrimSpace(rest[:toml.LineEnd(rest)]); len(line) > 0 {
		return s
	}
	for s.Start > 0 {
		above := data[:s.Start-1]
		begin := bytes.LastIndexByte(above, '\n') + 1
		if len(bytes.TrimSpace(data[begin:s.Start])) > 0 {
			break
		}
		s.Start = begin
	}
	return s
}
