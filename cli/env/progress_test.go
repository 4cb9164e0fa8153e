package env

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"gcity/city"
	"gcity/cli/output"
)

// Without a terminal, progress prints one line every few seconds, and no line for a quick operation.
func TestProgressInAFile(t *testing.T) {
	var out bytes.Buffer
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	e := &Env{Printer: output.Printer{Err: &out, Getenv: func(string) string { return "" },
		Now: func() time.Time { return now }}}
	p := e.NewProgress()
	for n := range 12 {
		p.wave(city.Wave{Verb: "starting", Done: n, Total: 12})
		now = now.Add(time.Second)
	}
	p.lines([]string{"waits: x"})
	p.Clear()
	want := "starting: 5 of 12 agents\nstarting: 10 of 12 agents\nwaits: x\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// On a terminal, progress rewrites one line. The line fits the width and is cleared before other output.
func TestProgressOnATerminal(t *testing.T) {
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	if err := pty.Setsize(theirs, &pty.Winsize{Cols: 20, Rows: 5}); err != nil {
		t.Fatal(err)
	}
	e := &Env{Printer: output.Printer{Err: theirs, Getenv: func(string) string { return "" },
		Now: time.Now}}
	p := e.NewProgress()
	p.wave(city.Wave{Verb: "starting", Done: 3, Total: 500})
	p.wave(city.Wave{Verb: "starting", Done: 4, Total: 500})
	p.lines([]string{"waits: x"})
	p.wave(city.Wave{Verb: "starting", Done: 1, Total: 1})
	theirs.Close()
	var seen strings.Builder
	for chunk := make([]byte, 4096); ; {
		n, err := ours.Read(chunk)
		seen.Write(chunk[:n])
		if err != nil { // EIO: the other end is closed
			break
		}
	}
	want := "\rstarting: 3 of 500…\x1b[K\rstarting: 4 of 500…\x1b[K\r\x1b[Kwaits: x\r\n"
	if seen.String() != want {
		t.Errorf("%q, want %q", seen.String(), want)
	}
}
