package output

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

func TestTableFits(t *testing.T) {
	a := &Printer{OutTTY: true, Getenv: func(string) string { return "" }}
	rows := [][]Cell{
		{Tinted("running", Green), Plain("名前"), Plain(strings.Repeat("because ", 20))},
		{Tinted("x", ""), Plain("a\tb\nc"), Plain("")},
		{{}, {}, Tinted("alone", Cyan)},
	}
	for _, width := range []int{0, 1, 5, 20, 80} {
		var b strings.Builder
		if err := a.WriteTable(&b, width, &Table{[]string{"STATE", "AGENT", "WHY"}, rows}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != len(rows)+1 {
			t.Errorf("%d lines, want %d", len(lines), len(rows)+1)
		}
		for _, l := range lines {
			plain := ansi.Strip(l)
			if width > 0 && ansi.StringWidth(plain) > width {
				t.Errorf("width %d: %q has %d columns", width, plain, ansi.StringWidth(plain))
			}
			if plain != strings.TrimRight(plain, " ") {
				t.Errorf("trailing blanks: %q", plain)
			}
		}
	}
}

func TestShrink(t *testing.T) {
	head, long := []string{"ID", "LABELS", "TITLE"}, strings.Repeat("label ", 20)
	for width, want := range map[int]int{0: len(long), 80: 80 - 26 - 2 - 2 - 2, 12: len("LABELS")} {
		rows := [][]Cell{{Plain("x"), Plain(long), Plain(strings.Repeat("title ", 20))}}
		(&Table{head, rows}).Shrink(1, width)
		if got := ansi.StringWidth(rows[0][1].Text); got > want || width == 0 && got != want {
			t.Errorf("width %d: the column has %d columns, want at most %d", width, got, want)
		}
	}
	rows := [][]Cell{{Plain("x"), Plain("a b"), Plain("title")}}
	if (&Table{head, rows}).Shrink(1, 30); rows[0][1].Text != "a b" {
		t.Errorf("a short column was cut to %q", rows[0][1].Text)
	}
	rows = [][]Cell{{Plain("x"), Plain("/home/operator/projects/town"), Plain("running")}}
	if (&Table{head, rows}).Shrink(1, 30); rows[0][1].Text != "…or/projects/town" {
		t.Errorf("a path was cut to %q", rows[0][1].Text)
	}
}

func TestColorOnlyWhereWanted(t *testing.T) {
	environ := map[string]string{}
	a := &Printer{OutTTY: true, Getenv: func(k string) string { return environ[k] }}
	if got := a.Paint(Red, "x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("on a terminal: got %q", got)
	}
	for _, k := range [][2]string{{"NO_COLOR", "1"}, {"TERM", "dumb"}} {
		environ = map[string]string{k[0]: k[1]}
		if got := a.Paint(Red, "x"); got != "x" {
			t.Errorf("with %s=%s: %q", k[0], k[1], got)
		}
	}
	environ, a.OutTTY = nil, false
	if got := a.Paint(Red, "x"); got != "x" {
		t.Errorf("into a file: got %q", got)
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 48 * time.Second: "48s", 55*time.Minute + 59*time.Second: "55m",
		3*time.Hour + 2*time.Minute: "3h02m", 49 * time.Hour: "2d1h",
	} {
		if got := Span(d); got != want {
			t.Errorf("span(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestByteSize(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 10188: "9.9 KiB", 10189: "10 KiB", 300 << 20: "300 MiB", 3 << 29: "1.5 GiB", math.MaxUint64: "16 EiB",
	} {
		if got := ByteSize(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

// If a cell is too wide, the part to keep remains, and the text before it is truncated.
func TestKeptPartOfACell(t *testing.T) {
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, "crashed 4× · until 9:00 · 2 restarts"}, {36, "crashed 4× · until 9:00 · 2 restarts"},
		{30, "crashed 4× · until 9:00 · 2 r…"}, {24, "crashed 4× · until 9:00…"}, {23, "crashed 4… · until 9:00"},
		{20, "crashe… · until 9:00"}, {12, "crashed 4× …"},
	} {
		var b strings.Builder
		p := &Printer{Out: &b}
		table := NewTable("WHY")
		table.Add(Cell{Text: "crashed 4× · until 9:00 · 2 restarts", Keep: " · until 9:00"})
		if err := p.WriteTable(&b, c.width, table); err != nil {
			t.Fatal(err)
		}
		if got := strings.Split(b.String(), "\n")[1]; got != c.want {
			t.Errorf("%d columns: got %q, want %q", c.width, got, c.want)
		}
	}
}
