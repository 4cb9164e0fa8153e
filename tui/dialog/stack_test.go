package dialog

import (
	"strings"
	"testing"
	"time"

	"gcity/tui/keymap"
	"gcity/tui/tuitest"
	"gcity/tui/widget"
)

// Keys go to the dialog that was opened last.
func TestStack(t *testing.T) {
	var s Stack[int]
	if s.Top() != nil || s.In(keymap.InReader) != nil {
		t.Fatal("an empty stack has a dialog")
	}
	text, question := &Reader[int]{}, &Confirm[int]{}
	s.Open(text)
	s.Open(question)
	if s.Top() != Dialog[int](question) || s.In(keymap.InReader) != Dialog[int](text) {
		t.Error("the question is not on top of the reader")
	}
	other := &Reader[int]{}
	s.Open(other)
	if s.Top() != Dialog[int](other) {
		t.Error("the dialog that was opened last is not on top")
	}
	s.Close(other)
	if s.Top() != Dialog[int](question) || s.In(keymap.InReader) != nil {
		t.Error("the replaced reader is still open")
	}
	s.CloseIn(keymap.InChoice)
	if s.Top() != nil {
		t.Error("the question is still open")
	}
}

// A question accepts the key of an answer only if the key was typed after the question was requested.
func TestConfirm(t *testing.T) {
	now := time.Unix(1000, 0)
	c := &Confirm[int]{Since: now, OpenedByKey: true, Answers: []Answer[int]{{Key: "y", Do: 7},
		{Key: "n", Safe: true}}}
	for key, since := range map[string]time.Duration{"y": keymap.MaxTypeahead - 1, "enter": keymap.DialogGuard - 1,
		"": keymap.DialogGuard - 1} {
		c.note, c.rejectedAt = "", time.Time{}
		if c.Accepts(key, key != "y", now.Add(since)) || !strings.Contains(c.note, "too early") {
			t.Errorf("%q after %s is accepted: %q", key, since, c.note)
		}
	}
	rejected := now.Add(keymap.MaxTypeahead)
	c.rejectedAt = rejected
	if c.Accepts("y", false, rejected.Add(keymap.DialogGuard-1)) || c.Accepts("n", false, rejected.Add(1)) {
		t.Error("an answer is accepted before the user has seen that the previous one was rejected")
	}
	if !c.Accepts("y", false, rejected.Add(keymap.DialogGuard)) {
		t.Error("an answer is rejected although the user has seen the rejection")
	}
	c.rejectedAt = time.Time{}
	if !c.Accepts("Y", false, now.Add(keymap.MaxTypeahead)) || !c.Accepts("enter", true, now.Add(keymap.DialogGuard)) ||
		!c.Accepts("n", false, now) || !c.Accepts("j", false, now) || c.note != "" {
		t.Errorf("a key is rejected: %q", c.note)
	}
	if c.OpenedByKey = false; c.Accepts("y", false, now.Add(keymap.DialogGuard-1)) ||
		c.Accepts("n", false, now.Add(keymap.DialogGuard-1)) {
		t.Error("a question that opened by itself accepts an early key")
	}
	closed := 0
	if got := c.Key(tuitest.KeyPress("x"), func() { closed++ }); got != nil || closed != 0 || !strings.Contains(c.note, "x is not an answer; press y") {
		t.Errorf("x: %v, closed %d times, %q", got, closed, c.note)
	}
	notice := Confirm[int]{Answers: []Answer[int]{{Key: "n", Title: "continue", Safe: true}}}
	if notice.Key(tuitest.KeyPress("x"), func() { closed++ }); notice.note != "press n to continue" {
		t.Errorf("a question with one answer: %q", notice.note)
	}
	if got := c.Key(tuitest.KeyPress("Y"), func() { closed++ }); len(got) != 1 || got[0] != 7 ||
		closed != 1 {
		t.Errorf("Y: %v, closed %d times", got, closed)
	}
}

// An answer that changes something requires the right text. A safe answer requires no text.
func TestConfirmTyped(t *testing.T) {
	c := &Confirm[int]{RequiredText: "5", Edit: widget.NewEntry(""),
		Answers: []Answer[int]{{Do: 7}, {Safe: true, Do: 8}}}
	closed := false
	leave := func() { closed = true }
	c.Paste("4")
	if got := c.Accept(leave); got != nil || closed || !c.mismatch {
		t.Errorf("4 is accepted instead of 5: %v", got)
	}
	c.Step(1)
	if got := c.Accept(leave); len(got) != 1 || got[0] != 8 || !closed {
		t.Errorf("the safe answer: %v, closed %v", got, closed)
	}
	c.Cycle(1)
	c.Key(tuitest.KeyPress("backspace"), leave)
	c.Key(tuitest.KeyPress("5"), leave)
	if got := c.Accept(leave); len(got) != 1 || got[0] != 7 {
		t.Errorf("5: %v", got)
	}
}
