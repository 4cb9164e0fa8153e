package tui

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/themes"
	"gcity/tui/widget"
)

// named is a row by a pointer to it; its key is its name, which no other row has.
type named[R any] interface {
	*R
	Key() string
}

// definition is what makes a panel out of a table. Functions that are nil leave their part out.
type definition[R any, P named[R]] struct {
	about
	rows    func(e *env) []R                                // makes the rows of a snapshot
	orders  func(now time.Time) []widget.Way[R]             // the usual one first
	matches func(f *widget.Filter, r P, now time.Time) bool // it passes the filter
	needs   func(r P, now time.Time) bool                   // it needs attention
	belongs func(r P) bool                                  // of a part: it is in the list
	columns func(e *env, rows []P, w int) []column[P]       // that fit into w
	cursor  func(at int, r P, focus bool) bool              // nil = the row is the chosen one
	current func() P                                        // the row that keys are about
	count   func(e *env) string                             // what the title counts, nil = all rows
	ills    func(e *env) (note string, alert bool)          // what the title says besides
	// what fills the list, while there is nothing
	help    func(e *env, w int) []string
	brief   func(e *env) string                    // the same in a line
	empty   func(e *env, w int) []string           // says all of why the list is empty
	search  func(e *env) string                    // what the filter leaves, nil = the usual text
	note    func(e *env, tabs []widget.Tab) string // the end of the rule, nil = the usual text
	agent   func(r P) string                       // the agent that the row stands for
	rig     func(r P) string                       // the rig that it belongs to
	called  func(r P) string                       // how a title names it, nil = its key
	copies  func(r P) []copied                     // what may be copied from it
	strip   func(e *env, r P, w int) []string      // it in a few lines
	actions func() []panelAction                   // what only this panel can do
}

// table is a panel: records, the list that shows a part of them, and the definition that says how. The
// cursor stays on its row.
type table[R any, P named[R]] struct {
	widget.Table[R, P]
	def   definition[R, P]
	lines widget.Cache
}

func newTable[R any, P named[R]](def definition[R, P]) table[R, P] {
	return table[R, P]{Table: widget.NewTable[R, P](), def: def}
}

func (t *table[R, P]) about() *about { return &t.def.about }

// Update takes the rows of a snapshot. While the user is at work the known rows keep their order.
func (t *table[R, P]) Update(e *env) {
	if t.def.part || t.def.rows == nil {
		return
	}
	t.Version++
	t.Rows = widget.Arrange(t.def.rows(e), t.Rows, keyOf[R, P], t.rank(e.now), e.still)
	t.Marks = pruned(t.Marks, t.Has)
}

// rank returns the order of the rows as a comparison.
func (t *table[R, P]) rank(now time.Time) func(a, b *R) int {
	return widget.Ranking(t.def.orders(now), t.Order, keyOf[R, P])
}

func keyOf[R any, P named[R]](r *R) string { return P(r).Key() }

// Refill selects the rows to show; for holds see widget.List.Fill.
func (t *table[R, P]) Refill(e *env, holds func(id string) bool) {
	t.Version++
	belongs := func(i int) bool { return t.def.belongs == nil || t.def.belongs(&t.Rows[i]) }
	t.List.Fill(t, t.Chosen, belongs, func(i int) bool { return t.passes(e, &t.Rows[i]) }, holds)
	t.Choose()
}

// Move puts the cursor n rows on.
func (t *table[R, P]) Move(n int) {
	t.List.Move(n)
	t.Choose()
}

// Choose has the row under the cursor chosen. Where another panel shows the same rows, the room chooses.
func (t *table[R, P]) Choose() {
	if !t.def.shared {
		t.Table.Choose()
	}
}

// passes reports whether a row is shown.
func (t *table[R, P]) passes(e *env, r P) bool {
	if t.def.part {
		return true
	}
	return t.def.matches(&t.Filter, r, e.now) &&
		(!e.attention || t.def.needs == nil || t.def.needs(r, e.now))
}

// Select puts the cursor on a row; it reports whether the list shows it.
func (t *table[R, P]) Select(id string) bool {
	ok := t.List.Select(t, id)
	t.Choose()
	return ok
}

