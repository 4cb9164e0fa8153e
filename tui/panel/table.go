package panel

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/themes"
	"gcity/tui/widget"
)

// Definition turns a table into a panel. A function is nil if the panel lacks the feature or uses the
// default.
type Definition[R widget.Keyed] struct {
	About
	Rows func(e *Env) []R
	// the default order first
	Orders func(now time.Time) []widget.SortKey[R]
	// reports whether a row matches a term of the filter
	Matches func(r R, t *widget.Term, now time.Time) bool
	Needs   func(r R, now time.Time) bool
	// reports whether a row belongs to the panel; nil = all rows do
	Belongs func(r R) bool
	Columns func(e *Env, rows []R, w int) []Column[R]
	// reports whether a row is drawn with the cursor; nil = only the selected row is
	Cursor  func(at int, r R, focus bool) bool
	Current func() R // the row that keys apply to
	// the number in the title; nil = the number of all rows
	Count  func(e *Env) string
	Issues func(e *Env) (note string, alert bool)
	// how to fill the list if it is empty
	Help  func(e *Env, w int) []string
	Brief func(e *Env) string // the text of Help in one line
	// explains an empty list, instead of the default
	Empty func(e *Env, w int) []string
	// describes the filter; nil = the default text
	Search func(e *Env) string
	// text at the right end of the top line; nil = the default text
	Note    func(e *Env, at Box) string
	Agent   func(r R) string
	Rig     func(r R) string
	Called  func(r R) string // the row's name in a title; nil = its key
	Copies  func(r R) []Copied
	Summary func(e *Env, r R, w int) []string
	Actions func() []Action
}

// Table is a panel with a Definition. When rows move, the cursor stays on its row.
type Table[R widget.Keyed] struct {
	widget.Table[R]
	Def   Definition[R]
	lines widget.Cache

	vanished   string // key of the latest row that vanished under the cursor; "" = none
	vanishedAt time.Time
}

func NewTable[R widget.Keyed](def Definition[R]) Table[R] {
	return Table[R]{Table: widget.NewTable[R](), Def: def}
}

func (t *Table[R]) About() *About { return &t.Def.About }

// Update builds the rows from a snapshot. While e.Still is set, rows keep their order.
func (t *Table[R]) Update(e *Env) {
	if t.Def.Subset || t.Def.Rows == nil {
		return
	}
	t.Version++
	t.Arrange(t.Def.Rows(e), t.rank(e.Now), e.Now, e.Still)
	t.PruneMarks()
}

func (t *Table[R]) rank(now time.Time) func(a, b R) int {
	return widget.Comparison(t.Def.Orders(now), t.Order)
}

// Refill selects the rows to show. See widget.List.Fill for holds.
func (t *Table[R]) Refill(e *Env, holds func(id string) bool) {
	before := t.SelectedKey
	t.Fill(func(r R) bool { return t.Def.Belongs == nil || t.Def.Belongs(r) },
		func(r R) bool { return t.Shows(e, r) }, holds)
	if before != t.SelectedKey && before != "" && !t.Has(before) {
		t.vanished, t.vanishedAt = before, e.Now
	}
}

// Vanished returns the key of the row that vanished under the cursor so recently that the user might not have noticed,
// or "".
func (t *Table[R]) Vanished(now time.Time) string {
	if now.Sub(t.vanishedAt) >= widget.ReactionTime {
		return ""
	}
	return t.vanished
}

// Shows reports whether a row is shown.
func (t *Table[R]) Shows(e *Env, r R) bool {
	matches := func(term *widget.Term) bool { return t.Def.Matches(r, term, e.Now) }
	return t.Def.Subset || t.Filter.Matches(matches) &&
		(!e.Attention || t.Def.Needs == nil || t.Def.Needs(r, e.Now))
}

// Targets returns the marked rows or, if none is marked, the row under the cursor.
func (t *Table[R]) Targets() []R {
	if r := t.Row(); !widget.IsNil(r) && len(t.Marks) == 0 {
		return []R{r}
	}
	return t.Where(func(r R) bool { return t.Marks[r.Key()] })
}

