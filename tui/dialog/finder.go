package dialog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/sahilm/fuzzy"

	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// Item is one entry of a finder.
type Item[T any] struct {
	Keys  []string // keys with the same effect, main key first
	Title string
	Words string // further text that a search covers
	Label string // the name of an object; if set, a search covers only this text
	Line  string // its command line, for tab completion and the palette's history
	Note  string
	Verb  string // what enter does to this entry, "" = Finder.Verb
	// effect of the entry, shown below the list
	Effect string
	// the entry is only similar to the typed text; it runs only after the user has selected it
	Similar bool
	// the typed text abbreviates the entry
	Abbreviated bool
	Names       []string      // lower-case words that mean exactly this entry
	Name        string        // name of its object, which the typed text may abbreviate; "" = none
	Why         func() string // returns the reason why it cannot run now, or ""; nil = it can
	Run         T
	Info        bool // information only, cannot run
	Whole       bool // its title is never cut to make room for the note
	Extra       bool // not one of the listed objects; a search lists it after those with a Label
	Heading     bool // a heading, shown only if no text is typed
	Rank        Rank // how well an entry of Palette.Offer matches
}

// Rank says how well an entry matches the typed text. Better matches come first.
type Rank int

// The ranks, best first.
const (
	rankNoun    Rank = iota - 1 // the text is one of the entry's Names
	RankExact                   // the text is an action's ID or key, or the entry is a completion
	RankNamed                   // a word in the entry's name starts with the text
	RankWords                   // the entry's name contains all words of the text, in any order
	RankMention                 // the entry's description contains all words of the text
	RankFuzzy                   // the entry's name contains the letters of the text in order
)

func (t *Item[T]) head() string {
	head, _, _ := strings.Cut(t.Title, ":")
	head, _, _ = strings.Cut(head, ";")
	return head
}

func (t *Item[T]) hasWordPrefix(text string) bool {
	if strings.HasPrefix(strings.ToLower(t.Title), text) {
		return true
	}
	for _, s := range []string{t.head(), t.Line} {
		s = strings.ToLower(s)
		for at := 0; ; at++ {
			i := strings.Index(s[at:], text)
			if i < 0 {
				break
			}
			at += i
			if before, _ := utf8.DecodeLastRuneInString(s[:at]); at == 0 ||
				!unicode.IsLetter(before) && !unicode.IsDigit(before) {
				return true
			}
		}
	}
	return false
}

// WhyUnavailable returns the reason why the entry cannot run now, or "".
func (t *Item[T]) WhyUnavailable() string {
	if t.Why == nil {
		return ""
	}
	return t.Why()
}

func (t *Item[T]) exact(text string) bool {
	called := t.Line[strings.LastIndexByte(t.Line, '.')+1:]
	return called == text || t.Line == text || slices.Contains(t.Keys, text)
}

func (t *Item[T]) matches(text string) (Rank, bool) {
	low := strings.ToLower(text)
	words := strings.Fields(low)
	all := strings.ToLower(t.Title + " " + t.Words)
	switch {
	case t.Label != "":
		return matchLabel(strings.ToLower(t.Label), low, words)
	case slices.Contains(t.Names, low):
		return rankNoun, true
	case t.exact(text):
		return RankExact, true
	case t.hasWordPrefix(low) || t.Name != "" && widget.Abbreviates(low, t.Name):
		return RankNamed, true
	case !slices.ContainsFunc(words, func(w string) bool { return !t.hasWordPrefix(w) }):
		return RankWords, true
	case !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) }):
		return RankMention, true
	}
	return RankFuzzy, false
}

func matchLabel(label, text string, words []string) (Rank, bool) {
	switch {
	case label == text:
		return RankExact, true
	case strings.HasPrefix(label, text):
		return RankNamed, true
	}
	return RankWords, !slices.ContainsFunc(words,
		func(w string) bool { return !strings.Contains(label, w) })
}

