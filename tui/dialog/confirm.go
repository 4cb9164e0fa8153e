package dialog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// Answer is one answer to a question.
type Answer[T any] struct {
	Key   string // letter that selects it immediately; "" = none
	Old   string // a former Key, which still works but is not shown; "" = none
	Title string
	Safe  bool // it changes nothing and requires no typed text
	Do    T    // the zero task does nothing
}

func (a *Answer[T]) answers(key string) bool {
	return a.Key != "" && key != "" &&
		(strings.EqualFold(a.Key, key) || strings.EqualFold(a.Old, key))
}

// Confirm is a question. If RequiredText is set, a destructive answer requires it.
type Confirm[T any] struct {
	passive      // so that the wheel selects no answer by accident
	Title        string
	Body         []string
	Answers      []Answer[T]
	Cursor       int
	RequiredText string
	Counts       string // if RequiredText is a number: what it counts, such as "running agents"
	Targets      int    // the number of targets; 0 = unknown
	Edit         widget.Entry
	Since        time.Time
	OnCancel     T // what happens if the user cancels; the zero task does nothing
	AboutLeaving bool
	OpenedByKey  bool
	About        any // what the question is about, for its owner

	firstRow   int         // row of the first answer in the last frame
	rows       []int       // index of the answer in each row, from firstRow
	pending    *Confirm[T] // the latest content, stored while the user types RequiredText
	mismatch   bool
	note       string // why the latest key did nothing
	fewer      int    // the number of targets before it grew; 0 = it has not grown
	rejectedAt time.Time
}

// Zone implements Dialog.
func (c *Confirm[T]) Zone() keymap.Zone { return keymap.InChoice }

// IsNotice reports whether the user can only close the dialog.
func (c *Confirm[T]) IsNotice() bool { return len(c.Answers) == 1 }

// Accepts reports whether the question accepts a key. A new question rejects answers for the duration of
// keymap.DialogGuard, because they might be meant for the previous screen. The duration is shorter if a key opened the
// question. After a rejected answer and, in a notice, after any other key, a full DialogGuard follows.
func (c *Confirm[T]) Accepts(key string, takes bool, now time.Time) bool {
	notice := c.IsNotice()
	own := c.OpenedByKey && !takes && !notice
	i := slices.IndexFunc(c.Answers, func(a Answer[T]) bool {
		return c.RequiredText == "" && a.answers(key)
	})
	if notice && !takes && i < 0 {
		c.rejectedAt = now
	}
	if !takes && i < 0 || own && c.Answers[i].Safe && c.rejectedAt.IsZero() {
		return true
	}
	guard := keymap.DialogGuard
	if own {
		guard = keymap.MaxTypeahead
	}
	if now.Sub(c.Since) >= guard && now.Sub(c.rejectedAt) >= keymap.DialogGuard {
		c.note = ""
		return true
	}
	if now.Sub(c.rejectedAt) >= keymap.DialogGuard {
		c.rejectedAt = now
	}
	again, to := "press it again", " to answer this question"
	if key == "" {
		key, again = "the click", "click again"
	}
	if notice {
		to = " to close this notice"
	}
	c.note = key + " came too early; " + again + to
	return false
}

// Update replaces the content of the question. If it becomes a different question, or has more targets, it rejects
// answers for the duration of keymap.DialogGuard. While the user is typing a required number, it does not decrease, and
// the typed text is removed if the number of targets grows.
func (c *Confirm[T]) Update(to *Confirm[T], now time.Time) {
	c.pending = nil
	typing := c.Counts != "" && c.Edit.String() != ""
	if typing && len(to.Answers) == len(c.Answers) && to.Targets <= c.Targets {
		c.pending = to
		c.Title, c.Body, c.Answers = to.Title, to.Body, slices.Clone(to.Answers)
		for i := range c.Answers {
			c.Answers[i].Key = ""
		}
		return
	}
	if to.Title != c.Title || to.RequiredText != c.RequiredText || to.Targets > c.Targets {
		c.Since, c.OpenedByKey = now, false
	}
	switch {
	case to.Targets <= c.fewer:
		c.fewer = 0
	case to.Targets > c.Targets && c.fewer == 0:
		c.fewer = c.Targets
	}
	if to.RequiredText != c.RequiredText || len(to.Answers) != len(c.Answers) ||
		typing && to.Targets > c.Targets {
		c.Cursor, c.Edit, c.mismatch = to.Cursor, to.Edit, false
	}
	c.Title, c.Body, c.Answers, c.RequiredText = to.Title, to.Body, to.Answers, to.RequiredText
	c.Counts, c.Targets = to.Counts, to.Targets
}

// Step moves the cursor by n answers. It stops at both ends, so that "down" on "no" never chooses "yes".
func (c *Confirm[T]) Step(n int) { c.Cursor = max(0, min(c.Cursor+n, len(c.Answers)-1)) }

// Cycle moves the cursor by n answers. After the last answer it continues with the first one.
func (c *Confirm[T]) Cycle(n int) { c.Cursor = (c.Cursor + n + len(c.Answers)) % len(c.Answers) }

