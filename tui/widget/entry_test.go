package widget

import (
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"gcity/tui/tuitest"
)

func strike(e *Entry, keys ...string) {
	for _, k := range keys {
		e.Key(tuitest.KeyPress(k))
	}
}

func TestEntryEdits(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"left", "X"}, "one twXo"},
		{[]string{"home", "X", "end", "Y"}, "Xone twoY"},
		{[]string{"ctrl+b", "ctrl+f", "X"}, "one twoX"},
		{[]string{"backspace", "left", "delete"}, "one t"},
		{[]string{"ctrl+w"}, "one "},
		{[]string{"ctrl+a", "ctrl+k"}, ""},
		{[]string{"left", "ctrl+u"}, "o"},
		{[]string{"ctrl+left", "X"}, "one Xtwo"},
		{[]string{"home", "ctrl+right", "X"}, "oneX two"},
		{[]string{"alt+d", "tab", "ctrl+n", "up"}, "one two"},
	} {
		e := NewEntry("one two")
		strike(&e, c.keys...)
		if got := e.String(); got != c.want {
			t.Errorf("%v: %q, want %q", c.keys, got, c.want)
		}
	}
}

// Key reports whether the text has changed, so that a new search starts only after a change.
func TestEntryReportsChanges(t *testing.T) {
	e := NewEntry("ab")
	for _, c := range []struct {
		key  string
		want bool
	}{{"left", false}, {"x", true}, {"ctrl+e", false}, {"ctrl+k", false}, {"backspace", true},
		{"ctrl+g", false}} {
		if got := e.Key(tuitest.KeyPress(c.key)); got != c.want {
			t.Errorf("%s: %v", c.key, got)
		}
	}
}

// The entry does not read the clipboard, because that would run a program from the user's PATH.
func TestEntryRunsNothingToPaste(t *testing.T) {
	e := NewEntry("")
	if _, cmd := e.input.Update(tuitest.KeyPress("ctrl+v")); cmd != nil {
		t.Error("ctrl+v returns a command")
	}
}

func TestEntryTakesPastes(t *testing.T) {
	for in, want := range map[string]string{
		"one\r\ntwo\n":              "one two",
		"a\tb\rc":                   "a b c",
		"\x1b[31mred\x07\x9b":       "[31mred",
		"turn\u202eed \u2066round":  "turned round",
		"\u200bzero\ufeff width":    "zero width",
		"नि\u200dक\u200c \u2028end": "नि\u200dक\u200c end",
		"bad \xff\xfe bytes":        "bad  bytes",
	} {
		e := NewEntry("")
		e.Paste(in)
		if got := e.String(); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for _, e := range []Entry{NewEntry(""), NewReplacedEntry("x")} {
		if before := e.String(); e.Paste(strings.Repeat("ä", MaxTyped+1)) || e.String() != before {
			t.Error("a part of a paste that is too long is inserted")
		}
		if !e.Paste(strings.Repeat("ä", MaxTyped)) || utf8.RuneCountInString(e.String()) != MaxTyped {
			t.Errorf("got %d characters of a long paste", utf8.RuneCountInString(e.String()))
		}
		if e.Paste("x") {
			t.Error("a full line accepts text")
		}
	}
}

func TestEntryShowsTextAroundTheCursor(t *testing.T) {
	e := NewEntry("日本語 text")
	for _, c := range []struct {
		keys []string
		w    int
		text string
		at   int
	}{
		{nil, 20, "日本語 text", 11},
		{nil, 8, "語 text", 7},
		{[]string{"home"}, 8, "日本語 t", 0},
		{[]string{"right", "right"}, 4, "本語", 2},
		{nil, 1, "", 0},
	} {
		strike(&e, c.keys...)
		if text, at := e.Show(c.w); text != c.text || at != c.at {
			t.Errorf("%v at %d: %q, %d; want %q, %d", c.keys, c.w, text, at, c.text, c.at)
		}
	}
}

// For any input, the entry is a single line of visible text.
func FuzzEntry(f *testing.F) {
	names := []string{"left", "right", "home", "end", "backspace", "delete", "ctrl+w", "alt+d",
		"ctrl+u", "ctrl+k", "ctrl+left", "ctrl+right",
		"ctrl+v", "tab", "space", "x", "日", "alt+backspace", "ctrl+b", "alt+f"}
	f.Add("one two", []byte{0, 7}, uint8(10))
	f.Add("  ", []byte{2, 11, 11, 7, 7, 10, 6}, uint8(3))
	f.Add("日本\u0301語", []byte{0, 0, 16, 7, 4}, uint8(2))
	f.Fuzz(func(t *testing.T, text string, keys []byte, w uint8) {
		e := NewEntry("")
		e.Paste(text)
		for _, k := range keys[:min(len(keys), 50)] {
			strike(&e, names[int(k)%len(names)])
			shown, at := e.Show(int(w))
			if Width(shown) > int(w) || at < 0 || w > 1 && at >= int(w) {
				t.Fatalf("at %d: %q, cursor at %d", w, shown, at)
			}
		}
		for _, r := range e.String() {
			if !Printable(r) {
				t.Fatalf("%U was typed", r)
			}
		}
		e.send(tea.PasteMsg{})
	})
}
