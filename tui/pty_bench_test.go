package tui

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func paneBench(b *testing.B, mode string) *console {
	c := open(b, mode, 200, 60)
	c.sees("Agents 12") // Events might already contain the names of the agents
	c.keys("jjjjjj0")
	c.sees("0 builder following")
	return c
}

// BenchmarkPaneUnderFlood measures the time from a key to its frame while an agent floods the pane.
func BenchmarkPaneUnderFlood(b *testing.B) {
	c := paneBench(b, "flood")
	c.sees("flood line")
	var worst time.Duration
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		c.keys("w")
		if i%2 == 0 {
			c.sees("following  wrapped")
		} else {
			c.misses("following  wrapped")
		}
		worst = max(worst, time.Since(began))
	}
	b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
	b.ReportMetric(c.resident(), "MB")
}

// BenchmarkPaneBytes measures the bytes and the processor time of a pane at 30 lines a second.
func BenchmarkPaneBytes(b *testing.B) {
	for _, place := range []string{"beside", "below"} {
		for _, focus := range []string{"focused", "unfocused"} {
			b.Run(place+"/"+focus, func(b *testing.B) {
				c := paneBench(b, "steady")
				if place == "below" {
					c.keys("P")
				}
				if focus == "unfocused" {
					c.keys("1")
				}
				c.sees("that goes on and on")
				const stretch = 5 * time.Second
				for b.Loop() {
					sent, used := c.cost()
					time.Sleep(stretch) // the length of the measurement, not a wait
					moreSent, moreUsed := c.cost()
					b.ReportMetric(float64(moreSent-sent)/stretch.Seconds()/1000, "KB/s")
					b.ReportMetric(100*(moreUsed-used).Seconds()/stretch.Seconds(), "%core")
				}
			})
		}
	}
}

func (c *console) misses(not string) {
	c.t.Helper()
	late := time.After(patience)
	for {
		text, more := c.look()
		if !strings.Contains(text, not) {
			return
		}
		select {
		case <-more:
		case <-late:
			c.t.Fatalf("the screen still shows %q:\n%s", not, text)
		}
	}
}

func (c *console) cost() (bytes int, cpu time.Duration) {
	c.mu.Lock()
	bytes = c.raw.Len()
	c.mu.Unlock()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	if err != nil {
		c.t.Fatal(err)
	}
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	var user, system time.Duration
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		c.t.Fatal(err)
	}
	const tick = 10 * time.Millisecond
	return bytes, (user + system) * tick
}

// resident returns the room's memory in MB.
func (c *console) resident() float64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", c.cmd.Process.Pid))
	if err != nil {
		c.t.Fatal(err)
	}
	var size, pages float64
	if _, err := fmt.Sscan(string(raw), &size, &pages); err != nil {
		c.t.Fatal(err)
	}
	return pages * float64(os.Getpagesize()) / 1e6
}
