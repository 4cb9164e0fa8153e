package tui

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// editor is one line of text being typed.
type editor struct {
	runes []rune
	at    int // cursor
}

// maxTyped bounds a line; a longer paste is cut.
const maxTyped = 16 << 10

func (e *editor) String() string { return string(e.runes) }

func (e *editor) set(s string) {
	e.runes = []rune(s)
	e.at = len(e.runes)
}

// insert types text; line breaks become blanks, other controls are dropped.
func (e *editor) insert(s string) {
	s = strings.ReplaceAll(strings.TrimRight(s, "\r\n"), "\r\n", " ")
	var add []rune
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			add = append(add, ' ')
		case visible(r):
			add = append(add, r)
		}
	}
	add = add[:min(len(add), maxTyped-len(e.runes))]
	e.runes = append(e.runes[:e.at], append(add, e.runes[e.at:]...)...)
	e.at += len(add)
}

// visible reports whether a character may be typed: no control, nothing that turns text around, but what joins letters.
func visible(r rune) bool {
	const nonJoiner, joiner = 0x200c, 0x200d
	return r == joiner || r == nonJoiner || r != unicode.ReplacementChar && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// key edits; it reports false for keys that are not its own.
func (e *editor) key(k tea.KeyPressMsg) bool {
	switch k.String() {
	case "left", "ctrl+b":
		e.at = max(0, e.at-1)
	case "right":
		e.at = min(len(e.runes), e.at+1)
	case "home", "ctrl+a":
		e.at = 0
	case "end", "ctrl+e":
		e.at = len(e.runes)
	case "backspace", "ctrl+h":
		e.cut(max(0, e.at-1), e.at)
	case "delete", "ctrl+d":
		e.cut(e.at, min(len(e.runes), e.at+1))
	case "ctrl+u":
		e.cut(0, e.at)
	case "ctrl+k":
		e.cut(e.at, len(e.runes))
	case "ctrl+w", "alt+backspace":
		e.cut(e.wordStart(), e.at)
	default:
		if k.Text == "" {
			return false
		}
		e.insert(k.Text)
	}
	return true
}

func (e *editor) cut(from, to int) {
	e.runes = append(e.runes[:from], e.runes[to:]...)
	e.at = from
}

func (e *editor) wordStart() int {
	i := e.at
	for i > 0 && e.runes[i-1] == ' ' {
		i--
	}
	for i > 0 && e.runes[i-1] != ' ' {
		i--
	}
	return i
}

// show returns the part of the line around the cursor that fits w columns, and the cursor's column in it.
func (e *editor) show(w int) (string, int) {
	if w < 2 {
		return "", 0
	}
	from, before := e.at, 0
	for from > 0 {
		n := width(string(e.runes[from-1]))
		if before+n > w-1 {
			break
		}
		before += n
		from--
	}
	return cut(string(e.runes[from:]), w, ""), before
}
