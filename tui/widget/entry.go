package widget

import (
	"strings"
	"unicode"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
)

// Entry is one line of text being typed. The widget edits it; what may come in, and which part of it is seen, is
// decided here.
type Entry struct {
	input    textinput.Model
	Replaces bool // all of it, by nobody: what is typed takes its place
}

// maxTyped bounds a line, in characters; a longer paste is cut.
const maxTyped = 16 << 10

// NewEntry is a line that begins with a text, the cursor at its end.
func NewEntry(text string) Entry {
	e := Entry{input: textinput.New()}
	e.input.KeyMap = Editing()
	e.input.CharLimit = maxTyped
	e.input.SetVirtualCursor(false) // the terminal's own cursor stands there
	e.input.Focus()
	e.input.SetValue(SingleLine(text))
	e.input.CursorEnd()
	return e
}

// NewReplacedEntry is a line that was typed before: what is typed now takes its place, and keys that edit it keep it.
func NewReplacedEntry(text string) Entry {
	e := NewEntry(text)
	e.Replaces = e.String() != ""
	return e
}

// Editing are the keys of a line. What is not here does not exist: no suggestions, and above all no key that pastes,
// for the widget would run a program to read the clipboard. Terminals paste by themselves. It does not delete the word
// after the cursor either: bubbles 2.1.1 panics when that is the last character.
func Editing() textinput.KeyMap {
	return textinput.KeyMap{
		CharacterBackward:       editKey("a character back", "left", "ctrl+b"),
		CharacterForward:        editKey("a character on", "right", "ctrl+f"),
		WordBackward:            editKey("a word back", "ctrl+left", "alt+left", "alt+b"),
		WordForward:             editKey("a word on", "ctrl+right", "alt+right", "alt+f"),
		LineStart:               editKey("to the beginning", "home", "ctrl+a"),
		LineEnd:                 editKey("to the end", "end", "ctrl+e"),
		DeleteCharacterBackward: editKey("delete the character before", "backspace", "ctrl+h"),
		DeleteCharacterForward:  editKey("delete the character after", "delete", "ctrl+d"),
		DeleteWordBackward:      editKey("delete the word before", "ctrl+w", "alt+backspace"),
		DeleteBeforeCursor:      editKey("delete all before", "ctrl+u"),
		DeleteAfterCursor:       editKey("delete all after", "ctrl+k"),
	}
}

// editKey is what a key of a line does and the keys that do it.
func editKey(does string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(strings.Join(keys, " "), does))
}

// String is what has been typed.
func (e *Entry) String() string { return e.input.Value() }

// Key edits; it reports whether the text is another one now.
func (e *Entry) Key(k tea.KeyPressMsg) bool {
	k.Text = SingleLine(k.Text)
	e.give(k.Text)
	return e.send(k)
}

// Paste types a text.
func (e *Entry) Paste(text string) {
	text = strings.TrimRight(text, "\r\n")
	e.give(SingleLine(text))
	e.send(tea.PasteMsg{Content: SingleLine(strings.ReplaceAll(text, "\r\n", "\n"))})
}

// give makes place for what is typed.
func (e *Entry) give(typed string) {
	if e.Replaces && typed != "" {
		e.input.SetValue("")
	}
	e.Replaces = false
}

func (e *Entry) send(msg tea.Msg) bool {
	before := e.input.Value()
	// a line without suggestions, clipboard and blinking asks for nothing
	e.input, _ = e.input.Update(msg)
	return e.input.Value() != before
}

// SingleLine makes one line of a text: line breaks and tabs become blanks, and what may not be typed is left out.
func SingleLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case Printable(r):
			return r
		}
		return -1
	}, s)
}

// Printable reports whether a character may be typed: no control, nothing that turns text around, but what joins
// letters.
func Printable(r rune) bool {
	if r >= ' ' && r < 0x7f { // nearly all there is in a long paste
		return true
	}
	const nonJoiner, joiner = 0x200c, 0x200d
	return r == joiner || r == nonJoiner ||
		r != unicode.ReplacementChar && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl,
			unicode.Zp)
}

// Show returns the part of the line around the cursor that fits w columns, and the cursor's column in it. The widget's
// own view counts characters, not columns, and would put the cursor beside a wide one.
func (e *Entry) Show(w int) (string, int) {
	return Window([]rune(e.input.Value()), e.input.Position(), w)
}

// Window is the part of a line around its character at that fits w columns, and that character's column in it.
func Window(runes []rune, at, w int) (string, int) {
	if w < 2 {
		return "", 0
	}
	from, before := at, 0
	for from > 0 {
		n := Width(string(runes[from-1]))
		if before+n > w-1 {
			break
		}
		before += n
		from--
	}
	return Cut(string(runes[from:]), w, ""), before
}

// Legible returns a text without what may not be typed. Its lines end in \n, and tabs, which complete things where they
// are typed, become blanks.
func Legible(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "    ").Replace(s)
	return strings.Map(func(r rune) rune {
		if r == '\n' || Printable(r) {
			return r
		}
		return -1
	}, s)
}
