package screen

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

func newScreen(in string, cols, rows int) *Screen {
	s := New(cols, rows, 100)
	s.Write([]byte(in))
	return s
}

// The screen is right where x/vt is wrong.
func TestText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"lines", "one\r\ntwo", "one\ntwo"},
		{"wrap", "abcdefghijk", "abcdefghij\nk"},
		{"full line then newline", "abcdefghij\r\nk", "abcdefghij\nk"},
		{"full line then carriage return", "abcdefghij\rX", "Xbcdefghij"},
		{"color does not end the wait at the margin", "abcdefghij\x1b[31mk", "abcdefghij\nk"},
		{"no wrap", "\x1b[?7labcdefghijk", "abcdefghik"},
		{"wide fills the line", "世界世界世X", "世界世界世\nX"},
		{"wide does not fit", "abcdefghi世", "abcdefghi\n世"},
		{"wide overwritten by half", "世\x1b[1;2Hx", " x"},
		{"combining mark in its own write", "e\u0301x", "e\u0301x"},
		{"lonely mark", "\r\u0301x", "\ufffdx"},
		{"scroll", "1\r\n2\r\n3\r\n4\r\n5", "2\n3\n4\n5"},
		{"scroll over many", strings.Repeat("x\r\n", 50) + "y", "x\nx\nx\ny"},
		{"line feed keeps the column", "ab\ncd", "ab\n  cd"},
		{"newline mode", "\x1b[20hab\ncd", "ab\ncd"},
		{"next line", "ab\x1bEcd", "ab\ncd"},
		{"tabs", "a\tb", "a       b"},
		{"own tabs", "\x1b[3g\x1b[1;4H\x1bH\r\tx", "   x"},
		{"backspace", "ab\bc", "ac"},
		{"line drawing by G0", "\x1b(0lqk\x1b(Bq", "┌─┐q"},
		{"line drawing by shift out", "\x1b)0\x0elqk\x0fq", "┌─┐q"},
		{"cursor saved, ESC", "a\x1b7\x1b[3;3Hx\x1b8b", "ab\n\n  x"},
		{"cursor saved, CSI", "a\x1b[s\x1b[3;3Hx\x1b[ub", "ab\n\n  x"},
		{"insert characters", "abc\r\x1b[2@x", "x abc"},
		{"insert mode", "abc\r\x1b[4hXY\x1b[4lZ", "XYZbc"},
		{"delete characters", "abcdef\r\x1b[2P", "cdef"},
		{"repeat", "ab\x1b[3b", "abbbb"},
		{"repeat without end", "ab\x1b[2147483647b", "abbbbbbbbb\nbb"},
		{"erase above", "aaa\r\nbbb\x1b[1;2H\x1b[2;2H\x1b[1J", "\n  b"},
		{"erase all keeps the cursor", "ab\x1b[2Jc", "  c"},
		{"erase history keeps the screen", "ab\x1b[3Jc", "abc"},
		{"insert line under a top margin", "1\r\n2\r\n3\r\n4\x1b[2;4r\x1b[3;1H\x1b[Lx", "1\n2\nx\n3"},
		{"delete line under a top margin", "1\r\n2\r\n3\r\n4\x1b[2;4r\x1b[3;1H\x1b[Mx", "1\n2\nx"},
		{"scroll region", "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3;1H\r\nx", "1\n3\nx\n4"},
		{"reverse index", "1\r\n2\x1b[H\x1bMx", "x\n1\n2"},
		{"origin mode", "\x1b[2;4r\x1b[?6h\x1b[1;1Hx\ry", "\ny"},
		{"margins below the screen", "1\r\n2\x1b[1;60r\x1b[1T", "\n1\n2"},
		{"alternate screen", "main\x1b[?1049h\x1b[Hvi\x1b[?1049l+", "main+"},
		{"in the alternate screen", "main\x1b[?1049h\x1b[Hvi", "vi"},
		{"old alternate screen", "main\x1b[?47hx\x1b[?47l+", "main+"},
		{"reset", "main\x1b[?1049hx\x1bcnew", "new"},
		{"titles and queries", "\x1b]0;t\x07a\x1b[6n\x1b[c\x1bP$qm\x1b\\b", "ab"},
		{"cancelled sequence", "\x1b[31\x18a\x1b]0;b\x1ac", "ac"},
		{"sequence cut by another", "\x1b[3\x1b[31ma", "a"},
		{"control within a sequence", "ab\x1b[\r1Cx", "ax"},
		{"character within a sequence", "\x1b[3é", "é"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScreen(c.in, 10, 4)
			if d := cmp.Diff(c.want, s.Text()); d != "" {
				t.Errorf("%q (-want +got):\n%s", c.in, d)
			}
		})
	}
}

