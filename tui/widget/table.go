package widget

// named is the constraint for a pointer to a row. Key returns the unique key of the row.
type named[R any] interface {
	*R
	Key() string
}

// Records has rows in display order, with the user's selection, marks and filter. Two tables may share records.
type Records[R any, P named[R]] struct {
	Rows    []R
	Order   Order
	Filter  Filter
	Chosen  string // the key under the cursor
	Marks   map[string]bool
	Anchor  string // the latest marked row
	Version uint64 // increases when rows change
}

func (t *Records[R, P]) Len() int { return len(t.Rows) }

func (t *Records[R, P]) ID(i int) string { return P(&t.Rows[i]).Key() }

// Find returns the row with a key, or nil.
func (t *Records[R, P]) Find(key string) P {
	for i := range t.Rows {
		if r := P(&t.Rows[i]); r.Key() == key {
			return r
		}
	}
	return nil
}

// Table is Records with a list that shows some of the rows. The cursor stays on its row.
type Table[R any, P named[R]] struct {
	*Records[R, P]
	List List
}

func NewTable[R any, P named[R]]() Table[R, P] {
	return Table[R, P]{Records: &Records[R, P]{Marks: map[string]bool{}}}
}

// Fill selects the rows to show; see List.Fill for holds.
func (t *Table[R, P]) Fill(keep func(P) bool, holds func(id string) bool) {
	t.Version++
	t.List.Fill(t, t.Chosen, func(int) bool { return true },
		func(i int) bool { return keep(&t.Rows[i]) }, holds)
	t.Choose()
}

// Move moves the cursor by n rows.
func (t *Table[R, P]) Move(n int) {
	t.List.Move(n)
	t.Choose()
}

func (t *Table[R, P]) Choose() {
	if r := t.Current(); r != nil {
		t.Chosen = r.Key()
	}
}

// Current returns the row under the cursor, or nil if no row is shown.
func (t *Table[R, P]) Current() P {
	if i := t.List.Current(t); i >= 0 {
		return &t.Rows[i]
	}
	return nil
}

// At returns the row under the cursor of a list of these records, or nil if the list is empty.
func (t *Records[R, P]) At(l *List) P {
	if i := l.Current(t); i >= 0 {
		return &t.Rows[i]
	}
	return nil
}