// Finder is a searchable list of entries: help, palette, and menus.
type Finder[T any] struct {
	passive
	Title     string
	Prompt    string // what to type, shown while no text is typed
	EmptyText string // text for an empty result
	Edit      widget.Entry
	All       []Item[T]
	Found     []Item[T]
	Cursor    int
	About     any // subject of the entries; its type depends on the owner

	Reasons     bool        // each row that cannot run shows why, not only the row under the cursor
	Copies      bool        // its entries can be copied
	Verb        string      // what enter does to the entry under the cursor; "" = "runs it"
	Palette     *Palette[T] // set if the finder is the palette
	CursorMoved bool
	Problem     string // why the typed text cannot run
	Vanished    bool   // another entry has replaced the one under the cursor

	offset       int
	page         int // number of visible entries
	historyIndex int // index of the shown line in the history; len(history) = none
}

// Palette is the part of a finder that accepts command lines.
type Palette[T any] struct {
	History []string // earlier command lines, oldest first
	// returns further entries for the typed text, and whether to omit the finder's own entries
	Offer     func(text string) (found []Item[T], only bool)
	TakesMore func(line string) bool // reports whether a line can have more words
	Recent    []Item[T]              // the entries that come first if no text is typed
	LongText  string                 // how to send a text that is too long for a line; "" = unknown
}

// NewFinder returns a finder that shows all of its entries.
func NewFinder[T any](f *Finder[T]) *Finder[T] {
	f.Edit, f.historyIndex = widget.NewEntry(""), len(f.history())
	f.Search()
	return f
}

func (f *Finder[T]) history() []string {
	if f.Palette == nil {
		return nil
	}
	return f.Palette.History
}

// Zone implements Dialog.
func (f *Finder[T]) Zone() keymap.Zone { return keymap.InFinder }

// Key edits the search text.
func (f *Finder[T]) Key(k tea.KeyPressMsg, _ func()) []T {
	if f.Palette == nil && k.Text == "/" && f.Edit.String() == "" {
		return nil // users may press / to start a search, but the search is already open
	}
	if f.Edit.Key(k) {
		f.typed()
	}
	return nil
}

// Paste inserts text into the search text.
func (f *Finder[T]) Paste(text string) {
	if f.Edit.Paste(text) {
		f.typed()
	} else if f.Problem = pasteTooLong(); f.Palette != nil && f.Palette.LongText != "" {
		f.Problem += "; " + f.Palette.LongText
	}
}

// Wheel moves the cursor by one row per notch.
func (f *Finder[T]) Wheel(notches int, _ Canvas) { f.Step(notches) }

// Type replaces the search text as if the user had typed it.
func (f *Finder[T]) Type(text string) {
	f.Edit = widget.NewEntry(text)
	f.Search()
}

// Current returns the entry under the cursor, or nil if no entry matches.
func (f *Finder[T]) Current() *Item[T] {
	if f.Cursor >= len(f.Found) {
		return nil
	}
	return &f.Found[f.Cursor]
}

// Runnable returns the entry that the enter key runs, or nil. If the entry might not be the one that the user means,
// for example because it is only similar to the text, it runs only after the user has moved the cursor.
func (f *Finder[T]) Runnable() *Item[T] {
	t := f.Current()
	recalled := f.historyIndex < len(f.history())
	if t == nil || (t.Similar || t.Abbreviated && recalled || f.untyped()) && !f.CursorMoved {
		return nil
	}
	return t
}

func (f *Finder[T]) untyped() bool {
	return f.Palette != nil && strings.TrimSpace(f.Edit.String()) == ""
}

// Page moves the cursor by n pages.
func (f *Finder[T]) Page(n int) { f.Step(n * max(1, f.page)) }

