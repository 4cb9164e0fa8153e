package statusrow

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"gcity/internal/screen"
)

const cols, rows = 90, 8

func line(cols int) string { return "\x1b[7m" + strings.Repeat("=", cols) + "\x1b[m" }

func compare(t *testing.T, out string, pieces []int) {
	t.Helper()
	if strings.Contains(out, "\x1b8") || strings.Contains(out, "\x1b[u") {
		out = strings.ReplaceAll(out, "\x1b[7m", "") // a restored cursor may have a different style
	}
	real := compareWith(t, "$ shell\x1b[?1049h", out+"\x1b[X", pieces)
	if !real.Alt() {
		t.Fatalf("%q in %v left the alternate screen", out, pieces)
	}
	write(t, real, "\x1b[?1049l")
	if got := strings.TrimSpace(ansi.Strip(real.Lines(cols, rows)[0])); got != "$ shell" {
		t.Fatalf("%q in %v: other screen: got %q", out, pieces, got)
	}
}

func compareWith(t *testing.T, before, out string, pieces []int) *screen.Screen {
	t.Helper()
	alone, real := screen.New(cols, rows-1, 0), screen.New(cols, rows, 0)
	write(t, real, before)
	w := New(real, cols, rows, line)
	if err := w.Begin(); err != nil {
		t.Fatal(err)
	}
	write(t, alone, out)
	rest := out
	for _, n := range pieces {
		n = min(n, len(rest))
		write(t, w, rest[:n])
		rest = rest[n:]
	}
	write(t, w, rest)
	write(t, w, "\x1b7\x1b[0m") // a point at which the line can be drawn even if the program has saved its cursor
	write(t, alone, "\x1b7\x1b[0m")
	want := strings.Join(alone.Lines(cols, rows-1), "\n")
	got := real.Lines(cols, rows)
	if above := strings.Join(got[:rows-1], "\n"); above != want {
		t.Fatalf("%q in %v: got\n%s\nwant\n%s", out, pieces, above, want)
	}
	if last := ansi.Strip(got[rows-1]); last != strings.Repeat("=", cols) {
		t.Fatalf("%q in %v: last row: got %q", out, pieces, last)
	}
	x, y, _ := alone.Cursor()
	if a, b, _ := real.Cursor(); a != x || b != y {
		t.Fatalf("%q in %v: the cursor is at %d,%d, want %d,%d", out, pieces, a, b, x, y)
	}
	return real
}

func write(t *testing.T, w interface{ Write([]byte) (int, error) }, p string) {
	t.Helper()
	if n, err := w.Write([]byte(p)); err != nil || n != len(p) {
		t.Fatal(n, err)
	}
}

// The program draws as if the last row did not exist. That row keeps its text.
func TestTheLastRowIsKept(t *testing.T) {
	for _, out := range []string{
		strings.Repeat("a line\r\n", 20),
		"\x1b[2J\x1b[Htop\x1b[999;999Hx\r\nnext",
		"\x1b[3;5r\x1b[5Hin\n\n\nmargins\x1b[r\x1b[99Hand\nout",
		"\x1b[2;99r\x1b[99;3Hlow\r\nlower",
		"one\x1b7\x1b[5;5Htwo\x1b[J\x1b8three\x1b[2J",
		"main\x1b[?1049halt\x1b[99d\r\n\nend\x1b[?1049lback",
		"main\x1b[31m\x1b[?1049hless\r\nthan\x1b[2;5H\x1b[?1049lback\x1b[?1049l",
		"old\x1b7\x1b[?47h\x1b[H\x1b[2Jfull\x1b[2J\x1b[?47l\x1b8back",
		"\x1b[!p\x1b[?1049l\x1b[2J\x1b[3J\x1b[Hreplayed",
		"\x1b[7mold\x1b[!p\x1b[r\x1b[?1049h\x1b7\x1b[r\x1b[?1049l\x1b7\x1b[rplain",
		"text\x1b[!p\x1b[99Hafter\r\na soft reset",
		"\x1bca reset" + strings.Repeat("\r\nline", 9),
		"\x1b]0;a title\x07\x1b]8;;http://x\x1b\\link\x1b[J",
		"\x1b[3;6r\x1b[?6h\x1b[99;1Horigin\x1b[J\x1b[?6l",
		"wide \u754c\u754c\x1b[J\u754c e\u0301",
		"\x1b[?2048h\x1b[?2048;25h\x1b[?2048$p\x1b[7;1H\nx",
	} {
		compare(t, out, nil)
		compare(t, out, []int{len(out) / 2})
		each := make([]int, len(out))
		for i := range each {
			each[i] = 1
		}
		compare(t, out, each)
	}
}