// Has reports whether there is a row of that key.
func (t *table[R, P]) Has(id string) bool { return t.Find(id) != nil }

// targets are the rows that a verb acts on: the marked ones, else the one under the cursor.
func (t *table[R, P]) targets() []P {
	if r := t.pointed(); r != nil && len(t.Marks) == 0 {
		return []P{r}
	}
	var rows []P
	for i := range t.Rows {
		if r := P(&t.Rows[i]); t.Marks[r.Key()] {
			rows = append(rows, r)
		}
	}
	return rows
}

// Cursor returns where the cursor is among the shown rows, the first visible one, how many are shown, and
// how many there are.
func (t *table[R, P]) Cursor() (at, offset, shown, total int) {
	return t.List.Cursor, t.List.Offset, len(t.List.Shown), len(t.Rows)
}

// Settled reports whether all that is shown passes the filter or is held.
func (t *table[R, P]) Settled(holds func(id string) bool) bool { return t.List.Settled(holds) }

// Key returns the key that the cursor stays on.
func (t *table[R, P]) Key() string { return t.Chosen }

// Query returns the filter of the list, to be changed.
func (t *table[R, P]) Query() *widget.Filter { return &t.Filter }

// Marking returns the marks of the list, to be changed.
func (t *table[R, P]) Marking() marking {
	return marking{&t.Marks, &t.Anchor, t, &t.List}
}

// Sorting returns how the list is sorted, to be changed, and the names of all its orders; nil if there is one.
func (t *table[R, P]) Sorting(now time.Time) (o *widget.Order, ways []string) {
	if t.def.orders == nil {
		return nil, nil
	}
	if ways = widget.WayNames(t.def.orders(now)); len(ways) < 2 {
		return nil, nil
	}
	return &t.Order, ways
}

// Sort puts the rows into their order now.
func (t *table[R, P]) Sort(now time.Time) {
	if t.def.orders != nil {
		widget.Sort(t.Rows, t.rank(now))
	}
}

// Sorted reports whether the rows are in their order.
func (t *table[R, P]) Sorted(now time.Time) bool {
	return t.def.orders == nil || widget.InOrder(t.Rows, t.rank(now))
}

// Forget has everything drawn anew.
func (t *table[R, P]) Forget() { t.lines = widget.Cache{} }

// Entered does nothing: the cursor stays where it was.
func (t *table[R, P]) Entered() {}

// pointed is the row that keys are about, nil if there is none.
func (t *table[R, P]) pointed() P {
	if t.def.current != nil {
		return t.def.current()
	}
	return t.Current()
}

// Subject returns the row under the cursor.
func (t *table[R, P]) Subject() Ref {
	ref := Ref{Kind: t.def.kind}
	if r := t.pointed(); r != nil {
		ref.Name = r.Key()
	}
	return ref
}

// Agent returns the agent that the row under the cursor stands for, "" if there is none.
func (t *table[R, P]) Agent() string { return told(t.def.agent, t.pointed()) }

// Rig returns the rig of the row under the cursor, "" if there is none.
func (t *table[R, P]) Rig() string { return told(t.def.rig, t.pointed()) }

func told[P comparable](tell func(P) string, r P) string {
	var none P
	if tell == nil || r == none {
		return ""
	}
	return tell(r)
}

// Called names what verbs act on, "" if there is nothing: "worker", "3 pools".
func (t *table[R, P]) Called() string {
	rows := t.targets()
	switch {
	case len(rows) == 0:
		return ""
	case len(rows) > 1:
		return widget.Count(len(rows), t.def.noun)
	case t.def.called != nil:
		return t.def.called(rows[0])
	}
	return widget.Plain(rows[0].Key())
}

// Copies returns what may be copied from the row under the cursor.
func (t *table[R, P]) Copies() []copied {
	r := t.pointed()
	if r == nil || t.def.copies == nil {
		return nil
	}
	return t.def.copies(r)
}

// Strip returns the row under the cursor in a few lines, nil if there is none.
func (t *table[R, P]) Strip(e *env, w int) []string {
	r := t.pointed()
	if r == nil || t.def.strip == nil {
		return nil
	}
	return t.def.strip(e, r, w)
}

