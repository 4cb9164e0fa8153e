package dialog

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// Reader is a text in a sheet of its own.
type Reader[T any] struct {
	Title  string
	Lines  func(w int) []string // drawn anew with every frame, so that it lives
	Offset int
	About  any             // what the text is about; only its owner knows the type
	Hints  func() []string // what its owner's keys do, nil = nothing
	Follow Follower        // moves the text by itself, nil = nothing does

	length int // of the text when it was last drawn
}

// Follower moves a text that grows, until a user has scrolled it.
type Follower interface {
	ScrollTo(offset, rows int) int
	Scrolled()
}

// Zone implements Dialog.
func (r *Reader[T]) Zone() keymap.Zone { return keymap.InReader }

// Ready implements Dialog.
func (r *Reader[T]) Ready(time.Time) bool { return true }

// Key does nothing: a text is only read.
func (r *Reader[T]) Key(tea.KeyPressMsg, func()) []T { return nil }

// Paste does nothing.
func (r *Reader[T]) Paste(string) {}

// Wheel scrolls three lines a notch.
func (r *Reader[T]) Wheel(notches int, c Canvas) { r.Scroll(3*notches, c) }

// Scroll moves the text by n lines.
func (r *Reader[T]) Scroll(n int, c Canvas) {
	r.Offset = max(0, min(r.Offset+n, r.length-c.rows()))
	if r.Follow != nil {
		r.Follow.Scrolled()
	}
}

// Draw implements Dialog.
func (r *Reader[T]) Draw(c Canvas) Frame {
	w := c.width(110)
	all := r.Lines(w - 4)
	r.length = len(all)
	rows := min(c.rows(), len(all))
	if r.Follow != nil {
		r.Offset = r.Follow.ScrollTo(r.Offset, rows)
	}
	r.Offset = max(0, min(r.Offset, len(all)-rows))
	lines := append(make([]string, 0, rows+2), all[r.Offset:r.Offset+rows]...)
	var keys []string
	if len(all) > rows {
		keys = append(keys, c.Keys.KeyOf("reader.down")+" "+c.Keys.KeyOf("reader.up")+" scroll")
	}
	if r.Hints != nil {
		keys = append(keys, r.Hints()...)
	}
	keys = append(keys, c.Keys.KeyOf("reader.close")+" closes")
	lines = append(lines, c.Stale(w-4), c.Styles.Paint(themes.Dim, widget.Hints(w-4, keys...)))
	return Frame{Title: r.Title, Lines: lines, W: w, X: -1, Y: -1}
}
