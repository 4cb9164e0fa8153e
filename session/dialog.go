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
	// the screen is not a question: the program shows its prompt, but is still loading
	Loading bool `json:"loading,omitempty"`
	// the screen is not a question: the program is at its prompt, but needs a user for something. A start and nudges do
	// not wait.
	Notice bool `json:"notice,omitempty"`
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

// shown reports whether the dialog is open. Both texts are normalized: the screen, and its part from the program's
// prompt on, or "". Text that is completely above the prompt, such as the agent's own instructions, is not a question.
func (d *Dialog) shown(screen, prompt string) bool {
	below := prompt == ""
	for _, part := range d.Says {
		part = normalize(part)
		if !strings.Contains(screen, part) {
			return false
		}
		below = below || strings.Contains(prompt, part)
	}
	return below && len(d.Says) > 0
}

// findDialog returns the dialog that is open, or nil. It returns a dialog without a name only if no other one is open,
// and ignores notices.
func findDialog(all []Dialog, screen, prompt string) (open *Dialog) {
	for i := range all {
		d := &all[i]
		if !d.Notice && (open == nil || d.Name != "") && d.shown(screen, prompt) {
			if open = d; d.Name != "" || d.Loading {
				break
			}
		}
	}
	return open
}

// normalize returns text as one line without box-drawing characters, because programs wrap their text differently.
func normalize(text string) string {
	return strings.Join(strings.FieldsFunc(text, isFrame), " ")
}

// rereadAfter is how often a screen is read although the program has printed nothing since, because the count of its
// output is approximate.
const rereadAfter = 2 * time.Second

type readyWait struct {
	s        *Spec
	p        Provider
	looked   bool // screen is set
	screen   string
	printed  uint64 // Status.Output when the screen was read, at readAt
	readAt   time.Time
	seen     int       // number of consecutive screens with the program's prompt
	prompted time.Time // time of the first screen with the prompt after the last question
	loading  bool
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
	st, stErr := LookAt(ctx, w.p, w.s.Name)
	if st.Output == 0 || st.Output != w.printed || time.Since(w.readAt) >= rereadAfter {
		screen, err := w.p.Output(ctx, w.s.Name, 0)
		if err != nil {
			return false, w.s.ended(st, stErr)
		}
		w.screen, w.looked, w.printed, w.readAt = screen, true, st.Output, time.Now()
	}
	open, prompt := w.look()
	if open != nil && open != w.open {
		w.opened = time.Now()
	}
	w.open = open
	defer w.report(ctx)
	if open == nil && prompt {
		// the prompt must be on two consecutive screens, because the first can be a partly drawn dialog
		if w.seen++; w.prompted.IsZero() {
			w.prompted = time.Now()
		}
		if (w.seen > 1 || len(w.s.Dialogs) == 0) && w.echoed(ctx) {
			return true, nil
		}
		return false, w.s.ended(st, stErr)
	}
	if w.seen = 0; open != nil || w.loading {
		w.prompted = time.Time{}
	}
	if open != nil && open.answerable() && w.answerError == nil &&
		!slices.Contains(w.answered, open) {
		w.answerError = w.answer(ctx, open)
	}
	return false, w.s.ended(st, stErr)
}

const (
	// echoTime is how long the prompt on the command line may take to appear after the program's own prompt
	echoTime = 5 * time.Second
	// echoLines is the number of lines in which it is searched for; a program that has printed more is running
	echoLines = 500
	// echoLength is the length of EchoOf's result in bytes
	echoLength = 40
)

// echoed reports whether the program has submitted the prompt on its command line. Some programs never show it.
func (w *readyWait) echoed(ctx context.Context) bool {
	if w.s.Ready.Echo == "" || time.Since(w.prompted) >= echoTime {
		return true
	}
	text, err := w.p.Output(ctx, w.s.Name, echoLines)
	return err != nil || strings.Contains(" "+normalize(text), " "+w.s.Ready.Echo)
}

// EchoOf returns the first words of a prompt, without Markdown's marks at the beginning of a line.
func EchoOf(prompt string) string {
	var echo string
	for _, word := range strings.Fields(normalize(strings.TrimLeft(prompt, "#>*- \t\n"))) {
		longer := strings.TrimLeft(echo+" "+word, " ")
		if echo != "" && len(longer) > echoLength {
			break
		}
		echo = longer
	}
	return echo
}

// isBlank reports whether the program has drawn nothing. It is then still loading: it does not read input yet, and may
// be about to ask a question.
func (w *readyWait) isBlank() bool {
	return w.looked && strings.TrimFunc(w.screen, isFrame) == ""
}

// look returns the question on the screen, or whether the screen shows the program's prompt.
func (w *readyWait) look() (open *Dialog, prompt bool) {
	from, option := findPrompt(w.screen, w.s.Ready.Prefix)
	open = findDialog(w.s.Dialogs, normalize(w.screen), normalize(from))
	if w.loading = open != nil && open.Loading; w.loading {
		return nil, false
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
