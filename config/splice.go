package config

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// set is data with the flag set at the spot. It refuses what would change more.
func (s spot) set(data []byte, on bool) ([]byte, error) {
	root, faults := parseTOML(data, cityNeeds)
	if len(faults) > 0 {
		return nil, faults[0]
	}
	var after []byte
	if s.fresh {
		after = s.patch(data, root, on)
	} else {
		after = splice(data, s.table(root), on)
	}
	if err := s.only(data, after, on); err != nil {
		return nil, fmt.Errorf("cannot edit %s without touching more than one key (%w); write suspended = %t by hand", s.file, err, on)
	}
	return after, nil
}

// patch adds a [[patches.agents]] block, where the file has such blocks in another shape in that shape.
func (s spot) patch(data []byte, root *node, on bool) []byte {
	keys := []string{"name = " + tomlString(s.name), "suspended = " + strconv.FormatBool(on)}
	if s.dir != "" {
		keys = append([]string{"dir = " + tomlString(s.dir)}, keys...)
	}
	patches := root.get("patches")
	agents := patches.get("agents")
	inline := "{ " + strings.Join(keys, ", ") + " }"
	switch {
	case agents != nil && agents.shape == shapeArray:
		if len(agents.kids) > 0 {
			inline += ", "
		}
		return cut(data, span{agents.value.start + 1, agents.value.start + 1}, inline)
	case patches != nil && patches.inline:
		inline = " agents = [" + inline + "] "
		return cut(data, span{patches.value.start + 1, patches.value.start + 1}, inline)
	}
	return appendTable(data, "[[patches.agents]]", strings.Join(keys, lineBreak(data)))
}

// splice sets the flag in a table: in place, else in a line below the name or the header, else in a table of its own.
func splice(data []byte, t *node, on bool) []byte {
	value := strconv.FormatBool(on)
	if n := t.get("suspended"); n != nil {
		return cut(data, n.value, value)
	}
	flag := "suspended = " + value
	if t == nil {
		return appendTable(data, "[workspace]", flag)
	}
	var near *node // a key of this table, the name if there is one
	for _, kid := range t.kids {
		if kid.line.end > 0 && (near == nil || kid.key == "name") {
			near = kid
		}
	}
	switch {
	case t.inline && near != nil:
		return cut(data, span{near.line.end, near.line.end}, ", "+flag)
	case t.inline:
		return cut(data, span{t.value.start + 1, t.value.start + 1}, " "+flag+" ")
	case near != nil && (t.get("name") == near || !t.header):
		prefix := string(data[near.line.start:near.at]) // of a dotted key
		return insertLine(data, near.line, prefix+flag)
	}
	return insertLine(data, t.value, flag)
}

// cut replaces a span.
func cut(data []byte, s span, by string) []byte {
	out := make([]byte, 0, len(data)+len(by))
	out = append(out, data[:s.start]...)
	out = append(out, by...)
	return append(out, data[s.end:]...)
}

// insertLine puts a line below the one that s ends in, with the indentation and the end of line of the one it starts in.
func insertLine(data []byte, s span, text string) []byte {
	start := bytes.LastIndexByte(data[:s.start], '\n') + 1
	indent := string(data[start:s.start])
	if len(bytes.TrimLeft([]byte(indent), " \t")) > 0 {
		indent = ""
	}
	eol := lineBreak(data)
	end := s.end + lineEnd(data[s.end:])
	if end == len(data) {
		return append(cut(data, span{end, end}, eol+indent+text), eol...)
	}
	return cut(data, span{end + 1, end + 1}, indent+text+eol)
}

// appendTable puts a table at the end, where it cannot take keys from another one.
func appendTable(data []byte, header, text string) []byte {
	eol := lineBreak(data)
	gap := eol
	if !bytes.HasSuffix(data, []byte("\n")) {
		gap += eol
	}
	return append(bytes.Clone(data), (gap + header + eol + text + eol)...)
}

// lineBreak is the end of line that a file uses.
func lineBreak(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
