package api

import (
	"context"
	"iter"
	"testing"
	"time"

	"gcity/city"
)

type listed struct {
	city.Directory
	lists [][]city.Info
}

func (l listed) Watch(context.Context) iter.Seq2[[]city.Info, error] {
	return func(yield func([]city.Info, error) bool) {
		for _, all := range l.lists {
			if !yield(all, nil) {
				return
			}
		}
	}
}

// A view of some cities does not report changes to the other cities.
func TestViewHidesOtherChanges(t *testing.T) {
	again := func() *time.Time { at := time.Unix(1, 0); return &at }
	own, waits := city.Info{Name: "own", Running: true}, city.Info{Name: "own", Until: again()}
	v := visibleCities{Directory: listed{lists: [][]city.Info{
		{{Name: "other"}}, {{Name: "other", Running: true}}, {{Name: "other"}, own}, {own}, {own, {Name: "zz"}}, {waits, {Name: "zz"}}, {{Name: "own", Until: again()}}, {own},
	}}}
	v = v.of(func(name string) bool { return name == "own" })
	var got []int
	for all, err := range v.Watch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, len(all))
	}
	if len(got) != 4 || got[0] != 0 || got[1] != 1 {
		t.Errorf("got %v cities in the lists, want four lists: empty, new, changed and original",
			got)
	}
}
