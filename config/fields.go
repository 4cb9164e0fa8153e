package config

import (
	"gcity/config/keys"
	"reflect"
	"strings"
	"sync"
)

// place is a table in which keys are set: a pointer to a City, Agent, Rig, patch, Provider, override, Remote, pack or
// Watchdog.
type place struct{ table any }

func (p place) origins(k *keys.Key) (map[string]Origin, string) {
	switch t := p.table.(type) {
	case *Agent:
		return t.Origins, strings.TrimPrefix(k.Path, "agents.")
	case *patch:
		return t.Origins, strings.TrimPrefix(k.Path, t.table+".")
	case *Rig:
		return t.Origins, k.Name()
	case *Provider:
		return t.Origins, k.Name()
	case *Remote:
		return t.Origins, k.Name()
	case *Watchdog:
		return t.Origins, k.Name()
	case *override:
		return t.origins, k.Name()
	case *pack:
		return t.origins, k.Path
	}
	return p.table.(*City).Origins, k.Path
}

func (p place) field(k *keys.Key) any {
	_, name := p.origins(k)
	values := p.table
	if patch, ok := values.(*patch); ok {
		if name == "env_remove" {
			return &patch.remove
		}
		values = &patch.Agent
	}
	root := reflect.ValueOf(values).Elem()
	index, ok := fieldIndexes()[root.Type()][fieldName(name)]
	if !ok {
		panic("config: no field for the key " + k.Path) // cannot happen: a test checks all keys
	}
	return root.FieldByIndex(index).Addr().Interface()
}

// first returns a pointer to the first element that fits, or nil.
func first[T any](all []T, fits func(*T) bool) *T {
	for i := range all {
		if fits(&all[i]) {
			return &all[i]
		}
	}
	return nil
}

func fieldName(key string) string { return strings.ReplaceAll(key, "_", "") }

var fieldIndexes = sync.OnceValue(func() map[reflect.Type]map[string][]int {
	out := map[reflect.Type]map[string][]int{}
	for _, t := range []reflect.Type{
		reflect.TypeFor[City](), reflect.TypeFor[Agent](), reflect.TypeFor[Rig](),
		reflect.TypeFor[Provider](), reflect.TypeFor[override](), reflect.TypeFor[Remote](),
		reflect.TypeFor[pack](), reflect.TypeFor[Watchdog](),
	} {
		fields := map[string][]int{}
		addFields(fields, t, "", nil)
		out[t] = fields
	}
	return out
})

func addFields(to map[string][]int, t reflect.Type, table string, at []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		index := append(at[:len(at):len(at)], i)
		name := f.Tag.Get("key")
		if name == "" {
			name = f.Name
		}
		name = table + fieldName(strings.ToLower(name))
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case f.Anonymous && inner.Kind() == reflect.Struct:
			addFields(to, inner, table, index)
		case inner.Kind() == reflect.Struct && inner.PkgPath() == t.PkgPath():
			addFields(to, inner, name+".", index)
		default:
			to[name] = index
		}
	}
}

// set sets a field, or the value that an optional field points to.
func set(field, v any) {
	f := reflect.ValueOf(field).Elem()
	if f.Kind() == reflect.Pointer {
		f.Set(reflect.New(f.Type().Elem()))
		f = f.Elem()
	}
	f.Set(reflect.ValueOf(v).Convert(f.Type()))
}
