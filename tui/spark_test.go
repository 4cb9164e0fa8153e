package tui

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gcity/city"
	"gcity/themes"
)

func printing(name, life string, output uint64, at time.Time) city.Agent {
	return city.Agent{Name: name, Session: &city.Session{ID: life, Output: output, LastActivity: &at}}
}

// What came between two looks is spread over the time in which it can have come; a quiet time is quiet, and what was
// before anybody looked is not known.
func TestSparkLevels(t *testing.T) {
	var p pulses
	now := time.Unix(0, bucketOf(epoch)*int64(sparkStep)).Add(time.Second)
	look := func(after time.Duration, output uint64, ago time.Duration) {
		now = now.Add(after)
		p.hear([]city.Agent{printing("a", "1", output, now.Add(-ago))}, now, 30*time.Second)
	}
	look(0, 1_000_000, 0) // of before: not known when
	look(30*time.Second, 1_000_000, 30*time.Second)
	look(30*time.Second, 1_001_000, 0)
	look(30*time.Second, 1_401_000, 0)
	look(60*time.Second, 1_401_000, 60*time.Second)
	levels := p.of["a"].levels(now)
	if got, want := levels[sparkBuckets-8:], []int{1, 2, 2, 4, 4, 1, 1, 1}; !slices.Equal(got, want) || levels[sparkBuckets-9] != 0 {
		t.Errorf("%v, want 0 and %v at the end", levels, want)
	}
	p.hear([]city.Agent{printing("a", "2", 10, now)}, now, 30*time.Second)
	if got := slices.Max(slices.Clone(levelsOf(p.of["a"], now))); got != 1 {
		t.Errorf("a new life begins with %d", got)
	}
	p.hear(nil, now, 30*time.Second)
	if len(p.of) > 0 {
		t.Error("who is gone is kept")
	}
}

func levelsOf(q *pulse, now time.Time) []int { l := q.levels(now); return l[:] }

// However the looks fall, no byte of the last ten minutes is lost or counted twice.
func TestSparkKeepsEveryByte(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var p pulses
		now, printed := epoch, uint64(0)
		p.hear([]city.Agent{printing("a", "1", 0, now)}, now, 30*time.Second)
		for end := epoch.Add(9 * time.Minute); now.Before(end); {
			now = now.Add(time.Duration(rnd.Int64N(int64(40 * time.Second))))
			if rnd.IntN(2) == 0 {
				printed += rnd.Uint64N(100_000)
			}
			p.hear([]city.Agent{printing("a", "1", printed, now.Add(-time.Duration(rnd.Int64N(int64(2*time.Second)))))}, now, 30*time.Second)
		}
		sum := 0.0
		for _, b := range p.of["a"].bytes {
			if b < 0 {
				t.Fatalf("%v", p.of["a"].bytes)
			}
			sum += b
		}
		if math.Abs(sum-float64(printed)) > 1 {
			t.Fatalf("%v bytes of %d", sum, printed)
		}
	}
}

func TestSparkIsDrawn(t *testing.T) {
	s := demo(t, 200, 60)
	name := s.m.agents.chosen
	if s.m.spark(name) != "" {
		t.Error("there is a chart before there is anything to draw")
	}
	for i := range 40 {
		s.wait(20 * time.Second)
		s.agent(name, func(a *city.Agent) {
			at := s.now
			a.Session = &city.Session{ID: "x", Started: epoch, LastActivity: &at, Output: uint64(1000 * i)}
		})
	}
	drawn := s.m.spark(name)
	if width(drawn) != sparkBuckets/2 {
		t.Errorf("%q is %d columns wide", drawn, width(drawn))
	}
	s.shows(drawn)
	s.m.look.glyph = themes.ASCII()
	if drawn = s.m.spark(name); !isASCII(drawn) || width(drawn) != sparkBuckets/2 {
		t.Errorf("%q", drawn)
	}
}
