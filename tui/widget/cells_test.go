package widget

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"gcity/internal/screen"
	"gcity/tui/tuitest"
)

const family = "👨‍👩‍👧‍👦"

func TestHardWrap(t *testing.T) {
	for _, c := range []struct {
		in   string
		w    int
		want []string
	}{
		{"abcdef", 3, []string{"abc", "def"}},
		{"abc", 3, []string{"abc"}},
		{"", 3, []string{""}},
		{"世界世", 3, []string{"世", "界", "世"}},
		{"a世\x1b[31m界b\x1b[mc", 3, []string{"a世\x1b[31m\x1b[m", "\x1b[31m界b\x1b[m", "c"}},
		{"x" + family + "e\u0301y", 3, []string{"x" + family, "e\u0301y"}},
		{"世", 1, []string{"世"}}, // a wide character is not split
	} {
		if got := HardWrap(c.in, c.w); strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("HardWrap(%q, %d) = %q, want %q", c.in, c.w, got, c.want)
		}
	}
}

func TestSkipColumns(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"abcdef", 2, "cdef"},
		{"abc", 9, ""},
		{"a世界", 2, " 界"},
		{"\x1b[32mab世\x1b[mc", 3, "\x1b[32m \x1b[mc"},
		{family + "x", 1, " x"},
		{family + "x", 2, "x"},
	} {
		if got := SkipColumns(c.in, c.n); got != c.want {
			t.Errorf("SkipColumns(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestOverlay(t *testing.T) {
	on := "\x1b[7m"
	for _, c := range []struct {
		in   string
		all  []Span
		want string
	}{
		{"abc", []Span{{1, 2, on}}, "a\x1b[7mb\x1b[mc"},
		{"a世c", []Span{{2, 3, on}}, "a\x1b[7m世\x1b[mc"}, // the cursor is on the second half
		{"ab", []Span{{4, 5, on}}, "ab  \x1b[7m \x1b[m"},
		{"\x1b[31mabcd\x1b[m", []Span{{1, 2, on}, {3, 4, on}},
			"\x1b[31ma\x1b[m\x1b[7mb\x1b[m\x1b[31mc\x1b[m\x1b[7md\x1b[m"},
		{"a\x1b[31mb\x1b[mc", []Span{{0, 3, on}}, "\x1b[7mabc\x1b[m"},
		{"ab\x1b[4mcd\x1b[m", []Span{{1, 3, on}}, "a\x1b[7mbc\x1b[m\x1b[4md\x1b[m"},
		{"", []Span{{0, 1, on}}, "\x1b[7m \x1b[m"},
		{"ab", nil, "ab"},
	} {
		if got := Overlay(c.in, c.all...); got != c.want {
			t.Errorf("Overlay(%q, %v) = %q, want %q", c.in, c.all, got, c.want)
		}
	}
}

// However a line is wrapped, the text stays the same, and no row is too wide.
func FuzzCells(f *testing.F) {
	f.Add("\x1b[31mred\x1b[m 世界 é "+family, 4, 3)
	f.Add("🏳️‍🌈\x1b[7mx\x1b[1my", 2, 1)
	f.Add("0\ufe0f0000 00\u200d0", 2, 1)
	f.Fuzz(func(t *testing.T, raw string, w, n int) {
		w, n = 2+max(0, w)%40, max(0, n)%50
		line := terminalLine(raw)
		rows := HardWrap(line, w)
		var text strings.Builder
		for _, r := range rows {
			tuitest.OnlyText(t, r)
			if ansi.StringWidth(r) > w {
				t.Fatalf("%q is wider than %d", r, w)
			}
			text.WriteString(ansi.Strip(r))
		}
		if text.String() != ansi.Strip(line) {
			t.Fatalf("%q became %q", line, rows)
		}
		if got, want := ansi.StringWidth(SkipColumns(line, n)),
			max(0, ansi.StringWidth(line)-n); got != want {
			t.Fatalf("SkipColumns(%q, %d) has %d columns, want %d", line, n, got, want)
		}
		painted := Overlay(line, Span{n, n + w, "\x1b[7m"})
		tuitest.OnlyText(t, painted)
		if !strings.HasPrefix(ansi.Strip(painted), ansi.Strip(line)) {
			t.Fatalf("painting changes %q to %q", line, painted)
		}
	})
}

func terminalLine(raw string) string {
	const cols, rows = 80, 24
	s := screen.New(cols, rows, rows)
	_, _ = s.Write([]byte(raw)) // never fails
	return s.Lines(cols, rows)[0]
}
