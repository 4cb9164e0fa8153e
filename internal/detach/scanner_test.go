package detach

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestScannerFindsTheKey(t *testing.T) {
	for _, c := range []struct {
		in, out string
		leave   bool
	}{
		{"abc", "abc", false},
		{"abc\x11def", "abc", true},
		{"\x1b[113;5u", "", true},
		{"x\x1b[113;5u", "x", true},
		{"\x1b[113;5:1u", "", true},
		{"\x1b[113;5:2u", "", true},
		{"\x1b[113;5:3u", "\x1b[113;5:3u", false}, // the release of the key
		{"\x1b[113;133u", "", true},               // num lock is on
		{"\x1b[113;69u", "", true},                // caps lock is on
		{"\x1b[113:81:113;5u", "", true},          // with alternate keys
		{"\x1b[113;6u", "\x1b[113;6u", false},     // ctrl+shift+q
		{"\x1b[113;7u", "\x1b[113;7u", false},     // ctrl+alt+q
		{"\x1b[119;5u", "\x1b[119;5u", false},     // ctrl+w
		{"\x1b[27;5;113~", "", true},              // modifyOtherKeys
		{"\x1b[27;5;119~", "\x1b[27;5;119~", false},
		{"\x1b[A\x1b[1;5C", "\x1b[A\x1b[1;5C", false},
		{"\x1bx\x1bOP", "\x1bx\x1bOP", false},
		{"\x1b\x11", "\x1b", true},
		{"\x1b\x1b[113;5u", "\x1b", true},
		{"\x1b[200~a\x11b\x1b[113;5uc\x1b[201~d", "\x1b[200~a\x11b\x1b[113;5uc\x1b[201~d", false}, // a paste may contain any bytes
		{"\x1b[200~a\x11\x1b[201~\x11", "\x1b[200~a\x11\x1b[201~", true},
		{"\x1b[1\x11", "\x1b[1", true},
	} {
		for cut := range len(c.in) + 1 {
			var s Scanner
			out, leave := s.Feed([]byte(c.in[:cut]))
			if !leave {
				var more []byte
				more, leave = s.Feed([]byte(c.in[cut:]))
				out = append(out, more...)
			}
			out = append(out, s.Flush()...)
			if string(out) != c.out || leave != c.leave {
				t.Errorf("%q cut at %d: got %q %v, want %q %v", c.in, cut, out, leave, c.out, c.leave)
			}
		}
	}
}

// A paste marker is recognized even in pieces.
func TestPasteInPieces(t *testing.T) {
	const begin, end = "\x1b[200~", "\x1b[201~"
	for cut := range len(begin) {
		for late := range len(end) {
			var s Scanner
			var got []byte
			pieces := []string{"a" + begin[:cut], begin[cut:] + "b\x11\x1b[113;5u" + end[:late], end[late:] + "c"}
			for _, piece := range pieces {
				out, leave := s.Feed([]byte(piece))
				got = append(append(got, out...), s.Flush()...)
				if leave {
					t.Fatalf("%q: the key detached within a paste", pieces)
				}
			}
			if want := strings.Join(pieces, ""); string(got) != want {
				t.Errorf("%q, want %q", got, want)
			}
			if _, leave := s.Feed([]byte("\x11")); !leave {
				t.Errorf("%q: the key did not detach after the paste", pieces)
			}
		}
	}
}

// After a long pause, a paste without an end no longer hides the key.
func TestPasteWithoutEnd(t *testing.T) {
	for pause, want := range map[time.Duration]bool{pasteTimeout - 1: false, pasteTimeout: true} {
		var s Scanner
		if _, leave := s.Feed([]byte("\x1b[200~hello")); leave {
			t.Fatal("the paste detached")
		}
		s.Pause(pause)
		if _, leave := s.Feed([]byte("\x11")); leave != want {
			t.Errorf("after %v: leave is %v", pause, leave)
		}
	}
}

// A different detach key replaces the default key.
func TestOtherKey(t *testing.T) {
	for text, forms := range map[string][]string{
		"ctrl+]": {"\x1d", "\x1b[93;5u", "\x1b[27;5;93~"}, `ctrl+\`: {"\x1c", "\x1b[92;5u"}, "Ctrl+A": {"\x01", "\x1b[97;5u"}, "": {"\x11", "\x1b[1081::113;5u", "\x1b[1081:1049:113;5u"}, // also a Cyrillic layout
		"ctrl+^": {"\x1e", "\x1b[94;5u", "\x1b[54;6u", "\x1b[54:94;6u", "\x1b[94;6u", "\x1b[27;6;94~"},
		"ctrl+_": {"\x1f", "\x1b[95;5u", "\x1b[45;6u", "\x1b[45:95;6u", "\x1b[95;6u", "\x1b[27;6;95~"},
	} {
		k, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range forms {
			s := Scanner{Key: k}
			if out, leave := s.Feed([]byte("a" + form)); !leave || string(out) != "a" {
				t.Errorf("%s as %q: got %q, %v", k, form, out, leave)
			}
		}
		s := Scanner{Key: k}
		if out, leave := s.Feed([]byte("\x11")); text != "" && (leave || string(out) != "\x11") {
			t.Errorf("%s: ctrl+q detached too", k)
		}
	}
}

// Keys that only share a part of their code with the detach key pass.
func TestSimilarKeys(t *testing.T) {
	for text, forms := range map[string][]string{
		"ctrl+^": {"\x1b[54:38;6u", "\x1b[54;5u", "\x1b[27;6;38~"}, // ctrl+& of a German layout, ctrl+6
		"ctrl+q": {"\x1b[97::113;5u", "\x1b[1081::113;6u"},         // ctrl+a of a French layout, ctrl+shift
		"ctrl+]": {"\x1b[93:125;6u"},
	} {
		k, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range forms {
			s := Scanner{Key: k}
			if out, leave := s.Feed([]byte(form)); leave || string(out) != form {
				t.Errorf("%s as %q: got %q, %v", k, form, out, leave)
			}
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, text := range []string{"q", "ctrl+", "ctrl+m", "ctrl+i", "ctrl+c", "ctrl+[", "alt+q", "ctrl+qq", "ctrl+é", "f1", "\x11"} {
		if k, err := Parse(text); err == nil || !strings.Contains(err.Error(), Default) {
			t.Errorf("%q is %s, %v; want an error that names a valid key", text, k, err)
		}
	}
}

// All bytes except the key pass unchanged, however the input is divided.
func FuzzScanner(f *testing.F) {
	f.Add([]byte("ls -l\r\x1b[A\x1b[200~x\x1b[201~\x1b[113;5u"), 3)
	f.Add([]byte("\x1b[1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1"), 1)
	f.Fuzz(func(t *testing.T, in []byte, step int) {
		var whole Scanner
		want, leave := whole.Feed(in)
		want = append(want, whole.Flush()...)
		if !bytes.HasPrefix(in, want) || !leave && len(want) != len(in) {
			t.Fatalf("%q: got %q, %v", in, want, leave)
		}
		if step < 1 {
			return
		}
		var s Scanner
		var got []byte
		left := false
		for rest := in; len(rest) > 0 && !left; {
			n := min(step, len(rest))
			var out []byte
			out, left = s.Feed(rest[:n])
			got, rest = append(got, out...), rest[n:]
			if len(s.held) > maxHeld {
				t.Fatalf("got %d buffered bytes", len(s.held))
			}
		}
		got = append(got, s.Flush()...)
		if !bytes.Equal(got, want) || left != leave {
			t.Fatalf("in steps of %d: got %q %v, want %q %v", step, got, left, want, leave)
		}
	})
}
