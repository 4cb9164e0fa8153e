package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// []member keeps the order of an object's keys, unlike a map.
type member struct {
	key   string
	value json.RawMessage
}

func object(data json.RawMessage) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	open, err := d.Token()
	if err != nil {
		return nil, err
	}
	if open != json.Delim('{') {
		return nil, errors.New("is not an object")
	}
	var out []member
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{}
		m.key, _ = key.(string)
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	_, err = d.Token()
	return out, err
}

func written(members []member) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(raw(m.key))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func raw(v string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // cannot fail, because v is a string
	return bytes.TrimSpace(b.Bytes())
}

func find(members []member, key string) *member {
	for i := range members {
		if members[i].key == key {
			return &members[i]
		}
	}
	return nil
}

// merged returns old with the hooks added, or nil if it already contains them.
func (k *kind) merged(old []byte) ([]byte, error) {
	if len(bytes.TrimSpace(old)) == 0 {
		old = []byte("{}")
		if k.entry != nested {
			old = []byte(`{"version":1}`)
		}
	}
	if !json.Valid(old) {
		var any any
		return nil, fmt.Errorf("is not valid JSON (%v), and was not changed",
			json.Unmarshal(old, &any))
	}
	file, err := object(old)
	if err != nil {
		return nil, fmt.Errorf("%w, and was not changed", err)
	}
	if find(file, "hooks") == nil {
		file = append(file, member{"hooks", json.RawMessage("{}")})
	}
	in := find(file, "hooks")
	events, err := object(in.value)
	if err != nil {
		return nil, fmt.Errorf("was not changed, because its \"hooks\" %w", err)
	}
	changed := k.removeFormer(&events)
	for _, h := range k.hooks {
		added, err := k.add(&events, h)
		if err != nil {
			return nil, err
		}
		changed = changed || added
	}
	if !changed {
		return nil, nil
	}
	in.value = written(events)
	var out bytes.Buffer
	if err := json.Indent(&out, written(file), "", indentOf(old)); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// removeFormer removes hooks that earlier versions of gcity installed, unless a user has edited them.
func (k *kind) removeFormer(events *[]member) (removed bool) {
	for _, h := range k.former {
		i := slices.IndexFunc(*events, func(m member) bool { return m.key == h.event })
		var entries []json.RawMessage
		if i < 0 || json.Unmarshal((*events)[i].value, &entries) != nil {
			continue
		}
		n := len(entries)
		entries = slices.DeleteFunc(entries, func(e json.RawMessage) bool {
			var b bytes.Buffer
			return json.Compact(&b, e) == nil && bytes.Equal(b.Bytes(), k.entryOf(h))
		})
		if len(entries) == n {
			continue
		}
		removed = true
		(*events)[i].value = list(entries)
		if len(entries) == 0 {
			*events = slices.Delete(*events, i, i+1)
		}
	}
	return removed
}

func (k *kind) add(events *[]member, h hook) (bool, error) {
	at := find(*events, h.event)
	if at == nil {
		*events = append(*events, member{h.event, json.RawMessage("[]")})
		at = &(*events)[len(*events)-1]
	}
	if strings.Contains(string(at.value), string(h.command)) {
		return false, nil
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(at.value, &entries); err != nil || entries == nil {
		return false, fmt.Errorf("was not changed, because its hooks for %s are not a list",
			h.event)
	}
	at.value = list(append(entries, k.entryOf(h)))
	return true, nil
}

func list(entries []json.RawMessage) json.RawMessage {
	return slices.Concat([]byte("["), bytes.Join(asBytes(entries), []byte(",")), []byte("]"))
}

func asBytes(entries []json.RawMessage) [][]byte {
	out := make([][]byte, len(entries))
	for i := range entries {
		out[i] = entries[i]
	}
	return out
}

func (k *kind) entryOf(h hook) json.RawMessage {
	return json.RawMessage(strings.Replace(k.entry, "LINE", string(raw(k.line(h))), 1))
}

// line returns a hook's shell command. The command does nothing outside an agent's session. "|| true" is for earlier
// versions of gcity: they fail because they do not know --hook-format, and after a failed hook some programs discard
// the user's text.
func (k *kind) line(h hook) string {
	line := `test -z "$GC_AGENT" || ` + string(h.command)
	if h.output != "" {
		line += " --hook-format " + k.name + " || true"
	}
	return line
}

func indentOf(old []byte) string {
	for line := range bytes.Lines(old) {
		if in := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]; len(in) > 0 &&
			len(bytes.TrimSpace(line)) > 0 {
			return string(in)
		}
	}
	return "  "
}