func TestLines(t *testing.T) {
	s := newScreen("\x1b[1;32mok\x1b[0m  plain \x1b[44m \x1b[0m\r\n\x1b]8;;http://x\x07link\x1b]8;;\x07\r\n世界", 20, 4)
	want := []string{"\x1b[32;1mok\x1b[m  plain \x1b[44m \x1b[m", "link", "世界", ""}
	if d := cmp.Diff(want, s.Lines(20, 4)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"\x1b[32;1mok\x1b[m", "lin", "世 "}, s.Lines(3, 3)); d != "" {
		t.Error("cropped:", d)
	}
	if got := s.Lines(0, 9); len(got) != 4 || strings.Join(got, "") != "" {
		t.Errorf("no width: %q", got)
	}
}

// A small pane shows the lines up to the cursor.
func TestLinesFollowsTheCursor(t *testing.T) {
	s := newScreen("1\r\n2\r\n3\r\n4\r\n5", 10, 8)
	if d := cmp.Diff([]string{"4", "5"}, s.Lines(10, 2)); d != "" {
		t.Error(d)
	}
	if got := s.Offset(2); got != 3 {
		t.Errorf("offset %d, want 3", got)
	}
	s.Write([]byte("\x1b[?1049h\x1b[Hfirst\r\nsecond"))
	if d := cmp.Diff([]string{"first"}, s.Lines(10, 1)); d != "" {
		t.Error(d)
	}
}

func TestHistory(t *testing.T) {
	s := New(10, 3, 100)
	for i := range 1000 {
		fmt.Fprintf(s, "\x1b[3%dmline %d\x1b[m\r\n", i%8, i)
	}
	if got := s.HistoryLen(); got != 100 {
		t.Fatalf("history of %d lines, want 100", got)
	}
	want := []string{"\x1b[32mline 898\x1b[m", "\x1b[33mline 899\x1b[m"}
	if d := cmp.Diff(want, s.History(0, 2)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"\x1b[35mline 997\x1b[m"}, s.History(99, 50)); d != "" {
		t.Error(d)
	}
	s.Write([]byte("\x1b[?1049h" + strings.Repeat("full screen\r\n", 50) + "\x1b[?1049l\x1b[2J"))
	if got := s.History(99, 1)[0]; !strings.Contains(got, "997") {
		t.Errorf("the history contains the alternate screen or an erased line: %q", got)
	}
	s.Write([]byte("\x1b[3J"))
	if s.HistoryLen() != 0 {
		t.Error("ED 3 did not clear the history")
	}
	none := New(10, 3, 0)
	none.Write([]byte(strings.Repeat("x\r\n", 100)))
	if none.HistoryLen() != 0 {
		t.Error("a screen without history stored lines")
	}
}

// Scrolling in one step has the same result as line by line.
func TestScrollingInOneStep(t *testing.T) {
	var in strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		fmt.Fprintf(&in, "%d%s", i, strings.Repeat("x", r.IntN(25)))
		in.WriteString([]string{"\r\n", "\r\n", "\n", "\t", "\r", "\x1b[31m", "\x1b[42m", "\x1b[m", "\x1b[A", "世"}[r.IntN(10)])
	}
	at := newScreen(in.String(), 12, 6)
	one := New(12, 6, 100)
	for _, b := range []byte(in.String()) {
		one.Write([]byte{b})
	}
	if d := cmp.Diff(one.Lines(12, 6), at.Lines(12, 6)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(one.History(0, 100), at.History(0, 100)); d != "" {
		t.Error(d)
	}
}

func TestCursor(t *testing.T) {
	s := newScreen("ab\x1b[?25l", 10, 4)
	if x, y, on := s.Cursor(); x != 2 || y != 0 || on {
		t.Errorf("%d,%d %v", x, y, on)
	}
	s.Write([]byte("\x1b[?1049h\x1b[3;5H\x1b[?25h"))
	if x, y, on := s.Cursor(); x != 4 || y != 2 || !on || !s.Alt() {
		t.Errorf("cursor: got %d,%d %v, alternate screen %v", x, y, on, s.Alt())
	}
	s.Write([]byte("\x1b[?1049l"))
	if x, y, on := s.Cursor(); x != 2 || y != 0 || !on || s.Alt() {
		t.Errorf("cursor: got %d,%d %v, alternate screen %v", x, y, on, s.Alt())
	}
}

func TestResize(t *testing.T) {
	s := newScreen("1\r\n2\r\n3\r\n4", 10, 4)
	s.Resize(5, 2)
	if got := s.Text(); got != "3\n4" {
		t.Errorf("shrunk to %q", got)
	}
	if d := cmp.Diff([]string{"1", "2"}, s.History(0, 9)); d != "" {
		t.Error(d)
	}
	s.Resize(20, 6)
	s.Write([]byte(" and a longer line"))
	if got, want := s.Text(), "3\n4 and a longer line"; got != want {
		t.Errorf("grown to %q, want %q", got, want)
	}
	s.Resize(-1, 1e9)
	if c, r := s.Size(); c != 1 || r != maxRows {
		t.Errorf("%d×%d", c, r)
	}
}

