package tui

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"gcity/city"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// Bounds of a text that is written here. What is longer comes by pasting, and is not edited: the widget wraps all of its
// text at every key.
const (
	maxWritten = 8 << 10 // columns in the widget
	maxRows    = 100     // lines in the widget
	maxEdited  = 4 << 10 // bytes of a paste that can be edited; for a longer one a mark stands in the text
)

// composer is a text being written to agents: one line at the foot of the screen, or a sheet once it has more.
type composer struct {
	to      []string // the agents' names, in the order of the list; of mail what it is kept under
	area    textarea.Model
	pastes  []string // those for which marks stand in the text
	past    int      // index of what stands there in what was sent, its length = nothing of that
	own     unsent   // what stood there before that was looked through
	problem string   // why it could not be done, until the next key

	envelope *envelope // it is mail; nil = it is typed into the agents' terminals
}

// unsent is what a composer holds.
type unsent struct {
	text   string // with its marks
	pastes []string
}

func newComposer(to []string, begun unsent) *composer {
	c := &composer{to: to, area: textarea.New()}
	a := &c.area
	a.Prompt, a.ShowLineNumbers, a.CharLimit, a.MaxHeight, a.MaxWidth = "", false, maxWritten, maxRows, 0
	a.KeyMap = composing()
	a.SetStyles(textarea.Styles{})
	a.SetVirtualCursor(false) // the terminal's own cursor stands there
	a.Focus()
	c.hold(begun)
	return c
}

// composing are the keys of the widget: those of a line, and a few for many lines. As there, nothing reads the clipboard.
func composing() textarea.KeyMap {
	e := widget.Editing()
	return textarea.KeyMap{
		CharacterBackward: e.CharacterBackward, CharacterForward: e.CharacterForward,
		WordBackward: e.WordBackward, WordForward: e.WordForward,
		LineStart: e.LineStart, LineEnd: e.LineEnd,
		DeleteCharacterBackward: e.DeleteCharacterBackward, DeleteCharacterForward: e.DeleteCharacterForward,
		DeleteWordBackward: e.DeleteWordBackward, DeleteBeforeCursor: e.DeleteBeforeCursor, DeleteAfterCursor: e.DeleteAfterCursor,
		PageUp: keymap.Bind("a page up", "pgup"), PageDown: keymap.Bind("a page down", "pgdown"),
		InputBegin: keymap.Bind("to the beginning of the text", "ctrl+home"),
		InputEnd:   keymap.Bind("to the end of the text", "ctrl+end"),
	}
}

// hold puts a text into the widget, the cursor at its end.
func (c *composer) hold(u unsent) {
	c.pastes = slices.Clone(u.pastes)
	c.area.SetValue(u.text)
	c.settle()
}

func (c *composer) unsent() unsent { return unsent{c.area.Value(), c.pastes} }

// settle lets the widget find its cursor again after what was not a key.
func (c *composer) settle() { c.area, _ = c.area.Update(nil) }

// many reports whether it has more than one line.
func (c *composer) many() bool { return c.area.LineCount() > 1 }

// fit is told of the screen's size.
func (c *composer) fit(w, h int) {
	c.area.SetWidth(max(1, w-2))
	rows, _ := composerRows(h)
	c.area.SetHeight(rows)
	c.settle()
}

// mark stands for a paste in the text.
func (c *composer) mark(i int) string {
	return fmt.Sprintf("[paste %d: %s, %s]", i+1, widget.Count(lineCount(c.pastes[i]), "line"),
		sizeText(len(c.pastes[i])))
}

// text is what would be sent: lines without anything at both ends are left out.
func (c *composer) text() string { return strings.Trim(c.whole(), "\n") }

// whole is all that is written, with its pastes.
func (c *composer) whole() string {
	var marks []string
	for i, p := range c.pastes {
		if p != "" {
			marks = append(marks, c.mark(i), p)
		}
	}
	return strings.NewReplacer(marks...).Replace(c.area.Value())
}

// key edits.
func (c *composer) key(k tea.KeyPressMsg) {
	c.problem = ""
	if key.Matches(k, c.area.KeyMap.WordBackward) && c.blankBefore() { // bubbles 2.1.1 looks for a word there for ever
		c.area.MoveToBegin()
		c.settle()
		return
	}
	k.Text = widget.SingleLine(k.Text)
	before := c.area.Value()
	c.area, _ = c.area.Update(k)
	if k.Text != "" && c.area.Value() == before {
		c.problem = "what is typed ends here; more of it can be pasted"
	}
}

// blankBefore reports whether there is no word before the cursor.
func (c *composer) blankBefore() bool {
	lines := strings.Split(c.area.Value(), "\n")
	at := c.area.Line()
	here := []rune(lines[at])
	return strings.TrimSpace(strings.Join(lines[:at], "")+string(here[:min(c.area.Column(), len(here))])) == ""
}

// newline begins another line.
func (c *composer) newline() {
	c.problem = ""
	if c.area.LineCount() >= maxRows {
		c.problem = fmt.Sprintf("what is typed ends at %d lines; more of it can be pasted", maxRows)
		return
	}
	c.area.InsertString("\n")
	c.settle()
}

// paste takes a text in: to be edited, or as a whole where it is long.
func (c *composer) paste(text string) {
	c.problem = ""
	if len(text) <= 2*city.MaxSend { // line ends become shorter, nothing else does much
		text = strings.TrimRight(legible(text), "\n")
	}
	if size := len(c.text()) + len(text); size > city.MaxSend {
		c.problem = tooLong(size)
		return
	}
	if len(text) > maxEdited || lineCount(text)+c.area.LineCount() > maxRows || c.area.Length()+len(text) > maxWritten {
		for i := range c.pastes { // what no mark stands for any more
			if c.pastes[i] != "" && !strings.Contains(c.area.Value(), c.mark(i)) {
				c.pastes[i] = ""
			}
		}
		c.pastes = append(slices.Clone(c.pastes), text)
		text = c.mark(len(c.pastes) - 1)
		if c.area.Length()+len(text) > maxWritten {
			c.pastes = c.pastes[:len(c.pastes)-1]
			c.problem = "there is no room left for another paste"
			return
		}
	}
	c.area, _ = c.area.Update(tea.PasteMsg{Content: text})
}

func tooLong(size int) string {
	return fmt.Sprintf("that makes %s, and a text may have %s: put it into a file, and send the file's name", sizeText(size), sizeText(city.MaxSend))
}

// legible is a text without what may not be typed. Its lines end in \n, and tabs, which complete things where they are
// typed, become blanks.
func legible(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "    ").Replace(s)
	return strings.Map(func(r rune) rune {
		if r == '\n' || widget.Printable(r) {
			return r
		}
		return -1
	}, s)
}

func lineCount(s string) int { return strings.Count(s, "\n") + 1 }

// sizeText is a number of bytes.
func sizeText(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 100<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// atTop and atBottom report whether the cursor cannot go further up or down in the text.
func (c *composer) atTop() bool {
	return !c.many() || c.area.Line() == 0 && c.area.LineInfo().RowOffset == 0
}

func (c *composer) atBottom() bool {
	at := c.area.LineInfo()
	return !c.many() || c.area.Line() == c.area.LineCount()-1 && at.RowOffset+1 >= at.Height
}

// seen are the rows of the sheet, and where the cursor is in them.
func (c *composer) seen() (rows []string, x, y int) {
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
