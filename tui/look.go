package tui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"gcity/themes"
)

// look is how things are painted: a theme as styles, and glyphs. Styles are rendered once, here: rows, of which every
// frame draws many, are put together from the sequences that switch a style on.
type look struct {
	style [themes.Tokens]lipgloss.Style
	on    [themes.Tokens]string
	here  [themes.Tokens]string // the same in the row under the cursor
	glyph themes.Glyphs
}

func newLook(t themes.Theme, g themes.Glyphs) look {
	l := look{glyph: g}
	for k := range themes.Tokens {
		l.style[k] = styleOf(t.Style(k))
	}
	for k := range themes.Tokens {
		l.on[k] = switchOn(l.style[k])
		l.here[k] = switchOn(l.style[k].Inherit(l.style[themes.Select]))
	}
	return l
}

// styleOf sets only what a theme asks for, so that a style can be laid over another one.
func styleOf(t themes.Style) lipgloss.Style {
	s := lipgloss.NewStyle()
	if t.Bold {
		s = s.Bold(true)
	}
	if t.Faint {
		s = s.Faint(true)
	}
	if t.Italic {
		s = s.Italic(true)
	}
	if t.Underline {
		s = s.Underline(true)
	}
	if t.Reverse {
		s = s.Reverse(true)
	}
	if t.Text != "" {
		s = s.Foreground(lipgloss.Color(t.Text))
	}
	if t.Ground != "" {
		s = s.Background(lipgloss.Color(t.Ground))
	}
	return s
}

// reset ends every style.
const reset = ansi.ResetStyle

// switchOn is what a style writes before a text.
func switchOn(s lipgloss.Style) string {
	on, _, _ := strings.Cut(s.Render("x"), "x")
	return on
}

// paint styles plain text.
func (l *look) paint(k themes.Token, s string) string {
	on := l.on[k]
	if on == "" || s == "" {
		return s
	}
	return on + s + reset
}

// line builds one row of the screen out of styled pieces.
type line struct {
	text []byte
	look *look
	here bool // under the cursor: every piece is laid over that style
	used int  // columns so far
}

// add appends plain text in a style.
func (l *line) add(k themes.Token, s string) {
	if s == "" {
		return
	}
	on := l.look.on[k]
	if l.here {
		on = l.look.here[k]
	}
	l.used += width(s)
	if on == "" {
		l.text = append(l.text, s...)
		return
	}
	l.text = append(append(append(l.text, on...), s...), reset...)
}

// badge appends plain text on a ground of its own colour.
func (l *line) badge(ground, s string) {
	l.used += width(s)
	l.text = append(l.text, lipgloss.NewStyle().Bold(true).Reverse(true).Foreground(lipgloss.Color(ground)).Render(s)...)
}

// String is the line so far.
func (l *line) String() string { return string(l.text) }

// space appends n blanks in the base style.
func (l *line) space(n int) {
	if n > 0 {
		l.add(themes.Text, blanks(n))
	}
}

// close fills the line up to w columns and returns it.
func (l *line) close(w int) string {
	l.space(w - l.used)
	return l.String()
}
