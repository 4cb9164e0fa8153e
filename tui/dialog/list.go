package dialog

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/tui/keymap"
)

// List is the dialog of a list. All its keys are actions of its zone. The owner embeds it and has the rows.
type List[T any] struct {
	In    keymap.Zone
	Title func() string
	Lines func(w int) []string // the list in a sheet of that width
	Move  func(n int)          // moves the cursor
}

// Zone returns the zone of the list's actions.
func (l *List[T]) Zone() keymap.Zone { return l.In }

// Accepts reports that it takes keys at once.
func (l *List[T]) Accepts(string, time.Time) bool { return true }

// Key ignores keys that no action of the zone has.
func (l *List[T]) Key(tea.KeyPressMsg, func()) []T { return nil }

// Paste ignores a pasted text.
func (l *List[T]) Paste(string) {}

// Wheel moves the cursor.
func (l *List[T]) Wheel(notches int, _ Canvas) { l.Move(notches) }

// Draw returns the list as a sheet in the middle of the screen.
func (l *List[T]) Draw(c Canvas) Frame {
	const columns = 120
	w := c.width(columns)
	return Frame{Title: l.Title(), Lines: l.Lines(w), W: w, X: -1, Y: -1}
}
