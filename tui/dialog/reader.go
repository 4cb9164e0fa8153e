package dialog

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// Reader shows a page of text in a sheet.
type Reader[T any] struct {
	passive
	Title  string
	Lines  func(w int) []string // called for every frame, so that the text is always current
	Offset int
	About  any                  // subject of the text; its type depends on the owner
	Hints  func() []string      // describes the keys that the owner handles; nil = none
	Follow Follower             // scrolls the text automatically; nil = no automatic scrolling
	OnKey  func(key string) []T // handles keys before bound actions do; nil = handles no key
	// moves the cursor by n selectable lines, and reports whether it did; nil = no cursor. The line with the cursor
	// begins with the cursor's glyph.
	Select func(n int) bool

	length int  // number of lines in the last frame
	cursor int  // index of the line with the cursor in the last frame; -1 = none
	reveal bool // the next frame scrolls to the cursor
}

// Follower scrolls a text that grows, until the user scrolls it.
type Follower interface {
	ScrollTo(offset, rows int) int
	Scrolled()
}

// Zone implements Dialog.
func (r *Reader[T]) Zone() keymap.Zone { return keymap.InReader }

// Key implements Dialog. The text itself is read-only.
func (r *Reader[T]) Key(k tea.KeyPressMsg, _ func()) []T {
	if r.OnKey == nil {
		return nil
	}
	return r.OnKey(k.String())
}

// Wheel scrolls three lines per notch.
func (r *Reader[T]) Wheel(notches int, c Canvas) { r.Scroll(3*notches, c) }

// Scroll scrolls the text by n lines.
func (r *Reader[T]) Scroll(n int, c Canvas) {
	r.Offset = max(0, min(r.Offset+n, r.length-c.rows()))
	if r.Follow != nil {
		r.Follow.Scrolled()
	}
}

// Step moves the cursor by n selectable lines. It scrolls instead if no such line exists, or if the cursor is not
// visible.
func (r *Reader[T]) Step(n int, c Canvas) {
	shown := r.cursor >= r.Offset && r.cursor < r.Offset+c.rows()
	if r.Select != nil && shown && r.Select(n) {
		r.reveal = true
		return
	}
	r.Scroll(n, c)
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
	r.cursor = slices.IndexFunc(all, func(l string) bool {
		return r.Select != nil && strings.HasPrefix(ansi.Strip(l), c.Styles.Glyphs.Cursor+" ")
	})
	if r.reveal && r.cursor >= 0 {
		r.Offset = widget.ScrollTo(r.cursor, r.Offset, rows, len(all))
	}
	r.reveal = false
	r.Offset = max(0, min(r.Offset, len(all)-rows))
	lines := append(make([]string, 0, rows+2), all[r.Offset:r.Offset+rows]...)
	var keys []string
	if len(all) > rows && r.cursor < 0 {
		keys = append(keys, c.Keys.KeyText("reader.down")+" "+c.Keys.KeyText("reader.up")+" scroll")
	}
	if r.Hints != nil {
		keys = append(keys, r.Hints()...)
	}
	keys = append(keys, c.Keys.KeyText("reader.close")+" closes")
	lines = append(lines, c.Stale(w-4), c.Styles.Paint(themes.Dim, widget.Hints(w-4, keys...)))
	return Frame{Title: r.Title, Lines: lines, W: w, X: -1, Y: -1}
}
