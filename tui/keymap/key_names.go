package keymap

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ParseKey returns the canonical name of a key, or the reason why the text is not a valid key. "Ctrl+R" becomes
// "ctrl+r", and "shift+a" becomes "A".
func ParseKey(text string) (name, wrong string) {
	if text == " " {
		return "space", ""
	}
	rest := strings.TrimSpace(text)
	var mods []string
	for {
		mod, more, ok := strings.Cut(rest, "+")
		if !ok || mod == "" || more == "" {
			break
		}
		mod = strings.ToLower(mod)
		if mod == "control" {
			mod = "ctrl"
		}
		if !slices.Contains(modifiers(), mod) {
			return "", fmt.Sprintf("invalid key %q: the valid modifiers are %s", text,
				strings.Join(modifiers(), ", "))
		}
		mods, rest = append(mods, mod), more
	}
	base, ok := baseKey(rest)
	if !ok {
		return "",
			fmt.Sprintf(
				"invalid key %q: use a character, a name like enter, tab, space, pgdn or up, or "+
					"a combination like ctrl+r or alt+x", text)
	}
	has := func(mod string) bool { return slices.Contains(mods, mod) }
	if letter := []rune(base); len(letter) == 1 {
		if has("shift") && len(mods) == 1 {
			return string(unicode.ToUpper(letter[0])), ""
		}
		if len(mods) > 0 {
			base = strings.ToLower(base)
		}
	}
	var b strings.Builder
	for _, mod := range modifiers() {
		if has(mod) {
			b.WriteString(mod + "+")
		}
	}
	name = b.String() + base
	return name, unusable(name)
}

func modifiers() []string { return []string{"ctrl", "alt", "shift", "meta", "hyper", "super"} }

func baseKey(text string) (string, bool) {
	if r, n := utf8.DecodeRuneInString(text); n == len(text) && r != utf8.RuneError &&
		unicode.IsPrint(r) {
		return text, true
	}
	text = strings.ToLower(text)
	for _, other := range [][2]string{{"escape", "esc"}, {"return", "enter"}, {"del", "delete"},
		{"ins", "insert"}, {"pageup", "pgup"},
		{"pagedown", "pgdown"}, {"pgdn", "pgdown"}} {
		if text == other[0] {
			text = other[1]
		}
	}
	known := []string{"enter", "tab", "backspace", "esc", "space", "up", "down", "left", "right",
		"insert", "delete", "pgup", "pgdown", "home", "end"}
	return text, slices.Contains(known, text) || functionKey(text)
}

func functionKey(k string) bool {
	k = k[strings.LastIndexByte(k, '+')+1:]
	for n := 1; n <= 24; n++ {
		if k == fmt.Sprintf("f%d", n) {
			return true
		}
	}
	return false
}

func unusable(k string) string {
	switch k {
	case "ctrl+m":
		return "ctrl+m is enter in a terminal; use enter"
	case "ctrl+i":
		return "ctrl+i is tab in a terminal; use tab"
	case "ctrl+[":
		return "ctrl+[ is esc in a terminal; use esc"
	case "alt+esc":
		return "alt+esc is esc pressed twice in a terminal; use another key"
	case "ctrl+b":
		return "tmux usually reserves ctrl+b, so gcity would not receive it"
	case "shift+enter":
		return "shift+enter is enter in many terminals; use another key"
	}
	return ""
}

// Binding assigns keys to an action, main key first. Without Keys, the action has no key.
type Binding struct {
	Action   string
	Keys     []string
	Position string
}
