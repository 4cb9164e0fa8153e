package tui

// rows are what a list shows a part of.
type rows interface {
	len() int
	id(i int) string // of a row, the same as long as it is about the same thing
}

// list is a cursor and a window over the rows that a panel shows. The cursor follows the thing, not the row.
type list struct {
	shown  []int // indexes into the rows
	at     int   // index into shown of the cursor
	offset int   // first visible
	total  int   // before the filter
}

// fill selects the rows to show, of those that belong here, and finds the selected one again; if it is gone the cursor
// stays where it was.
func (l *list) fill(rs rows, selected string, belongs, keep func(i int) bool) {
	l.shown, l.total = l.shown[:0], 0
	for i := range rs.len() {
		if !belongs(i) {
			continue
		}
		l.total++
		if keep(i) {
			l.shown = append(l.shown, i)
		}
	}
	before := l.at
	if l.find(rs, selected) {
		l.offset = max(0, l.offset+l.at-before) // on the screen it stays where it is, where that can be
		return
	}
	l.at = max(0, min(l.at, len(l.shown)-1))
}

// find puts the cursor on a row by its id; it reports whether the list shows it.
func (l *list) find(rs rows, id string) bool {
	for i, j := range l.shown {
		if rs.id(j) == id {
			l.at = i
			return true
		}
	}
	return false
}

// under is the row under the cursor, -1 if the list is empty.
func (l *list) under(rs rows) int {
	if l.at < len(l.shown) && l.shown[l.at] < rs.len() {
		return l.shown[l.at]
	}
	return -1
}

// move puts the cursor n rows on, within the list.
func (l *list) move(n int) { l.at = max(0, min(l.at+n, len(l.shown)-1)) }

// window returns the rows that are visible in h lines, and keeps the cursor among them.
func (l *list) window(h int) (from, to int) {
	l.offset = scrollTo(l.at, l.offset, h, len(l.shown))
	return l.offset, min(len(l.shown), l.offset+h)
}

// scrollTo moves an offset as little as possible so that a row is visible in h lines.
func scrollTo(at, offset, h, n int) int {
	if at < offset {
		offset = at
	}
	if at >= offset+h {
		offset = at - h + 1
	}
	return max(0, min(offset, n-h))
}
