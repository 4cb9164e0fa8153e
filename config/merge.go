package config

import (
	"fmt"
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
	msg := fmt.Sprintf("is already set at %s; ", was)
	if d.strict {
		d.addError(is, key, msg+"remove one of the two, because --strict allows a key in only "+
			"one file")
		return
	}
	d.addWarning(is, key, msg+"this value takes effect")
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
