package widget

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"gcity/themes"
)

// Styles contains the styles of a theme and its glyphs.
type Styles struct {
	style     [themes.Tokens]lipgloss.Style
	sequences [themes.Tokens]string
	selected  [themes.Tokens]string
	reversed  [themes.Tokens]string
	Glyphs    themes.Glyphs
}

func NewStyles(t themes.Theme, g themes.Glyphs) Styles {
	l := Styles{Glyphs: g}
	for k := range themes.Tokens {
		l.style[k] = styleOf(t.Style(k))
	}
	for k := range themes.Tokens {
		l.sequences[k] = startSequence(l.style[k])
		l.selected[k] = startSequence(selectedStyle(t, k))
		l.reversed[k] = startSequence(styleOf(t.Style(k)).Faint(false).Reverse(true))
	}
	return l
}

// selectedStyle returns the style of a token in the selected row. A reversed row has one color, because text colors
// would become patches of background.
func selectedStyle(t themes.Theme, k themes.Token) lipgloss.Style {
	row, own := t.Style(themes.Select), t.Style(k)
	if row.Reverse {
		row.Bold = row.Bold || own.Bold
		return styleOf(row)
	}
	return styleOf(own).Inherit(styleOf(row))
}

// styleOf sets only the properties that the theme sets, so that styles can be combined.
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

// Reset is the sequence that ends every style.
const Reset = ansi.ResetStyle

func startSequence(s lipgloss.Style) string {
	on, _, _ := strings.Cut(s.Render("x"), "x")
	return on
}

// Paint styles plain text.
func (l *Styles) Paint(k themes.Token, s string) string {
	on := l.sequences[k]
	if on == "" || s == "" {
		return s
	}
	return on + s + Reset
}

// Line builds one row of the screen from pieces of styled text.
type Line struct {
	Text     []byte
	Styles   *Styles
	Selected bool // the row is under the cursor
	Reversed bool // text and background colors are exchanged
	Width    int  // columns so far
}

// Add appends plain text in a style.
func (l *Line) Add(k themes.Token, s string) {
	if s == "" {
		return
	}
	on := l.Styles.sequences[k]
	switch {
	case l.Selected:
		on = l.Styles.selected[k]
	case l.Reversed:
		on = l.Styles.reversed[k]
	}
	l.Width += Width(s)
	if on == "" {
		l.Text = append(l.Text, s...)
		return
	}
	l.Text = append(append(append(l.Text, on...), s...), Reset...)
}

// Badge appends plain text on a colored background.
func (l *Line) Badge(background, s string) {
	l.Width += Width(s)
	l.Text = append(l.Text,
		lipgloss.NewStyle().Bold(true).Reverse(true).Foreground(lipgloss.Color(background)).Render(
			s)...)
}

// String returns the line so far.
func (l *Line) String() string { return string(l.Text) }

// Space appends n spaces in the base style.
func (l *Line) Space(n int) {
	if n > 0 {
		l.Add(themes.Text, Spaces(n))
	}
}

// Fill fills the line up to w columns and returns it.
func (l *Line) Fill(w int) string {
	l.Space(w - l.Width)
	return l.String()
}
