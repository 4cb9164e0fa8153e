package edit

import (
	"errors"
	"gcity/internal/toml"
	"reflect"
	"slices"
	"strings"
)

// verifyChange returns an error if an edit also changed other keys. It uses a different parser than the edit, to detect
// errors in the edit.
func (s flagPlace) verifyChange(before, after []byte, on bool) error {
	was, err := toml.Values(before)
	if err != nil {
		return err
	}
	is, err := toml.Values(after)
	if err != nil {
		return err
	}
	if s.NoTable {
		s.removeFlag(is, on)
		s.removeFlag(was, on)
	} else {
		for _, t := range s.decoded(was) {
			t["suspended"] = on
		}
	}
	if !reflect.DeepEqual(was, is) {
		return errors.New("the edit would also change other keys")
	}
	return nil
}

func (s flagPlace) removeFlag(m map[string]any, on bool) {
	block := map[string]any{"name": s.Name, "suspended": on}
	if s.Dir != "" {
		block["dir"] = s.Dir
	}
	patches := inside(m, "patches")
	patches["agents"] = slices.DeleteFunc(decodedTables(patches["agents"]),
		func(t map[string]any) bool {
			return reflect.DeepEqual(t, block)
		})
}

func (s flagPlace) decoded(m map[string]any) []map[string]any {
	var tables []map[string]any
	switch s.List {
	case "workspace":
		return []map[string]any{inside(m, "workspace")}
	case "patches.agents", "patches.rigs":
		_, of, _ := strings.Cut(s.List, ".")
		tables = decodedTables(inside(m, "patches")[of])
	case "rigs.overrides":
		for _, r := range decodedTables(m["rigs"]) {
			if r["name"] == s.Rig {
				tables = decodedTables(r["overrides"])
			}
		}
		return slices.DeleteFunc(tables, func(t map[string]any) bool {
			return t["name"] != s.Name && t["agent"] != s.Name
		})
	case "agents":
		tables = slices.Concat(decodedTables(m["agents"]), decodedTables(m["agent"]))
	default:
		tables = decodedTables(m[s.List])
	}
	return slices.DeleteFunc(tables, func(t map[string]any) bool {
		dir, _ := t["dir"].(string)
		return t["name"] != s.Name || dir != s.Dir
	})
}

func inside(m map[string]any, key string) map[string]any {
	t, ok := m[key].(map[string]any)
	if !ok {
		t = map[string]any{}
		m[key] = t
	}
	return t
}

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
