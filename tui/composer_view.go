package tui

import (
	"fmt"
	"strings"

	"gcity/themes"
	"gcity/tui/widget"
)

// composerRows are the rows that a sheet of at most a third of the screen leaves to the text, and whether there is one
// for a hint below them.
func composerRows(h int) (rows int, hint bool) {
	room := max(3, h/3) - 1 // below the rule
	if room >= 4 {
		return room - 1, true
	}
	return room, false
}

// label says whom it goes to.
func (m *model) composerLabel() string {
	if e := m.composer.envelope; e != nil {
		label := "mail to " + addressed(e.to)
		if e.subject != "" {
			label += fmt.Sprintf(", %q", widget.Plain(e.subject))
		}
		return label
	}
	shown := make([]string, len(m.composer.to))
	for i, name := range m.composer.to {
		shown[i] = widget.Plain(name)
	}
	if len(shown) == 1 {
		return "send to " + shown[0]
	}
	return fmt.Sprintf("send to %s: %s", widget.Count(len(shown), "agent"),
		strings.Join(shown, ", "))
}

// composerHint tells the keys, or what is wrong.
func (m *model) composerHint() (string, themes.Token) {
	if why := m.composer.problem; why != "" {
		return why, themes.Bad
	}
	return m.keys.Hint("  ", "composer.send", "sends", "composer.newline", "new line", "composer.leave", "leaves"), themes.Dim
}

// composerLine draws it as one line, and says where the cursor is.
func (m *model) composerLine(w int) (string, int) {
	c := m.composer
	l := widget.Line{Styles: &m.look}
	label := widget.Cut(m.composerLabel(), w/2, m.look.Glyphs.More)
	text := c.area.Value()
	if c.many() { // on a screen that is too small for the sheet
		at := c.area.Line()
		text = strings.Split(text, "\n")[at]
		label += fmt.Sprintf(" (%d/%d)", at+1, c.area.LineCount())
	}
	hint, token := m.composerHint()
	if c.problem != "" {
		hint = widget.Cut(hint, max(w/2, w-widget.Width(label)-12), m.look.Glyphs.More)
		label = widget.Cut(label, w-widget.Width(hint)-10, m.look.Glyphs.More)
	} else if w < 70 || widget.Width(hint) > w-widget.Width(label)-16 {
		hint = ""
	}
	l.Add(themes.Accent, widget.Cut(" "+label+": ", max(0, w-4), ""))
	room := w - l.Width - 1
	if hint != "" {
		room -= widget.Width(hint) + 2
	}
	text, at := widget.Window([]rune(text), c.area.Column(), room)
	x := l.Width + at
	l.Add(themes.Text, text)
	l.Space(w - l.Width - widget.Width(hint) - 1)
	l.Add(token, hint)
	return widget.Crop(l.Fill(w), w), x
}

// composed lays the sheet over the foot of a screen.
func (m *model) composed(s screenful) screenful {
	c := m.composer
	rows, x, y := c.seen()
	_, below := composerRows(m.h)
	hint, token := m.composerHint()
	text := c.whole()
	note := widget.Count(lineCount(text), "line") + ", " + sizeText(len(text))
	if !below && (c.problem != "" || widget.Width(hint)+widget.Width(m.composerLabel())+8 <= m.w) {
		note = hint
	}
	lines := []string{m.composerRule(note, token)}
	for _, row := range rows {
		l := widget.Line{Styles: &m.look}
		l.Space(1)
		l.Add(themes.Text, strings.TrimRight(row, " "))
		lines = append(lines, widget.Crop(l.Fill(m.w), m.w))
	}
	if below {
		l := widget.Line{Styles: &m.look}
		l.Space(1)
		l.Add(token, widget.Cut(hint, m.w-2, m.look.Glyphs.More))
		lines = append(lines, l.Fill(m.w))
	}
	top := max(0, len(s.lines)-len(lines))
	copy(s.lines[top:], lines)
	s.x, s.y = min(1+x, m.w-1), min(top+1+y, len(s.lines)-1)
	return s
}

// composerRule is the sheet's upper edge, with whom it goes to and how much it is.
func (m *model) composerRule(note string, token themes.Token) string {
	g := &m.look.Glyphs
	l := widget.Line{Styles: &m.look}
	note = widget.Cut(note, m.w*2/3, g.More)
	if token != themes.Bad {
		token = themes.Dim
	}
	l.Add(themes.Accent, g.Heavy)
	l.Add(themes.Title, " "+widget.Cut(m.composerLabel(), m.w-widget.Width(note)-8, g.More)+" ")
	l.Add(themes.Accent, strings.Repeat(g.Heavy, max(0, m.w-l.Width-widget.Width(note)-3)))
	l.Add(token, " "+note+" ")
	l.Add(themes.Accent, g.Heavy)
	return widget.Crop(l.Fill(m.w), m.w)
}
