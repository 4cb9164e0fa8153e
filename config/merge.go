package config

import (
	"gcity/config/keys"
	"maps"
	"slices"
	"strings"
)

func (d decoder) warnsOnDuplicate(key string) bool {
	table, _, _ := strings.Cut(key, ".")
	return slices.Contains([]string{"workspace", "providers", "topologies"}, table)
}

func (d decoder) addDuplicate(was, is Origin, key string) {
	if was.File == "" || was.File == is.File || !d.warnsOnDuplicate(key) {
		return
	}
	if d.strict {
		d.addError(is, key, "is already set at %s; remove one of the two, because --strict allows "+
			"a key in only one file", was)
		return
	}
	d.addWarning(is, key, "is already set at %s; this value takes effect", was)
}

func (d decoder) mergedTable(field any, by map[string]string) map[string]string {
	was, ok := field.(*map[string]string)
	if !ok || len(*was) == 0 {
		return by
	}
	out := maps.Clone(*was)
	maps.Copy(out, by)
	return out
}

func withoutApplied(s keys.Schema, table string, all []row) []row {
	return slices.DeleteFunc(all, func(r row) bool {
		k := s.ByPath[keys.Join(table, r.key)]
		return k != nil && k.Redundant
	})
}
