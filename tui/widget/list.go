package widget

import "fmt"

// Rows are the rows that a list selects from.
type Rows interface {
	Len() int
	ID(i int) string // identifies the row
}

// List is a cursor and a window over the rows of a panel. When rows move, the cursor stays on the same row.
type List struct {
	Shown  []int // indexes into the rows
	Cursor int   // index into Shown
	Offset int   // first visible row
	total  int

	IDs       []string        // of the shown rows, in the same order
	Unmatched map[string]bool // shown rows that no longer match the filter
}

// Fill selects the rows for which belongs and keep are true. It also keeps shown rows for which holds(id) is true. The
// cursor stays on the selected row.
func (l *List) Fill(rs Rows, selected string, belongs, keep func(i int) bool,
	holds func(id string) bool) {
	var was map[string]bool
	if holds != nil {
		was = make(map[string]bool, len(l.IDs))
		for _, id := range l.IDs {
			was[id] = true
		}
	}
	l.Shown, l.IDs, l.total, l.Unmatched = l.Shown[:0], l.IDs[:0], 0, nil
	for i := range rs.Len() {
		in, id := belongs(i), rs.ID(i)
		if in {
			l.total++
		}
		switch {
		case in && keep(i):
		case was[id] && holds(id):
			if l.Unmatched == nil {
				l.Unmatched = map[string]bool{}
			}
			l.Unmatched[id] = true
		default:
			continue
		}
		l.Shown, l.IDs = append(l.Shown, i), append(l.IDs, id)
	}
	before := l.Cursor
	if l.Select(rs, selected) {
		// keep the screen position, unless the window was at the top
		if l.Offset > 0 {
			l.Offset = max(0, l.Offset+l.Cursor-before)
		}
		return
	}
	l.Cursor = max(0, min(l.Cursor, len(l.Shown)-1))
}

// AllMatch reports whether all shown rows match the filter. It ignores rows for which holds(id) is true.
func (l *List) AllMatch(holds func(id string) bool) bool {
	for id := range l.Unmatched {
		if !holds(id) {
			return false
		}
	}
	return true
}

// Select moves the cursor to the row with the given ID. It reports whether the list shows that row.
func (l *List) Select(rs Rows, id string) bool {
	for i, j := range l.Shown {
		if rs.ID(j) == id {
			l.Cursor = i
			return true
		}
	}
	return false
}

// Current returns the row under the cursor, or -1 if the list is empty.
func (l *List) Current(rs Rows) int {
	if l.Cursor < len(l.Shown) && l.Shown[l.Cursor] < rs.Len() {
		return l.Shown[l.Cursor]
	}
	return -1
}

// Move moves the cursor by n rows. The cursor stays within the list.
func (l *List) Move(n int) { l.Cursor = max(0, min(l.Cursor+n, len(l.Shown)-1)) }

// Window returns the range of rows that are visible in h lines. It scrolls so that the cursor is visible.
func (l *List) Window(h int) (from, to int) {
	l.Offset = ScrollTo(l.Cursor, l.Offset, h, len(l.Shown))
	return l.Offset, min(len(l.Shown), l.Offset+h)
}

// HiddenRows returns the number of rows above and below the h visible lines.
func (l *List) HiddenRows(h int) (above, below int) {
	above = ScrollTo(l.Cursor, l.Offset, h, len(l.Shown))
	return above, max(0, len(l.Shown)-above-h)
}

// ScrollTo returns the offset nearest to the given one at which the given row is visible.
func ScrollTo(row, offset, h, n int) int {
	if row < offset {
		offset = row
	}
	if row >= offset+h {
		offset = row - h + 1
	}
	return max(0, min(offset, n-h))
}

// CountText returns the number of shown rows and of all rows: "3 of 10".
func (l *List) CountText() string { return fmt.Sprintf("%d of %d", len(l.Shown), l.total) }

// First returns a pointer to the first element that matches, or nil.
func First[E any](all []E, matches func(*E) bool) *E {
	for i := range all {
		if matches(&all[i]) {
			return &all[i]
		}
	}
	return nil
}

// Unlimited is greater than any number of rows.
const Unlimited = 1 << 30
