package tui

import (
	"slices"
	"strings"

	"gcity/themes"
)

// tab is a title in a rule: "1 Agents 16".
type tab struct {
	id     int // what a click on it means, to the panel's owner
	key    string
	name   string
	search string // what is looked for, before the count of what was found
	extra  string // a count
	note   string // what belongs to the count and may be left out
	hidden string // how many rows are above and below those that are seen
	active bool
	alert  bool // extra asks to be looked at
}

// rule is the line on top of a panel: its title, or the titles of all that share the place, and on the right what else
// is to be known. The focused one is heavy, bold and marked, so that it stands out without colour.
func (k *look) rule(w int, focus bool, tabs []tab, end string) string {
	l := line{look: k}
	sign, token := k.glyph.Thin, themes.Rule
	if focus {
		sign, token = k.glyph.Heavy, themes.Accent
	}
	l.add(token, sign)
	for i, t := range tabs {
		if i > 0 {
			l.add(token, strings.Repeat(sign, 2))
		}
		k.title(&l, t, focus, len(tabs) > 1)
	}
	if l.used > w {
		return crop(l.String(), w)
	}
	if end != "" && w-l.used >= 12 {
		end = " " + cut(end, w-l.used-4, k.glyph.More) + " "
	} else {
		end = ""
	}
	fill := w - l.used - width(end)
	if end != "" && fill > 1 {
		l.add(token, strings.Repeat(sign, fill-1))
		l.add(themes.Dim, end)
		l.add(token, sign)
		return l.String()
	}
	l.add(token, strings.Repeat(sign, max(0, w-l.used)))
	return l.String()
}

func (k *look) title(l *line, t tab, focus, shared bool) {
	name, number := themes.Dim, themes.Dim
	if t.active {
		name, number = themes.Title, themes.Text
	}
	switch {
	case t.active && focus:
		l.add(themes.Accent, k.glyph.Cursor)
	case t.active && shared:
		l.add(themes.Dim, k.glyph.Cursor)
	}
	l.add(name, " ")
	if t.key != "" {
		l.add(themes.Key, t.key)
	}
	if t.key != "" && t.name != "" {
		l.add(name, " ")
	}
	l.add(name, t.name)
	if t.search != "" {
		l.add(themes.Warn, " "+t.search)
	}
	if t.extra != "" && t.name != "" {
		if t.alert {
			number = themes.Bad
		}
		l.add(number, " "+t.extra)
		if t.note != "" {
			l.add(number, " ("+t.note+")")
		}
	}
	if t.hidden != "" && t.name != "" {
		l.add(themes.Dim, " "+t.hidden)
	}
	l.add(name, " ")
}

// Width is how many columns a title takes, the sign of the active one included.
func (t *tab) Width() int {
	n := 2 + width(t.key)
	if t.active {
		n++
	}
	if t.name == "" {
		return n
	}
	n += 1 + width(t.name)
	if t.search != "" {
		n += 1 + width(t.search)
	}
	if t.extra != "" {
		n += 1 + width(t.extra)
		if t.note != "" {
			n += 3 + width(t.note)
		}
	}
	if t.hidden != "" {
		n += 1 + width(t.hidden)
	}
	return n
}

// tabsWidth is how many columns a rule with these titles takes at least.
func tabsWidth(all []tab) int {
	n := 1 + 2*(len(all)-1)
	for i := range all {
		n += all[i].Width()
	}
	return n
}

// note is a row of a panel that has nothing else to show.
func (k *look) note(text string, w int) string {
	l := line{look: k}
	l.add(themes.Dim, fit("   "+text, w, k.glyph.More))
	return l.close(w)
}

// notes are texts in rows that hold all of them; what is indented is an example, whose lines stay lines.
func (k *look) notes(w int, texts ...string) []string {
	var lines []string
	for _, text := range texts {
		if strings.HasPrefix(text, " ") {
			lines = append(lines, k.note(text, w))
			continue
		}
		for _, part := range wrapped(text, w-4) {
			lines = append(lines, k.note(part, w))
		}
	}
	return lines
}

// fillRows brings lines to exactly h.
func fillRows(lines []string, w, h int) []string {
	if len(lines) > h {
		return lines[:h]
	}
	for len(lines) < h {
		lines = append(lines, blanks(w))
	}
	return lines
}

func (k *look) outside(above, below int) string {
	var parts []string
	if above > 0 {
		parts = append(parts, k.glyph.Above+number(above))
	}
	if below > 0 {
		parts = append(parts, k.glyph.Below+number(below))
	}
	return strings.Join(parts, " ")
}

// bare are titles that say nothing of hidden rows.
func bare(tabs []tab) []tab {
	tabs = slices.Clone(tabs)
	for i := range tabs {
		tabs[i].hidden = ""
	}
	return tabs
}

// titled reports whether a title says what is searched for.
func titled(tabs []tab) bool {
	return slices.ContainsFunc(tabs, func(t tab) bool { return t.search != "" })
}
