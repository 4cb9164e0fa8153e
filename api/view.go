package api

import (
	"context"
	"iter"
	"slices"

	"gcity/city"
	"gcity/internal/suggest"
)

type visibleCities struct {
	city.Directory
	visible func(name string) bool // nil = all cities are visible
}

// of returns a view of the visible cities for which isVisible returns true.
func (v visibleCities) of(isVisible func(name string) bool) visibleCities {
	outer := v.visible
	return visibleCities{v.Directory, func(name string) bool {
		return (outer == nil || outer(name)) && isVisible(name)
	}}
}

func (v visibleCities) keeper() city.SupervisorStatus {
	if v.visible != nil {
		return nil
	}
	k, _ := v.Directory.(city.SupervisorStatus)
	return k
}

func (v visibleCities) troubles() []string {
	if k := v.keeper(); k != nil {
		return k.Problems()
	}
	return nil
}

func (v visibleCities) seen(all []city.Info) []city.Info {
	if v.visible == nil {
		return all
	}
	hidden := func(i city.Info) bool { return !v.visible(i.Name) }
	return slices.DeleteFunc(slices.Clone(all), hidden)
}

// Cities implements city.Directory.
func (v visibleCities) Cities(ctx context.Context) ([]city.Info, error) {
	all, err := v.Directory.Cities(ctx)
	return v.seen(all), err
}

// Watch implements city.Directory. It reports only changes to visible cities.
func (v visibleCities) Watch(ctx context.Context) iter.Seq2[[]city.Info, error] {
	return func(yield func([]city.Info, error) bool) {
		var last []city.Info
		first := true
		for all, err := range v.Directory.Watch(ctx) {
			seen := v.seen(all)
			if err == nil && !first && slices.EqualFunc(seen, last, city.Info.Same) {
				continue
			}
			if first, last = false, seen; !yield(seen, err) {
				return
			}
		}
	}
}

// City implements city.Directory.
func (v visibleCities) City(name string) (city.Control, error) {
	if v.visible != nil && !v.visible(name) {
		return nil, city.Missing(suggest.NoSuch(suggest.City, name))
	}
	return v.Directory.City(name)
}
