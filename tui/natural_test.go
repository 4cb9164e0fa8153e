package tui

import (
	"slices"
	"testing"

	"gcity/city"
)

func TestNaturalOrder(t *testing.T) {
	want := []string{
		"", "1", "2", "10", "a", "a-b", "a01", "a1", "shop/worker-2", "shop/worker-10", "worker", "worker-1", "worker-2",
		"worker-2b", "worker-10", "worker-99999999999999999999", "worker-100000000000000000000", "écoute",
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, natural)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// An order that is not one would make sorting do anything.
func FuzzNatural(f *testing.F) {
	f.Add("worker-2", "worker-10", "worker-02")
	f.Add("a1b2", "a01b2", "a1b02")
	f.Add("", "0", "00")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if x, y := natural(a, b), natural(b, a); x > 0 != (y < 0) || x == 0 != (a == b) {
			t.Errorf("%q, %q: %d and %d", a, b, x, y)
		}
		if natural(a, b) <= 0 && natural(b, c) <= 0 && natural(a, c) > 0 {
			t.Errorf("%q <= %q <= %q, but not the first and the last", a, b, c)
		}
	})
}

func TestListsCountNames(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(func(n *city.Snapshot) {
		n.Agents = nil
		for _, name := range []string{"worker-1", "worker-10", "worker-2"} {
			n.Agents = append(n.Agents, city.Agent{Name: name, State: city.Running, Running: true})
		}
	})
	if got := s.order(); !slices.Equal(got, []string{"worker-1", "worker-2", "worker-10"}) {
		t.Errorf("the list is %v", got)
	}
}