func TestVersion(t *testing.T) {
	s := newScreen("x", 10, 4)
	v := s.Version()
	s.Write([]byte("\x1b]0;a title\x07"))
	if s.Version() != v {
		t.Error("a title changed the version")
	}
	s.Write([]byte("y"))
	if s.Version() <= v {
		t.Error("a character did not change the version")
	}
}

func TestClosedScreen(t *testing.T) {
	s := newScreen("x", 10, 4)
	s.Close()
	if n, err := s.Write([]byte("more")); n != 4 || err != nil {
		t.Error(n, err)
	}
	s.Resize(3, 3)
	if s.Text() != "" || s.Lines(5, 5) != nil || s.HistoryLen() != 0 || s.Offset(1) != 0 {
		t.Error("a closed screen has content")
	}
}

// A panic in the emulator neither ends the process nor loses text.
func TestEmulatorPanic(t *testing.T) {
	s := newScreen("before\r\n", 10, 4)
	s.recoverEmulator(func() { panic("as x/vt might") })
	s.Write([]byte("\x1b[2;1Hafter"))
	if got := s.Text(); got != "before\nafter" {
		t.Errorf("%q", got)
	}
}

// Sequences that never end need a bounded amount of memory.
func TestEndlessSequences(t *testing.T) {
	s := New(80, 24, 100)
	for _, in := range []string{"\x1b]0;" + strings.Repeat("a", 1<<16), "\x1bP" + strings.Repeat("b", 1<<16),
		"\x1b[" + strings.Repeat("1;", 1<<15), "\x18e" + strings.Repeat("\u0301", 1<<15), strings.Repeat("👩\u200d", 1<<12)} {
		for range 20 {
			s.Write([]byte(in))
		}
		if len(s.pending) > 2*maxPending || cap(s.parse.params) > 2*maxCSI || cap(s.cur.out) > 1<<20 {
			t.Errorf("%.9q…: got %d pending bytes, %d parameters, %d bytes of output",
				in, len(s.pending), cap(s.parse.params), cap(s.cur.out))
		}
	}
}

func TestReplay(t *testing.T) {
	raw := []byte("\x1b[31m1\x1b[m\r\n2\r\n3\r\n4\r\n\r\n")
	for _, c := range []struct {
		lines int
		want  string
	}{{0, "4"}, {-1, "4"}, {1, "4"}, {2, "3\n4"}, {100, "1\n2\n3\n4"}} {
		if got := Text(raw, 10, 3, c.lines); got != c.want {
			t.Errorf("%d lines: got %q, want %q", c.lines, got, c.want)
		}
	}
}

func FuzzScreen(f *testing.F) {
	for i, s := range hostile {
		f.Add([]byte(s), uint64(i), uint8(20), uint8(6))
	}
	f.Fuzz(func(t *testing.T, in []byte, seed uint64, cols, rows uint8) {
		w, h := int(cols)%50+1, int(rows)%20+1
		whole, pieces := New(w, h, 30), New(w, h, 30)
		whole.Write(in)
		r := rand.New(rand.NewPCG(seed, 0))
		for rest := in; len(rest) > 0; {
			n := min(len(rest), 1+r.IntN(7))
			pieces.Write(rest[:n])
			rest = rest[n:]
		}
		lines := whole.Lines(w, h)
		if d := cmp.Diff(lines, pieces.Lines(w, h)); d != "" {
			t.Fatalf("the screen depends on how the output is divided:\n%s", d)
		}
		if d := cmp.Diff(whole.History(0, 30), pieces.History(0, 30)); d != "" {
			t.Fatalf("the history depends on how the output is divided:\n%s", d)
		}
		checkBounds(t, whole, w, h)
		whole.Resize(r.IntN(60), r.IntN(30))
		whole.Write(in)
		w, h = whole.Size()
		checkBounds(t, whole, w, h)
		checkBounds(t, whole, w/2, h/2)
	})
}

func checkBounds(t *testing.T, s *Screen, w, h int) {
	t.Helper()
	lines := s.Lines(w, h)
	if len(lines) > h {
		t.Fatalf("got %d lines, want at most %d", len(lines), h)
	}
	for _, line := range lines {
		checkSafe(t, line)
		if got := ansi.StringWidth(line); got > w {
			t.Fatalf("got %d columns, want at most %d: %q", got, w, line)
		}
	}
	for _, line := range s.History(0, 30) {
		checkSafe(t, line)
	}
	cols, rows := s.Size()
	if x, y, _ := s.Cursor(); x < 0 || y < 0 || x >= cols || y >= rows {
		t.Fatalf("cursor: got %d,%d on a screen of %d×%d", x, y, cols, rows)
	}
}

// HistoryLen returns the number of lines that History can return.
func (s *Screen) HistoryLen() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.past())
}

// Offset returns the row of the screen at which Lines(w, h) starts.
func (s *Screen) Offset(h int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cur == nil {
		return 0
	}
	s.recoverEmulator(s.sync)
	return s.offset(h)
}
