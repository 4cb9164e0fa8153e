package tui

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkFirstFrame measures the time from the start of the process to the first frame.
func BenchmarkFirstFrame(b *testing.B) {
	for _, c := range []struct{ mode, sees string }{{"hosting", "prober"}, {"hosting mute", "1 Agents"}} {
		b.Run(c.mode, func(b *testing.B) {
			for b.Loop() {
				r := open(b, c.mode, 200, 60)
				r.sees(c.sees)
				_ = r.cmd.Process.Kill() // it might have ended already
				_ = r.master.Close()
				r.wg.Wait()
			}
		})
	}
}

// BenchmarkKeyToFrame measures the time from a key to its frame, for cities of 200 and 1,000 agents.
func BenchmarkKeyToFrame(b *testing.B) {
	for _, n := range []int{200, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := open(b, fmt.Sprintf("hosting crowd-%d", n), 200, 60)
			c.sees("agent-")
			c.keys("5")
			c.sees("enter details")
			var worst time.Duration
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				if i%2 == 0 {
					c.keys("1")
					c.sees("enter zoom")
				} else {
					c.keys("5")
					c.sees("enter details")
				}
				worst = max(worst, time.Since(began))
			}
			b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
		})
	}
}

// BenchmarkBytes measures how many bytes a room sends to the terminal, idle and per cursor move.
func BenchmarkBytes(b *testing.B) {
	open := func(b *testing.B) *console {
		c := open(b, "hosting crowd-100", 120, 40)
		c.sees("agent-")
		c.keys("g")
		c.sees("enter zoom")
		return c
	}
	b.Run("idle", func(b *testing.B) {
		c := open(b)
		const stretch = 20 * time.Second
		time.Sleep(5 * time.Second) // the pane of the selected agent appears
		for b.Loop() {
			sent, _ := c.cost()
			time.Sleep(stretch) // the length of the measurement, not a wait
			more, _ := c.cost()
			b.ReportMetric(float64(more-sent)/stretch.Seconds(), "B/s")
		}
	})
	b.Run("key", func(b *testing.B) {
		c := open(b)
		const keys, pause = 60, 200 * time.Millisecond
		time.Sleep(5 * time.Second) // the pane of the selected agent appears
		for b.Loop() {
			sent, _ := c.cost()
			for i := range keys {
				c.keys(map[bool]string{true: "j", false: "k"}[i%30 < 15])
				time.Sleep(pause) // one frame for each key
			}
			more, _ := c.cost()
			b.ReportMetric(float64(more-sent)/keys, "B/key")
		}
	})
}
