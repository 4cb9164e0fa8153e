package pool

import (
	"math"
	"strings"
	"testing"
)

func TestSizeStaysWithinTheBounds(t *testing.T) {
	s := Spec{Name: "w", Min: 1, Max: 4}
	for reported, want := range map[int]int{math.MinInt: 1, -1: 1, 0: 1, 1: 1, 3: 3, 4: 4, 5: 4, math.MaxInt: 4} {
		if got := s.Size(reported); got != want {
			t.Errorf("Size(%d) = %d, want %d", reported, got, want)
		}
	}
	if got := (Spec{Name: "off"}).Size(3); got != 0 {
		t.Errorf("size of a pool that is off: got %d", got)
	}
}

func TestMembersAreCalled(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Name: "w", Max: 1}, "w"},
		{Spec{Name: "rig/w", Max: 1}, "rig/w"},
		{Spec{Name: "w", Max: 3}, "w-1 w-2 w-3"},
		{Spec{Name: "rig/w-x", Max: 2}, "rig/w-x-1 rig/w-x-2"},
		{Spec{Name: "off"}, ""},
	} {
		var names []string
		for i := 1; i <= c.spec.Max; i++ {
			names = append(names, c.spec.Member(i))
			if got := c.spec.Index(c.spec.Member(i)); got != i {
				t.Errorf("Index(%q) = %d, want %d", c.spec.Member(i), got, i)
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%+v has the members %q, want %q", c.spec, got, c.want)
		}
	}
}

func TestIndexKnowsStrangers(t *testing.T) {
	s := Spec{Name: "w", Max: 12}
	for _, name := range []string{"w", "w-", "w-0", "w-01", "w-13", "w--1", "w-+1", "w-1x", "x-1", "r/w-1", "w-99999999999999999999", ""} {
		if i := s.Index(name); i != 0 {
			t.Errorf("Index(%q) = %d, want 0", name, i)
		}
	}
}

// An error is never treated as 0.
func TestParse(t *testing.T) {
	for in, want := range map[string]int{"3": 3, " 3\n": 3, "-1": -1, "+2": 2, "007": 7} {
		if got, err := Parse([]byte(in)); err != nil || got != want {
			t.Errorf("Parse(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", " \n", "1e9", "NaN", "1 2", "1\n2", "3.0", "three", "0x10", "1_000", "99999999999999999999", "-99999999999999999999", strings.Repeat("9", 10) + "x", "\xff"} {
		if got, err := Parse([]byte(in)); err == nil || got != 0 {
			t.Errorf("Parse(%q) = %d, %v; want an error", in, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("12\n"), 1, 5)
	f.Fuzz(func(t *testing.T, out []byte, low, high int) {
		low, high = min(max(low, 0), 1000), min(max(high, 0), 1000)
		s := Spec{Name: "w", Min: min(low, high), Max: max(low, high)}
		n, err := Parse(out)
		if size := s.Size(n); err == nil && (size < s.Min || size > s.Max) {
			t.Errorf("%q: got %d members, limits %d to %d", out, size, s.Min, s.Max)
		}
		if err != nil && len(err.Error()) > 400 {
			t.Errorf("the error is too long: got %d bytes", len(err.Error()))
		}
	})
}
