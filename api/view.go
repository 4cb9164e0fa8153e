package api

import (
	"context"
	"iter"
	"slices"

	"gcity/city"
)

// view is a directory that contains only some of the cities.
type view struct {
	city.Directory
	sees func(name string) bool // nil = all cities are visible
}

// of returns a view of the cities that sees accepts.
func (v view) of(sees func(name string) bool) view { return view{v, sees} }

// root returns the underlying directory.
func (v view) root() city.Directory {
	for {
		inner, ok := v.Directory.(view)
		if !ok {
			return v.Directory
		}
		v = inner
	}
}

// keeper returns the Keeper of the cities. It returns nil if there is none, or if only some cities are visible.
func (v view) keeper() city.Keeper {
	for {
		inner, ok := v.Directory.(view)
		switch {
		case v.sees != nil:
			return nil
		case !ok:
			k, _ := v.Directory.(city.Keeper)
			return k
		}
		v = inner
	}
}

// troubles returns the problems of the Keeper, if the view may show them.
func (v view) troubles() []string {
	if k := v.keeper(); k != nil {
		return k.Troubles()
	}
	return nil
}

func (v view) seen(all []city.Info) []city.Info {
	if v.sees == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(i city.Info) bool { return !v.sees(i.Name) })
}

// Cities implements city.Directory.
func (v view) Cities(ctx context.Context) ([]city.Info, error) {
	all, err := v.Directory.Cities(ctx)
	return v.seen(all), err
}

// Watch implements city.Directory. It reports only changes of visible cities.
func (v view) Watch(ctx context.Context) iter.Seq2[[]city.Info, error] {
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
func (v view) City(name string) (city.Control, error) {
	if v.sees != nil && !v.sees(name) {
		return nil, &city.Error{Code: city.NotFound, Message: "no city " + name + " here"}
	}
	return v.Directory.City(name)
}
