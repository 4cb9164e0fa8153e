package themes

import (
	"image/color"
	"math"
	"testing"

	"charm.land/lipgloss/v2"
)

// A theme for a certain background is readable on that background, and in the row under the cursor. Text has a contrast
// of at least 4.5 to 1. Dimmed text has at least 3 to 1.
func TestContrast(t *testing.T) {
	for name, ground := range map[string]string{"dark": "#1e1e1e", "light": "#ffffff", "colour-blind": "#1e1e1e"} {
		th, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		grounds := map[string]string{"": ground}
		if under := th.Style(Select).Ground; under != "" {
			grounds["the cursor's "] = under
		}
		for where, ground := range grounds {
			for k := range Tokens {
				s, need := th.Style(k), 4.5
				switch k {
				case Dim, Off:
					need = 3
				case Rule:
					need = 1.5
				}
				if s.Text == "" {
					continue
				}
				if s.Ground != "" {
					ground = s.Ground
				}
				if got := contrast(lipgloss.Color(s.Text), lipgloss.Color(ground)); got < need && !(k == Rule && where != "") {
					t.Errorf("%s: %s (%s) on %sground %s has %.2f, want %.1f", name, names()[k], s.Text, where, ground, got, need)
				}
			}
		}
	}
}

// The default theme's text is readable: with xterm's colors on black, and with OnLight's colors on white. The contrast
// is at least 4.5 to 1. For bold text on black, 3 to 1 is enough.
func TestContrastOfTheDefaultTheme(t *testing.T) {
	dark, err := Load(Default)
	if err != nil {
		t.Fatal(err)
	}
	xterm := map[string]string{"1": "#cd0000", "2": "#00cd00", "3": "#cdcd00", "6": "#00cdcd"}
	for ground, th := range map[string]Theme{"#000000": dark, "#ffffff": dark.OnLight()} {
		for k := range Tokens {
			s, need := th.Style(k), 4.5
			if s.Text == "" {
				continue
			}
			text := s.Text
			if ground == "#000000" {
				text = xterm[text]
				if s.Bold {
					need = 3
				}
			}
			if got := contrast(lipgloss.Color(text), lipgloss.Color(ground)); got < need || s.Faint {
				t.Errorf("%s (%+v) on %s has the contrast %.2f, want %.1f", names()[k], s, ground, got, need)
			}
		}
	}
}

// None of the sixteen colors is readable on both black and white. Problems and the selected row therefore use the
// terminal's own text and background colors.
func TestAlertsAreReadableOnAnyBackground(t *testing.T) {
	th, err := Load(Default)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []Token{Text, Title, Alert, Select} {
		s := th.Style(k)
		for _, pair := range [][2]color.Color{{color.White, color.Black}, {color.Black, color.White}} {
			text, ground := pair[0], pair[1]
			if s.Text != "" {
				text = lipgloss.Color(s.Text)
			}
			if s.Ground != "" {
				ground = lipgloss.Color(s.Ground)
			}
			if got := contrast(text, ground); got < 4.5 || s.Faint {
				t.Errorf("%s (%+v) has the contrast %.2f, want 4.5", names()[k], s, got)
			}
		}
	}
	own, err := Parse("own", []byte("[styles]\nwarn = 'bold red'"))
	if err != nil || own.Style(Alert) != own.Style(Warn) {
		t.Errorf("%+v, %v", own, err)
	}
}

// The contrast of white on black is 21, the largest possible value.
func TestContrastOfBlackAndWhite(t *testing.T) {
	if got := contrast(color.White, color.Black); math.Abs(got-21) > 0.01 {
		t.Errorf("white on black has %.2f, want 21", got)
	}
}

// contrast returns the contrast ratio of two colors, from 1 to 21.
func contrast(a, b color.Color) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	linear := func(v uint32) float64 {
		s := float64(v) / 0xffff
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}
