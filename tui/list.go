package tui

import "fmt"

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

	ids    []string        // of what is shown, in the same order
	strays map[string]bool // rows that are shown though the filter leaves them out by now
}

// fill selects the rows to show, of those that belong here, and finds the selected one again; if it is gone the cursor
// stays where it was. What is shown already, and what holds says of, stays though it does not pass any longer: a key that
// is on its way means the row that the eye has seen. nil = nothing does.
func (l *list) fill(rs rows, selected string, belongs, keep func(i int) bool, holds func(id string) bool) {
	var was map[string]bool
	if holds != nil {
		was = make(map[string]bool, len(l.ids))
		for _, id := range l.ids {
			was[id] = true
		}
	}
	l.shown, l.ids, l.total, l.strays = l.shown[:0], l.ids[:0], 0, nil
	for i := range rs.len() {
		in, id := belongs(i), rs.id(i)
		if in {
			l.total++
		}
		switch {
		case in && keep(i):
		case was[id] && holds(id):
			if l.strays == nil {
				l.strays = map[string]bool{}
			}
			l.strays[id] = true
		default:
			continue
		}
		l.shown, l.ids = append(l.shown, i), append(l.ids, id)
	}
	before := l.at
	if l.find(rs, selected) {
		if l.offset > 0 { // on the screen it stays where it is, where that can be; from the top nothing goes out of view
			l.offset = max(0, l.offset+l.at-before)
		}
		return
	}
	l.at = max(0, min(l.at, len(l.shown)-1))
}

// settled reports whether all that is shown passes the filter or is still held.
func (l *list) settled(holds func(id string) bool) bool {
	for id := range l.strays {
		if !holds(id) {
			return false
		}
	}
	return true
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

// outside is how many rows are above and below the h lines that show the list.
func (l *list) outside(h int) (above, below int) {
	above = scrollTo(l.at, l.offset, h, len(l.shown))
	return above, max(0, len(l.shown)-above-h)
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

// found says how much of a list is shown.
func (l *list) found() string { return fmt.Sprintf("%d of %d", len(l.shown), l.total) }
