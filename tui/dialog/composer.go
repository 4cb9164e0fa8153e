package dialog

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// Limits of the text that can be edited in a composer. The widget wraps the whole text again after each key press.
const (
	MaxComposerWidth = 8 << 10 // columns
	MaxComposerRows  = 100     // lines
	// bytes of a paste that can be edited
	MaxEditablePaste = 4 << 10
)

// Composer is the input for a message to agents or for mail.
type Composer[T any] struct {
	passive
	To      []string // the recipients; for mail, the draft's key
	Label   string
	Sent    []string // earlier texts, oldest first
	Problem string   // why the latest action failed
	About   any      // data of the composer's owner

	area         textarea.Model
	pastes       []string
	historyIndex int    // index of the shown text in Sent; len(Sent) = none
	draft        Unsent // the draft, while an old message is shown
}

// Unsent is the content of a composer.
type Unsent struct {
	Text   string // the typed text, with placeholders for long pastes
	Pastes []string
}

// NewComposer returns a composer with the given draft.
func NewComposer[T any](c *Composer[T], begun Unsent) *Composer[T] {
	c.area, c.historyIndex = textarea.New(), len(c.Sent)
	a := &c.area
	a.Prompt, a.ShowLineNumbers, a.CharLimit, a.MaxHeight, a.MaxWidth = "", false, MaxComposerWidth,
		MaxComposerRows, 0
	a.KeyMap = Composing()
	a.SetStyles(textarea.Styles{})
	a.SetVirtualCursor(false) // the terminal's own cursor is used
	a.Focus()
	c.setText(begun)
	return c
}

// Composing returns the widget's keys. None of them reads the clipboard.
func Composing() textarea.KeyMap {
	e := widget.Editing()
	return textarea.KeyMap{
		CharacterBackward: e.CharacterBackward, CharacterForward: e.CharacterForward,
		WordBackward: e.WordBackward, WordForward: e.WordForward,
		LineStart: e.LineStart, LineEnd: e.LineEnd,
		DeleteCharacterBackward: e.DeleteCharacterBackward,
		DeleteCharacterForward:  e.DeleteCharacterForward,
		DeleteWordBackward:      e.DeleteWordBackward, DeleteBeforeCursor: e.DeleteBeforeCursor,
		DeleteAfterCursor: e.DeleteAfterCursor,
		PageUp:            keymap.Bind("a page up", "pgup"),
		PageDown:          keymap.Bind("a page down", "pgdown"),
		InputBegin:        keymap.Bind("to the beginning of the text", "ctrl+home"),
		InputEnd:          keymap.Bind("to the end of the text", "ctrl+end"),
	}
}

func (c *Composer[T]) setText(u Unsent) {
	c.pastes = slices.Clone(u.Pastes)
	c.area.SetValue(u.Text)
	c.syncWidget()
}

// Unsent returns the content of the composer.
func (c *Composer[T]) Unsent() Unsent { return Unsent{c.area.Value(), c.pastes} }

// syncWidget updates the widget after its text was changed without a key.
func (c *Composer[T]) syncWidget() { c.area, _ = c.area.Update(nil) }

// IsMultiline reports whether the text has several lines.
func (c *Composer[T]) IsMultiline() bool { return c.area.LineCount() > 1 }

// Fit adapts the composer to the size of the screen.
func (c *Composer[T]) Fit(w, h int) {
	c.area.SetWidth(max(1, w-2))
	rows, _ := composerRows(h)
	c.area.SetHeight(rows)
	c.syncWidget()
}

func (c *Composer[T]) placeholder(i int) string {
	return fmt.Sprintf("[paste %d: %s, %s]", i+1,
		widget.Count(widget.LineCount(c.pastes[i]), "line"),
		widget.Bytes(len(c.pastes[i])))
}

// Text returns the text to send, without leading and trailing empty lines.
func (c *Composer[T]) Text() string { return strings.Trim(c.expandedText(), "\n") }

func (c *Composer[T]) expandedText() string {
	var marks []string
	for i, p := range c.pastes {
		if p != "" {
			marks = append(marks, c.placeholder(i), p)
		}
	}
	return strings.NewReplacer(marks...).Replace(c.area.Value())
}

// Zone implements Dialog.
func (c *Composer[T]) Zone() keymap.Zone { return keymap.InComposer }

// Draw implements Dialog: one line at the bottom of the screen, or a sheet above it.
func (c *Composer[T]) Draw(on Canvas) Frame {
	if c.IsMultiline() && !on.Line {
		return c.drawSheet(on)
	}
	return c.drawLine(on)
}

