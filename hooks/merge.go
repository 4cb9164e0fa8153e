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

func raw(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // cannot fail, because v is a string, a number or a list of them
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
		if k.flat {
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
	changed := false
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

func (k *kind) add(events *[]member, h hook) (bool, error) {
	at := find(*events, h.event)
	if at == nil {
		*events = append(*events, member{h.event, json.RawMessage("[]")})
		at = &(*events)[len(*events)-1]
	}
	if strings.Contains(string(at.value), h.has) {
		return false, nil
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(at.value, &entries); err != nil || entries == nil {
		return false, fmt.Errorf("was not changed, because its hooks for %s are not a list",
			h.event)
	}
	entries = append(entries, k.entry(h))
	at.value = slices.Concat([]byte("["), bytes.Join(asBytes(entries), []byte(",")), []byte("]"))
	return true, nil
}

func asBytes(entries []json.RawMessage) [][]byte {
	out := make([][]byte, len(entries))
	for i := range entries {
		out[i] = entries[i]
	}
	return out
}

func (k *kind) entry(h hook) json.RawMessage {
	if k.flat {
		return written([]member{{"type", raw("command")}, {"bash", raw(h.line)},
			{"timeoutSec", raw(30)}})
	}
	one := written([]member{{"type", raw("command")}, {"command", raw(h.line)}})
	return written([]member{{"matcher", raw(h.matcher)},
		{"hooks", slices.Concat([]byte("["), one, []byte("]"))}})
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
