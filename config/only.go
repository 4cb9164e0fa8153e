package config

import (
	"errors"
	"gcity/internal/toml"
	"reflect"
	"slices"
	"strings"
)

// only decodes a file before and after the edit, with another parser than the one that found the place, and says if they
// differ in more than the flag.
func (s spot) only(before, after []byte, on bool) error {
	was, err := toml.Values(before)
	if err != nil {
		return err
	}
	is, err := toml.Values(after)
	if err != nil {
		return err
	}
	if s.fresh {
		s.take(is, on)
		s.take(was, on)
	} else {
		for _, t := range s.decoded(was) {
			t["suspended"] = on
		}
	}
	if !reflect.DeepEqual(was, is) {
		return errors.New("the result would differ in more")
	}
	return nil
}

// take takes the new block out of a decoded file, and brings the others into one shape.
func (s spot) take(m map[string]any, on bool) {
	block := map[string]any{"name": s.name, "suspended": on}
	if s.dir != "" {
		block["dir"] = s.dir
	}
	patches := inside(m, "patches")
	patches["agents"] = slices.DeleteFunc(decodedTables(patches["agents"]), func(t map[string]any) bool { return reflect.DeepEqual(t, block) })
}

// decoded gives the tables of a decoded file that the flag belongs to.
func (s spot) decoded(m map[string]any) []map[string]any {
	var tables []map[string]any
	switch s.list {
	case "workspace":
		return []map[string]any{inside(m, "workspace")}
	case "patches.agents", "patches.rigs":
		_, of, _ := strings.Cut(s.list, ".")
		tables = decodedTables(inside(m, "patches")[of])
	case "rigs.overrides":
		for _, r := range decodedTables(m["rigs"]) {
			if r["name"] == s.rig {
				tables = decodedTables(r["overrides"])
			}
		}
		return slices.DeleteFunc(tables, func(t map[string]any) bool { return t["name"] != s.name && t["agent"] != s.name })
	case "agents":
		tables = slices.Concat(decodedTables(m["agents"]), decodedTables(m["agent"]))
	default:
		tables = decodedTables(m[s.list])
	}
	return slices.DeleteFunc(tables, func(t map[string]any) bool {
		dir, _ := t["dir"].(string)
		return t["name"] != s.name || dir != s.dir
	})
}

// inside gives a table of a decoded one, and makes it if it is not there.
func inside(m map[string]any, key string) map[string]any {
	t, ok := m[key].(map[string]any)
	if !ok {
		t = map[string]any{}
		m[key] = t
	}
	return t
}

// decodedTables gives a list of tables in a slice of its own, whichever way it was written.
func decodedTables(v any) []map[string]any {
	out := []map[string]any{}
	switch l := v.(type) {
	case []map[string]any:
		return append(out, l...)
	case []any:
		for _, e := range l {
			if t, ok := e.(map[string]any); ok {
				out = append(out, t)
			}
		}
	}
	return out
}
