// Package tuitest provides helpers for the tests of the control room's packages.
package tuitest

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// KeyPress returns the message for a key with the given name: "a", "enter", "ctrl+r".
func KeyPress(name string) tea.KeyPressMsg {
	var k tea.Key
	rest, ctrl := strings.CutPrefix(name, "ctrl+")
	if ctrl {
		k.Mod |= tea.ModCtrl
	}
	rest, alt := strings.CutPrefix(rest, "alt+")
	if alt {
		k.Mod |= tea.ModAlt
	}
	rest, shift := strings.CutPrefix(rest, "shift+")
	if shift {
		k.Mod |= tea.ModShift
	}
	codes := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp,
		"down": tea.KeyDown, "left": tea.KeyLeft,
		"right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp,
		"pgdown":    tea.KeyPgDown,
		"backspace": tea.KeyBackspace, "delete": tea.KeyDelete,
	}
	switch code, ok := codes[rest]; {
	case ok:
		k.Code = code
	case rest == "space":
		k.Code, k.Text = ' ', " "
	default:
		k.Code = []rune(rest)[0]
		if !ctrl && !alt {
			k.Text = rest
		}
	}
	return tea.KeyPressMsg(k)
}

// OnlyText fails the test if a line contains a control character or an escape sequence that is not SGR.
func OnlyText(t testing.TB, l string) {
	t.Helper()
	for i, r := range l {
		if r == 0x1b {
			end := strings.IndexByte(l[i:], 'm')
			if end < 0 || strings.Trim(l[i+1:i+end], "[0123456789;:") != "" {
				t.Fatalf("the line has an escape sequence other than SGR: %q", l[i:])
			}
			continue
		}
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x200b {
			t.Fatalf("the line has the control character %U: %q", r, l)
		}
	}
}