// Cursor returns the indices of the cursor and of the first row on the screen, and the numbers of visible and of all
// rows.
func (t *Table[R]) Cursor() (at, offset, shown, total int) {
	return t.List.Cursor, t.List.Offset, len(t.List.Shown), len(t.Rows)
}

// Settled reports whether all visible rows match the filter. It ignores rows for which holds(id) is true.
func (t *Table[R]) Settled(holds func(id string) bool) bool { return t.List.AllMatch(holds) }

// Key returns the key of the row under the cursor.
func (t *Table[R]) Key() string { return t.SelectedKey }

// Query returns the filter, which the caller may change.
func (t *Table[R]) Query() *widget.Filter { return &t.Filter }

// Marking returns the marks, which the caller may change.
func (t *Table[R]) Marking() Marking {
	return Marking{&t.Marks, &t.Anchor, t, &t.List}
}

// Sorting returns the sort order, which the caller may change, and the names of all sort orders. It returns nil if
// there is only one.
func (t *Table[R]) Sorting(now time.Time) (o *widget.Order, ways []string) {
	if t.Def.Orders == nil {
		return nil, nil
	}
	if ways = widget.SortKeyNames(t.Def.Orders(now)); len(ways) < 2 {
		return nil, nil
	}
	return &t.Order, ways
}

// Sort sorts the rows.
func (t *Table[R]) Sort(now time.Time) {
	if t.Def.Orders != nil {
		t.Table.Sort(t.rank(now))
	}
}

// Sorted reports whether the rows are in order, or have moved too recently to move again.
func (t *Table[R]) Sorted(now time.Time) bool {
	return t.Def.Orders == nil || t.JustReordered(now) || slices.IsSortedFunc(t.Rows, t.rank(now))
}

// Forget discards the cached lines.
func (t *Table[R]) Forget() { t.lines = widget.Cache{} }

// Entered does nothing, so that the cursor stays where it is.
func (t *Table[R]) Entered() {}

// Row returns the row that keys apply to, or nil.
func (t *Table[R]) Row() R {
	if t.Def.Current != nil {
		return t.Def.Current()
	}
	return t.Current()
}

// Subject returns the object in the row under the cursor.
func (t *Table[R]) Subject() Ref {
	return Ref{Kind: t.Def.Kind, Name: valueOf(R.Key, t.Row())}
}

// Agent returns the agent that the row under the cursor refers to, or "".
func (t *Table[R]) Agent() string { return valueOf(t.Def.Agent, t.Row()) }

// Rig returns the rig of the row under the cursor, or "".
func (t *Table[R]) Rig() string { return valueOf(t.Def.Rig, t.Row()) }

func valueOf[R widget.Keyed, V any](value func(R) V, r R) (none V) {
	if value == nil || widget.IsNil(r) {
		return none
	}
	return value(r)
}

// Called names the rows that verbs act on: "worker", "3 marked pools". It may be "".
func (t *Table[R]) Called() string { return t.Names(t.Targets()) }

// Names returns text that names rows.
func (t *Table[R]) Names(rows []R) string {
	switch {
	case len(rows) == 0:
		return ""
	case len(rows) > 1:
		return widget.Count(len(rows), "marked "+t.Def.Noun)
	case t.Def.Called != nil:
		return t.Def.Called(rows[0])
	}
	return widget.Plain(rows[0].Key())
}

// Copies returns the values that can be copied from the row under the cursor.
func (t *Table[R]) Copies() []Copied {
	return valueOf(t.Def.Copies, t.Row())
}

// Summary describes the row under the cursor in a few lines, or returns nil.
func (t *Table[R]) Summary(e *Env, w int) []string {
	if t.Def.Summary == nil {
		return nil
	}
	return valueOf(func(r R) []string { return t.Def.Summary(e, r, w) }, t.Row())
}

// Actions returns the panel's own actions.
func (t *Table[R]) Actions() []Action {
	if t.Def.Actions == nil {
		return nil
	}
	return t.Def.Actions()
}

