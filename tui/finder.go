package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/sahilm/fuzzy"

	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// item is one thing that a finder offers.
type item struct {
	keys  []string // that do the same, the usual one first
	title string
	words string // searched besides the title
	line  string // what is typed for it: for tab and for the palette's history
	tail  string // what else is to be known
	near  bool   // it is not what was typed, only like it or about it: run only where somebody has pointed at it
	why   func(m *model) string
	run   func(m *model) []effect
}

// head is its title without what is said about it.
func (t *item) head() string {
	head, _, _ := strings.Cut(t.title, ":")
	head, _, _ = strings.Cut(head, ";")
	return head
}

// called reports whether a text, in lower case, is one of its keys or begins a word of its title or of what is typed for it.
func (t *item) called(text string) bool {
	if strings.HasPrefix(strings.ToLower(t.title), text) {
		return true
	}
	for _, s := range []string{t.head(), t.line} {
		s = strings.ToLower(s)
		for at := 0; ; at++ {
			i := strings.Index(s[at:], text)
			if i < 0 {
				break
			}
			at += i
			if before, _ := utf8.DecodeLastRuneInString(s[:at]); at == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before) {
				return true
			}
		}
	}
	return false
}

// refused is why it cannot be run now, "" if it can.
func (t *item) refused(m *model) string {
	if t.why == nil {
		return ""
	}
	return t.why(m)
}

// far is how far an item is from what was typed: 0 where it is called so.
func (t *item) far(text string) int {
	if called := t.line[strings.LastIndexByte(t.line, '.')+1:]; called == text || t.line == text || slices.Contains(t.keys, text) {
		return 0
	}
	return 1
}

// finder is a searchable list of things to do: help, palette, and the menus of verbs and of what can be copied.
type finder struct {
	title  string
	none   string // what is said where nothing fits
	edit   widget.Entry
	all    []item
	found  []item
	at     int
	offset int
	page   int // how many are seen

	reasons bool // each row says why it cannot be run, not the one under the cursor alone
	palette bool
	cities  bool                             // it offers cities to go to
	copies  bool                             // it offers texts to be copied
	verb    string                           // what enter does to what is under the cursor, "" = "runs it"
	offer   func(text string) ([]item, bool) // what is offered for a text besides all, false = nothing else; nil = never
	past    int                              // index into the history of what stands there, its length = nothing from it
	pointed bool                             // somebody has moved to what is under the cursor
	problem string                           // why what was typed cannot be run
	asked   int                              // the question under way about what is offered, 0 = none
	takes   string                           // whom the work that is offered would be handed to
}

// actionItem offers an action.
func actionItem(a *action) item {
	t := item{keys: a.Key.Keys(), title: a.Title(), words: a.ID, line: a.ID, why: a.Why, run: a.Run}
	if len(a.In) == 1 && a.In[0] != keymap.Everywhere {
		t.tail = a.In[0].String()
	}
	if a.Risk != keymap.Harmless && t.tail != "" {
		t.tail += ", "
	}
	if a.Risk != keymap.Harmless {
		t.tail += a.Risk.String()
	}
	return t
}

func (m *model) openFinder(palette bool) {
	f := &finder{title: "Help", none: "No action is called that."}
	for i := range m.keys.Actions {
		if a := &m.keys.Actions[i]; a.Reachable() && !m.unseen(a) {
			f.all = append(f.all, actionItem(a))
		}
	}
	if !palette {
		f.all = append(f.all, m.legend()...)
	}
	if palette {
		f.title, f.palette, f.offer = "Palette", true, m.palettes
		f.all = append(f.all, m.commandItems()...)
	}
	m.open(f)
}

// open shows a finder with all that it has.
func (m *model) open(f *finder) {
	f.edit, f.found, f.past = widget.NewEntry(""), f.all, len(m.history)
	m.finder = f
}

// unseen reports whether an action is not even shown: in a room that only looks, all that would change something.
func (m *model) unseen(a *action) bool { return m.mode == ReadOnly && a.Refused(m) == needWritable(m) }

func (f *finder) step(n int) {
	f.at = max(0, min(f.at+n, len(f.found)-1))
	f.pointed = true
}

