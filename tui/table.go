package tui

// named is a row by a pointer to it; its key is its name, which no other row has.
type named[R any] interface {
	*R
	Key() string
}

// records are rows in the order of their lists, and what a user has chosen, marked and filtered among
// them. Two tables may show the same records.
type records[R any, P named[R]] struct {
	rows    []R
	order   order
	filter  filter
	chosen  string // the key under the cursor
	marks   map[string]bool
	anchor  string // marked last
	version uint64 // grows when rows change
}

func (t *records[R, P]) len() int { return len(t.rows) }

func (t *records[R, P]) id(i int) string { return P(&t.rows[i]).Key() }

// find returns the row of a key, nil if there is none.
func (t *records[R, P]) find(key string) P {
	for i := range t.rows {
		if r := P(&t.rows[i]); r.Key() == key {
			return r
		}
	}
	return nil
}

// table is records and the list that shows a part of them: the cursor stays on its row.
type table[R any, P named[R]] struct {
	*records[R, P]
	list list
}

func newTable[R any, P named[R]]() table[R, P] {
	return table[R, P]{records: &records[R, P]{marks: map[string]bool{}}}
}

// fill selects the rows to show; for holds see list.fill.
func (t *table[R, P]) fill(keep func(P) bool, holds func(id string) bool) {
	t.version++
	t.list.fill(t, t.chosen, func(int) bool { return true }, func(i int) bool { return keep(&t.rows[i]) }, holds)
	t.choose()
}

// move puts the cursor n rows on.
func (t *table[R, P]) move(n int) {
	t.list.move(n)
	t.choose()
}

func (t *table[R, P]) choose() {
	if r := t.under(); r != nil {
		t.chosen = r.Key()
	}
}

// under is the row under the cursor, nil if none is shown.
func (t *table[R, P]) under() P {
	if i := t.list.under(t); i >= 0 {
		return &t.rows[i]
	}
	return nil
}

// at is the row under the cursor of a list of these records, nil if the list is empty.
func (t *records[R, P]) at(l *list) P {
	if i := l.under(t); i >= 0 {
		return &t.rows[i]
	}
	return nil
}
