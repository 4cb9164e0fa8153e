package city

import (
	"errors"
	"strings"
	"testing"
)

// A text that a bead would reject is not typed into a terminal.
func TestTidy(t *testing.T) {
	for _, text := range []string{"ls\x1b[A", "a\x03", "\u202egnp", "zero\u200bwidth", "\u009b31m", "\xff"} {
		_, err := Tidy(Nudge{Agent: "a", Text: text})
		if e, ok := errors.AsType[*Error](err); !ok || e.Code != Invalid || !strings.Contains(e.Message, "line 1") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range map[string]string{"two\r\nlines\twith a tab\n": "two\nlines\twith a tab\n", "größer 👩‍💻": "größer 👩‍💻"} {
		c, err := Tidy(Nudge{Agent: "a", Text: text, Now: true})
		if err != nil || c != Command(Nudge{Agent: "a", Text: want, Now: true}) {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
	if c, err := Tidy(SendKeys{Agent: "a", Keys: []string{"Escape"}}); err != nil || c.Verb() != "send-keys" {
		t.Errorf("%v %v", c, err)
	}
}

// The error does not mention the rules for beads.
func TestTidyRejectsControls(t *testing.T) {
	_, err := Tidy(Nudge{Text: "a\x03"})
	const want = "cannot type the text: it contains the character U+0003, which is invisible or hides other characters, in line 1: remove it"
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}
