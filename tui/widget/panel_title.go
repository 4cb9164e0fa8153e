package widget

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"gcity/themes"
)

// Tab is a title in a panel's top line: "1 Agents 16".
type Tab struct {
	ID        string // TabAt returns it for a click on the title
	Key       string
	Name      string
	Search    string // active search
	Count     string
	CountNote string // part of the count that may be omitted
	Hidden    string // rows above and below the window
	Active    bool
	Alert     bool // the count shows that something needs attention
	Compact   bool // less space before the next title
}

// Title returns the top line of a panel: the titles of all panels in the same place, and a note. The focused line is
// heavy and its title is reversed, so that the focus is visible without colors.
func (k *Styles) Title(w int, focus bool, tabs []Tab, end string) string {
	l := Line{Styles: k}
	sign, token := k.Glyphs.Thin, themes.Rule
	if focus {
		sign, token = k.Glyphs.Heavy, themes.Accent
	}
	l.Add(token, sign)
	gap := strings.Repeat(sign, tabGap(tabs))
	for i, t := range tabs {
		if i > 0 {
			l.Add(token, gap)
		}
		k.tab(&l, t, focus, len(tabs) > 1)
	}
	if l.Width > w {
		return Crop(l.String(), w)
	}
	if end = fitParts(end, w-l.Width-4, k.Glyphs.More); end != "" {
		end = " " + end + " "
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

// fitParts drops parts from the end until the text fits. Only the first is cut: "1 of 1" would be wrong for "1 of 10".
func fitParts(text string, w int, more string) string {
	const least = 8
	for Width(text) > w {
		at := strings.LastIndex(text, "  ")
		if at < 0 && w < least {
			return ""
		}
		if at < 0 {
			return Cut(text, w, more)
		}
		text = text[:at]
	}
	return text
}

func (k *Styles) tab(l *Line, t Tab, focus, shared bool) {
	name, number, key, search := themes.Dim, themes.Dim, themes.Key, themes.Warn
	switch {
	case t.Active && focus:
		name, number, key, search = themes.Accent, themes.Accent, themes.Accent, themes.Accent
		l.Reversed = true
	case t.Active && shared:
		key, search, l.Reversed = themes.Dim, themes.Dim, true
	case t.Active:
		name, number = themes.Title, themes.Text
	}
	l.Add(name, " ")
	if t.Key != "" {
		l.Add(key, t.Key)
	}
	if t.Key != "" && t.Name != "" {
		l.Add(name, " ")
	}
	l.Add(name, t.Name)
	if t.Search != "" {
		l.Add(search, " "+t.Search)
	}
	if t.Count != "" && t.Name != "" {
		note := number
		if t.Alert {
			note = themes.Bad
		}
		if t.Alert && t.CountNote == "" && t.Count != "0" {
			number = themes.Bad
		}
		l.Add(number, " "+t.Count)
		if t.CountNote != "" {
			l.Add(note, " ("+t.CountNote+")")
		}
	}
	if t.Hidden != "" && t.Name != "" {
		l.Add(name, " "+t.Hidden)
	}
	l.Add(name, " ")
	l.Reversed = false
}

// Width returns the width of a title in columns.
func (t *Tab) Width() int {
	n := 2 + Width(t.Key)
	if t.Name == "" {
		return n
	}
	n += 1 + Width(t.Name)
	if t.Search != "" {
		n += 1 + Width(t.Search)
	}
	if t.Count != "" {
		n += 1 + Width(t.Count)
		if t.CountNote != "" {
			n += 3 + Width(t.CountNote)
		}
	}
	if t.Hidden != "" {
		n += 1 + Width(t.Hidden)
	}
	return n
}

// JoinRule connects a rule with a bar above it at column x.
func (k *Styles) JoinRule(rule string, x, kind, w int) string {
	if sign := ansi.Strip(ansi.Cut(rule, x, x+1)); sign != k.Glyphs.Thin &&
		sign != k.Glyphs.Heavy {
		return rule
	}
	foot := k.Paint(themes.Rule, k.Glyphs.Foot[kind])
	return ansi.Cut(rule, 0, x) + Reset + foot + ansi.Cut(rule, x+1, w) + Reset
}

// Note returns a row for a panel that has nothing else to show.
func (k *Styles) Note(text string, w int) string {
	l := Line{Styles: k}
	l.Add(themes.Dim, Fit("   "+text, w, k.Glyphs.More))
	return l.Fill(w)
}

// Notes wraps paragraphs into rows. An indented paragraph is an example and stays on a line of its own.
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

// FillRows truncates or extends lines to exactly h lines.
func FillRows(lines []string, w, h int) []string {
	if len(lines) > h {
		return lines[:h]
	}
	for len(lines) < h {
		lines = append(lines, Spaces(w))
	}
	return lines
}

// FillDetails truncates or extends lines to exactly h lines. If lines with text are omitted, the last line ends with
// their number.
func (k *Styles) FillDetails(lines []string, w, h int) []string {
	if lines == nil {
		lines = []string{k.Title(w, false, nil, "")}
	}
	more := 0
	for _, l := range lines[min(len(lines), h):] {
		if strings.TrimSpace(ansi.Strip(l)) != "" {
			more++
		}
	}
	lines = FillRows(slices.Clone(lines), w, h)
	note := fmt.Sprintf("  %s %d more", k.Glyphs.More, more)
	if room := w - Width(note); more > 0 && h > 1 && room > 0 {
		lines[h-1] = CutStyled(lines[h-1], room, k.Glyphs.More) + k.Paint(themes.Dim, note)
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

// WithoutHidden returns titles without the number of hidden rows.
func WithoutHidden(tabs []Tab) []Tab {
	tabs = slices.Clone(tabs)
	for i := range tabs {
		tabs[i].Hidden = ""
	}
	return tabs
}

// HasSearch reports whether a panel's title contains a search term.
func HasSearch(tabs []Tab) bool {
	return slices.ContainsFunc(tabs, func(t Tab) bool { return t.Search != "" })
}
