package widget

// named is a row by a pointer to it; its key is its name, which no other row has.
type named[R any] interface {
	*R
	Key() string
}

// Records are rows in the order of their lists, and what a user has chosen, marked and filtered among
// them. Two tables may show the same records.
type Records[R any, P named[R]] struct {
	Rows    []R
	Order   Order
	Filter  Filter
	Chosen  string // the key under the cursor
	Marks   map[string]bool
	Anchor  string // marked last
	Version uint64 // grows when rows change
}

func (t *Records[R, P]) Len() int { return len(t.Rows) }

func (t *Records[R, P]) ID(i int) string { return P(&t.Rows[i]).Key() }

// Find returns the row of a key, nil if there is none.
func (t *Records[R, P]) Find(key string) P {
	for i := range t.Rows {
		if r := P(&t.Rows[i]); r.Key() == key {
			return r
		}
	}
	return nil
}

// Table is records and the list that shows a part of them: the cursor stays on its row.
type Table[R any, P named[R]] struct {
	*Records[R, P]
	List List
}

func NewTable[R any, P named[R]]() Table[R, P] {
	return Table[R, P]{Records: &Records[R, P]{Marks: map[string]bool{}}}
}

// Fill selects the rows to show; for holds see list.fill.
func (t *Table[R, P]) Fill(keep func(P) bool, holds func(id string) bool) {
	t.Version++
	t.List.Fill(t, t.Chosen, func(int) bool { return true },
		func(i int) bool { return keep(&t.Rows[i]) }, holds)
	t.Choose()
}

// Move puts the cursor n rows on.
func (t *Table[R, P]) Move(n int) {
	t.List.Move(n)
	t.Choose()
}

func (t *Table[R, P]) Choose() {
	if r := t.Current(); r != nil {
		t.Chosen = r.Key()
	}
}

// Current is the row under the cursor, nil if none is shown.
func (t *Table[R, P]) Current() P {
	if i := t.List.Current(t); i >= 0 {
		return &t.Rows[i]
	}
	return nil
}

// At is the row under the cursor of a list of these records, nil if the list is empty.
func (t *Records[R, P]) At(l *List) P {
	if i := l.Current(t); i >= 0 {
		return &t.Rows[i]
	}
	return nil
}
