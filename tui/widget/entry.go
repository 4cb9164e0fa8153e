package widget

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
)

// Entry is a line of text that is being edited.
type Entry struct {
	input     textinput.Model
	Suggested bool // typed text replaces the text
}

// MaxTyped is the maximum length of a line, in characters.
const MaxTyped = 16 << 10

// NewEntry returns a line with an initial text and the cursor at its end.
func NewEntry(text string) Entry {
	e := Entry{input: textinput.New()}
	e.input.KeyMap = Editing()
	e.input.CharLimit = MaxTyped
	e.input.SetVirtualCursor(false) // the terminal's own cursor is used
	e.input.Focus()
	e.input.SetValue(SingleLine(text))
	e.input.CursorEnd()
	return e
}

// NewReplacedEntry returns a line with a suggested text, which typed text replaces.
func NewReplacedEntry(text string) Entry {
	e := NewEntry(text)
	e.Suggested = e.String() != ""
	return e
}

// Editing returns the keys for editing a line. The paste key is missing, because the widget would run a program to read
// the clipboard. The key that deletes the word after the cursor is missing, because bubbles 2.1.1 panics at the last
// character.
func Editing() textinput.KeyMap {
	return textinput.KeyMap{
		CharacterBackward:       editKey("back one character", "left", "ctrl+b"),
		CharacterForward:        editKey("forward one character", "right", "ctrl+f"),
		WordBackward:            editKey("back one word", "ctrl+left", "alt+left", "alt+b"),
		WordForward:             editKey("forward one word", "ctrl+right", "alt+right", "alt+f"),
		LineStart:               editKey("to the beginning", "home", "ctrl+a"),
		LineEnd:                 editKey("to the end", "end", "ctrl+e"),
		DeleteCharacterBackward: editKey("delete the previous character", "backspace", "ctrl+h"),
		DeleteCharacterForward:  editKey("delete the next character", "delete", "ctrl+d"),
		DeleteWordBackward:      editKey("delete the previous word", "ctrl+w", "alt+backspace"),
		DeleteBeforeCursor:      editKey("delete all text before the cursor", "ctrl+u"),
		DeleteAfterCursor:       editKey("delete all text after the cursor", "ctrl+k"),
	}
}

func editKey(does string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(strings.Join(keys, " "), does))
}

// String returns the text.
func (e *Entry) String() string { return e.input.Value() }

// Key edits the text and reports whether it changed.
func (e *Entry) Key(k tea.KeyPressMsg) bool {
	k.Text = SingleLine(k.Text)
	e.dropSuggestion(k.Text)
	return e.send(k)
}

// Paste inserts text. If the line would become too long, it inserts nothing and returns false.
func (e *Entry) Paste(text string) bool {
	text = SingleLine(strings.ReplaceAll(strings.TrimRight(text, "\r\n"), "\r\n", "\n"))
	size := utf8.RuneCountInString(text)
	if !e.Suggested {
		size += utf8.RuneCountInString(e.String())
	}
	if size > MaxTyped {
		return false
	}
	e.dropSuggestion(text)
	e.send(tea.PasteMsg{Content: text})
	return true
}

func (e *Entry) dropSuggestion(typed string) {
	if e.Suggested && typed != "" {
		e.input.SetValue("")
	}
	e.Suggested = false
}

func (e *Entry) send(msg tea.Msg) bool {
	before := e.input.Value()
	// Update returns no command, because suggestions, clipboard and blinking are off.
	e.input, _ = e.input.Update(msg)
	return e.input.Value() != before
}

// SingleLine converts text to one line and removes characters that cannot be typed.
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

// Printable reports whether a character is allowed in typed text.
func Printable(r rune) bool {
	if r >= ' ' && r < 0x7f { // fast path for long pastes
		return true
	}
	const nonJoiner, joiner = 0x200c, 0x200d
	return r == joiner || r == nonJoiner ||
		r != unicode.ReplacementChar && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl,
			unicode.Zp)
}

// Show returns the part of the line around the cursor that fits into w columns, and the cursor's column. The widget's
// own view counts characters, not columns.
func (e *Entry) Show(w int) (string, int) {
	return Window([]rune(e.input.Value()), e.input.Position(), w)
}

// Window returns the part of a line that fits into w columns and contains runes[at], and that character's column.
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

// DropUntypable removes the characters that cannot be typed. Tabs become spaces, because the receiving program might
// complete a word on a tab.
func DropUntypable(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "    ").Replace(s)
	return strings.Map(func(r rune) rune {
		if r == '\n' || Printable(r) {
			return r
		}
		return -1
	}, s)
}
