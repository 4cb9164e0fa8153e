package config

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
)

// rigTables are the tables of a file that are about one rig alone.
func rigTables(root *node, rig string) []*node {
	var out []*node
	pick := func(n *node, key string) {
		for _, t := range tablesOf(n) {
			if t.textOf(key) == rig {
				out = append(out, t)
			}
		}
	}
	pick(root.get("rigs"), "name")
	pick(root.get("agents"), "dir")
	pick(root.get("agent"), "dir")
	pick(root.get("patches").get("agents"), "dir")
	pick(root.get("patches").get("rigs"), "name")
	pick(root.get("watchdogs"), "rig")
	pick(root.get("patches").get("watchdogs"), "rig")
	pick(root.get("automations").get("overrides"), "rig")
	pick(root.get("orders").get("overrides"), "rig")
	return out
}

// withoutRig takes what rigTables finds out of a decoded file, and what is empty without it.
func withoutRig(m map[string]any, rig string) {
	drop := func(in map[string]any, list, key string) {
		if in == nil {
			return
		}
		in[list] = slices.DeleteFunc(decodedTables(in[list]), func(t map[string]any) bool { return t[key] == rig })
		if len(in[list].([]map[string]any)) == 0 {
			delete(in, list)
		}
	}
	drop(m, "rigs", "name")
	drop(m, "agents", "dir")
	drop(m, "agent", "dir")
	drop(m, "watchdogs", "rig")
	for _, inner := range []struct{ table, list, key string }{
		{"patches", "agents", "dir"}, {"patches", "rigs", "name"}, {"patches", "watchdogs", "rig"}, {"automations", "overrides", "rig"}, {"orders", "overrides", "rig"},
	} {
		t, _ := m[inner.table].(map[string]any)
		drop(t, inner.list, inner.key)
		if len(t) == 0 {
			delete(m, inner.table)
		}
	}
}

// without is data without some tables, and without the blank line that is one too many then.
func without(data []byte, tables []*node) ([]byte, error) {
	var gone []span
	for _, t := range tables {
		if !t.header {
			return nil, errors.New("it is written in one line with others; take it out by hand")
		}
		gone = append(gone, chunks(data, t)...)
	}
	slices.SortFunc(gone, func(a, b span) int { return cmp.Compare(b.start, a.start) }) // from the end, so that places stay
	for _, s := range gone {
		data = cut(data, s.blank(data), "")
	}
	return data, nil
}

// chunks are the whole lines that a table with a header is written in: from its header to its last key, and the same of each
// table with a header within it.
func chunks(data []byte, t *node) []span {
	end := t.value.end
	var out []span
	var within func(n *node)
	within = func(n *node) {
		for _, kid := range n.kids {
			switch {
			case kid.line.end > 0:
				end = max(end, kid.line.end)
			case kid.header:
				out = append(out, chunks(data, kid)...)
			default: // of dotted keys, or a list of tables
				within(kid)
			}
		}
	}
	within(t)
	start := bytes.LastIndexByte(data[:t.at], '\n') + 1
	if end += lineEnd(data[end:]); end < len(data) {
		end++
	}
	return append(out, span{start, end})
}

// blank is a span of whole lines together with the blank lines before it, where what follows is blank or nothing, so that one
// gap is left of two.
func (s span) blank(data []byte) span {
	rest := data[s.end:]
	if line := bytes.TrimSpace(rest[:lineEnd(rest)]); len(line) > 0 {
		return s
	}
	for s.start > 0 {
		above := data[:s.start-1] // without the end of the line above
		begin := bytes.LastIndexByte(above, '\n') + 1
		if len(bytes.TrimSpace(data[begin:s.start])) > 0 {
			break
		}
		s.start = begin
	}
	return s
}
