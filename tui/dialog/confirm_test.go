package dialog

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"gcity/tui/widget"
)

// If the user has selected an answer, typed text does not change the selection.
func TestTypedTextKeepsTheSelectedAnswer(t *testing.T) {
	answers := []Answer[string]{{Title: "kill", Do: "kill"}, {Title: "stop", Do: "stop"}, {Title: "cancel", Safe: true}}
	for _, c := range []struct {
		at               int
		empty, typed, do string
	}{{0, "cancel", "kill", "kill"}, {1, "stop", "stop", "stop"}, {2, "cancel", "kill", "kill"}} {
		q := &Confirm[string]{Answers: answers, RequiredText: "x", Edit: widget.NewEntry(""), Cursor: c.at}
		q.Key(tea.KeyPressMsg{Code: 'y', Text: "y"}, nil)
		q.Key(tea.KeyPressMsg{Code: tea.KeyBackspace}, nil)
		if got := q.Answers[q.Cursor].Title; got != c.empty {
			t.Errorf("without text, after answer %d: %s, not %s", c.at, got, c.empty)
		}
		q.Key(tea.KeyPressMsg{Code: 'x', Text: "x"}, nil)
		if got := q.Answers[q.Cursor].Title; got != c.typed {
			t.Errorf("with text, after answer %d: %s, not %s", c.at, got, c.typed)
		}
		if got := q.Accept(func() {}); len(got) != 1 || got[0] != c.do {
			t.Errorf("answer %d does %v, not %s", c.at, got, c.do)
		}
	}
}

func TestNoNeedsNoTypedText(t *testing.T) {
	q := &Confirm[string]{Cursor: 1, RequiredText: "5", Edit: widget.NewEntry(""),
		Answers: []Answer[string]{{Title: "yes", Do: "drain"}, {Title: "no", Safe: true, Do: "leave"}}}
	closed := false
	got := q.Key(tea.KeyPressMsg{Code: 'n', Text: "n"}, func() { closed = true })
	if !closed || len(got) != 1 || got[0] != "leave" {
		t.Errorf("n does %v, and the question is closed: %v", got, closed)
	}
}
