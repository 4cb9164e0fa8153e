package machine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/session"
)

// BenchmarkPatrol measures one patrol of an idle city, including the list of sessions (W10 in docs/benchmarks.md).
// Target: 200 µs and no allocation with 1,000 agents.
func BenchmarkPatrol(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld()
			names := make([]string, n)
			for i := range names {
				names[i] = fmt.Sprintf("agent-%04d", i)
			}
			w.declare(names...)
			w.advance(time.Minute)
			look := w.list(effect.List{}).(effect.Listed)
			m := w.m
			b.ReportAllocs()
			for b.Loop() {
				w.now = w.now.Add(time.Second)
				for _, f := range m.Step(w.now, effect.Tick{}) {
					if l, ok := f.(effect.List); ok {
						look.Step = l.Step
					}
				}
				m.loader.loading = false
				m.Step(w.now, look)
			}
		})
	}
}

// BenchmarkDeath measures the machine's part of a restart in a city of 1,000 agents: from the exit to the start effect.
func BenchmarkDeath(b *testing.B) {
	w := newWorld()
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("agent-%04d:max=0", i)
	}
	w.declare(names...)
	w.advance(time.Minute)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		s := w.alive[fmt.Sprintf("agent-%04d", i%1000)]
		i++
		w.now = w.now.Add(time.Hour)
		started := false
		for _, f := range w.m.Step(w.now, effect.Exited{Exit: session.Exit{Agent: s.Agent, ID: s.ID,
			Code: 1, At: w.now, Uptime: time.Hour}}) {
			if f, ok := f.(effect.Start); ok {
				started = true
				b.StopTimer()
				w.m.Step(w.now, effect.Captured{Agent: s.Agent, ID: s.ID})
				w.m.Step(w.now, w.start(f.Want))
				b.StartTimer()
			}
		}
		if !started {
			b.Fatal("not started again")
		}
	}
}

// BenchmarkPatrolOfAutomations measures a patrol of an idle city with n automations that are not due. The cost of
// automations is the difference from n = 0.
func BenchmarkPatrolOfAutomations(b *testing.B) {
	for _, n := range []int{0, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld()
			w.floor.trials.auto, w.floor.trials.on = true, true
			if err := w.automate([]string{"hand", "gate=manual"}); err != nil {
				b.Fatal(err)
			}
			w.declare("a")
			for i := range n {
				gate := []string{"gate=cooldown interval=8000h", "gate=cron schedule=0_0_1_1_*",
					"gate=event on=deploy.*", "gate=manual"}[i%4]
				if err := w.automate(strings.Fields(fmt.Sprintf("a%02d %s", i, gate))); err != nil {
					b.Fatal(err)
				}
			}
			w.advance(time.Minute)
			look := w.list(effect.List{}).(effect.Listed)
			m := w.m
			b.ReportAllocs()
			for b.Loop() {
				w.now = w.now.Add(time.Second)
				for _, f := range m.Step(w.now, effect.Tick{}) {
					switch f := f.(type) {
					case effect.List:
						look.Step = f.Step
					case effect.OpenRun, effect.Run, effect.SaveAutomations, effect.Record:
						b.Fatalf("got effect %v, want none", f)
					}
				}
				m.loader.loading, m.runs.Scanning, m.work.counting = false, false, false
				m.Step(w.now, look)
			}
		})
	}
}

// BenchmarkSnapshotOfWaiting measures a snapshot of a city in which 500 agents wait for a pool of 500 stopped members.
func BenchmarkSnapshotOfWaiting(b *testing.B) {
	w := newWorld()
	specs := []string{"p:pool=500-500"}
	for i := range 500 {
		specs = append(specs, fmt.Sprintf("agent-%03d:needs=p", i))
	}
	w.declare(specs...)
	b.ReportAllocs()
	for b.Loop() {
		if s := w.m.Snapshot(w.now); s.Agents[0].State != city.Waiting {
			b.Fatalf("%s is %s", s.Agents[0].Name, s.Agents[0].State)
		}
	}
}