// Refill replaces the entries. The cursor stays on its entry or, if that has vanished, at its position. Vanished and
// Problem stay set until the user acts.
func (f *Finder[T]) Refill(all []Item[T]) {
	line, at, pointed, offset := "", f.Cursor, f.CursorMoved, f.offset
	vanished, problem := f.Vanished, f.Problem
	if t := f.Current(); t != nil {
		line = t.Line
	}
	f.All = all
	f.Search()
	f.Cursor = max(0, min(at, len(f.Found)-1))
	f.Vanished, f.Problem = vanished || line != "", problem
	for i := range f.Found {
		if f.Found[i].Line == line {
			f.Cursor, f.Vanished = i, vanished
		}
	}
	f.CursorMoved, f.offset = pointed, offset
}

// Click moves the cursor to a row of the sheet. It reports whether the row contains an entry.
func (f *Finder[T]) Click(row, lines int) bool {
	at := f.offset + row - finderHead
	if row < finderHead || row >= lines-finderFoot || at >= len(f.Found) ||
		f.Found[at].Heading {
		return false
	}
	f.Cursor, f.CursorMoved, f.Problem, f.Vanished = at, true, "", false
	return true
}

// Step moves the cursor by n entries, or selects the first entry if none is selected. It skips headings.
func (f *Finder[T]) Step(n int) {
	if n > 0 && f.Runnable() == nil {
		n--
	}
	f.Cursor = max(0, min(f.Cursor+n, len(f.Found)-1))
	f.CursorMoved, f.Problem, f.Vanished = true, "", false
	f.skipHeads(n)
}

func (f *Finder[T]) skipHeads(n int) {
	for _, by := range []int{n, -n} {
		for at := f.Cursor; at >= 0 && at < len(f.Found); {
			if !f.Found[at].Heading {
				f.Cursor = at
				return
			}
			if at++; by < 0 {
				at -= 2
			}
		}
	}
}

// place returns the cursor's position, counted from 1, and the number of entries. Headings do not count.
func (f *Finder[T]) place() (at, all int) {
	for i := range f.Found {
		if f.Found[i].Heading {
			continue
		}
		if all++; i <= f.Cursor {
			at++
		}
	}
	return at, all
}

// Search filters and sorts the entries by the typed text. Among equal matches, the most recently used entries come
// first.
func (f *Finder[T]) Search() {
	text := strings.TrimPrefix(strings.TrimLeft(f.Edit.String(), " "), "/")
	f.Cursor, f.offset, f.CursorMoved, f.Problem, f.Vanished = 0, 0, false, "", false
	f.Found = nil
	if strings.TrimSpace(text) == "" {
		f.Found = f.All
		if f.Palette != nil {
			f.Found = runnableFirst(distinct(append(slices.Clone(f.Palette.Recent), f.All...)),
				RankExact)
		}
		f.skipHeads(1)
		return
	}
	if f.Palette != nil {
		only := false
		if f.Found, only = f.Palette.Offer(text); only {
			return
		}
	}
	text = strings.TrimSpace(text)
	for _, t := range f.All {
		if rank, ok := t.matches(text); ok && !t.Heading {
			t.Rank, t.Similar = rank, t.Similar || rank >= RankMention
			f.Found = append(f.Found, t)
		}
	}
	slices.SortStableFunc(f.Found, func(a, b Item[T]) int {
		return cmp.Or(extraLast(a, b), cmp.Compare(a.Rank, b.Rank),
			f.lastUse(b.Line)-f.lastUse(a.Line))
	})
	if f.Palette != nil {
		f.Found = runnableFirst(filterByNoun(f.Found), RankNamed)
	}
	if f.Found = distinct(f.Found); len(f.Found) == 0 {
		f.Found = f.fuzzy(text)
	}
}

func extraLast[T any](a, b Item[T]) int {
	switch {
	case a.Extra == b.Extra || a.Label == "" && b.Label == "":
		return 0
	case a.Extra:
		return 1
	}
	return -1
}

// filterByNoun has an effect only if the typed text is a noun such as "work". It removes entries that only mention the
// text, and entries that match it inexactly and cannot run.
func filterByNoun[T any](all []Item[T]) []Item[T] {
	if len(all) == 0 || all[0].Rank != rankNoun {
		return all
	}
	return slices.DeleteFunc(all, func(t Item[T]) bool {
		return t.Rank >= RankMention || t.Rank > RankExact && t.WhyUnavailable() != ""
	})
}