// Actions returns what only this panel can do.
func (t *table[R, P]) Actions() []panelAction {
	if t.def.actions == nil {
		return nil
	}
	return t.def.actions()
}

// Title returns the title of the panel with how many rows it has, and what is wrong with them.
func (t *table[R, P]) Title(e *env) widget.Tab {
	out := widget.Tab{
		ID:    string(t.def.id),
		Key:   e.keyOf("focus." + string(t.def.id)),
		Name:  t.def.title,
		Extra: strconv.Itoa(len(t.Rows)),
	}
	if t.def.count != nil {
		out.Extra = t.def.count(e)
	} else if e.snap == nil { // that there is none would be said of what nobody knows
		out.Extra = ""
	}
	if t.def.ills != nil {
		out.Note, out.Alert = t.def.ills(e)
	}
	if len(t.Marks) > 0 && !t.def.part {
		out.Note = widget.Number(len(t.Marks)) + " marked"
	}
	return out
}

// Search returns what makes the list show only a part, "" if it shows all, and how much it shows.
func (t *table[R, P]) Search(e *env) (text, found string) {
	switch {
	case t.def.part:
		return "", ""
	case t.def.search != nil:
		text = t.def.search(e)
	default:
		text = searchText(e, &t.Filter, t.def.always)
	}
	if text == "" {
		return "", ""
	}
	return text, fmt.Sprintf("%d of %d", len(t.List.Shown), len(t.Rows))
}

// searchText is what a filter and the attention filter leave, "" if they leave all.
func searchText(e *env, f *widget.Filter, always bool) string {
	var parts []string
	if e.attention && !always {
		parts = append(parts, "!attention")
	}
	if f.Active() {
		parts = append(parts, "/"+f.Text)
	}
	return strings.Join(parts, " ")
}

// Draw returns the panel: its rule, the heads of its columns, its rows.
func (t *table[R, P]) Draw(e *env, at box) []string {
	key := widget.CacheKey{
		W:      at.w,
		H:      at.h,
		Focus:  at.focus,
		Data:   t.Version,
		UI:     e.ui,
		Second: e.now.Unix(),
	}
	if e.snap != nil {
		key.Rows = 1
	}
	return t.lines.Lines(key, func() []string { return t.draw(e, at) })
}

func (t *table[R, P]) draw(e *env, at box) []string {
	w, h := at.w, at.h
	lines := append(make([]string, 0, h), e.look.Title(w, at.focus, at.tabs, t.ruleNote(e, at)))
	if len(t.List.Shown) == 0 {
		return widget.FillRows(append(lines, t.nothing(e, w, h)...), w, h)
	}
	shown := t.visible()
	columns, room := t.def.columns(e, shown, w), h-1
	if t.Headed(e, w, h) {
		lines = append(lines, heads(e.look, columns, w))
		room--
	}
	from, to := t.List.Window(room)
	for k := from; k < to; k++ {
		r := shown[k]
		s := widget.RowState{
			Cursor: r.Key() == t.Chosen,
			Marked: t.Marks[r.Key()],
			Focus:  at.focus,
			Stray:  t.List.Strays[r.Key()],
		}
		if t.def.cursor != nil {
			s.Cursor = t.def.cursor(k, r, at.focus)
		}
		l := rowLine(e.look, columns, r, s)
		if lines = append(lines, l.Fill(w)); !t.def.exact || l.Width > w {
			lines[len(lines)-1] = widget.Crop(lines[len(lines)-1], w)
		}
	}
	return widget.FillRows(lines, w, h)
}

// Headed reports whether a list of that size has heads above its columns.
func (t *table[R, P]) Headed(e *env, w, h int) bool {
	return !t.def.plain && h-1 >= 8 && w >= 60 && e.h >= 28
}

// Hidden returns how many rows are outside a place of that size.
func (t *table[R, P]) Hidden(e *env, w, h int) (above, below int) {
	room := h - 1
	if t.Headed(e, w, h) {
		room--
	}
	return t.List.Outside(room)
}

