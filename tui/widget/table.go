package widget

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"
)

// MinReorderInterval is the minimum time between two changes of the row order, so that rows of crashing agents
// do not move all the time.
const MinReorderInterval = 3 * time.Second

// ReactionTime is how long users need to notice that the order of the rows has changed.
const ReactionTime = 500 * time.Millisecond

// Keyed is a pointer to a row. The key identifies the row. As the constraint is only a method, the compiler generates
// the code of a table once for all rows.
type Keyed interface{ Key() string }

// IsNil reports whether a row is nil.
func IsNil[R Keyed](r R) bool {
	var none R
	return any(r) == any(none)
}

// Pointers returns pointers to the elements of rows.
func Pointers[T any](rows []T) []*T {
	out := make([]*T, len(rows))
	for i := range rows {
		out[i] = &rows[i]
	}
	return out
}

// Records contains rows in display order, with the user's marks and filter. Two tables can share records.
type Records[R Keyed] struct {
	Rows    []R
	Order   Order
	Filter  Filter
	Marks   map[string]bool // nil = none
	Anchor  string          // the most recently marked row
	Version uint64          // increases when rows change

	before []R
	moved  time.Time
}

// Arrange replaces the rows and sorts them. If keepOrder is set or the order has just changed, rows that already exist
// keep their order.
func (t *Records[R]) Arrange(rows []R, rank func(a, b R) int, now time.Time, keepOrder bool) {
	rows = SortRows(rows, t.Rows, rank, keepOrder || t.JustReordered(now))
	if _, _, moved := slots(rows, t.Rows); moved {
		t.before, t.moved = t.Rows, now
	}
	t.Rows = rows
}

// JustReordered reports whether the order has changed so recently that it must not change again yet.
func (t *Records[R]) JustReordered(now time.Time) bool {
	return now.Sub(t.moved) < MinReorderInterval
}

// Sort sorts the rows immediately, at the user's request.
func (t *Records[R]) Sort(rank func(a, b R) int) {
	t.before, t.moved = nil, time.Time{}
	t.Rows = slices.Clone(t.Rows)
	slices.SortStableFunc(t.Rows, rank)
}

// Recall restores the previous order of the rows if it has just changed. It reports whether rows have moved.
func (t *Records[R]) Recall(now time.Time) bool {
	before := t.before
	if t.before = nil; before == nil || now.Sub(t.moved) >= ReactionTime {
		return false
	}
	at, place, moved := slots(t.Rows, before)
	known := make([]R, len(at))
	for n, i := range at {
		known[n] = t.Rows[i]
	}
	slices.SortFunc(known, func(a, b R) int { return place[a.Key()] - place[b.Key()] })
	t.Rows = slices.Clone(t.Rows)
	for n, i := range at {
		t.Rows[i] = known[n]
	}
	return moved
}

// slots returns the indexes of the common rows, the earlier position of each key, and whether the order has changed.
func slots[R Keyed](rows, before []R) (at []int, place map[string]int, moved bool) {
	place = make(map[string]int, len(before))
	for i, r := range before {
		place[r.Key()] = i
	}
	last := -1
	for i, r := range rows {
		if was, ok := place[r.Key()]; ok {
			at, moved, last = append(at, i), moved || was < last, max(last, was)
		}
	}
	return at, place, moved
}

// PruneMarks removes the marks on rows that no longer exist.
func (t *Records[R]) PruneMarks() {
	for key := range t.Marks {
		if !t.Has(key) {
			t.Marks = maps.Clone(t.Marks)
			delete(t.Marks, key)
		}
	}
}

func (t *Records[R]) Len() int { return len(t.Rows) }

func (t *Records[R]) ID(i int) string { return t.Rows[i].Key() }

// All returns an iterator over the rows.
func (t *Records[R]) All() iter.Seq[R] { return slices.Values(t.Rows) }

// Where returns the rows that keep accepts.
func (t *Records[R]) Where(keep func(R) bool) []R {
	var rows []R
	for _, r := range t.Rows {
		if keep(r) {
			rows = append(rows, r)
		}
	}
	return rows
}

// Find returns the row with the given key, or nil.
func (t *Records[R]) Find(key string) (none R) {
	for _, r := range t.Rows {
		if r.Key() == key {
			return r
		}
	}
	return none
}

// Has reports whether a row with the given key exists.
func (t *Records[R]) Has(key string) bool { return !IsNil(t.Find(key)) }

// Table is Records together with a list that shows some of the rows.
type Table[R Keyed] struct {
	*Records[R]
	List        List
	SelectedKey string
	hiddenKey   string // key of the selected row that a filter hides; "" = none
	awaited     string // key of a row to select as soon as it is listed; "" = none
}

func NewTable[R Keyed]() Table[R] {
	return Table[R]{Records: &Records[R]{}}
}

// Fill selects the rows to show; see List.Fill. If a change of the filter hides the selected row, a later change that
// shows the row selects it again.
func (t *Table[R]) Fill(belongs, keep func(R) bool, holds func(id string) bool) {
	t.Version++
	user := holds == nil
	if added := t.awaited; added != "" && t.Has(added) {
		t.SelectedKey, t.List.IDs = added, append(t.List.IDs, added)
		t.awaited = ""
		// holds() does not know this row yet
		others := holds
		holds = func(id string) bool { return id == added || others != nil && others(id) }
	}
	want, hidden := t.SelectedKey, t.Find(t.hiddenKey)
	switch {
	case IsNil(hidden) || !belongs(hidden):
		t.hiddenKey = ""
	case user && keep(hidden):
		want, t.hiddenKey = t.hiddenKey, ""
	}
	t.List.Fill(t, want, func(i int) bool { return belongs(t.Rows[i]) },
		func(i int) bool { return keep(t.Rows[i]) }, holds)
	if r := t.Find(want); user && !IsNil(r) && belongs(r) && !keep(r) {
		t.hiddenKey = cmp.Or(t.hiddenKey, want)
	}
	t.SelectCurrent()
}

// Move moves the cursor by n rows.
func (t *Table[R]) Move(n int) {
	t.List.Move(n)
	t.hiddenKey, t.awaited = "", ""
	t.SelectCurrent()
}

// Select moves the cursor to a row. It reports whether the row is visible.
func (t *Table[R]) Select(key string) bool {
	ok := t.List.Select(t, key)
	t.hiddenKey, t.awaited = "", ""
	t.SelectCurrent()
	return ok
}

// SelectNew selects a newly added row as soon as it is listed, unless the user moves the cursor first. Filters do not
// hide the row.
func (t *Table[R]) SelectNew(key string) { t.awaited = key }

// Preferred returns the key of the row to select as soon as no filter hides it, or else of the selected row.
func (t *Table[R]) Preferred() string { return cmp.Or(t.hiddenKey, t.SelectedKey) }

// Prefer sets the row to select as soon as no filter hides it. The key "" stands for the row under the cursor.
func (t *Table[R]) Prefer(key string) {
	if t.hiddenKey = key; key == t.SelectedKey {
		t.hiddenKey = ""
	}
}

// SelectCurrent selects the row under the cursor.
func (t *Table[R]) SelectCurrent() {
	if r := t.Current(); !IsNil(r) {
		t.SelectedKey = r.Key()
	}
}

// Current returns the row under the cursor, or nil if no row is shown.
func (t *Table[R]) Current() R { return t.At(&t.List) }

// At returns the row under the cursor of a list that shows these records, or nil if the list is empty.
func (t *Records[R]) At(l *List) (none R) {
	if i := l.Current(t); i >= 0 {
		return t.Rows[i]
	}
	return none
}