// runnableFirst moves entries that cannot run to the end, except those with a rank better than from.
func runnableFirst[T any](all []Item[T], from Rank) []Item[T] {
	var first, last []Item[T]
	for _, t := range all {
		if t.Rank >= from && t.WhyUnavailable() != "" {
			last = append(last, t)
		} else {
			first = append(first, t)
		}
	}
	return append(first, last...)
}

// lastUse returns the position of a line in the history, counted from 1; 0 = not in the history.
func (f *Finder[T]) lastUse(line string) int {
	if line == "" {
		return 0
	}
	return slices.Index(f.history(), line) + 1
}

func distinct[T any](all []Item[T]) []Item[T] {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(t Item[T]) bool {
		again := t.Line != "" && seen[t.Line]
		seen[t.Line] = true
		return again
	})
}

// fuzzy returns the entries that contain the letters of the text in order. The letters must be close together, because
// almost any text would match otherwise.
func (f *Finder[T]) fuzzy(text string) (found []Item[T]) {
	titles := make([]string, len(f.All))
	for i := range f.All {
		titles[i] = f.All[i].head() + " " + f.All[i].Line
	}
	for _, hit := range fuzzy.Find(text, titles) {
		at := hit.MatchedIndexes
		if t := f.All[hit.Index]; !t.Heading && t.Label == "" &&
			at[len(at)-1]-at[0] < 2*len(at) {
			t.Similar = true
			found = append(found, t)
		}
	}
	return found
}

// Up moves the cursor up. From the first row of the palette, it moves into the history if no text has been typed.
func (f *Finder[T]) Up() {
	if f.Palette == nil || f.Cursor > 0 || f.historyIndex == 0 ||
		f.Edit.String() != "" && f.historyIndex == len(f.history()) {
		f.Step(-1)
		return
	}
	f.showHistory(f.historyIndex - 1)
}

// Down moves the cursor down. In the history it goes to the next line.
func (f *Finder[T]) Down() {
	if f.historyIndex < len(f.history()) {
		f.showHistory(f.historyIndex + 1)
		return
	}
	f.Step(1)
}

func (f *Finder[T]) showHistory(at int) {
	text, history := "", f.history()
	if at < len(history) {
		text = history[at]
	}
	f.Edit, f.historyIndex = widget.NewEntry(text), at
	f.Search()
}

func (f *Finder[T]) typed() {
	f.historyIndex = len(f.history())
	f.Search()
}

// Complete extends the palette's text to the longest common prefix of all entries. In other finders it moves the
// cursor.
func (f *Finder[T]) Complete() {
	if f.Palette == nil {
		f.Step(1)
		return
	}
	text := strings.TrimLeft(f.Edit.String(), " ")
	var lines []string
	for _, t := range f.Found {
		if t.Line != "" && strings.HasPrefix(t.Line, text) {
			lines = append(lines, t.Line)
		}
	}
	common := commonPrefix(lines)
	switch {
	case text != "" && len(lines) > 0 && len(common) > len(text):
	case f.Cursor < len(f.Found) && f.Found[f.Cursor].Line != "":
		common = f.Found[f.Cursor].Line
		lines = []string{common}
	default:
		return
	}
	if len(lines) == 1 && f.Palette.TakesMore(common) {
		common += " "
	}
	f.Edit = widget.NewEntry(common)
	f.typed()
}

func commonPrefix(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	first, last := slices.Min(texts), slices.Max(texts)
	n := 0
	for n < min(len(first), len(last)) && first[n] == last[n] {
		n++
	}
	return strings.ToValidUTF8(first[:n], "")
}

const finderHead, finderFoot = 2, 3

func (f *Finder[T]) enterEffect() string {
	if t := f.Runnable(); t != nil && t.Verb != "" {
		return t.Verb
	}
	return cmp.Or(f.Verb, "runs it")
}

