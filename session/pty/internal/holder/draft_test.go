package holder

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"gcity/internal/eventually"
	"gcity/session/pty/internal/wire"
)

func TestDraft(t *testing.T) {
	for in, want := range map[string]int{
		"":                                  0,
		"abc":                               3,
		"größer 世界":                         9,
		"世\x7f":                             0,
		"ab\x7f\x7f\x7fc":                   1,
		"abc\r":                             0,
		"abc\nd":                            1,
		"abc\x03":                           0,
		"abc\x04":                           0,
		"abc\x15":                           0,
		"abc\x1b":                           0,
		"abc\x1b|d":                         1, // the Escape key, then another key
		"abc\x1b|[D":                        3, // an arrow key in two parts
		"abc\x1b\x1b":                       0,
		"\x1b[A\x1bOB\x1b[3~\x1b[1;5C":      0,
		"\x1b[|1;|5|C":                      0,
		"a\x1b\rb":                          2, // Alt+Enter adds a line to the draft
		"\x1b[200~two\rlines\x1b[201~":      9,
		"\x1b[200~two\x1b|[201~x\r":         0,
		"\x1b[M !!a":                        1, // a mouse report in the old format
		"\x1b[<0;10;20Ma":                   1,
		"\x1b[I\x1b[O":                      0, // focus reports of the window
		"\x1b]11;rgb:0000/0000/0000\x07a":   1,
		"\x1b]11;rgb:0000/0000/0000\x1b\\a": 1,
		"\x1bP1$r0m\x1b\\":                  0,
		"\x1b]|abc":                         3, // Alt+], then other keys
		"\x1b]abc\rde":                      2,
		"\x01\x0b\x09":                      0,
		"a\x1b[13u":                         0, // keys encoded as numbers
		"a\x1b[13;2u":                       1,
		"a\x1b[27u":                         0,
		"a\x1b[99;5u":                       0,
		"a\x1b[127u":                        0,
		"\x1b[97u\x1b[57441u":               1,
	} {
		var d draft
		from := 0
		for i := range in {
			if in[i] == '|' { // the sequence continues in the next write
				d.Write([]byte(in[from:i]))
				from = i + 1
			}
		}
		d.Write([]byte(in[from:]))
		if d.n != want {
			t.Errorf("%q: %d characters, want %d", in, d.n, want)
		}
	}
}

// Text that was accepted only in part does not count as a draft forever, unless a viewer has typed, too.
func TestLeftoverEnds(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), wire.LockFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := &holder{clock: wire.NewClock(), lock: lockFile{fd: int(f.Fd())}}
	l := &life{terminal: newTerminal(80, 24)}
	drafted := func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return l.draft.n > 0
	}
	release, err := l.takeTyping(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	noteLeftover(h, l)
	if !drafted() {
		t.Error("the text is not a draft")
	}
	release()
	eventually.True(t, "the end of the draft", func() bool { return !drafted() })
	var d draft
	d.leftover()
	d.Write([]byte("x"))
	if d.endLeftover(); d.n == 0 {
		t.Error("a viewer's draft has ended")
	}
}

// However the keys are split, Enter outside a paste ends a draft, and a character begins one.
func FuzzDraft(f *testing.F) {
	f.Add([]byte("a\x1b[200~b\x1b[201~\x1b]x\x1b"), 3)
	f.Add([]byte("\x1b[M\x1b[9;9;9;9u\x1b[<1M"), 1)
	f.Fuzz(func(t *testing.T, keys []byte, piece int) {
		var d draft
		piece = max(1, piece%100)
		for rest := keys; len(rest) > 0; rest = rest[min(len(rest), piece):] {
			d.Write(rest[:min(len(rest), piece)])
		}
		if d.n < 0 || d.n > len(keys) {
			t.Fatalf("got %d characters from %d bytes", d.n, len(keys))
		}
		d.Write([]byte("xxx\x1b[201~\x18\x18\r\r\r\r"))
		if d.n != 0 {
			t.Fatalf("got %d characters after Enter", d.n)
		}
		if d.Write([]byte("a")); d.n != 1 {
			t.Fatal("a character did not begin a draft")
		}
	})
}

// Enter follows a paste when the program has shown its beginning or a mark in its place, or after a time limit.
func TestWaitOutput(t *testing.T) {
	for output, want := range map[string]time.Duration{
		"\x1b[3Gfix the\x1b[9Gtests":   time.Second,
		"[Pasted\x1b[11Gtext #1]":      time.Second,
		"\x1b[31mworking\x1b[m on the": shownPause,
	} {
		synctest.Test(t, func(t *testing.T) {
			h, l := &holder{}, &life{history: history{out: ring{max: 1 << 10}}}
			l.out.Write([]byte("fix the tests"))
			printed := l.out.end
			for i, b := range []byte(output) { // it arrives in parts
				at := time.Second - time.Duration(len(output)-i)*time.Millisecond
				time.AfterFunc(at, func() {
					h.mu.Lock()
					defer h.mu.Unlock()
					l.out.Write([]byte{b})
				})
			}
			began := time.Now()
			shown := l.waitOutput(t.Context(), h, printed, shownPause, wordOf("fix the tests now"), pasteMark)
			if took := time.Since(began); took != want || shown != (want < shownPause) {
				t.Errorf("%q: waited %s, want %s", output, took, want)
			}
		})
	}
}

func TestWordOf(t *testing.T) {
	for text, want := range map[string]string{"": "", "go": "go", "a b\n\tc longer": "a", "I understand it": "understa"} {
		if got := wordOf(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
