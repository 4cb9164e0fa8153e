package dialog

import (
	"testing"
	"time"

	"gcity/tui/keymap"
	"gcity/tui/tuitest"
	"gcity/tui/widget"
)

// The dialog that was opened last is heard; another one of its kind takes its place.
func TestStack(t *testing.T) {
	var s Stack[int]
	if s.Top() != nil || s.In(keymap.InReader) != nil {
		t.Fatal("an empty stack has a dialog")
	}
	text, question := &Reader[int]{}, &Confirm[int]{}
	s.Open(text)
	s.Open(question)
	if s.Top() != Dialog[int](question) || s.In(keymap.InReader) != Dialog[int](text) {
		t.Error("the question lies over the text")
	}
	other := &Reader[int]{}
	s.Open(other)
	if s.Top() != Dialog[int](other) {
		t.Error("what was opened last is not on top")
	}
	s.Close(other)
	if s.Top() != Dialog[int](question) || s.In(keymap.InReader) != nil {
		t.Error("the first text is still there")
	}
	s.CloseIn(keymap.InChoice)
	if s.Top() != nil {
		t.Error("the question is still there")
	}
}

// A question that is new takes no key; then a letter takes its answer, and the question is closed before that.
func TestConfirm(t *testing.T) {
	now := time.Unix(1000, 0)
	c := &Confirm[int]{Since: now, Answers: []Answer[int]{{Key: "y", Do: 7},
		{Key: "n", Safe: true}}}
	if c.Ready(now.Add(keymap.Guard-1)) || !c.Ready(now.Add(keymap.Guard)) {
		t.Error("it does not wait for the guard")
	}
	closed := 0
	if got := c.Key(tuitest.KeyPress("x"), func() { closed++ }); got != nil || closed != 0 {
		t.Errorf("x: %v, closed %d times", got, closed)
	}
	if got := c.Key(tuitest.KeyPress("Y"), func() { closed++ }); len(got) != 1 || got[0] != 7 ||
		closed != 1 {
		t.Errorf("Y: %v, closed %d times", got, closed)
	}
}

// What must be typed is compared; a safe answer needs nothing typed.
func TestConfirmTyped(t *testing.T) {
	c := &Confirm[int]{Must: "5", Edit: widget.NewEntry(""),
		Answers: []Answer[int]{{Do: 7}, {Safe: true, Do: 8}}}
	closed := false
	leave := func() { closed = true }
	c.Paste("4")
	if got := c.Take(leave); got != nil || closed || !c.wrong {
		t.Errorf("4 is taken for 5: %v", got)
	}
	c.Step(1)
	if got := c.Take(leave); len(got) != 1 || got[0] != 8 || !closed {
		t.Errorf("the safe answer: %v, closed %v", got, closed)
	}
	c.Step(1)
	c.Key(tuitest.KeyPress("backspace"), leave)
	c.Key(tuitest.KeyPress("5"), leave)
	if got := c.Take(leave); len(got) != 1 || got[0] != 7 {
		t.Errorf("5: %v", got)
	}
}
