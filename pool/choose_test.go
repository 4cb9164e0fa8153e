package pool

import (
	"slices"
	"strings"
	"testing"
)

// standings parses one letter per member: "." absent, "w" absent with work, "a" alive, "b" alive with work, "d"
// draining. A capital letter is a wanted member. "-" is a wanted, absent member without work.
func standings(text string) []Candidate {
	out := make([]Candidate, len(text))
	for i, c := range text {
		low := strings.ToLower(string(c))
		out[i] = Candidate{In: c == '-' || low != string(c), Alive: low == "a" || low == "b" || low == "d", Leaving: low == "d", Working: low == "w" || low == "b"}
	}
	return out
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		from string
		n    int
		in   string // numbers of the members that are wanted afterwards
	}{
		{"....", 2, "12"},
		{"AAA", 3, "123"},
		{"AAA", 2, "12"},
		{"AAB", 2, "13"}, // the highest member without work stops first
		{"BAB", 1, "1"},  // the highest member with work stops next
		{"BBB", 2, "12"},
		{"AAAA", 0, ""},
		{"-AB", 2, "13"},  // the choice does not depend on whether a member is alive
		{"-WA", 1, "2"},   // a member with work stays, even if it is not alive
		{"..a.", 1, "3"},  // members that are alive are added first
		{".wab", 2, "34"}, // members that are not alive are added last, those with work first
		{".wab", 3, "234"},
		{"dab", 2, "23"}, // draining members are added after other members that are alive
		{"wd.", 1, "2"},
		{"DAA", 2, "23"}, // a member that is already draining leaves first
		{"DAA", 1, "2"},
		{"A.A", 3, "123"},
		{"A.A", 2, "13"}, // a gap in the numbers changes no other member
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
			t.Errorf("%d of %q: got %q, want %q", c.n, c.from, got, c.in)
		}
		again := slices.Clone(all)
		if Choose(again, c.n); !slices.Equal(again, all) {
			t.Errorf("%d of %q: a second call chose different members", c.n, c.from)
		}
	}
}
