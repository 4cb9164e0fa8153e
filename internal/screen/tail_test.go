package screen

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var seed = flag.Uint64("seed", 0, "seed of the random tests; 0 = a new one")

// Most programs print only simple pieces.
var simplePieces = []string{
	"word ", "a long line that goes on and wraps more than once on a narrow screen ", "名前", "e\u0301", "👩‍👧", "\t", "\b", "\x07",
	"\x1b[31m", "\x1b[0;44m", "\x1b[m", "\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[5G", "\x1b[3C", "\x1b[2D", "\x1b[2P", "\x1b[@", "\x1b[4X",
	"\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\", "\x1b(B", "\x1b[?25l", "\x1b[?2004h", "\x1b[?7h", "\r", "progress 10%\rprogress 20%", "\xff", "\x1b7", "\x1b[6n",
}

var complexPieces = []string{
	"\x1b[A", "\x1b[2B", "\x1b[H", "\x1b[3;4H", "\x1b[2J", "\x1b[J", "\x1b[1J", "\x1b[3J", "\x1b[2;4r", "\x1b[r", "\x1b[L", "\x1b[M", "\x1b[S", "\x1b[T",
	"\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?47l", "\x1b[?7l", "\x1b[?6h", "\x1b[?6l", "\x1b[4h", "\x1b[4l", "\x1b[20h", "\x1b[20l", "\x1b(0", "\x1b)0",
	"\x0e", "\x0f", "\x1bH", "\x1b[3g", "\x1b[g", "\x1b8", "\x1b[s", "\x1b[u", "\x1bM", "\x1bD", "\x1bE", "\x1bc", "\x1b[!p", "\x1b[3b", "\v", "\f", "\n", "\x1b[d", "\x1bP x",
	"\x1b", "\x1b[", "\x1b[?1048h", "\x1b[?1048l", "\x1b[5;2r",
}

func randomOutput(r *rand.Rand, n int, wild float64) []byte {
	var b strings.Builder
	for range n {
		switch x := r.Float64(); {
		case x < wild:
			b.WriteString(complexPieces[r.IntN(len(complexPieces))])
		case x < 0.4:
			b.WriteString("\r\n")
		default:
			b.WriteString(simplePieces[r.IntN(len(simplePieces))])
		}
	}
	return []byte(b.String())
}

// A replay of the tail has the same result as a replay of everything.
func TestTextOfTail(t *testing.T) {
	start := *seed
	if start == 0 {
		start = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", start)
	r := rand.New(rand.NewPCG(start, 0))
	shorter, rounds := 0, 500
	if testing.Short() {
		rounds = 150
	}
	for range rounds {
		cols, rows, lines := 1+r.IntN(30), 1+r.IntN(8), r.IntN(12)-1
		raw := randomOutput(r, r.IntN(120), []float64{0, 0.01, 0.05, 0.3}[r.IntN(4)])
		raw = append(raw, randomOutput(r, 60+r.IntN(300), []float64{0, 0, 0.004, 0.02}[r.IntN(4)])...)
		if len(tail(raw, rows, lines)) < len(raw) {
			shorter++
		}
		if got, want := Text(raw, cols, rows, lines), replay(raw, cols, rows, lines); got != want {
			t.Fatalf("%dx%d, %d lines of %q from %q: got\n%q, want\n%q",
				cols, rows, lines, raw, tail(raw, rows, lines), got, want)
		}
	}
	if shorter < rounds/10 {
		t.Errorf("only %d of %d outputs were shortened", shorter, rounds)
	}
	t.Logf("%d of %d outputs were shortened", shorter, rounds)
}

// A line that the last character scrolls off is part of the text.
func TestLastCharacterScrolls(t *testing.T) {
	if got, want := replay([]byte("a\r\nb\r\ncde"), 2, 3, 10), "a\nb\ncd\ne"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTextOfPrintedLines(t *testing.T) {
	pieces := []string{"word ", "a long line that goes on and wraps more than once on a narrow screen ", "é", "→", "│", "— ", "✓", "\t", "\a", "\r",
		"\n", "  ", "\r\n\r\n", "\x1b[31m", "\x1b[0;44m", "\x1b[m", "\x1b]0;title\x07", "\x1b(B", "\xe2\x94"}
	start := *seed
	if start == 0 {
		start = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", start)
	r := rand.New(rand.NewPCG(start, 1))
	printed, rounds := 0, 3000
	if testing.Short() {
		rounds = 600
	}
	for range rounds {
		var b strings.Builder
		for range r.IntN(60) {
			if b.WriteString(pieces[r.IntN(len(pieces))]); r.IntN(2) == 0 {
				b.WriteString("\r\n")
			}
		}
		cols, rows, lines := 1+r.IntN(30), 1+r.IntN(8), r.IntN(12)-1
		got, ok := printedText([]byte(b.String()), cols, rows, lines)
		if !ok {
			continue
		}
		printed++
		if want := replay([]byte(b.String()), cols, rows, lines); got != want {
			t.Fatalf("%dx%d, %d lines of %q: got\n%q, want\n%q",
				cols, rows, lines, b.String(), got, want)
		}
	}
	if printed < rounds/10 {
		t.Errorf("only %d of %d outputs were recognized as printed lines", printed, rounds)
	}
	t.Logf("%d of %d outputs were recognized as printed lines", printed, rounds)
}

func FuzzTextOfTail(f *testing.F) {
	f.Add([]byte(strings.Repeat("x\r\n", 30)), uint8(5), uint8(3), int8(4))
	f.Add([]byte("\x1b[?1049hfull\x1b[2;2r"+strings.Repeat("\x1b[mé\r\n", 30)), uint8(5), uint8(3), int8(0))
	f.Fuzz(func(t *testing.T, raw []byte, cols, rows uint8, lines int8) {
		if got, want := Text(raw, int(cols), int(rows), int(lines)), replay(raw, int(cols), int(rows), int(lines)); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

func TestTailIsShort(t *testing.T) {
	line := "\x1b[32mline\x1b[m of a log\r\n"
	calm := strings.Repeat(line, 5000)
	want := (10 + 2*20) * len(line)
	for name, c := range map[string]struct {
		raw   string
		short bool
	}{
		"a log":                      {calm, true},
		"after a full-screen editor": {"\x1b[?1049h\x1b[2;9r\x1b[3;3Hx\x1b[?1049l" + calm, true},
		"after cursor addressing":    {"\x1b[2J\x1b[5;5Hx" + calm, true},
		"in the alternate screen":    {"\x1b[?1049h" + calm, false},
		"without wrapping":           {"\x1b[?7l" + calm, false},
		"addressing at the end":      {calm + "\x1b[2;2H", false},
		"too few lines":              {strings.Repeat(line, 20), false},
	} {
		got := tail([]byte(c.raw), 20, 10)
		if c.short && len(got) != want || !c.short && len(got) != len(c.raw) {
			t.Errorf("%s: got %d bytes of %d", name, len(got), len(c.raw))
		}
	}
}

// A wide character at the end of a line is complete in the history.
func TestHistoryEndsWithAWideCharacter(t *testing.T) {
	if got, want := replay([]byte("名前\r\na\r\nb\r\nc"), 20, 2, 10), "名前\na\nb\nc"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
