// Package dialog holds what lies over the panels of the control room and takes the keys: questions, texts to read,
// searchable lists, lines being typed. They lie on a stack; the top one is heard.
//
// A dialog does not know the control room. It gets what it shows as values, and it returns tasks, whose type its
// owner chooses.
package dialog

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// Dialog is one thing that lies over the panels. T is the type of the tasks that it returns.
type Dialog[T any] interface {
	// Zone returns the zone whose actions the dialog hears. No two types of dialogs share one.
	Zone() keymap.Zone
	// Ready reports whether the dialog takes keys yet.
	Ready(now time.Time) bool
	// Key takes a key that no action of the zone has. The dialog calls close to leave the stack.
	Key(k tea.KeyPressMsg, close func()) []T
	// Paste takes a text from the terminal's clipboard.
	Paste(text string)
	// Wheel moves the dialog by notches of the mouse wheel, in a room of w and h.
	Wheel(notches int, c Canvas)
	// Draw returns the dialog's picture.
	Draw(c Canvas) Frame
}

// Keys names the keys of actions. A keymap.Registry does.
type Keys interface {
	KeyOf(id string) string
	Hint(between string, pairs ...string) string
	Hints(pairs ...string) []string
}

// Canvas is what a dialog is drawn on and with.
type Canvas struct {
	W, H   int // of the screen
	Styles *widget.Styles
	Keys   Keys
	Line   bool               // there is room for one line only
	Stale  func(w int) string // says in w columns that what is shown is old, "" = it is not
}

// Frame is a drawn dialog. With a title it is a sheet in the middle of the screen, else it belongs at its foot.
type Frame struct {
	Title string
	Lines []string
	W     int
	X, Y  int // of the cursor in the lines, X = -1 means there is none
}

// width returns the width of a sheet that would have want columns. Where it leaves only scraps of what is behind it, it
// takes the whole width.
func (c Canvas) width(want int) int {
	const scraps = 8 // columns at each side
	if c.W < want+2*scraps {
		return c.W
	}
	return want
}

// rows returns how many lines of a text a sheet shows.
func (c Canvas) rows() int {
	const low = 16 // below it no row is left to what is behind
	if c.H < low {
		return max(1, c.H-4)
	}
	return c.H - 6
}

// more returns the sign for text that is left out.
func (c Canvas) more() string { return c.Styles.Glyphs.More }