// Title returns the panel's name, the number of its rows, and problems in them.
func (t *Table[R]) Title(e *Env) widget.Tab {
	out := widget.Tab{
		ID:    string(t.Def.ID),
		Key:   e.KeyOf("focus." + string(t.Def.ID)),
		Name:  t.Def.Title,
		Count: strconv.Itoa(len(t.Rows)),
	}
	if t.Def.Count != nil {
		out.Count = t.Def.Count(e)
	} else if e.Snap == nil { // before the first snapshot the number is unknown
		out.Count = ""
	}
	if t.Def.Issues != nil {
		out.CountNote, out.Alert = t.Def.Issues(e)
	}
	if len(t.Marks) > 0 && !t.Def.Subset {
		out.CountNote = widget.Number(len(t.Marks)) + " marked"
	}
	return out
}

// Search describes the filters, or returns "". found is the number of matching rows.
func (t *Table[R]) Search(e *Env) (text, found string) {
	switch {
	case t.Def.Subset:
		return "", ""
	case t.Def.Search != nil:
		text = t.Def.Search(e)
	default:
		text = SearchText(e, &t.Filter, t.Def.Always)
	}
	if text == "" {
		return "", ""
	}
	return text, fmt.Sprintf("%d of %d", len(t.List.Shown), len(t.Rows))
}

// SearchText describes the filter and the attention filter, or returns "".
func SearchText(e *Env, f *widget.Filter, always bool) string {
	var parts []string
	if e.Attention && !always {
		parts = append(parts, "!attention")
	}
	if f.Active() {
		parts = append(parts, "/"+f.Text)
	}
	return strings.Join(parts, " ")
}

// Draw returns the lines of the panel.
func (t *Table[R]) Draw(e *Env, at Box) []string {
	key := widget.CacheKey{
		W:      at.W,
		H:      at.H,
		Focus:  at.Focus,
		Data:   t.Version,
		UI:     e.UI,
		Second: e.Now.Unix(),
	}
	if e.Snap != nil {
		key.Rows = 1
	}
	return t.lines.Lines(key, func() []string { return t.draw(e, at) })
}

func (t *Table[R]) draw(e *Env, at Box) []string {
	w, h := at.W, at.H
	lines := append(make([]string, 0, h), e.Look.Title(w, at.Focus, at.Tabs, t.ruleNote(e, at)))
	if len(t.List.Shown) == 0 {
		return widget.FillRows(append(lines, t.nothing(e, w, h)...), w, h)
	}
	shown := t.Visible()
	columns, room := t.Def.Columns(e, shown, w), h-1
	if t.Headed(e, w, h) {
		sorted, arrow := t.sorted(e)
		lines = append(lines, headings(e.Look, columns, sorted, arrow, w))
		room--
	}
	from, to := t.List.Window(room)
	for k := from; k < to; k++ {
		r := shown[k]
		s := widget.RowState{
			Cursor:    r.Key() == t.SelectedKey,
			Marked:    t.Marks[r.Key()],
			Focus:     at.Focus,
			Unmatched: t.List.Unmatched[r.Key()],
		}
		if t.Def.Cursor != nil {
			s.Cursor = t.Def.Cursor(k, r, at.Focus)
		}
		l := RowLine(e.Look, columns, r, s)
		if lines = append(lines, l.Fill(w)); !t.Def.FitsWidth || l.Width > w {
			lines[len(lines)-1] = widget.Crop(lines[len(lines)-1], w)
		}
	}
	return widget.FillRows(lines, w, h)
}

// Headed reports whether the panel has column headings at this size.
func (t *Table[R]) Headed(e *Env, w, h int) bool {
	return !t.Def.NoHeads && (h-1 >= 3 || h-1 > len(t.List.Shown)) && w >= 60
}

// Hidden returns how many rows do not fit into this size.
func (t *Table[R]) Hidden(e *Env, w, h int) (above, below int) {
	room := h - 1
	if t.Headed(e, w, h) {
		room--
	}
	return t.List.HiddenRows(room)
}

