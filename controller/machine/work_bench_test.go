package machine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gcity/controller/effect"
)

// BenchmarkPatrolOfAutomations measures a patrol of an idle city with n automations that are not due. The cost of
// automations is the difference to n = 0.
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
						b.Fatalf("something was due: %v", f)
					}
				}
				m.loader.loading, m.runs.Scanning, m.work.counting = false, false, false
				m.Step(w.now, look)
			}
		})
	}
}
