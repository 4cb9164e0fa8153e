// Package dialog implements the dialogs of the control room: questions, pages to read, searchable lists, and input
// lines. They form a stack, and the top dialog receives the keys.
//
// A dialog does not depend on the control room. It receives values to show, and returns tasks of a type that its owner
// chooses.
package dialog

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// Dialog is drawn over the panels. T is the type of the tasks that the dialog returns.
type Dialog[T any] interface {
	// Zone returns the zone in which the dialog's keys are bound.
	Zone() keymap.Zone
	// Accepts reports whether the dialog accepts a key at the given time. The key "" stands for a click. The parameter
	// takes says whether the key chooses the entry under the cursor or the pointer.
	Accepts(key string, takes bool, now time.Time) bool
	// Key handles a key that is not bound to an action of the zone. To close itself, the dialog calls close().
	Key(k tea.KeyPressMsg, close func()) []T
	// Paste handles text that was pasted.
	Paste(text string)
	// Wheel handles a number of notches of the mouse wheel.
	Wheel(notches int, c Canvas)
	// Draw returns the dialog as a frame.
	Draw(c Canvas) Frame
}

// passive accepts all keys, and ignores the wheel and pasted text.
type passive struct{}

// Accepts implements Dialog.
func (passive) Accepts(string, bool, time.Time) bool { return true }

// Paste implements Dialog.
func (passive) Paste(string) {}

// Wheel implements Dialog.
func (passive) Wheel(int, Canvas) {}

// Keys looks up the keys of actions. keymap.Registry implements it.
type Keys interface {
	KeyText(id string) string
	Hint(between string, pairs ...string) string
	Hints(pairs ...string) []string
}

// Canvas contains the size, the styles and the keys for drawing a dialog.
type Canvas struct {
	W, H   int
	Styles *widget.Styles
	Keys   Keys
	Line   bool               // there is room for only one line
	Stale  func(w int) string // returns a warning about outdated data, w columns wide, or ""
}

// Frame is a drawn dialog. With a title it is in the middle of the screen, otherwise at the bottom.
type Frame struct {
	Title string
	Lines []string
	W     int
	X, Y  int // position of the cursor in the lines; X = -1 means no cursor
}

// width returns the width of a sheet. If only narrow strips of background would remain beside it, it fills the screen.
func (c Canvas) width(want int) int {
	const scraps = 8 // minimum number of background columns on each side
	if c.W < want+2*scraps {
		return c.W
	}
	return want
}

func (c Canvas) rows() int {
	const low = 16 // minimum screen height at which a row of background stays visible
	if c.H < low {
		return max(1, c.H-4)
	}
	return c.H - 6
}

func (c Canvas) more() string { return c.Styles.Glyphs.More }