func (t *Table[R]) ruleNote(e *Env, at Box) string {
	if t.Def.Note != nil {
		return t.Def.Note(e, at)
	}
	note := ""
	if text, found := t.Search(e); text != "" && !widget.HasSearch(at.Tabs) {
		note = text + "  " + found
	}
	if t.held(e) {
		note += "  order held"
	}
	return strings.TrimSpace(note)
}

func (t *Table[R]) nothing(e *Env, w, h int) []string {
	lines := t.Help(e, w)
	if t.Def.Brief != nil && len(t.Rows) == 0 && e.Snap != nil &&
		h-1 < len(lines) { // an incomplete explanation would be useless
		return e.Look.Notes(w, t.Def.Brief(e))
	}
	return lines
}

// Help explains why the list is empty and how to fill it.
func (t *Table[R]) Help(e *Env, w int) []string {
	if t.Def.Empty != nil {
		return t.Def.Empty(e, w)
	}
	return t.whyEmpty(e, w)
}

func (t *Table[R]) whyEmpty(e *Env, w int) []string {
	n := len(t.Rows)
	switch {
	case e.Snap == nil:
		return e.Look.Notes(w, "Waiting for the city.")
	case n > 0 && e.Attention && !t.Filter.Active():
		return e.Look.Notes(w, e.allWell(t.Def.Noun, n)...)
	case n > 0:
		return e.Look.Notes(w, fmt.Sprintf("%s %q.", widget.NoneOf(n, t.Def.Noun), t.Filter.Text),
			e.Clears())
	case t.Def.Help == nil:
		return e.Look.Notes(w, "No "+t.Def.Noun+"s.")
	}
	return t.Def.Help(e, w)
}

// Clears says which key clears the filter.
func (e *Env) Clears() string { return e.KeyOf("view.back") + " clears the filter." }

// Column describes a column of a table. Either Text or Cell draws its cells.
type Column[R any] struct {
	Head  string
	Order string // name of its sort order; "" = the heading
	W     int
	Gap   int // spaces before it
	Right bool
	Names bool // the end of a text that does not fit stays visible
	Text  func(r R) (string, themes.Token)
	Cell  func(l *widget.Line, r R, s widget.RowState)
}

// Spaced sets the gaps of columns, and removes those without width.
func Spaced[R any](gap int, columns ...Column[R]) []Column[R] {
	for i := range columns {
		columns[i].Gap = gap
	}
	return visible(columns)
}

func styled[R any](token themes.Token, text func(r R) string) func(r R) (string, themes.Token) {
	return func(r R) (string, themes.Token) { return text(r), token }
}

func textColumn[R any](head string, w int, token themes.Token, text func(r R) string) Column[R] {
	return Column[R]{Head: head, W: w, Text: styled(token, text)}
}

// reasonColumn returns a column with the reasons for the states of rows.
func reasonColumn[R any](head string, w int, reason func(r R) widget.Reason) Column[R] {
	return Column[R]{Head: head, W: w, Cell: func(l *widget.Line, r R, _ widget.RowState) {
		l.Styles.Reason(l, reason(r), w)
	}}
}

// right returns the column with its texts aligned to the right.
func (c Column[R]) right() Column[R] {
	c.Right = true
	return c
}

// keepingEnds returns the column with the ends of cut texts visible.
func (c Column[R]) keepingEnds() Column[R] {
	c.Names = true
	return c
}

func nameColumn[R any](w int, name func(r R) string) Column[R] {
	return Column[R]{Head: "name", W: w, Cell: func(l *widget.Line, r R, s widget.RowState) {
		l.Add(s.NameToken(), l.Styles.FitName(name(r), w))
	}}
}

func (c *Column[R]) draw(l *widget.Line, r R, s widget.RowState) {
	if c.Cell != nil {
		c.Cell(l, r, s)
		return
	}
	text, token := c.Text(r)
	fit := widget.Fit
	switch {
	case c.Names:
		fit = widget.FitName
	case c.Right:
		fit = widget.FitRight
	}
	l.Add(token, fit(text, c.W, l.Styles.Glyphs.More))
}

