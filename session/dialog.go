package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/internal/span"
)

// Dialog is a question that a program may ask after its start, before the program is ready.
type Dialog struct {
	Name string `json:"name"` // what the question is about: "trust in the folder"
	// all of these strings are on the screen while the dialog is open; white space and box-drawing characters are
	// ignored
	Says []string `json:"says"`
	// keys that answer the question; if empty, a user must answer
	Keys []string `json:"keys,omitempty"`
}

// DialogListener is a provider that is notified when a program asks a question. Launch and Settle call its methods in
// their caller's goroutine.
type DialogListener interface {
	// DialogAnswered reports a question that was answered automatically.
	DialogAnswered(s *Spec, d Dialog)
	// DialogPending reports the question that a user must answer in the terminal. If d is nil, the question is closed.
	DialogPending(ctx context.Context, s *Spec, d *Dialog)
}

func (d *Dialog) shown(screen string) bool {
	text := normalize(screen)
	return len(d.Says) > 0 && !slices.ContainsFunc(d.Says, func(part string) bool {
		return !strings.Contains(text, normalize(part))
	})
}

// normalize returns text as one line without box-drawing characters, because programs wrap their text differently.
func normalize(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\u00a0' ||
			r >= 0x2500 && r <= 0x259f
	}), " ")
}

type readyWait struct {
	s           *Spec
	p           Provider
	screen      string
	seen        int // number of consecutive screens with the program's prompt
	open        *Dialog
	reported    *Dialog
	answered    []bool // by dialog index
	answerError error
}

func (w *readyWait) isReady(ctx context.Context) (ready bool, err error) {
	screen, err := w.p.Output(ctx, w.s.Name, 0)
	if err != nil {
		return false, w.s.ended(ctx, w.p)
	}
	w.screen, w.open = screen, nil
	defer w.report(ctx)
	for i := range w.s.Dialogs {
		if d := &w.s.Dialogs[i]; d.shown(screen) {
			w.open, w.seen = d, 0
			if len(d.Keys) > 0 && !w.answered[i] && w.answerError == nil {
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
	// the prompt must be on two consecutive screens, because the first can be a partly drawn dialog
	w.seen++
	return w.seen > 1 || len(w.s.Dialogs) == 0, nil
}

func (w *readyWait) report(ctx context.Context) {
	open := w.open
	if open != nil && len(open.Keys) > 0 && w.answerError == nil {
		open = nil
	}
	if open == w.reported {
		return
	}
	if l, ok := w.p.(DialogListener); ok {
		l.DialogPending(ctx, w.s, open)
	}
	w.reported = open
}

// keyTime is how long to wait for a program to react to a key before pressing the next one.
const keyTime = 500 * time.Millisecond

func (w *readyWait) answer(ctx context.Context, d *Dialog) {
	keyer, ok := w.p.(Keyer)
	if !ok {
		w.answerError = ErrUnsupported
		return
	}
	for i, key := range d.Keys {
		if i > 0 {
			w.awaitChange(ctx)
		}
		if w.answerError = keyer.SendKeys(ctx, w.s.Name, key); w.answerError != nil {
			return
		}
	}
	if l, ok := w.p.(DialogListener); ok {
		l.DialogAnswered(w.s, *d)
	}
}

func (w *readyWait) awaitChange(ctx context.Context) {
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

func (w *readyWait) timeoutError(limit time.Duration) error {
	d := w.open
	switch {
	case d == nil:
		return fmt.Errorf("the agent did not become ready: no line on its screen began with %q "+
			"within %s; the screen showed: %s", w.s.Ready.Prefix, span.Text(limit),
			tail(w.screen))
	case len(d.Keys) == 0:
		return fmt.Errorf("the agent did not become ready: it asked about %s, and the question "+
			"was not answered; answer in the agent's terminal during the next start, or set "+
			"emits_permission_warning = true to have such questions answered automatically; "+
			"the screen showed: %s",
			d.Name, tail(w.screen))
	case errors.Is(w.answerError, ErrUnsupported):
		return fmt.Errorf("the agent did not become ready: it asked about %s, but the session "+
			"provider cannot press keys to answer; the screen showed: %s", d.Name, tail(w.screen))
	case w.answerError != nil:
		return fmt.Errorf("the agent did not become ready: it asked about %s, but the answer "+
			"could not be typed: %w", d.Name, w.answerError)
	}
	return fmt.Errorf("the agent did not become ready: it still asked about %s after %s was "+
		"pressed; the screen showed: %s", d.Name, strings.Join(d.Keys, ", "), tail(w.screen))
}
