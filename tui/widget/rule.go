package widget

import (
	"slices"
	"strings"

	"gcity/themes"
)

// Tab is a title in a rule: "1 Agents 16".
type Tab struct {
	ID     string // what a click on it means, to the panel's owner
	Key    string
	Name   string
	Search string // what is looked for, before the count of what was found
	Extra  string // a count
	Note   string // what belongs to the count and may be left out
	Hidden string // how many rows are above and below those that are seen
	Active bool
	Alert  bool // extra asks to be looked at
}

// Title is the line on top of a panel: its title, or the titles of all that share the place, and on the right what else
// is to be known. The focused one is heavy, bold and marked, so that it stands out without colour.
func (k *Styles) Title(w int, focus bool, tabs []Tab, end string) string {
	l := Line{Styles: k}
	sign, token := k.Glyphs.Thin, themes.Rule
	if focus {
		sign, token = k.Glyphs.Heavy, themes.Accent
	}
	l.Add(token, sign)
	for i, t := range tabs {
		if i > 0 {
			l.Add(token, strings.Repeat(sign, 2))
		}
		k.tab(&l, t, focus, len(tabs) > 1)
	}
	if l.Width > w {
		return Crop(l.String(), w)
	}
	if end != "" && w-l.Width >= 12 {
		end = " " + Cut(end, w-l.Width-4, k.Glyphs.More) + " "
	} else {
		end = ""
	}
	fill := w - l.Width - Width(end)
	if end != "" && fill > 1 {
		l.Add(token, strings.Repeat(sign, fill-1))
		l.Add(themes.Dim, end)
		l.Add(token, sign)
		return l.String()
	}
	l.Add(token, strings.Repeat(sign, max(0, w-l.Width)))
	return l.String()
}

func (k *Styles) tab(l *Line, t Tab, focus, shared bool) {
	name, number := themes.Dim, themes.Dim
	if t.Active {
		name, number = themes.Title, themes.Text
	}
	switch {
	case t.Active && focus:
		l.Add(themes.Accent, k.Glyphs.Cursor)
	case t.Active && shared:
		l.Add(themes.Dim, k.Glyphs.Cursor)
	}
	l.Add(name, " ")
	if t.Key != "" {
		l.Add(themes.Key, t.Key)
	}
	if t.Key != "" && t.Name != "" {
		l.Add(name, " ")
	}
	l.Add(name, t.Name)
	if t.Search != "" {
		l.Add(themes.Warn, " "+t.Search)
	}
	if t.Extra != "" && t.Name != "" {
		if t.Alert {
			number = themes.Bad
		}
		l.Add(number, " "+t.Extra)
		if t.Note != "" {
			l.Add(number, " ("+t.Note+")")
		}
	}
	if t.Hidden != "" && t.Name != "" {
		l.Add(themes.Dim, " "+t.Hidden)
	}
	l.Add(name, " ")
}

// Width is how many columns a title takes, the sign of the active one included.
func (t *Tab) Width() int {
	n := 2 + Width(t.Key)
	if t.Active {
		n++
	}
	if t.Name == "" {
		return n
	}
	n += 1 + Width(t.Name)
	if t.Search != "" {
		n += 1 + Width(t.Search)
	}
	if t.Extra != "" {
		n += 1 + Width(t.Extra)
		if t.Note != "" {
			n += 3 + Width(t.Note)
		}
	}
	if t.Hidden != "" {
		n += 1 + Width(t.Hidden)
	}
	return n
}

// TabsWidth is how many columns a rule with these titles takes at least.
func TabsWidth(all []Tab) int {
	n := 1 + 2*(len(all)-1)
	for i := range all {
		n += all[i].Width()
	}
	return n
}

// Note is a row of a panel that has nothing else to show.
func (k *Styles) Note(text string, w int) string {
	l := Line{Styles: k}
	l.Add(themes.Dim, Fit("   "+text, w, k.Glyphs.More))
	return l.Fill(w)
}

// Notes are texts in rows that hold all of them; what is indented is an example, whose lines stay lines.
func (k *Styles) Notes(w int, texts ...string) []string {
	var lines []string
	for _, text := range texts {
		if strings.HasPrefix(text, " ") {
			lines = append(lines, k.Note(text, w))
			continue
		}
		for _, part := range Wrap(text, w-4) {
			lines = append(lines, k.Note(part, w))
		}
	}
	return lines
}

// FillRows brings lines to exactly h.
func FillRows(lines []string, w, h int) []string {
	if len(lines) > h {
		return lines[:h]
	}
	for len(lines) < h {
		lines = append(lines, Spaces(w))
	}
	return lines
}

func (k *Styles) Hidden(above, below int) string {
	var parts []string
	if above > 0 {
		parts = append(parts, k.Glyphs.Above+Number(above))
	}
	if below > 0 {
		parts = append(parts, k.Glyphs.Below+Number(below))
	}
	return strings.Join(parts, " ")
}

// WithoutHidden are titles that say nothing of hidden rows.
func WithoutHidden(tabs []Tab) []Tab {
	tabs = slices.Clone(tabs)
	for i := range tabs {
		tabs[i].Hidden = ""
	}
	return tabs
}

// Searched reports whether a title says what is searched for.
func Searched(tabs []Tab) bool {
	return slices.ContainsFunc(tabs, func(t Tab) bool { return t.Search != "" })
}