// Key edits the text, or selects the answer for a letter.
func (c *Confirm[T]) Key(k tea.KeyPressMsg, close func()) []T {
	if safe := c.safe(); c.RequiredText != "" && c.Edit.String() == "" && safe >= 0 &&
		k.String() == "n" && !strings.HasPrefix(c.RequiredText, "n") {
		c.Cursor = safe
		return c.Accept(close)
	}
	if c.RequiredText != "" {
		if c.Edit.Key(k) {
			c.typed()
		}
		return nil
	}
	for i, a := range c.Answers {
		if a.answers(k.String()) {
			c.Cursor = i
			return c.Accept(close)
		}
	}
	c.note = k.String() + " is not an answer; press " + c.keys()
	if len(c.Answers) == 1 {
		c.note = "press " + c.keys() + " to " + c.Answers[0].Title
	}
	return nil
}

func (c *Confirm[T]) keys() string {
	text, left := "", len(c.Answers)
	for _, a := range c.Answers {
		switch left--; {
		case text == "":
		case left == 0:
			text += " or "
		default:
			text += ", "
		}
		text += a.Key
	}
	return text
}

func (c *Confirm[T]) safe() int {
	return slices.IndexFunc(c.Answers, func(a Answer[T]) bool { return a.Safe })
}

// typed must be called after the text has changed. If there is text, the cursor moves from the safe answer to the first
// one. Otherwise, it moves back, or the pending content replaces the current one.
func (c *Confirm[T]) typed() {
	c.mismatch = false
	safe := c.safe()
	switch {
	case c.Edit.String() == "" && c.pending != nil:
		c.Update(c.pending, c.Since)
	case c.Edit.String() == "":
		if c.Cursor == 0 && safe >= 0 {
			c.Cursor = safe
		}
	case c.Cursor == safe:
		c.Cursor = 0
	}
}

// Accept selects the answer under the cursor. If a text is required, it rejects every answer that is not safe until the
// text is typed.
func (c *Confirm[T]) Accept(close func()) []T {
	a := c.Answers[c.Cursor]
	if !a.Safe && c.RequiredText != "" && !c.confirmed() {
		if c.pending != nil { // ask for the current number
			c.Edit = widget.NewEntry("")
			c.Update(c.pending, c.Since)
		}
		if c.mismatch = c.RequiredText != ""; !c.mismatch {
			c.note = noMatch
		}
		return nil
	}
	close()
	return []T{a.Do}
}

const noMatch = "this does not match; nothing was done"

// confirmed reports whether the required text is typed. The current number of targets, which the body shows, confirms
// too, although the question still asks for the number that it had when the user began to type.
func (c *Confirm[T]) confirmed() bool {
	text, now := c.Edit.String(), c.pending
	return text == c.RequiredText ||
		now != nil && text == cmp.Or(now.RequiredText, strconv.Itoa(now.Targets))
}

// Cancel closes the question without an answer.
func (c *Confirm[T]) Cancel(close func()) []T {
	close()
	return []T{c.OnCancel}
}

// Click selects the answer in a row of the sheet.
func (c *Confirm[T]) Click(row int, close func()) []T {
	at := row - c.firstRow
	if at < 0 || at >= len(c.rows) {
		return nil
	}
	c.Cursor = c.rows[at]
	return c.Accept(close)
}

// Paste inserts text into the typed text.
func (c *Confirm[T]) Paste(text string) {
	if c.RequiredText != "" && c.Edit.Paste(text) {
		c.typed()
	}
}

func (c *Confirm[T]) warning() string {
	if c.note == "" && c.fewer > 0 {
		return fmt.Sprintf("the number of targets has grown from %d to %d", c.fewer, c.Targets)
	}
	return c.note
}

// Draw implements Dialog.
func (c *Confirm[T]) Draw(on Canvas) Frame {
	w := on.width(76)
	f := Frame{Title: c.Title, W: w, X: -1, Y: -1}
	inner := w - 4
	var body []string
	for _, b := range c.Body {
		body = append(body, widget.WrapHanging(b, inner)...)
	}
	space, hint := true, true // drop empty lines and the hint first
	rest := on.H - 2 - c.typedRows() - min(len(body), 1)
	answers := c.answerLines(on, inner, true)
	if len(answers)+len(body) > rest { // if that is not enough, drop explanations of answers
		answers = c.answerLines(on, inner, false)
	}
	rest -= len(answers)
	if len(body)+3 > rest {
		hint = false
	}
	if len(body)+1 > rest {
		space = false
	}
	if space {
		f.Lines = append(f.Lines, "")
	}
	if c.AboutLeaving && len(body) > rest {
		body = c.firstSentences(on, inner, rest)
	}
	f.Lines = append(f.Lines, shorten(on, body, rest)...)
	if len(body) > 0 {
		f.Lines = append(f.Lines, "")
	}
	c.firstRow = len(f.Lines)
	f.Lines = append(f.Lines, answers...)
	if c.RequiredText != "" {
		line, x := c.typedLine(on, inner)
		f.Lines = append(f.Lines, "", line)
		f.X, f.Y = x, len(f.Lines)-1
	}
	switch note := c.warning(); {
	case !hint && note != "" && len(body) > 0: // the note is more important than the keys
		f.Lines[c.firstRow-1] = on.Styles.Paint(themes.Warn, on.Styles.Cut(note, inner))
	case !hint && note != "":
		f.Title = note
	case note != "":
		f.Lines = append(f.Lines, "")
		for _, part := range widget.Wrap(note, inner) {
			f.Lines = append(f.Lines, on.Styles.Paint(themes.Warn, part))
		}
	case hint:
		keys := widget.Hints(inner, c.hints(on)...)
		f.Lines = append(f.Lines, "", on.Styles.Paint(themes.Dim, keys))
	}
	return f
}