// DraftToKeep returns the text to keep when the composer is closed. An entry of the history is never kept.
func (c *Composer[T]) DraftToKeep() Unsent {
	begun := c.Unsent()
	if c.historyIndex < len(c.Sent) && begun.Text == c.Sent[c.historyIndex] {
		return c.draft
	}
	return begun
}

// HiddenDraft returns the draft that an entry of the history hides. The user might have edited the entry.
func (c *Composer[T]) HiddenDraft() Unsent {
	if c.historyIndex < len(c.Sent) {
		return c.draft
	}
	return Unsent{}
}

// Key edits the text.
func (c *Composer[T]) Key(k tea.KeyPressMsg, _ func()) []T {
	c.Problem = ""
	// bubbles 2.1.1 loops forever if only white space precedes the cursor
	if key.Matches(k, c.area.KeyMap.WordBackward) && c.blankBefore() {
		c.area.MoveToBegin()
		c.syncWidget()
		return nil
	}
	k.Text = widget.SingleLine(k.Text)
	before := c.area.Value()
	c.area, _ = c.area.Update(k)
	if k.Text != "" && c.area.Value() == before {
		c.Problem = "the input is full; to send more text, paste it"
	}
	return nil
}

func (c *Composer[T]) blankBefore() bool {
	lines := strings.Split(c.area.Value(), "\n")
	at := c.area.Line()
	here := []rune(lines[at])
	return strings.TrimSpace(strings.Join(lines[:at], "")+
		string(here[:min(c.area.Column(), len(here))])) == ""
}

// Newline inserts a line break at the cursor.
func (c *Composer[T]) Newline() {
	c.Problem = ""
	if c.area.LineCount() >= MaxComposerRows {
		c.Problem = fmt.Sprintf("the input is limited to %d lines; to send more text, paste it",
			MaxComposerRows)
		return
	}
	c.area.InsertString("\n")
	c.syncWidget()
}

// Paste inserts text. Long text is shown as a placeholder and cannot be edited.
func (c *Composer[T]) Paste(text string) {
	c.Problem = ""
	// cleaning can halve the text, because it shortens line endings
	if len(text) <= 2*city.MaxSend {
		text = strings.TrimRight(widget.DropUntypable(text), "\n")
	}
	if size := len(c.Text()) + len(text); size > city.MaxSend {
		c.Problem = TooLong(size)
		return
	}
	if len(text) > MaxEditablePaste ||
		widget.LineCount(text)+c.area.LineCount() > MaxComposerRows ||
		c.area.Length()+len(text) > MaxComposerWidth {
		for i := range c.pastes {
			if c.pastes[i] != "" && !strings.Contains(c.area.Value(), c.placeholder(i)) {
				c.pastes[i] = ""
			}
		}
		c.pastes = append(slices.Clone(c.pastes), text)
		text = c.placeholder(len(c.pastes) - 1)
		if c.area.Length()+len(text) > MaxComposerWidth {
			c.pastes = c.pastes[:len(c.pastes)-1]
			c.Problem = "the text is too long for another paste"
			return
		}
	}
	c.area, _ = c.area.Update(tea.PasteMsg{Content: text})
}

// TooLong returns the message for text that is too long to send.
func TooLong(size int) string {
	return fmt.Sprintf(
		"the text is %s long, but at most %s is allowed; put it in a file and send the "+
			"file's name",
		widget.Bytes(size), widget.Bytes(city.MaxSend))
}

func (c *Composer[T]) atTop() bool {
	return !c.IsMultiline() || c.area.Line() == 0 && c.area.LineInfo().RowOffset == 0
}

func (c *Composer[T]) atBottom() bool {
	at := c.area.LineInfo()
	return !c.IsMultiline() || c.area.Line() == c.area.LineCount()-1 && at.RowOffset+1 >= at.Height
}

func (c *Composer[T]) visibleRows() (rows []string, x, y int) {
	rows = strings.Split(ansi.Strip(c.area.View()), "\n")
	if at := c.area.Cursor(); at != nil {
		x, y = at.X, max(0, min(at.Y, len(rows)-1))
	}
	used := max(y+1, 2, min(c.area.LineCount(), len(rows)))
	for i, row := range rows {
		if strings.TrimSpace(row) != "" {
			used = max(used, i+1)
		}
	}
	return rows[:min(used, len(rows))], x, y
}

func composerRows(h int) (rows int, hint bool) {
	room := max(3, h/3) - 1
	if room >= 4 {
		return room - 1, true
	}
	return room, false
}

func (c *Composer[T]) hint(on Canvas) (string, themes.Token) {
	if why := c.Problem; why != "" {
		return why, themes.Bad
	}
	return on.Keys.Hint("  ", "composer.send", "sends", "composer.newline", "new line",
		"composer.leave", "closes"), themes.Dim
}

