package widget

import "fmt"

// Rows are what a list shows a part of.
type Rows interface {
	Len() int
	ID(i int) string // of a row, the same as long as it is about the same thing
}

// List is a cursor and a window over the rows that a panel shows. The cursor follows the thing, not the row.
type List struct {
	Shown  []int // indexes into the rows
	Cursor int   // index into shown of the cursor
	Offset int   // first visible
	total  int   // before the filter

	IDs    []string        // of what is shown, in the same order
	Strays map[string]bool // rows that are shown though the filter leaves them out by now
}

// Fill selects the rows to show, of those that belong here, and finds the selected one again; if it is gone the cursor
// stays where it was. What is shown already, and what holds says of, stays though it does not pass any longer: a key
// that is on its way means the row that the eye has seen. nil = nothing does.
func (l *List) Fill(rs Rows, selected string, belongs, keep func(i int) bool,
	holds func(id string) bool) {
	var was map[string]bool
	if holds != nil {
		was = make(map[string]bool, len(l.IDs))
		for _, id := range l.IDs {
			was[id] = true
		}
	}
	l.Shown, l.IDs, l.total, l.Strays = l.Shown[:0], l.IDs[:0], 0, nil
	for i := range rs.Len() {
		in, id := belongs(i), rs.ID(i)
		if in {
			l.total++
		}
		switch {
		case in && keep(i):
		case was[id] && holds(id):
			if l.Strays == nil {
				l.Strays = map[string]bool{}
			}
			l.Strays[id] = true
		default:
			continue
		}
		l.Shown, l.IDs = append(l.Shown, i), append(l.IDs, id)
	}
	before := l.Cursor
	if l.Select(rs, selected) {
		// on the screen it stays where it is, where that can be; from the top nothing goes out of view
		if l.Offset > 0 {
			l.Offset = max(0, l.Offset+l.Cursor-before)
		}
		return
	}
	l.Cursor = max(0, min(l.Cursor, len(l.Shown)-1))
}

// Settled reports whether all that is shown passes the filter or is still held.
func (l *List) Settled(holds func(id string) bool) bool {
	for id := range l.Strays {
		if !holds(id) {
			return false
		}
	}
	return true
}

// Select puts the cursor on a row by its id; it reports whether the list shows it.
func (l *List) Select(rs Rows, id string) bool {
	for i, j := range l.Shown {
		if rs.ID(j) == id {
			l.Cursor = i
			return true
		}
	}
	return false
}

// Current is the row under the cursor, -1 if the list is empty.
func (l *List) Current(rs Rows) int {
	if l.Cursor < len(l.Shown) && l.Shown[l.Cursor] < rs.Len() {
		return l.Shown[l.Cursor]
	}
	return -1
}

// Move puts the cursor n rows on, within the list.
func (l *List) Move(n int) { l.Cursor = max(0, min(l.Cursor+n, len(l.Shown)-1)) }

// Window returns the rows that are visible in h lines, and keeps the cursor among them.
func (l *List) Window(h int) (from, to int) {
	l.Offset = ScrollTo(l.Cursor, l.Offset, h, len(l.Shown))
	return l.Offset, min(len(l.Shown), l.Offset+h)
}

// Outside is how many rows are above and below the h lines that show the list.
func (l *List) Outside(h int) (above, below int) {
	above = ScrollTo(l.Cursor, l.Offset, h, len(l.Shown))
	return above, max(0, len(l.Shown)-above-h)
}

// ScrollTo moves an offset as little as possible so that a row is visible in h lines.
func ScrollTo(at, offset, h, n int) int {
	if at < offset {
		offset = at
	}
	if at >= offset+h {
		offset = at - h + 1
	}
	return max(0, min(offset, n-h))
}

// Found says how much of a list is shown.
func (l *List) Found() string { return fmt.Sprintf("%d of %d", len(l.Shown), l.total) }

// Far is more rows than anything has.
const Far = 1 << 30
