package config

import (
	"fmt"
	"gcity/config/keys"
	"maps"
	"slices"
	"strings"
)

// Of several files the last one's values count, key by key. In these tables nobody can want to say the same thing
// twice.
func (d decoder) guarded(key string) bool {
	table, _, _ := strings.Cut(key, ".")
	return slices.Contains([]string{"workspace", "providers", "topologies"}, table)
}

// collides says that a key is set by another file, too, and that the later one counts; under strict that is a mistake.
func (d decoder) collides(was, is Origin, key string) {
	if was.File == "" || was.File == is.File || !d.guarded(key) {
		return
	}
	msg := fmt.Sprintf("is set already, at %s; ", was)
	if d.strict {
		d.say(is, key, msg+"with --strict only one file may set it, so take one out")
		return
	}
	d.city.Warnings = append(d.city.Warnings,
		Problem{Origin: is, Key: visible(key),
			Message: visible(msg + "what is written here counts")})
}

// joined is a table of strings with what another file has put into it before.
func (d decoder) joined(field any, by map[string]string) map[string]string {
	was, ok := field.(*map[string]string)
	if !ok || len(*was) == 0 {
		return by
	}
	out := maps.Clone(*was)
	maps.Copy(out, by)
	return out
}

// unspent leaves out what has its effect elsewhere in what is shown.
func unspent(s keys.Schema, table string, all []row) []row {
	return slices.DeleteFunc(all, func(r row) bool {
		k := s.ByPath[keys.Join(table, r.key)]
		return k != nil && k.Spent
	})
}
