package typing

import "testing"

func TestEndMention(t *testing.T) {
	for text, want := range map[string]string{"": "", "@a.go": "@a.go ", "see @a.go": "see @a.go ", "see\n@": "see\n@ ", "a@b.c": "a@b.c", "@a.go now": "@a.go now", "@a.go ": "@a.go "} {
		if got := EndMention(text); got != want {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

func TestLongestLine(t *testing.T) {
	for text, want := range map[string]int{"": 0, "\n": 0, "ab\nabc\na": 3, "äb": 3} {
		if got := LongestLine(text); got != want {
			t.Errorf("%q: got %d", text, got)
		}
	}
}
