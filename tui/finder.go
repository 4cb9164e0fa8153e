package tui

import (
	"slices"
	"strings"

	"github.com/sahilm/fuzzy"

	"gcity/themes"
)

// finder is help and palette: all actions with their keys, searchable, and run from there.
type finder struct {
	title  string
	edit   entry
	all    []*action
	found  []*action
	at     int
	offset int
}

func (m *model) openFinder(palette bool) {
	f := &finder{title: "Help", edit: newEntry("")}
	if palette {
		f.title = "Palette"
	}
	for i := range m.keys.actions {
		a := &m.keys.actions[i]
		if a.reachable() {
			f.all = append(f.all, a)
		}
	}
	f.found = f.all
	m.finder = f
}

func (f *finder) step(n int) { f.at = max(0, min(f.at+n, len(f.found)-1)) }

// search leaves the actions whose title, id or key fits what is typed; the best first.
func (f *finder) search() {
	text := strings.TrimPrefix(strings.TrimSpace(f.edit.String()), "/")
	f.at, f.offset = 0, 0
	if text == "" {
		f.found = f.all
		return
	}
	f.found = nil
	for _, a := range f.all {
		if slices.Contains(a.key.Keys(), text) || strings.Contains(strings.ToLower(a.title()+" "+a.id), strings.ToLower(text)) {
			f.found = append(f.found, a)
		}
	}
	if len(f.found) > 0 {
		return
	}
	titles := make([]string, len(f.all))
	for i, a := range f.all {
		titles[i] = a.title()
	}
	for _, hit := range fuzzy.Find(text, titles) {
		f.found = append(f.found, f.all[hit.Index])
	}
}

// runFound closes the finder and runs what is under the cursor.
func (m *model) runFound() []effect {
	f := m.finder
	m.finder = nil
	if f.at >= len(f.found) {
		return nil
	}
	return m.perform(f.found[f.at])
}

// finderSheet draws it, h lines at most, and says where the cursor of the typed text is.
func (m *model) finderSheet(w, h int) (lines []string, x, y int) {
	f := m.finder
	inner := w - 4
	typed, at := f.edit.show(inner - 2)
	lines = append(lines, m.look.paint(themes.Accent, "/ ")+m.look.paint(themes.Text, typed), "")
	room := max(1, h-4)
	f.offset = scrollTo(f.at, f.offset, room, len(f.found))
	if len(f.found) == 0 {
		lines = append(lines, m.look.paint(themes.Dim, "No action is called that."))
	}
	for i := f.offset; i < min(len(f.found), f.offset+room); i++ {
		lines = append(lines, m.finderLine(f.found[i], i == f.at, inner))
	}
	for len(lines) < room+2 {
		lines = append(lines, "")
	}
	hint := cut("type to search   enter runs it   esc closes", inner, m.look.glyph.More)
	return append(lines, "", m.look.paint(themes.Dim, hint)), 2 + at, 0
}

func (m *model) finderLine(a *action, here bool, w int) string {
	l := line{look: &m.look}
	text, key := themes.Text, themes.Key
	why := a.refused(m)
	if why != "" {
		text, key = themes.Off, themes.Off
	}
	mark := "  "
	if here {
		l.here = true
		mark = m.look.glyph.Cursor + " "
	}
	l.add(themes.Accent, mark)
	l.add(key, fit(a.key.Help().Key, 14, m.look.glyph.More))
	tail := ""
	switch {
	case here && why != "":
		tail = why
	case len(a.in) == 1 && a.in[0] != everywhere:
		tail = a.in[0].String()
	case a.risk != harmless:
		tail = a.risk.String()
	}
	if w < 60 && !(here && why != "") {
		tail = ""
	}
	tail = cut(tail, w/2, m.look.glyph.More)
	l.add(text, fit(a.title(), w-l.used-width(tail)-2, m.look.glyph.More))
	l.space(2)
	l.add(themes.Dim, tail)
	return l.close(w)
}