func (c *Confirm[T]) typedRows() int {
	if c.RequiredText == "" {
		return 0
	}
	return 2
}

func (c *Confirm[T]) typedLine(on Canvas, w int) (string, int) {
	label := "type " + c.RequiredText
	of := ", the number of " + c.Counts + ","
	const confirm = " to confirm: "
	if room := w - widget.Width(label+confirm) - 2*len(c.RequiredText); c.Counts != "" &&
		!c.mismatch && widget.Width(of) < room {
		label += of
	}
	label += confirm
	typed, at := c.Edit.Show(max(4, w-widget.Width(label)-2))
	state := themes.Warn
	if c.confirmed() {
		state = themes.Good
	}
	note := ""
	if c.mismatch {
		room := max(0, w-widget.Width(label)-widget.Width(typed))
		note = on.Styles.Cut("  "+noMatch, room)
		note, state = on.Styles.Paint(themes.Bad, note), themes.Bad
	}
	return on.Styles.Paint(themes.Dim, label) +
		on.Styles.Paint(state, strings.TrimRight(typed, " ")) + note, widget.Width(label) + at
}

// firstSentences returns the sentences that fit into n lines of w columns, but at least one.
func (c *Confirm[T]) firstSentences(on Canvas, w, n int) []string {
	sentences := strings.SplitAfter(strings.Join(c.Body, " "), ". ")
	for end := len(sentences) - 1; end > 0; end-- {
		text := strings.TrimSpace(strings.Join(sentences[:end], "")) + " " + on.more()
		if lines := widget.Wrap(text, w); len(lines) <= n || end == 1 {
			return lines
		}
	}
	return widget.Wrap(sentences[0], w)
}

// shorten cuts the text to n lines. If lines are omitted, the last line says how many.
func shorten(on Canvas, lines []string, n int) []string {
	if len(lines) <= n {
		return lines
	}
	if n < 1 {
		return nil
	}
	left := widget.Count(len(lines)-n+1, "more line")
	return append(slices.Clone(lines[:n-1]), on.Styles.Paint(themes.Dim, on.more()+" "+left))
}

func (c *Confirm[T]) hints(on Canvas) []string {
	next, take := on.Keys.KeyText("choice.next")+" next answer", on.Keys.KeyText("choice.take")
	cancel := on.Keys.KeyText("choice.cancel") + " cancels"
	switch {
	case len(c.Answers) == 1:
		return []string{on.Keys.KeyText("choice.cancel") + " closes"}
	case c.RequiredText != "":
		return []string{next, take + " confirms", cancel}
	}
	return []string{next, take + " chooses it", cancel}
}

const (
	answerIndent = 2
	minWordWidth = 8 // the smallest width in columns that has room for words
)

func (c *Confirm[T]) answerLines(on Canvas, w int, whole bool) []string {
	var lines []string
	c.rows = c.rows[:0]
	for i, a := range c.Answers {
		in := 2
		if a.Key != "" {
			in += 2 + widget.Width(a.Key)
		}
		parts := []string{on.Styles.Cut(widget.DropExplanation(a.Title, w-in), w-in)}
		if whole && widget.Width(a.Title) > w-in && w-in >= minWordWidth {
			parts = widget.Wrap(a.Title, w-in-answerIndent)
		}
		for n, part := range parts {
			l := widget.Line{Styles: on.Styles, Selected: i == c.Cursor}
			answerLine(&l, a.Key, n == 0, part)
			lines = append(lines, l.Fill(w))
			c.rows = append(c.rows, i)
		}
	}
	return lines
}

func answerLine(l *widget.Line, key string, first bool, part string) {
	title := themes.Text
	if l.Selected {
		title = themes.Title
	}
	if l.Selected && first {
		l.Add(themes.Accent, l.Styles.Glyphs.Cursor+" ")
	} else {
		l.Add(themes.Text, "  ")
	}
	switch {
	case !first && key != "":
		l.Space(widget.Width(key) + 2 + answerIndent)
	case !first:
		l.Space(answerIndent)
	case key != "":
		l.Add(themes.Key, key)
		l.Add(title, "  ")
	}
	l.Add(title, part)
}
