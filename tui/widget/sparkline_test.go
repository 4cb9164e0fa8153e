package widget

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gcity/city"
)

func printing(name, life string, output uint64, at time.Time) city.Agent {
	return city.Agent{Name: name, Session: &city.Session{ID: life, Output: output,
		LastActivity: &at}}
}

// Output between two snapshots is spread over the time in which the agent might have printed it.
func TestSparkLevels(t *testing.T) {
	var p Sparklines
	now := time.Unix(0, bucketOf(sparkEpoch)*int64(SparkStep)).Add(time.Second)
	look := func(after time.Duration, output uint64, ago time.Duration) {
		now = now.Add(after)
		p.Observe([]city.Agent{printing("a", "1", output, now.Add(-ago))}, now, 30*time.Second)
	}
	look(0, 1_000_000, 0) // output from before the first snapshot, at an unknown time
	look(30*time.Second, 1_000_000, 30*time.Second)
	look(30*time.Second, 1_001_000, 0)
	look(30*time.Second, 1_401_000, 0)
	look(60*time.Second, 1_401_000, 60*time.Second)
	levels := p.agents["a"].levels(now)
	if got, want := levels[SparkBuckets-8:],
		[]int{1, 2, 2, 4, 4, 1, 1, 1}; !slices.Equal(got, want) || levels[SparkBuckets-9] != 0 {
		t.Errorf("%v, want 0 and %v at the end", levels, want)
	}
	p.Observe([]city.Agent{printing("a", "2", 10, now)}, now, 30*time.Second)
	if got := slices.Max(slices.Clone(levelsOf(p.agents["a"], now))); got != 1 {
		t.Errorf("a new session begins with level %d", got)
	}
	p.Observe(nil, now, 30*time.Second)
	if len(p.agents) > 0 {
		t.Error("a removed agent is kept")
	}
}

func levelsOf(q *sessionOutput, now time.Time) []int { l := q.levels(now); return l[:] }

// No byte of the last ten minutes is lost or counted twice.
func TestSparkKeepsEveryByte(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var p Sparklines
		now, printed := sparkEpoch, uint64(0)
		p.Observe([]city.Agent{printing("a", "1", 0, now)}, now, 30*time.Second)
		for end := sparkEpoch.Add(9 * time.Minute); now.Before(end); {
			now = now.Add(time.Duration(rnd.Int64N(int64(40 * time.Second))))
			if rnd.IntN(2) == 0 {
				printed += rnd.Uint64N(100_000)
			}
			p.Observe([]city.Agent{printing("a", "1", printed,
				now.Add(-time.Duration(rnd.Int64N(int64(2*time.Second)))))}, now, 30*time.Second)
		}
		sum := 0.0
		for _, b := range p.agents["a"].bytes {
			if b < 0 {
				t.Fatalf("%v", p.agents["a"].bytes)
			}
			sum += b
		}
		if math.Abs(sum-float64(printed)) > 1 {
			t.Fatalf("%v bytes of %d", sum, printed)
		}
	}
}

// sparkEpoch is an arbitrary start time.
var sparkEpoch = time.Date(2026, 11, 21, 10, 42, 7, 0, time.UTC)