// RowLine draws a row.
func RowLine[R any](k *widget.Styles, columns []Column[R], r R, s widget.RowState) widget.Line {
	l := k.RowStart(s)
	for i := range columns {
		if i > 0 {
			l.Space(columns[i].Gap)
		}
		columns[i].draw(&l, r, s)
	}
	return l
}

func (c *Column[R]) orderName() string { return cmp.Or(c.Order, c.Head) }

func headings[R any](k *widget.Styles, columns []Column[R], sorted, arrow string, w int) string {
	l := widget.Line{Styles: k}
	l.Space(3)
	for i, c := range columns {
		gap, head, token, width, more := c.Gap, c.Head, themes.Dim, c.W, k.Glyphs.More
		if i == 0 {
			gap = 0
		}
		if head != "" && c.orderName() == sorted {
			token, sorted, more = themes.Text, "-", "" // only one heading has an arrow
			over, blank := widget.Width(head+arrow)+1-width, " "
			if c.Right { // the arrow may use the gap in front of the heading
				use := max(0, min(over, gap-1))
				gap, width, over = gap-use, width+use, over-use
			}
			if over > 0 {
				blank = ""
			}
			if head += blank + arrow; c.Right {
				head = arrow + blank + c.Head
			}
		}
		l.Space(gap)
		if c.Right {
			l.Add(token, widget.FitRight(head, width, more))
		} else {
			l.Add(token, widget.Fit(head, width, more))
		}
	}
	return l.Row(w)
}

// OrderAt returns the index of the sort order of the heading at column x, or -1.
func (t *Table[R]) OrderAt(e *Env, w, x int) int {
	o, ways := t.Sorting(e.Now)
	if o == nil {
		return -1
	}
	at := 3
	for i, c := range t.Def.Columns(e, t.Visible(), w) {
		if i > 0 {
			at += c.Gap
		}
		if x >= at-1 && x < at+c.W {
			return slices.Index(ways, c.orderName())
		}
		at += c.W
	}
	return -1
}

// NextOrder returns the index of the sort order of the next column from left to right.
func (t *Table[R]) NextOrder(e *Env, w int) int {
	o, ways := t.Sorting(e.Now)
	var columns []int
	for _, c := range t.Def.Columns(e, t.Visible(), w) {
		if at := slices.Index(ways, c.orderName()); at >= 0 && !slices.Contains(columns, at) {
			columns = append(columns, at)
		}
	}
	if len(columns) == 0 {
		return (o.Key + 1) % len(ways)
	}
	return columns[(slices.Index(columns, o.Key)+1)%len(columns)]
}

func (t *Table[R]) held(e *Env) bool {
	return e.Still && t.Def.Orders != nil && !slices.IsSortedFunc(t.Rows, t.rank(e.Now))
}

// sorted returns the name of the sort order and its arrow. The arrow is in parentheses while the rows are held in a
// different order.
func (t *Table[R]) sorted(e *Env) (name, arrow string) {
	defer func() {
		if t.held(e) && arrow != "" {
			arrow = "(" + arrow + ")"
		}
	}()
	o, _ := t.Sorting(e.Now)
	if o == nil {
		return "", ""
	}
	ways := t.Def.Orders(e.Now)
	if way := &ways[o.Key%len(ways)]; way.Desc != o.Reversed {
		return way.Name, e.Look.Glyphs.Below
	} else {
		return way.Name, e.Look.Glyphs.Above
	}
}

func visible[R any](columns []Column[R]) []Column[R] {
	return slices.DeleteFunc(columns, func(c Column[R]) bool { return c.W <= 0 })
}

// Visible returns the rows that match the filter.
func (t *Table[R]) Visible() []R {
	rows := make([]R, len(t.List.Shown))
	for k, i := range t.List.Shown {
		rows[k] = t.Rows[i]
	}
	return rows
}

// Marking gives access to the marks of a list.
type Marking struct {
	Marks  *map[string]bool
	Anchor *string
	Rows   widget.Rows
	List   *widget.List
}

// Cursor returns the ID of the row under the cursor, or "".
func (k *Marking) Cursor() string {
	if i := k.List.Current(k.Rows); i >= 0 {
		return k.Rows.ID(i)
	}
	return ""
}
