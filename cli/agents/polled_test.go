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

func TestFollowedLines(t *testing.T) {
	f := followed{cols: 20, rows: 5}
	for in, want := range map[string]string{
		"abc\b\b\bX\r":      "Xbc",
		"|\b/\b-\bdone":     "done",
		"50%\r100%":         "100%",
		"\x1b[1mbold\x1b[m": "bold",
		// bash marks pasted text, and then removes the mark
		"$ \x1b[7mecho out 1\x1b[27m\b\b\b\b\b\b\b\b\b\becho out 1\x1b[m\r": "$ echo out 1",
		"a line of 20 cells, that goes on\b\b__":                            "a line of 20 cells, that goes __",
		"words up to the edge and over it\b!":                               "words up to the edge and over i!",
	} {
		if got := f.plain(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
