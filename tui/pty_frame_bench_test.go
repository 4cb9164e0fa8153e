package tui

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkFirstFrame measures the time from the start of the process to the first frame, for a city that answers and
// one that never does. It includes the start of a test binary.
func BenchmarkFirstFrame(b *testing.B) {
	for _, c := range []struct{ mode, sees string }{{"hosting", "prober"}, {"hosting mute", "1 Agents"}} {
		b.Run(c.mode, func(b *testing.B) {
			for b.Loop() {
				r := open(b, c.mode, 200, 60)
				r.sees(c.sees)
				_ = r.cmd.Process.Kill() // it may have ended already
				_ = r.master.Close()
				r.wg.Wait()
			}
		})
	}
}

// BenchmarkKeyToFrame measures the time from a key to the frame with its effect, in a terminal, for cities of 200 and
// 1,000 agents.
func BenchmarkKeyToFrame(b *testing.B) {
	for _, n := range []int{200, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := open(b, fmt.Sprintf("hosting crowd-%d", n), 200, 60)
			c.sees("agent-")
			c.keys("5")
			c.sees("enter detail ")
			var worst time.Duration
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				if i%2 == 0 {
					c.keys("1")
					c.sees("enter zoom")
				} else {
					c.keys("5")
					c.sees("enter detail ")
				}
				worst = max(worst, time.Since(began))
			}
			b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
		})
	}
}
