package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/internal/span"
)

// Dialog is a question that a program may ask after its start, before the program is ready.
type Dialog struct {
	// what the question is about: "trust in the folder"; "" if gcity knows only that the program asks a question
	Name string `json:"name"`
	// all of these strings are on the screen while the dialog is open; white space and box-drawing characters are
	// ignored
	Says []string `json:"says"`
	// keys that answer the question; in a report, the keys that were pressed
	Keys []string `json:"keys,omitempty"`
	// beginning of the option that answers the question in a list. Enter is pressed only while it is highlighted. If
	// Option and Keys are empty, a user must answer.
	Option string `json:"option,omitempty"`
}

func (d *Dialog) answerable() bool { return len(d.Keys) > 0 || d.Option != "" }

// Answer describes the answer that was given.
func (d *Dialog) Answer() string {
	keys := strings.Join(d.Keys, ", ")
	if d.Option == "" {
		return strconv.Quote(keys)
	}
	return fmt.Sprintf("%q (%s)", d.Option, keys)
}

// Reason describes why a start waits for a user's answer.
func (d *Dialog) Reason() string {
	switch {
	case d.Name == "":
		return "asks a question that gcity does not know; answer it in the agent's terminal"
	case d.answerable():
		return "still asks a question about " + d.Name + "; answer it in the agent's terminal"
	}
	return "asks a question about " + d.Name + "; answer it in the agent's terminal; with " +
		"emits_permission_warning = true, gcity answers such questions"
}

// DialogListener is a provider that is notified when a program asks a question. Launch and Settle call its methods in
// their caller's goroutine.
type DialogListener interface {
	// DialogAnswered reports a question that was answered automatically.
	DialogAnswered(s *Spec, d Dialog)
	// DialogPending reports the question that a user must answer in the terminal. If d is nil, the question is closed.
	DialogPending(ctx context.Context, s *Spec, d *Dialog)
}

// shown reports whether the dialog is open. prompt is the part of the screen from the program's prompt on, or "". Text
// that is completely above the prompt, such as the agent's own instructions, is not a question.
func (d *Dialog) shown(screen, prompt string) bool {
	has := func(text string) func(string) bool {
		text = normalize(text)
		return func(part string) bool { return strings.Contains(text, normalize(part)) }
	}
	all := has(screen)
	return len(d.Says) > 0 &&
		!slices.ContainsFunc(d.Says, func(part string) bool { return !all(part) }) &&
		(prompt == "" || slices.ContainsFunc(d.Says, has(prompt)))
}

// normalize returns text as one line without box-drawing characters, because programs wrap their text differently.
func normalize(text string) string {
	return strings.Join(strings.FieldsFunc(text, isFrame), " ")
}

type readyWait struct {
	s        *Spec
	p        Provider
	screen   string
	seen     int // number of consecutive screens with the program's prompt
	open     *Dialog
	opened   time.Time // when the program asked the open question
	unknown  Dialog    // the question of a list that matches no dialog
	reported *Dialog
	asked    bool // a user had to answer a question

	answering   *Dialog  // question for which gcity pressed the last key
	pressed     []string // keys pressed so far for that question
	moved       string   // option that was highlighted when the last key was pressed
	answered    []*Dialog
	answerError error
}

func (w *readyWait) isReady(ctx context.Context) (ready bool, err error) {
	screen, err := w.p.Output(ctx, w.s.Name, 0)
	if err != nil {
		return false, w.s.ended(ctx, w.p)
	}
	w.screen = screen
	open, prompt := w.look()
	if open != nil && open != w.open {
		w.opened = time.Now()
	}
	w.open = open
	defer w.report(ctx)
	if open == nil && prompt {
		// the prompt must be on two consecutive screens, because the first can be a partly drawn dialog
		w.seen++
		return w.seen > 1 || len(w.s.Dialogs) == 0, nil
	}
	w.seen = 0
	if open != nil && open.answerable() && w.answerError == nil &&
		!slices.Contains(w.answered, open) {
		w.answerError = w.answer(ctx, open)
	}
	return false, w.s.ended(ctx, w.p)
}