// ruleNote is the end of the rule: what is hidden, where the title does not say it, and the order of the rows.
func (t *table[R, P]) ruleNote(e *env, at box) string {
	if t.def.note != nil {
		return t.def.note(e, at.tabs)
	}
	note := ""
	if text, found := t.Search(e); text != "" && !widget.Searched(at.tabs) {
		note = text + "  " + found
	}
	o, ways := t.Sorting(e.now)
	if o == nil || t.def.part || len(t.Rows) < 2 || !at.focus && *o == (widget.Order{}) ||
		e.single {
		return note
	}
	text := widget.OrderText(*o, ways)
	if k := e.key("list.sort"); k != "" {
		text = k + ":" + text
	}
	if note == "" {
		return text
	}
	return note + "  " + text
}

// nothing says why the list is empty and what would fill it, in h lines with the rule.
func (t *table[R, P]) nothing(e *env, w, h int) []string {
	lines := t.Help(e, w)
	if t.def.brief != nil && len(t.Rows) == 0 && e.snap != nil &&
		h-1 < len(lines) { // the beginning alone leads nowhere
		return e.look.Notes(w, t.def.brief(e))
	}
	return lines
}

// Help says why the list is empty and what would fill it.
func (t *table[R, P]) Help(e *env, w int) []string {
	n := len(t.Rows)
	switch {
	case t.def.empty != nil:
		return t.def.empty(e, w)
	case e.snap == nil:
		return e.look.Notes(w, "Waiting for the city.")
	case n > 0 && e.attention && !t.Filter.Active():
		return e.look.Notes(w, "No "+t.def.noun+" needs attention.",
			fmt.Sprintf("%s shows all %d again.", e.keyOf("view.attention"), n))
	case n > 0:
		return e.look.Notes(
			w,
			fmt.Sprintf("None of %s matches %q.", widget.Count(n, t.def.noun), t.Filter.Text),
			e.clears(),
		)
	case t.def.help == nil:
		return e.look.Notes(w, "No "+t.def.noun+"s.")
	}
	return t.def.help(e, w)
}

// clears says which key takes a filter away.
func (e *env) clears() string { return e.keyOf("view.back") + " clears the filter." }

// column is a column of a table with its width.
type column[P any] struct {
	head  string
	w     int
	gap   int  // blanks before it
	right bool // its head is at its right
	cell  func(l *widget.Line, r P, s widget.RowState)
}

// rowLine draws a row.
func rowLine[P any](k *widget.Styles, columns []column[P], r P, s widget.RowState) widget.Line {
	l := k.RowStart(s)
	for i := range columns {
		if i > 0 {
			l.Space(columns[i].gap)
		}
		columns[i].cell(&l, r, s)
	}
	return l
}

// heads draws the heads of columns.
func heads[P any](k *widget.Styles, columns []column[P], w int) string {
	text := "   "
	for i, c := range columns {
		if i > 0 {
			text += widget.Spaces(c.gap)
		}
		if c.right {
			text += widget.FitRight(c.head, c.w, "")
		} else {
			text += widget.Fit(c.head, c.w, "")
		}
	}
	l := widget.Line{Styles: k}
	l.Add(themes.Dim, text)
	return widget.Crop(l.Fill(w), w)
}

// shown leaves out the columns that have no width.
func shown[P any](columns []column[P]) []column[P] {
	return slices.DeleteFunc(columns, func(c column[P]) bool { return c.w <= 0 })
}

// visible are the rows that the list shows, as far as the filter leaves them.
func (t *table[R, P]) visible() []P {
	rows := make([]P, len(t.List.Shown))
	for k, i := range t.List.Shown {
		rows[k] = &t.Rows[i]
	}
	return rows
}

// marking are the marks of a list.
type marking struct {
	marks  *map[string]bool
	anchor *string // the row that was marked last
	rows   widget.Rows
	list   *widget.List
}

// here is the id under the cursor, "" if the list is empty.
func (k *marking) here() string {
	if i := k.list.Current(k.rows); i >= 0 {
		return k.rows.ID(i)
	}
	return ""
}

// pruned are marks without those whose rows are gone.
func pruned(marks map[string]bool, known func(id string) bool) map[string]bool {
	for id := range marks {
		if !known(id) {
			marks = maps.Clone(marks)
			delete(marks, id)
		}
	}
	return marks
}
