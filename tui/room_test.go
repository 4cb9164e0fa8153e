package tui

import (
	"bytes"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/terminal"
	"gcity/tui/tuitest"
)

// Keys that arrive together with the key that hands over the terminal are not meant for the room. Bubble Tea still
// delivers them before the program quits.
func TestKeysAfterTheLastOneDoNothing(t *testing.T) {
	for key, lent := range map[string]bool{"a": true, "|": true, "q": false} {
		s := demo(t, 120, 40)
		s.m.Mode = state.Joined // q quits at once
		s.choose("builder")
		if key == "|" {
			s.hear(feed.News{Pane: paneOf("builder", "builder-1")})
			s.press("0")
		}
		box := feed.NewMailbox()
		r := &room{m: s.m, r: &feed.Runner{Ctx: t.Context(), Mailbox: box,
			Viewer: feed.NewViewer(newFakeCity(epoch), box, terminal.NewScreen)}}
		if _, cmd := r.Update(tuitest.KeyPress(key)); cmd == nil || r.exitEffect == nil {
			t.Fatalf("%s does not end the program", key)
		}
		last, focus := r.exitEffect, s.m.Focus
		for _, msg := range []tea.Msg{tuitest.KeyPress("q"), tuitest.KeyPress("u"), tuitest.KeyPress("2"),
			tuitest.KeyPress("s"), tea.PasteMsg{Content: "text"}} {
			if _, cmd := r.Update(msg); cmd != nil {
				t.Errorf("%s: %v has an effect", key, msg)
			}
		}
		if !reflect.DeepEqual(r.exitEffect, last) {
			t.Errorf("%s: the effect %#v became %#v", key, last, r.exitEffect)
		}
		if r.r.TerminalLent.Load() != lent {
			t.Errorf("%s: the terminal counts as lent: %v, want %v", key, !lent, lent)
		}
		if s.m.Focus != focus || s.m.Dialogs.Top() != nil {
			t.Errorf("%s: later keys moved the focus to %s and opened %T", key, s.m.Focus, s.m.Dialogs.Top())
		}
	}
}

// After a panic, Bubble Tea still draws the room, and the error names the file with the stack.
func TestAPanicLeavesAModelToDraw(t *testing.T) {
	var log bytes.Buffer
	ended := false
	r := &room{r: &feed.Runner{Log: slog.New(slog.NewTextHandler(&log, nil)), LogFile: "/state/room.log", Fail: func() { ended = true }}}
	model, cmd := r.Update(tuitest.KeyPress("j")) // without a state, each key panics
	if model != tea.Model(r) || cmd == nil || !ended {
		t.Errorf("the model is %v, ended %v", model, ended)
	}
	if err := r.r.PanicError(); err == nil || !strings.HasSuffix(err.Error(), "the city is not affected; see /state/room.log for details") {
		t.Errorf("error: %v", err)
	}
	if !strings.Contains(log.String(), "room.go") {
		t.Errorf("the log does not contain the stack: %s", &log)
	}
}