// Draw implements Dialog.
func (f *Finder[T]) Draw(c Canvas) Frame {
	w := c.width(max(96, min(140, c.W-16)))
	h := min(c.H-2, len(f.All)+finderHead+finderFoot)
	inner := w - 4
	var lines []string
	typed, at := f.Edit.Show(inner - 2)
	lead := "/ "
	if f.Palette != nil {
		lead = ": "
	}
	token := themes.Text
	if f.Edit.String() == "" && f.Prompt != "" {
		typed, token = c.Styles.Cut(f.Prompt, inner-2), themes.Dim
	}
	lines = append(lines, c.Styles.Paint(themes.Accent, lead)+c.Styles.Paint(token, typed), "")
	room := max(1, h-finderHead-finderFoot)
	f.offset, f.page = widget.ScrollTo(f.Cursor, f.offset, room, len(f.Found)), room
	if len(f.Found) == 0 {
		lines = append(lines, c.Styles.Paint(themes.Dim,
			c.Styles.Cut(f.EmptyText, inner)))
	}
	for i := f.offset; i < min(len(f.Found), f.offset+room); i++ {
		lines = append(lines, f.line(c, &f.Found[i], &f.Found[i] == f.Runnable(), inner))
	}
	for len(lines) < room+finderHead {
		lines = append(lines, "")
	}
	lines = append(lines, f.fullEntry(c, inner)...)
	lines = append(lines, f.hint(c, inner))
	return Frame{Title: f.Title, Lines: lines, W: w, X: 2 + at}
}

func (f *Finder[T]) fullEntry(c Canvas, w int) []string {
	out := []string{"", ""}
	t := f.Runnable()
	why := f.whyNot()
	if widget.Width(why) > w {
		token := themes.Warn
		if f.Problem != "" {
			token = themes.Bad
		}
		return twoLines(c, token, why, w)
	}
	if f.Copies || t == nil {
		return out
	}
	if t.Effect != "" && why == "" {
		return twoLines(c, themes.Text, t.Effect, w)
	}
	row := ansi.Strip(f.line(c, t, true, w))
	if strings.Contains(row, t.Title) &&
		(strings.Contains(row, t.Note) || w >= narrowFinder && t.WhyUnavailable() != "") {
		return out
	}
	return apart(c, widget.Wrap(fullText(c, t), w-detailIndent), w)
}

func fullText[T any](c Canvas, t *Item[T]) string {
	switch {
	case t.Note == "":
		return strings.TrimSpace(t.Title)
	case t.Label != "":
		return t.Label + ": " + t.Note
	}
	return strings.TrimSpace(t.Title) + c.Styles.Between() + t.Note
}

const detailIndent = 6

// apart joins parts into two lines, indented so that they do not look like further rows.
func apart(c Canvas, parts []string, w int) []string {
	if len(parts) == 1 {
		parts = []string{"", parts[0]}
	}
	parts[1] = strings.Join(parts[1:], " ")
	for i, part := range parts[:2] {
		parts[i] = strings.Repeat(" ", detailIndent) +
			c.Styles.Paint(themes.Dim, c.Styles.Cut(part, w-detailIndent))
	}
	return parts[:2]
}

func (f *Finder[T]) whyNot() string {
	if t := f.Runnable(); f.Problem == "" && t != nil {
		return t.WhyUnavailable()
	}
	return f.Problem
}

func twoLines(c Canvas, token themes.Token, text string, w int) []string {
	out := []string{"", ""}
	parts := widget.Wrap(text, w-2)
	if len(parts) > len(out) {
		parts = []string{parts[0], strings.Join(parts[1:], " ")}
	}
	for i, part := range parts {
		out[i] = "  " + c.Styles.Paint(token, c.Styles.Cut(part, w-2))
	}
	return out
}

