package tui

import (
	"fmt"
	"strings"

	"gcity/themes"
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
			label += fmt.Sprintf(", %q", plain(e.subject))
		}
		return label
	}
	shown := make([]string, len(m.composer.to))
	for i, name := range m.composer.to {
		shown[i] = plain(name)
	}
	if len(shown) == 1 {
		return "send to " + shown[0]
	}
	return fmt.Sprintf("send to %s: %s", count(len(shown), "agent"), strings.Join(shown, ", "))
}

// composerHint tells the keys, or what is wrong.
func (m *model) composerHint() (string, themes.Token) {
	if why := m.composer.problem; why != "" {
		return why, themes.Bad
	}
	return m.keys.hint("  ", "composer.send", "sends", "composer.newline", "new line", "composer.leave", "leaves"), themes.Dim
}

// composerLine draws it as one line, and says where the cursor is.
func (m *model) composerLine(w int) (string, int) {
	c := m.composer
	l := line{look: &m.look}
	label := cut(m.composerLabel(), w/2, m.look.glyph.More)
	text := c.area.Value()
	if c.many() { // on a screen that is too small for the sheet
		at := c.area.Line()
		text = strings.Split(text, "\n")[at]
		label += fmt.Sprintf(" (%d/%d)", at+1, c.area.LineCount())
	}
	hint, token := m.composerHint()
	if c.problem != "" {
		hint = cut(hint, max(w/2, w-width(label)-12), m.look.glyph.More)
		label = cut(label, w-width(hint)-10, m.look.glyph.More)
	} else if w < 70 || width(hint) > w-width(label)-16 {
		hint = ""
	}
	l.add(themes.Accent, cut(" "+label+": ", max(0, w-4), ""))
	room := w - l.used - 1
	if hint != "" {
		room -= width(hint) + 2
	}
	text, at := around([]rune(text), c.area.Column(), room)
	x := l.used + at
	l.add(themes.Text, text)
	l.space(w - l.used - width(hint) - 1)
	l.add(token, hint)
	return crop(l.close(w), w), x
}

// composed lays the sheet over the foot of a screen.
func (m *model) composed(s screenful) screenful {
	c := m.composer
	rows, x, y := c.seen()
	_, below := composerRows(m.h)
	hint, token := m.composerHint()
	text := c.whole()
	note := count(lineCount(text), "line") + ", " + sizeText(len(text))
	if !below && (c.problem != "" || width(hint)+width(m.composerLabel())+8 <= m.w) {
		note = hint
	}
	lines := []string{m.composerRule(note, token)}
	for _, row := range rows {
		l := line{look: &m.look}
		l.space(1)
		l.add(themes.Text, strings.TrimRight(row, " "))
		lines = append(lines, crop(l.close(m.w), m.w))
	}
	if below {
		l := line{look: &m.look}
		l.space(1)
		l.add(token, cut(hint, m.w-2, m.look.glyph.More))
		lines = append(lines, l.close(m.w))
	}
	top := max(0, len(s.lines)-len(lines))
	copy(s.lines[top:], lines)
	s.x, s.y = min(1+x, m.w-1), min(top+1+y, len(s.lines)-1)
	return s
}

// composerRule is the sheet's upper edge, with whom it goes to and how much it is.
func (m *model) composerRule(note string, token themes.Token) string {
	g := &m.look.glyph
	l := line{look: &m.look}
	note = cut(note, m.w*2/3, g.More)
	if token != themes.Bad {
		token = themes.Dim
	}
	l.add(themes.Accent, g.Heavy)
	l.add(themes.Title, " "+cut(m.composerLabel(), m.w-width(note)-8, g.More)+" ")
	l.add(themes.Accent, strings.Repeat(g.Heavy, max(0, m.w-l.used-width(note)-3)))
	l.add(token, " "+note+" ")
	l.add(themes.Accent, g.Heavy)
	return crop(l.close(m.w), m.w)
}