// look returns the question on the screen, or whether the screen shows the program's prompt.
func (w *readyWait) look() (open *Dialog, prompt bool) {
	var from string
	var option bool
	if w.s.Ready.Prefix != "" {
		from, option = findPrompt(w.screen, w.s.Ready.Prefix)
	}
	for i := range w.s.Dialogs {
		if d := &w.s.Dialogs[i]; (open == nil || d.Name != "") && d.shown(w.screen, from) {
			open = d
			if d.Name != "" {
				break
			}
		}
	}
	if open == nil && option {
		open = &w.unknown
	}
	return open, open == nil && from != ""
}

func (w *readyWait) report(ctx context.Context) {
	open := w.open
	// an automatic answer takes some time, and a question that seems to be unknown can be one that is partly drawn
	if open != nil && (open.answerable() && w.answerError == nil || open.Name == "") &&
		time.Since(w.opened) < slowReady {
		open = nil
	}
	if open == w.reported {
		return
	}
	if l, ok := w.p.(DialogListener); ok {
		l.DialogPending(ctx, w.s, open)
	}
	w.reported = open
	w.asked = w.asked || open != nil && !slices.Contains(w.answered, open)
}

// answer presses the keys that answer d. If it answers with an option of a list, it presses one key, and the next only
// when the highlight has moved.
func (w *readyWait) answer(ctx context.Context, d *Dialog) error {
	keyer, ok := w.p.(Keyer)
	if !ok {
		return ErrUnsupported
	}
	if d != w.answering {
		w.answering, w.pressed, w.moved = d, nil, ""
	}
	keys, last := d.Keys, true
	if d.Option != "" {
		key, highlighted := keyToward(w.screen, d.Option)
		if key == "" || highlighted == w.moved {
			return nil
		}
		keys, last, w.moved = []string{key}, key == "Enter", highlighted
	}
	if err := keyer.SendKeys(ctx, w.s.Name, keys...); err != nil {
		return err
	}
	if w.pressed = append(w.pressed, keys...); !last {
		return nil
	}
	report := *d
	report.Keys = w.pressed
	if l, ok := w.p.(DialogListener); ok {
		l.DialogAnswered(w.s, report)
	}
	w.answered = append(w.answered, d)
	return nil
}

func (w *readyWait) timeoutError(limit time.Duration) error {
	const failed = "the agent did not become ready: "
	const next = "; answer in the agent's terminal during the next start"
	shown := "; the screen showed: " + tail(w.screen)
	d := w.open
	switch {
	case d == nil:
		return fmt.Errorf("%sno line on its screen began with %q within %s%s", failed,
			w.s.Ready.Prefix, span.Text(limit), shown)
	case d.Name == "":
		return errors.New(failed + "it asked a question that gcity does not know" + next + shown)
	case !d.answerable():
		return fmt.Errorf("%sit asked about %s, and the question was not answered%s, or set "+
			"emits_permission_warning = true to have such questions answered automatically%s",
			failed, d.Name, next, shown)
	case errors.Is(w.answerError, ErrUnsupported):
		return fmt.Errorf("%sit asked about %s, but the session provider cannot press keys to "+
			"answer%s", failed, d.Name, shown)
	case w.answerError != nil:
		return fmt.Errorf("%sit asked about %s, but the answer could not be typed: %w", failed,
			d.Name, w.answerError)
	case !slices.Contains(w.answered, d):
		return fmt.Errorf("%sit asked about %s, and gcity could not select the option %q%s%s",
			failed, d.Name, d.Option, next, shown)
	}
	return fmt.Errorf("%sit still asked about %s after gcity had answered%s", failed, d.Name,
		shown)
}
