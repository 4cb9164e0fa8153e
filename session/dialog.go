package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Dialog is a question that a program may ask after its start, before the program is ready.
type Dialog struct {
	Name string `json:"name"` // subject of the question: "trust in the folder"
	// the dialog is open while the screen contains all of these texts; blanks, line breaks and boxes between the
	// words are ignored
	Says []string `json:"says"`
	// keys that answer the question, see Keyer; empty = a user must answer in the terminal
	Keys []string `json:"keys,omitempty"`
}

// Listener is notified of questions that programs ask. Launch and Settle call its methods in their own goroutine.
type Listener interface {
	// Answered reports a question that was answered automatically.
	Answered(s *Spec, d Dialog)
	// Asks reports a question that a user must answer in the terminal. A nil dialog means that no question is open.
	Asks(ctx context.Context, s *Spec, d *Dialog)
}

// shown reports whether a screen shows the dialog.
func (d *Dialog) shown(screen string) bool {
	text := words(screen)
	return len(d.Says) > 0 && !slices.ContainsFunc(d.Says, func(part string) bool {
		return !strings.Contains(text, words(part))
	})
}

// words returns a text as one line without box-drawing characters. Line breaks depend on the size of the terminal,
// so they cannot be compared.
func words(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\u00a0' ||
			r >= 0x2500 && r <= 0x259f
	}), " ")
}

// watch is the state of a wait for readiness, which polls the screen of a session.
type watch struct {
	s        *Spec
	p        Provider
	screen   string
	seen     int     // number of consecutive reads that found the program's prompt
	asks     *Dialog // the dialog that is open now
	told     *Dialog // the dialog that was last reported to the listener
	answered []bool  // by index of the dialog, because each is answered only once
	unable   error   // why the dialog cannot be answered
}

// look reports whether the session's prompt is visible. It also answers dialogs, if that is configured.
func (w *watch) look(ctx context.Context) (ready bool, err error) {
	screen, err := w.p.Output(ctx, w.s.Name, 0)
	if err != nil {
		return false, w.s.ended(ctx, w.p)
	}
	w.screen, w.asks = screen, nil
	defer w.report(ctx)
	for i := range w.s.Dialogs {
		if d := &w.s.Dialogs[i]; d.shown(screen) {
			w.asks, w.seen = d, 0
			if len(d.Keys) > 0 && !w.answered[i] && w.unable == nil {
				w.answered[i] = true
				w.answer(ctx, d)
			}
			return false, w.s.ended(ctx, w.p)
		}
	}
	if w.s.Ready.Prefix == "" || !shows(screen, w.s.Ready.Prefix) {
		w.seen = 0
		return false, w.s.ended(ctx, w.p)
	}
	// a prompt counts only if two consecutive reads find it: the first screen may be an incomplete dialog
	w.seen++
	return w.seen > 1 || len(w.s.Dialogs) == 0, nil
}

// report notifies the listener when a dialog starts or stops waiting for a user.
func (w *watch) report(ctx context.Context) {
	open := w.asks
	if open != nil && len(open.Keys) > 0 && w.unable == nil {
		open = nil
	}
	if open == w.told {
		return
	}
	if l, ok := w.p.(Listener); ok {
		l.Asks(ctx, w.s, open)
	}
	w.told = open
}

// keyTime is how long a program may take to react to a key before the next one is pressed.
const keyTime = 500 * time.Millisecond

// answer presses the keys that answer a dialog. Between two keys it waits until the screen has changed.
func (w *watch) answer(ctx context.Context, d *Dialog) {
	keyer, ok := w.p.(Keyer)
	if !ok {
		w.unable = ErrUnsupported
		return
	}
	for i, key := range d.Keys {
		if i > 0 {
			w.settle(ctx)
		}
		if w.unable = keyer.SendKeys(ctx, w.s.Name, key); w.unable != nil {
			return
		}
	}
	if l, ok := w.p.(Listener); ok {
		l.Answered(w.s, *d)
	}
}

// settle waits until the screen has changed, but at most for keyTime.
func (w *watch) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, keyTime)
	defer cancel()
	tick := time.NewTicker(pollFirst)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if screen, err := w.p.Output(ctx, w.s.Name, 0); err == nil && screen != w.screen {
			w.screen = screen
			return
		}
	}
}

// late returns an error that explains why a session did not become ready in time.
func (w *watch) late(limit time.Duration) error {
	d := w.asks
	switch {
	case d == nil:
		return fmt.Errorf("the agent did not become ready: no line of its screen began with %q "+
			"within %s; the screen shows: %s", w.s.Ready.Prefix, limit, tail(w.screen))
	case len(d.Keys) == 0:
		return fmt.Errorf("the agent did not become ready: it asks about %s, and the question "+
			"was not answered; answer in the agent's terminal, or set emits_permission_warning = "+
			"true to have such questions answered; the screen shows: %s", d.Name, tail(w.screen))
	case errors.Is(w.unable, ErrUnsupported):
		return fmt.Errorf("the agent did not become ready: it asks about %s, but the session "+
			"provider cannot press keys to answer; the screen shows: %s", d.Name, tail(w.screen))
	case w.unable != nil:
		return fmt.Errorf("the agent did not become ready: it asks about %s, but the answer "+
			"could not be typed: %w", d.Name, w.unable)
	}
	return fmt.Errorf("the agent did not become ready: it still asks about %s after %s was "+
		"pressed; the screen shows: %s", d.Name, strings.Join(d.Keys, ", "), tail(w.screen))
}