// search leaves what is called like the typed text, then what mentions it, else what its letters are in the title of; the
// best first.
func (f *finder) search() {
	text := strings.TrimPrefix(strings.TrimLeft(f.edit.String(), " "), "/")
	f.at, f.offset, f.pointed, f.problem = 0, 0, false, ""
	if f.offer != nil {
		if found, ok := f.offer(text); ok {
			f.found = found
			return
		}
	}
	if text = strings.TrimSpace(text); text == "" {
		f.found = f.all
		return
	}
	f.found = nil
	low := strings.ToLower(text)
	var mentioned []item
	for _, t := range f.all {
		switch {
		case slices.Contains(t.keys, text) || t.called(low):
			f.found = append(f.found, t)
		case strings.Contains(strings.ToLower(t.title+" "+t.words), low):
			t.near = true
			mentioned = append(mentioned, t)
		}
	}
	slices.SortStableFunc(f.found, func(a, b item) int { return a.far(text) - b.far(text) })
	if f.found = append(f.found, mentioned...); len(f.found) > 0 {
		return
	}
	titles := make([]string, len(f.all))
	for i := range f.all {
		titles[i] = f.all[i].head() + " " + f.all[i].line
	}
	for _, hit := range fuzzy.Find(text, titles) {
		t := f.all[hit.Index]
		t.near = true
		f.found = append(f.found, t)
	}
}

// runFound closes the finder and runs what is under the cursor; in the palette a line that names nothing that is offered
// is tried as it stands.
func (m *model) runFound() []effect {
	f := m.finder
	if f.at < len(f.found) && (f.pointed || !f.found[f.at].near) {
		t := f.found[f.at]
		if t.run == nil {
			return nil
		}
		m.finder = nil
		if f.palette {
			defer func() { // not what only opened it again, to be completed
				if m.finder == nil {
					m.remember(t.line)
				}
			}()
		}
		if why := t.refused(m); why != "" {
			what, _, _ := strings.Cut(t.title, ":")
			m.complain("cannot " + what + ": " + why)
			return nil
		}
		return t.run(m)
	}
	line := strings.TrimSpace(f.edit.String())
	if !f.palette && len(f.found) == 0 {
		m.finder = nil
		return nil
	}
	todo, why := []effect(nil), fmt.Sprintf("nothing is called %q", line)
	if f.palette {
		todo, why = m.runLine(line)
	}
	if why != "" {
		f.problem = why
		if len(f.found) > 0 {
			f.problem += "; " + m.keys.KeyOf("finder.down") + " goes to what is like it"
		}
		return nil
	}
	if m.finder == f {
		m.finder = nil
	}
	m.remember(line)
	return todo
}

// Rows of a finder above and below what it offers.
const finderHead, finderFoot = 2, 3

// does says what enter does to what is under the cursor.
func (f *finder) does() string {
	return cmp.Or(f.verb, "runs it")
}

// finderSheet draws it, h lines at most, and says where the cursor of the typed text is.
func (m *model) finderSheet(w, h int) (lines []string, x, y int) {
	f := m.finder
	inner := w - 4
	typed, at := f.edit.Show(inner - 2)
	lead := "/ "
	if f.palette {
		lead = ": "
	}
	lines = append(lines, m.look.Paint(themes.Accent, lead)+m.look.Paint(themes.Text, typed), "")
	room := max(1, h-finderHead-finderFoot)
	f.offset, f.page = widget.ScrollTo(f.at, f.offset, room, len(f.found)), room
	if len(f.found) == 0 {
		lines = append(lines, m.look.Paint(themes.Dim,
			widget.Cut(f.none, inner, m.look.Glyphs.More)))
	}
	for i := f.offset; i < min(len(f.found), f.offset+room); i++ {
		lines = append(lines, m.finderLine(&f.found[i], i == f.at, inner))
	}
	for len(lines) < room+finderHead {
		lines = append(lines, "")
	}
	lines = append(lines, m.inFull(inner)...)
	return append(lines, m.finderHint(inner)), 2 + at, 0
}

