package screen

import (
	"fmt"
	"strings"
	"testing"
)

// ScrolledOff also counts lines that are no longer stored.
func TestShot(t *testing.T) {
	s := New(20, 3, 5)
	for i := range 1000 {
		fmt.Fprintf(s, "line %d\r\n", i)
	}
	shot := s.Shot(2)
	if got := strings.Join(append(shot.Past, shot.Lines...), "|"); got != "line 996|line 997|line 998|line 999|" {
		t.Errorf("shown %q", got)
	}
	if shot.ScrolledOff != 998 || shot.X != 0 || shot.Y != 2 || !shot.Cursor || shot.Alt || shot.Cols != 20 || shot.Rows != 3 {
		t.Errorf("%+v", shot)
	}
	if n := len(s.Shot(1000).Past); n != 5 {
		t.Errorf("%d lines of history, want 5", n)
	}
	fmt.Fprint(s, "\x1b[?1049h\x1b[?25lfull")
	if shot := s.Shot(1000); !shot.Alt || shot.Cursor || len(shot.Past) != 5 || shot.Lines[2] != "full" {
		t.Errorf("a full-screen program: got %+v", shot)
	}
	s.Close()
	if shot := s.Shot(5); len(shot.Lines)+len(shot.Past) != 0 {
		t.Errorf("a closed screen: got %+v", shot)
	}
}

// The history is bounded in bytes, even if each line needs as much memory as possible.
func TestHistoryIsBoundedInBytes(t *testing.T) {
	s := New(maxCols, 2, 10000)
	var line strings.Builder
	for i := range maxCols {
		fmt.Fprintf(&line, "\x1b[38;2;%d;%d;7m#", i%256, i/4)
	}
	fmt.Fprintf(s, "%s\r\n\r\n", line.String())
	if len(s.history) != 1 {
		t.Fatalf("history: got %d lines, want 1", len(s.history))
	}
	for i := range 1200 {
		s.remember(s.history[:1:1])
		if s.historyBytes > maxHistory+1<<20 {
			t.Fatalf("after %d lines: got a history of %d bytes", i, s.historyBytes)
		}
	}
	held := 0
	for _, l := range s.history {
		held += len(l)
	}
	if n := len(s.history); held != s.historyBytes || n == 0 || n > 1190 {
		t.Errorf("got %d lines with %d bytes; %d bytes were counted", n, held, s.historyBytes)
	}
}

// A program that erases the history repeatedly, such as clear, keeps getting a new one.
func TestErasedHistoryIsNotCounted(t *testing.T) {
	s := New(80, 2, 10000)
	for range 20 {
		s.remember([]string{strings.Repeat("x", 1<<20)})
		fmt.Fprint(s, "\x1b[3J")
	}
	for range 100 {
		fmt.Fprint(s, "line\r\n")
	}
	held := 0
	for _, l := range s.history {
		held += len(l)
	}
	if held != s.historyBytes || s.HistoryLen() == 0 {
		t.Errorf("got %d lines with %d bytes; %d bytes were counted", s.HistoryLen(), held,
			s.historyBytes)
	}
}