// If text follows a title in the same write, the next write does not erase the text.
func TestTextAfterATitle(t *testing.T) {
	compare(t, "\x1b[?1049h\x1b]0;t\x07\rword ", []int{12, 4})
}

// Random output in random pieces produces the same screen with and without a status row. The output has no line feeds
// below the margins and no full lines.
func TestRandomPrograms(t *testing.T) {
	words := []string{"a", "\rword ", "\r\n", "\n", "\r", "\b", "\r\t", "\u754c", "\x1b[J", "\x1b[2J", "\x1b[1J", "\x1b[K", "\x1b[r", "\x1b[2;7r", "\x1b[3r", "\x1b[H", "\x1b[99;9H", "\x1b[99d",
		"\x1b[4;7f", "\x1b7", "\x1b[?6l\x1b8", "\x1b[s", "\x1b[?6l\x1b[u", "\x1b[L", "\x1b[2M", "\x1bM", "\x1bD", "\x1b[S", "\x1b[T", "\x1b[7m", "\x1b[m", "\x1b[B", "\x1b[A", "\x1b[r\x1b[20B", "\x1b[!p\x1b7", "\x1bc",
		"\x1b[?6h", "\x1b[?6l", "\x1b[r\x1b[?1049h\x1b7\x1b[r", "\x1b[r\x1b[?1049l\x1b7\x1b[r", "\x1b]0;t\x07", "\x1b]0;t\x1b\\"}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	rounds := 300
	if testing.Short() {
		rounds = 75
	}
	for range rounds {
		var out strings.Builder
		var pieces []int
		for range 1 + r.IntN(30) {
			out.WriteString(words[r.IntN(len(words))])
			pieces = append(pieces, 1+r.IntN(9))
		}
		compare(t, out.String(), pieces)
	}
}

// After the terminal becomes smaller or larger, the line stays and the program scrolls above it.
func TestResize(t *testing.T) {
	for _, size := range [][2]int{{30, 5}, {10, 12}} {
		real := screen.New(cols, rows, 0)
		w := New(real, cols, rows, line)
		if err := w.Begin(); err != nil {
			t.Fatal(err)
		}
		write(t, w, strings.Repeat("a line\r\n", 20))
		real.Resize(size[0], size[1])
		if err := w.Resize(size[0], size[1]); err != nil {
			t.Fatal(err)
		}
		write(t, w, "\x1b[99H\x1b[Kx\r\n"+strings.Repeat("b\r\n", size[1]+2)+"end")
		got := real.Lines(size[0], size[1])
		if last := ansi.Strip(got[size[1]-1]); last != strings.Repeat("=", size[0]) {
			t.Errorf("%v: last row: got %q", size, last)
		}
		if last := strings.TrimSpace(ansi.Strip(got[size[1]-2])); last != "end" {
			t.Errorf("%v: last row of the program: got %q", size, last)
		}
	}
}

// The Writer drops requests for reports of the real terminal's size. All other modes pass.
func TestNoReportOfTheRealSize(t *testing.T) {
	var out bytes.Buffer
	w := New(&out, cols, rows, line)
	fmt.Fprint(w, "\x1b[?2048h\x1b[?1000;2048;1006h\x1b[?2048$p\x1b[?25$p")
	if got, want := out.String(), "\x1b[?1000;1006h\x1b[?25$p"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
