package pool

import (
	"slices"
	"strings"
	"testing"
)

// standings are written one letter a member: "." is nothing, "w" has work, "a" lives, "b" both, "d" lives and was told to finish;
// a capital is wanted, "-" is wanted and neither lives nor has work.
func standings(text string) []Standing {
	out := make([]Standing, len(text))
	for i, c := range text {
		low := strings.ToLower(string(c))
		out[i] = Standing{In: c == '-' || low != string(c), Alive: low == "a" || low == "b" || low == "d", Leaving: low == "d", Working: low == "w" || low == "b"}
	}
	return out
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		from string
		n    int
		in   string // the numbers of those that are wanted then
	}{
		{"....", 2, "12"},
		{"AAA", 3, "123"},
		{"AAA", 2, "12"},
		{"AAB", 2, "13"},  // the highest without work leaves
		{"BAB", 1, "1"},   // … and then the highest of those with work
		{"BBB", 2, "12"},  //
		{"AAAA", 0, ""},   //
		{"-AB", 2, "13"},  // one that does not run is no better than one that does
		{"-WA", 1, "2"},   // … but what it has begun is
		{"..a.", 1, "3"},  // who lives comes back first
		{".wab", 2, "34"}, // … first of all with work
		{".wab", 3, "234"},
		{"dab", 2, "23"}, // … and who was told to finish after the others
		{"wd.", 1, "2"},
		{"A.A", 3, "123"},
		{"A.A", 2, "13"}, // a hole is no reason to move anybody
		{"A.A", 9, "123"},
		{"", 3, ""},
	} {
		all := standings(c.from)
		Choose(all, c.n)
		got := ""
		for i, s := range all {
			if s.In {
				got += string(rune('1' + i))
			}
		}
		if got != c.in {
			t.Errorf("%d of %q: %q, want %q", c.n, c.from, got, c.in)
		}
		again := slices.Clone(all)
		if Choose(again, c.n); !slices.Equal(again, all) {
			t.Errorf("%d of %q: once more, others are wanted", c.n, c.from)
		}
	}
}
