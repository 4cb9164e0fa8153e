package machine

import (
	"fmt"
	"testing"
	"time"

	"gcity/controller/effect"
	"gcity/session"
)

// The displayed usage changes only in visible steps.
func TestFiguresChangeInSteps(t *testing.T) {
	w := newWorld()
	w.m.gauge.able = true
	w.declare("a")
	w.advance(0)
	u := session.Usage{CPU: 0, RSS: 10_000_000, Procs: 1}
	for i, c := range []struct {
		cpu     time.Duration // added to the previous value
		rss     int64
		changes bool
	}{
		{0, 0, true},
		{0, 0, false},
		{4 * time.Millisecond, 0, false}, // 0.04 % of 10 s
		{6 * time.Millisecond, 0, true},
		{9 * time.Millisecond, 99_999, false},
		{9 * time.Millisecond, 1, true},
		{time.Second, 0, true},
	} {
		u.CPU, u.RSS = u.CPU+c.cpu, u.RSS+c.rss
		w.uses = map[string]session.Usage{"a": u}
		w.now = w.now.Add(10 * time.Second)
		w.m.step.Changed = false
		w.Step(effect.SnapshotsWatched{})
		if w.m.step.Changed != c.changes {
			t.Errorf("sample %d, %+v: snapshot changed: %t, want %t: %+v", i, u, w.m.step.Changed,
				c.changes,
				w.m.agents["a"].usage())
		}
	}
	if got := w.m.agents["a"].usage().CPU; got != 10 {
		t.Errorf("a second of ten is %v %%", got)
	}
}

// BenchmarkMeasured takes one sample of an idle city. Target: no allocation.
func BenchmarkMeasured(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld()
			w.uses = map[string]session.Usage{}
			names := make([]string, n)
			for i := range names {
				names[i] = fmt.Sprintf("agent-%04d", i)
				w.uses[names[i]] = session.Usage{CPU: time.Second, RSS: 5 << 20, Procs: 2}
			}
			w.m.gauge.able = true
			w.declare(names...)
			w.advance(time.Minute)
			w.m.gauge.measured(w.measure().(effect.Measured))
			in := w.measure().(effect.Measured)
			w.m.step.Changed = false
			b.ReportAllocs()
			for b.Loop() {
				w.now = w.now.Add(30 * time.Second)
				in.At = w.now
				w.m.Step(w.now, in)
			}
			if w.m.step.Changed {
				b.Fatal("the snapshot changed")
			}
		})
	}
}
