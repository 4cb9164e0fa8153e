package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkPoolOf1000 scales a pool from zero to a thousand members and back.
func BenchmarkPoolOf1000(b *testing.B) {
	for range b.N {
		c := newTown(b, 0, "")
		c.config("[workspace]\nname = \"many\"\n[daemon]\nshutdown_timeout = \"100ms\"\n" +
			"[[agents]]\nname = \"w\"\nstart_command = \"exec sleep 100000\"\n[agents.pool]\nmax = 1000\ncheck = \"echo 1000\"\ndrain_timeout = \"1s\"\n")
		begun := time.Now()
		c.run()
		c.until("a thousand run", func() bool { p := c.pools(); return len(p) == 1 && p[0].Size == 1000 })
		up := time.Since(begun)
		begun = time.Now()
		c.gcity(0, "pool", "scale", "w", "0")
		c.until("none is left", func() bool { return len(c.running()) == 1 })
		b.ReportMetric(up.Seconds(), "s/up")
		b.ReportMetric(time.Since(begun).Seconds()-1, "s/down")
		b.ReportMetric(0, "ns/op")
	}
}

// BenchmarkHungCheck runs fifty pools, two of them with a bad check. It measures how long the other pools take to reach
// their size, and the longest pause of the loop.
func BenchmarkHungCheck(b *testing.B) {
	const n, patrol = 50, 300 * time.Millisecond
	c := newTown(b, 0, "")
	var toml strings.Builder
	fmt.Fprintf(&toml, "[workspace]\nname = \"pools\"\n[daemon]\npatrol_interval = %q\nshutdown_timeout = \"100ms\"\n", patrol.String())
	for i := range n {
		check := map[int]string{7: "sleep 100000; echo 2", 8: "yes"}[i]
		if check == "" {
			check = "cat size"
		}
		fmt.Fprintf(&toml, "[[agents]]\nname = \"p%02d\"\nstart_command = \"exec sleep 100000\"\n[agents.pool]\nmin = 1\nmax = 2\ncheck = %q\ncheck_timeout = \"1h\"\ndrain_timeout = \"100ms\"\n", i, check)
	}
	c.config(toml.String())
	c.put("size", "1")
	c.run()
	sized := func(size int) func() bool {
		return func() bool {
			right := 0
			for i, p := range c.pools() {
				if i != 7 && i != 8 && p.Size == size {
					right++
				}
			}
			return right == n-2
		}
	}
	c.until("every pool has its minimum", sized(1))
	var oldest, took time.Duration
	for i := range b.N {
		if i > 0 {
			c.put("size", "1")
			c.until("the others have shrunk", sized(1))
		}
		c.put("size", "2")
		begun := time.Now()
		c.until("the others have grown", func() bool {
			oldest = max(oldest, time.Since(c.snapshot().Patrol.Last))
			return sized(2)()
		})
		took += time.Since(begun) - patrol
	}
	b.ReportMetric(ms(took)/float64(b.N), "ms/grown")
	b.ReportMetric(ms(oldest), "ms/oldest-loop")
	b.ReportMetric(0, "ns/op")
}
