package keymap

import (
	"testing"
)

func TestKeyName(t *testing.T) {
	for in, want := range map[string]string{
		"r": "r", "R": "R", "shift+r": "R", " ": "space", "space": "space", "ctrl+R": "ctrl+r",
		"Control+x": "ctrl+x", "alt+ctrl+x": "ctrl+alt+x",
		"+": "+", "ctrl++": "ctrl++", "Escape": "esc", "PageUp": "pgup", "return": "enter",
		"F12": "f12", "shift+tab": "shift+tab", "é": "é",
	} {
		if got, wrong := ParseKey(in); got != want || wrong != "" {
			t.Errorf("%q is %q (%s), want %q", in, got, wrong, want)
		}
	}
	for _, in := range []string{"", "ctrl+", "C-x", "ctrl-x", "f25", "xx", "ctrl+m", "ctrl+i",
		"Alt+Escape", "shift+enter", "\x01", "hypr+x", "\xff"} {
		if got, wrong := ParseKey(in); wrong == "" {
			t.Errorf("%q is %q, want the reason", in, got)
		}
	}
}
