package edit

import (
	"bytes"
	"cmp"
	"fmt"
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

func without(data []byte, tables []*toml.Node) ([]byte, error) {
	var gone []toml.Span
	for _, t := range tables {
		if !t.Header {
			line := 1 + bytes.Count(data[:t.At], []byte("\n"))
			return nil, fmt.Errorf("the table on line %d belongs to a list in brackets, which "+
				"this command does not edit; remove the rig by hand", line)
		}
		gone = append(gone, chunks(data, t)...)
	}
	// cut from the last to the first, so that the remaining positions stay valid
	slices.SortFunc(gone, func(a, b toml.Span) int { return cmp.Compare(b.Start, a.Start) })
	for _, s := range gone {
		data = cut(data, withBlank(s, data), "")
	}
	return data, nil
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
