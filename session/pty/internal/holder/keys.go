package holder

import "strings"

// encodeKey returns the bytes that a terminal sends for a key. Keys have the same names as in tmux, such as "C-c".
// encodeKey returns any other text unchanged.
func encodeKey(key string, appCursor bool) string {
	if s, ok := plainKey(key); ok {
		return s
	}
	if final, ok := cursorKey(key); ok {
		if appCursor {
			return "\x1bO" + final
		}
		return "\x1b[" + final
	}
	if rest, ok := strings.CutPrefix(key, "M-"); ok && rest != "" {
		return "\x1b" + encodeKey(rest, appCursor)
	}
	if rest, ok := strings.CutPrefix(key, "C-"); ok {
		if s, ok := controlKey(rest); ok {
			return s
		}
	}
	return key
}

func plainKey(key string) (string, bool) {
	switch key {
	case "Enter":
		return "\r", true
	case "Tab":
		return "\t", true
	case "BTab", "S-Tab":
		return "\x1b[Z", true
	case "Escape":
		return "\x1b", true
	case "Space":
		return " ", true
	case "BSpace":
		return "\x7f", true
	case "Insert", "IC":
		return "\x1b[2~", true
	case "Delete", "DC":
		return "\x1b[3~", true
	case "PageUp", "PPage", "PgUp":
		return "\x1b[5~", true
	case "PageDown", "NPage", "PgDn":
		return "\x1b[6~", true
	}
	for i, s := range [...]string{
		"\x1bOP", "\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[15~", "\x1b[17~", "\x1b[18~", "\x1b[19~",
		"\x1b[20~", "\x1b[21~",
		"\x1b[23~", "\x1b[24~",
	} {
		if key == functionKeys[i] {
			return s, true
		}
	}
	return "", false
}

var functionKeys = [...]string{"F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11",
	"F12"}

func cursorKey(key string) (final string, ok bool) {
	switch key {
	case "Up":
		return "A", true
	case "Down":
		return "B", true
	case "Right":
		return "C", true
	case "Left":
		return "D", true
	case "End":
		return "F", true
	case "Home":
		return "H", true
	}
	return "", false
}

func controlKey(key string) (string, bool) {
	if key == "Space" {
		return "\x00", true
	}
	if len(key) != 1 {
		return "", false
	}
	switch c := key[0]; {
	case c >= 'a' && c <= 'z':
		return string(rune(c - 'a' + 1)), true
	case c >= '@' && c <= '_':
		return string(rune(c - '@')), true
	case c == '?':
		return "\x7f", true
	}
	return "", false
}
