package widget

import (
	"fmt"
	"testing"

	"gcity/themes"
)

func TestLookRendersStyles(t *testing.T) {
	for style, want := range map[string][2]string{
		"":                      {"", "\x1b[1;48;5;236m"},
		"bold cyan":             {"\x1b[1;36m", "\x1b[1;36;48;5;236m"},
		"faint":                 {"\x1b[2m", "\x1b[1;2;48;5;236m"},
		"bright-red on 17":      {"\x1b[91;48;5;17m", "\x1b[1;91;48;5;17m"},
		"#0a0b0c on bright-red": {"\x1b[38;2;10;11;12;101m", "\x1b[1;38;2;10;11;12;101m"},
		"245":                   {"\x1b[38;5;245m", "\x1b[1;38;5;245;48;5;236m"},
	} {
		theme, err := themes.Parse("x", fmt.Appendf(nil,
			"[styles]\ntext = %q\nselect = 'bold on 236'", style))
		if err != nil {
			t.Fatal(err)
		}
		l := NewStyles(theme, themes.Unicode())
		if got := [2]string{l.sequences[themes.Text], l.selected[themes.Text]}; got != want {
			t.Errorf("%q: %q, want %q", style, got, want)
		}
	}
}