// inFull is what is under the cursor in two lines, if its row has no room for all of it.
func (m *model) inFull(w int) []string {
	f, out := m.finder, []string{"", ""}
	if f.copies || f.at >= len(f.found) {
		return out
	}
	t := &f.found[f.at]
	text := t.title
	if t.tail != "" {
		text += " " + m.look.Glyphs.Dot + " " + t.tail
	}
	row := ansi.Strip(m.finderLine(t, true, w))
	if strings.Contains(row, t.title) && (strings.Contains(row, t.tail) || w >= narrowFinder && t.refused(m) != "") {
		return out
	}
	parts := widget.Wrap(text, w-2)
	if len(parts) > len(out) {
		parts = []string{parts[0], strings.Join(parts[1:], " ")}
	}
	for i, part := range parts {
		out[i] = "  " + m.look.Paint(themes.Text, widget.Cut(part, w-2, m.look.Glyphs.More))
	}
	return out
}

// finderHint is the last line: what is wrong with what was typed, or what keys do, and which of how many the cursor is on.
func (m *model) finderHint(w int) string {
	f, more := m.finder, m.look.Glyphs.More
	if f.problem != "" {
		return m.look.Paint(themes.Bad, widget.Cut(f.problem, w, more))
	}
	place := ""
	if f.at < len(f.found) {
		place = fmt.Sprintf("%d of %d", f.at+1, len(f.found))
		// its row has no room for it
		if why := f.found[f.at].refused(m); why != "" &&
			(w < narrowFinder || widget.Width(why) > w/2) {
			return m.look.Paint(themes.Warn, widget.Cut(why, w, more))
		}
	}
	keys := append([]string{"type to search"}, m.keys.Hints("finder.run", f.does(), "finder.close", "closes")...)
	switch {
	case f.at < len(f.found) && f.found[f.at].run == nil: // it only tells
		keys = append([]string{"type to search"}, m.keys.Hints("finder.close", "closes")...)
	case f.palette:
		keys = append([]string{"type to search"},
			m.keys.Hints("finder.complete", "completes", "finder.run", "runs it", "finder.up", "earlier lines", "finder.close", "closes")...)
	}
	return m.look.Paint(themes.Dim, widget.Fit(widget.Hints(w-widget.Width(place)-3, keys...),
		w-widget.Width(place), more)+place)
}

// narrowFinder is the width below which a row holds keys and title only.
const narrowFinder = 60

// keyColumn is how many columns of w the keys take, 0 where nothing has any.
func (f *finder) keyColumn(w int) int {
	if !slices.ContainsFunc(f.all, func(t item) bool { return len(t.keys) > 0 }) {
		return 0
	}
	if w < narrowFinder {
		return 8
	}
	return 14
}

func (m *model) finderLine(t *item, here bool, w int) string {
	l := widget.Line{Styles: &m.look}
	text, key := themes.Text, themes.Key
	why := t.refused(m)
	if why != "" {
		text, key = themes.Off, themes.Off
	}
	mark := "  "
	if here {
		l.Selected = true
		mark = m.look.Glyphs.Cursor + " "
	}
	l.Add(themes.Accent, mark)
	if n := m.finder.keyColumn(w); n > 0 {
		l.Add(key, widget.Fit(strings.Join(t.keys, " "), n-1, m.look.Glyphs.More)+" ")
	}
	tail, title := t.tail, t.title
	switch {
	case m.finder.copies: // what would be copied
	case w < narrowFinder: // the last line says why not
		tail = ""
	case why != "" && (here || m.finder.reasons):
		tail = why
		// it says more than what would be done in detail
		if widget.Width(why)+widget.Width(title)+l.Width+2 > w {
			title, _, _ = strings.Cut(title, ":")
		}
	}
	tail = widget.Cut(tail, max(w/2, w-l.Width-widget.Width(title)-2), m.look.Glyphs.More)
	room := w - l.Width
	if tail != "" {
		room -= widget.Width(tail) + 2
	}
	if w < narrowFinder {
		title = widget.Terse(title, room)
	}
	l.Add(text, widget.Fit(title, room, m.look.Glyphs.More))
	l.Space(w - l.Width - widget.Width(tail))
	l.Add(themes.Dim, tail)
	return l.Fill(w)
}
