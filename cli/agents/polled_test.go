package agents

import (
	"slices"
	"strings"
	"testing"
)

func TestNewLinesOfAScreen(t *testing.T) {
	for _, c := range []struct {
		before, now, want string
		unprinted         bool // the last line of before
		skipped           bool
	}{
		{before: "", now: "a|b", want: "a|b"},
		{before: "a|b", now: "a|b|c", want: "c"},
		{before: "a|b|c", now: "b|c|d|e", want: "d|e"},
		{before: "a|$", now: "a|$ echo x|x|$", want: "$ echo x|x|$"},
		{before: "a|$", now: "a|$|b", want: "$|b", unprinted: true},
		{before: "a|b", now: "a|b", want: ""},
		{before: "a|b", now: "c|d", want: "c|d", skipped: true},
		{before: "top|work 1|bottom", now: "top|work 2|bottom", want: "work 2"},
		{before: "a|b|$", now: "$", want: ""},
		{before: "a|b", now: "", want: ""},
		{before: "$", now: "$ x|$", want: "$ x|$"},
	} {
		s := polledScreen{strings.Split(c.before, "|"), !c.unprinted}
		got, skipped := s.newLines(strings.Split(c.now, "|"))
		if want := strings.Split(c.want, "|"); c.want == "" && len(got) > 0 || c.want != "" && !slices.Equal(got, want) ||
			skipped != c.skipped {
			t.Errorf("%q after %q: got %q, %t", c.now, c.before, got, skipped)
		}
	}
}