func (f *Finder[T]) hint(c Canvas, w int) string {
	more := c.more()
	full := widget.Width(f.whyNot()) > w // two lines above the hint already show the reason
	if f.Problem != "" && !full {
		return c.Styles.Paint(themes.Bad, f.Problem)
	}
	place, marked := "", f.Runnable()
	if marked != nil {
		if at, all := f.place(); at > 0 {
			place = fmt.Sprintf("%d of %d", at, all)
		}
		// the row has no room for the reason
		if why := marked.WhyUnavailable(); why != "" && !full &&
			(w < narrowFinder || widget.Width(why) > w/2) {
			return c.Styles.Paint(themes.Warn, why)
		}
	}
	keys := c.Keys.Hints("finder.run", f.enterEffect(), "finder.close", "closes")
	if w >= narrowHint {
		keys = append([]string{"type to search"}, keys...)
	}
	switch {
	case len(f.Found) == 0 && f.Palette == nil:
		keys = c.Keys.Hints("finder.close", "closes")
	case marked == nil && f.untyped():
		keys = append([]string{"type to search"}, c.Keys.Hints("finder.down", "selects",
			"finder.up", "earlier lines", "finder.close", "closes")...)
	case marked == nil && len(f.Found) > 0:
		place = fmt.Sprintf("%d similar", len(f.Found))
		keys = c.Keys.Hints("finder.down", "selects one", "finder.close", "closes")
	case marked != nil && marked.Info:
		keys = append([]string{"type to search"}, c.Keys.Hints("finder.close", "closes")...)
	case f.Palette != nil:
		keys = append([]string{"type to search"},
			c.Keys.Hints("finder.complete", "completes", "finder.run", "runs it", "finder.up",
				"earlier lines", "finder.close", "closes")...)
	}
	return c.Styles.Paint(themes.Dim, widget.Fit(widget.Hints(w-widget.Width(place)-2, keys...),
		w-widget.Width(place), more)+place)
}

// narrowFinder is the width below which a row shows only keys and title.
const narrowFinder = 60

// narrowHint is the width below which the last line contains only the effects of enter and esc.
const narrowHint = 48

func (f *Finder[T]) keyColumn(w int) int {
	if !slices.ContainsFunc(f.All, func(t Item[T]) bool { return len(t.Keys) > 0 }) {
		return 0
	}
	if w < narrowFinder {
		return 8
	}
	return 14
}

func (f *Finder[T]) line(c Canvas, t *Item[T], here bool, w int) string {
	l := widget.Line{Styles: c.Styles}
	if t.Heading {
		l.Add(themes.Title, t.Title)
		return l.Fill(w)
	}
	text, key := themes.Text, themes.Key
	why := t.WhyUnavailable()
	if why != "" {
		text, key = themes.Off, themes.Off
	}
	mark := "  "
	if here {
		l.Selected = true
		mark = c.Styles.Glyphs.Cursor + " "
	}
	l.Add(themes.Accent, mark)
	if n := f.keyColumn(w); n > 0 {
		l.Add(key, c.Styles.Fit(strings.Join(t.Keys, " "), n-1)+" ")
	}
	tail, title := t.Note, t.Title
	switch {
	case f.Copies: // the note is the text to copy
	case w < narrowFinder: // the last line shows the reason
		tail = ""
	case why != "" && (here || f.Reasons):
		tail = why
		// the reason is more useful than the details
		if widget.Width(why)+widget.Width(title)+l.Width+2 > w {
			title, _, _ = strings.Cut(title, ":")
		}
	}
	least := w / 2
	if t.Whole {
		least = minWordWidth
	}
	tail = c.Styles.Cut(tail, max(least, w-l.Width-widget.Width(title)-2))
	room := w - l.Width
	if tail != "" {
		room -= widget.Width(tail) + 2
	}
	if w < narrowFinder {
		title = widget.DropExplanation(title, room)
	}
	l.Add(text, c.Styles.Fit(title, room))
	l.Space(w - l.Width - widget.Width(tail))
	l.Add(themes.Dim, tail)
	return l.Fill(w)
}
