package cli

import (
	"bytes"
	"io"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"gcity/city"
	"gcity/cli/output"
	"gcity/internal/await"
	"gcity/internal/detach"
)

func TestTableFits(t *testing.T) {
	a := &app{Printer: output.Printer{OutTTY: true, Getenv: func(string) string { return "" }}}
	rows := [][]output.Cell{
		{output.Tinted("running", output.Green), output.Plain("名前"), output.Plain(strings.Repeat("because ", 20))},
		{output.Tinted("x", ""), output.Plain("a\tb\nc"), output.Plain("")},
		{{}, {}, output.Tinted("alone", output.Cyan)},
	}
	for _, width := range []int{0, 1, 5, 20, 80} {
		var b strings.Builder
		if err := a.Table(&b, width, []string{"STATE", "AGENT", "WHY"}, rows); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != len(rows)+1 {
			t.Errorf("%d lines, want %d", len(lines), len(rows)+1)
		}
		for _, l := range lines {
			plain := ansi.Strip(l)
			if width > 0 && ansi.StringWidth(plain) > width {
				t.Errorf("width %d: %q is %d wide", width, plain, ansi.StringWidth(plain))
			}
			if plain != strings.TrimRight(plain, " ") {
				t.Errorf("trailing blanks: %q", plain)
			}
		}
	}
}

func TestColourOnlyWhereWanted(t *testing.T) {
	env := map[string]string{}
	a := &app{Printer: output.Printer{OutTTY: true, Getenv: func(k string) string { return env[k] }}}
	if got := a.Paint(output.Red, "x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("on a terminal: %q", got)
	}
	for _, k := range [][2]string{{"NO_COLOR", "1"}, {"TERM", "dumb"}} {
		env = map[string]string{k[0]: k[1]}
		if got := a.Paint(output.Red, "x"); got != "x" {
			t.Errorf("with %s=%s: %q", k[0], k[1], got)
		}
	}
	env, a.OutTTY = nil, false
	if got := a.Paint(output.Red, "x"); got != "x" {
		t.Errorf("into a file: %q", got)
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 48 * time.Second: "48s", 55*time.Minute + 59*time.Second: "55m",
		3*time.Hour + 2*time.Minute: "3h02m", 49 * time.Hour: "2d1h",
	} {
		if got := output.Span(d); got != want {
			t.Errorf("span(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestMoment(t *testing.T) {
	for text, want := range map[string]time.Time{
		"90s": noon.Add(-90 * time.Second), "3d": noon.Add(-72 * time.Hour), "1.5d": noon.Add(-36 * time.Hour),
		"2026-11-20T08:00:00Z": time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC),
	} {
		if got, err := moment(text, noon); err != nil || !got.Equal(want) {
			t.Errorf("moment(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "-1h", "-2d", "noon", "1e300d"} {
		if got, err := moment(text, noon); err == nil {
			t.Errorf("moment(%q) = %v, want an error", text, got)
		}
	}
}

func TestDetach(t *testing.T) {
	for in, want := range map[string]string{
		"abc\x11def": "abc", "\x11": "", "x\x1b[113;5uy": "x", "\x1b[27;5;113~": "", "a\x1b[113;5u\x11": "a",
		"q": "q", "\x1b[113;6u": "\x1b[113;6u", "\x13": "\x13", "\x1b": "\x1b",
	} {
		var far bytes.Buffer
		if err := copyKeys(&far, strings.NewReader(in), detach.Key{}); err != nil || far.String() != want {
			t.Errorf("%q reaches the agent as %q, %v; want %q", in, far.String(), err, want)
		}
	}
}

// A log that nobody reads delays nobody (C13), and what was lost is said.
func TestSpillNeverWaits(t *testing.T) {
	r, w := io.Pipe() // every write waits for a reader
	s := newSpill(w)
	for range 3 * spillDepth {
		if _, err := s.Write([]byte("line\n")); err != nil {
			t.Fatal(err)
		}
	}
	var (
		wg   sync.WaitGroup
		read strings.Builder
	)
	wg.Go(func() { _, _ = io.Copy(&read, r) })
	await.Until(t, "it has caught up", func() bool {
		if _, err := s.Write(nil); err != nil {
			t.Fatal(err)
		}
		return s.behind() == 0
	})
	if _, err := s.Write([]byte("the last\n")); err != nil {
		t.Fatal(err)
	}
	s.Close()
	w.Close()
	wg.Wait()
	if text := read.String(); !strings.Contains(text, "lines of this log were dropped") || !strings.HasSuffix(text, "the last\n") {
		t.Errorf("read %d bytes, ending %q", len(text), text[max(0, len(text)-80):])
	}
}

// A stream that nobody will ever read does not hold up the end either.
func TestSpillClosesOnAStuckStream(t *testing.T) {
	_, w := io.Pipe()
	s := newSpill(w)
	_, _ = s.Write([]byte("line\n"))
	s.Close()
	_, _ = s.Write([]byte("after the end\n"))
	w.Close()
	<-s.done
}

// What agents take stands in figures below each other, where it was measured and there is room; members are counted as
// people count.
func TestFigures(t *testing.T) {
	agents := []city.Agent{
		{Name: "w-10", State: city.Running, Since: noon, Usage: &city.Usage{CPU: 140.4, RSS: 300 << 20}},
		{Name: "w-2", State: city.Running, Since: noon, Usage: &city.Usage{CPU: 0.32, RSS: 1 << 20}},
		{Name: "x", State: city.Running, Since: noon},
	}
	draw := func(a *app, agents []city.Agent) string {
		var b strings.Builder
		if err := a.writeAgents(&b, agents); err != nil {
			t.Fatal(err)
		}
		return ansi.Strip(b.String())
	}
	a := &app{Printer: output.Printer{Getenv: func(string) string { return "" }, Now: func() time.Time { return noon }}}
	const want = `STATE    AGENT  SINCE   CPU      MEM  PID  WHY
running  w-2    0s     0.3%  1.0 MiB
running  w-10   0s     140%  300 MiB
running  x      0s        -        -
`
	if got := draw(a, agents); got != want {
		t.Errorf("got\n%s", got)
	}
	if got := draw(a, agents[2:]); strings.Contains(got, "CPU") {
		t.Errorf("nothing was measured:\n%s", got)
	}
	a.OutTTY = true // 80 columns where the size is not known
	if got := draw(a, agents); strings.Contains(got, "CPU") {
		t.Errorf("no room:\n%s", got)
	}
}

func TestByteSize(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 10188: "9.9 KiB", 10189: "10 KiB", 300 << 20: "300 MiB", 3 << 29: "1.5 GiB", math.MaxUint64: "16 EiB",
	} {
		if got := output.ByteSize(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
