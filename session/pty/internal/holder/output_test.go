package holder

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/internal/screen"
)

var seed = flag.Uint64("seed", 0, "seed of the random tests; 0 = a new one")

// harmless contains sequences and texts that affect only their own line. lasting contains sequences that affect more
// than that, or move the cursor.
var (
	harmless = []string{
		"word ", "名前", "e\u0301", "\t", "\xff", "\x1b[31m", "\x1b[m", "\x1b[K", "\x1b[5G",
		"\x1b[3C", "\x1b(B", "\x1b[?25l",
		"\x1b[?2004h", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\", "\x1b7", "\x1b[6n", "\x1b[>1u",
		"\x1b[2 q", "\x1b[?u", "\r",
		"\x1bPq#0\r\nline\r\nline\r\n\x1b\\", "a long line that goes on and wraps more than once " +
			"on a narrow screen ",
	}
	lasting = []string{
		"\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?7l", "\x1b[?6h", "\x1b[4h", "\x1b[20h",
		"\x1b(0", "\x1b)0", "\x0e", "\x1bH",
		"\x1b[3g", "\x1b8", "\x1b[u", "\x1b[!p", "\x1b[2;4r", "\x1b[r", "\x1b[?1048l", "\x1bc",
		"\x1b[H", "\x1b[2A", "\x1b[J", "\x1b[?1049;25h",
	}
)

func randomOutput(r *rand.Rand, n int, wild float64) []byte {
	var b strings.Builder
	for b.Len() < n {
		pieces := harmless
		switch x := r.Float64(); {
		case x < wild:
			pieces = lasting
		case x < 0.4:
			pieces = []string{"\r\n"}
		}
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return []byte(b.String())
}

// The end of an output draws the same text as the whole output, wherever the output is cut.
func TestTailOfOutput(t *testing.T) {
	start := *seed
	if start == 0 {
		start = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", start)
	r := rand.New(rand.NewPCG(start, 0))
	tails, rounds := 0, 300
	for range rounds {
		cols, rows, lines := 2+r.IntN(30), 1+r.IntN(8), r.IntN(12)
		raw := randomOutput(r, r.IntN(30<<10), []float64{0, 0, 0.0005, 0.05}[r.IntN(4)])
		raw = append(raw, randomOutput(r, 10<<10, []float64{0, 0, 0.0005}[r.IntN(3)])...)
		l := &life{history: history{out: ring{max: []int{16 << 10, maxRing}[r.IntN(2)]}}}
		for piece := range slices.Chunk(raw, 1+r.IntN(8<<10)) {
			l.add(piece)
		}
		from, ok := l.tail(1 + r.IntN(6<<10))
		if !ok {
			continue
		}
		got, ok := screen.TextOfEnd(l.replayFrom(from), cols, rows, lines)
		if !ok {
			continue
		}
		tails++
		if want := screen.Text(l.replay(), cols, rows, lines); got != want {
			t.Fatalf("%dx%d, %d lines: from %d of %d..%d: got\n%q, want\n%q",
				cols, rows, lines, from, l.out.start, l.out.end, got, want)
		}
	}
	if tails < rounds/10 {
		t.Errorf("only %d of %d outputs were drawn from their end", tails, rounds)
	}
	t.Logf("%d of %d outputs were drawn from their end", tails, rounds)
}

// After a sequence that affects more than its line, all of the output is needed.
func TestWhenAllOutputIsNeeded(t *testing.T) {
	log := strings.Repeat("\x1b[32mline\x1b[m of a log\r\n", 1000)
	for name, c := range map[string]struct {
		before string
		plain  bool
	}{
		"nothing":               {"", true},
		"a finished editor":     {"\x1b[?1049h\x1b[5;5Hx\x1b[?1049l", true},
		"modes of the keyboard": {"\x1b[?2004h\x1b[>1u\x1b=", true},
		"an editor":             {"\x1b[?1049h", false},
		"margins":               {"\x1b[2;9r", false},
		"no wrapping":           {"\x1b[?7l", false},
		"insertion":             {"\x1b[4h", false},
		"another character set": {"\x1b(0", false},
		"a tab stop":            {"\x1bH", false},
	} {
		l := &life{history: history{out: ring{max: maxRing}}}
		l.add([]byte(c.before))
		for piece := range slices.Chunk([]byte(log), 100) {
			l.add(piece)
		}
		from, ok := l.tail(2000)
		if ok != c.plain || ok && l.out.end-from > 2000+restartPointEvery+100 {
			t.Errorf("%s: got from %d of %d, %t", name, from, l.out.end, ok)
		}
	}
}