func (c *Composer[T]) drawLine(on Canvas) Frame {
	w := on.W
	l := widget.Line{Styles: on.Styles}
	label := fitLabel(c.Label, w/2, on.more())
	text := c.area.Value()
	if c.IsMultiline() { // the screen has no room for the sheet
		at := c.area.Line()
		text = strings.Split(text, "\n")[at]
		label += fmt.Sprintf(" (%d/%d)", at+1, c.area.LineCount())
	}
	hint, token := c.hint(on)
	if c.Problem != "" {
		hint = on.Styles.Cut(hint, max(w/2, w-widget.Width(label)-12))
		label = fitLabel(label, w-widget.Width(hint)-10, on.more())
	} else {
		label, hint = fitHint(on, label, hint, widget.Width(text))
	}
	l.Add(themes.Accent, widget.Cut(" "+label+": ", max(0, w-4), ""))
	room := w - l.Width - 1
	if hint != "" {
		room -= widget.Width(hint) + 2
	}
	text, at := widget.Window([]rune(text), c.area.Column(), room)
	x := l.Width + at
	l.Add(themes.Text, text)
	l.Space(w - l.Width - widget.Width(hint) - 1)
	l.Add(token, hint)
	return Frame{Lines: []string{l.Row(w)}, X: x}
}

func fitHint(on Canvas, label, hint string, typed int) (fitted, shown string) {
	const least = 10 // columns for the beginning of the label
	short, _, _ := strings.Cut(hint, "  ")
	for _, h := range []string{hint, short} {
		if room := on.W - widget.Width(h) - max(12, typed+2) - 5; room >= least {
			return fitLabel(label, room, on.more()), h
		}
	}
	return label, ""
}

func (c *Composer[T]) drawSheet(on Canvas) Frame {
	rows, x, y := c.visibleRows()
	_, below := composerRows(on.H)
	hint, token := c.hint(on)
	text := c.expandedText()
	note := widget.Count(widget.LineCount(text), "line") + ", " + widget.Bytes(len(text))
	if !below && (c.Problem != "" || widget.Width(hint)+widget.Width(c.Label)+8 <= on.W) {
		note = hint
	}
	lines := []string{c.rule(on, note, token)}
	for _, row := range rows {
		l := widget.Line{Styles: on.Styles}
		l.Space(1)
		l.Add(themes.Text, strings.TrimRight(row, " "))
		lines = append(lines, l.Row(on.W))
	}
	if below {
		l := widget.Line{Styles: on.Styles}
		l.Space(1)
		l.Add(token, on.Styles.Cut(hint, on.W-2))
		lines = append(lines, l.Fill(on.W))
	}
	return Frame{Lines: lines, X: min(1+x, on.W-1), Y: 1 + y}
}

func (c *Composer[T]) rule(on Canvas, note string, token themes.Token) string {
	g := &on.Styles.Glyphs
	l := widget.Line{Styles: on.Styles}
	note = widget.Cut(note, on.W*2/3, g.More)
	if token != themes.Bad {
		token = themes.Dim
	}
	l.Add(themes.Accent, g.Heavy)
	l.Add(themes.Title, " "+fitLabel(c.Label, on.W-widget.Width(note)-8, g.More)+" ")
	l.Add(themes.Accent, strings.Repeat(g.Heavy, max(0, on.W-l.Width-widget.Width(note)-3)))
	l.Add(token, " "+note+" ")
	l.Add(themes.Accent, g.Heavy)
	return l.Row(on.W)
}

// Up moves the cursor up. From the first line it goes to the previous message in the history.
func (c *Composer[T]) Up() {
	if c.atTop() {
		c.showSent(-1)
	} else {
		c.area.CursorUp()
		c.syncWidget()
	}
}

// Down moves the cursor down. From the last line it goes to the next message in the history.
func (c *Composer[T]) Down() {
	if c.atBottom() {
		c.showSent(1)
	} else {
		c.area.CursorDown()
		c.syncWidget()
	}
}

func (c *Composer[T]) showSent(n int) {
	at := c.historyIndex + n
	if at < 0 || at > len(c.Sent) {
		return
	}
	if c.historyIndex == len(c.Sent) {
		c.draft = c.Unsent()
	}
	c.historyIndex, c.Problem = at, ""
	if at == len(c.Sent) {
		c.setText(c.draft)
	} else {
		c.setText(Unsent{Text: c.Sent[at]})
	}
	if n < 0 { // the next Up continues in the history
		c.area.MoveToBegin()
		c.area.CursorEnd()
		c.syncWidget()
	}
}
