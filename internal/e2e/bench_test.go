package e2e

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"gcity/internal/eventually"
)

// BenchmarkStart measures the time until every agent runs (W1 in docs/benchmarks.md). Target: four times the floor.
func BenchmarkStart(b *testing.B) {
	for _, n := range []int{100, 500, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var wall, used, floorWall time.Duration
			for range b.N {
				c := newTown(b, n, "")
				begun := time.Now()
				c.run()
				wall += c.born(n).at.Sub(begun)
				used += cpu(c.running())
				floorWall += floorStart(b, n)
			}
			b.ReportMetric(ms(wall)/float64(b.N), "ms/start")
			b.ReportMetric(ms(used)/float64(b.N), "cpu-ms/start")
			b.ReportMetric(ms(floorWall)/float64(b.N), "floor-ms/start")
			b.ReportMetric(float64(wall)/float64(floorWall), "x-floor")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func floorStart(b *testing.B, n int) time.Duration {
	c := newTown(b, 0, "")
	begun := time.Now()
	todo := make(chan int)
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for i := range todo {
				c.spawn(agentName(i))
			}
		})
	}
	for i := range n {
		todo <- i
	}
	close(todo)
	took := c.born(n).at.Sub(begun)
	workers.Wait()
	return took
}

func (c *town) spawn(name string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", c.line(name, ""))
	if err := cmd.Start(); err != nil {
		c.t.Error(err)
		return cmd
	}
	c.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

// BenchmarkReplace measures the time from kill -9 of an agent until its replacement runs (W2). Target: 5 ms at the
// median, 15 ms at the 99th percentile.
func BenchmarkReplace(b *testing.B) {
	const n = 100
	c := newTown(b, n, "")
	c.run()
	c.born(n)
	var took, floor []time.Duration
	for range b.N {
		for i := range n {
			killed := time.Now()
			if err := syscall.Kill(c.pids[agentName(i)], syscall.SIGKILL); err != nil {
				b.Fatal(err)
			}
			took = append(took, c.born(1).at.Sub(killed))
			time.Sleep(50 * time.Millisecond) // one at a time, because the last output of this agent is being saved
		}
		time.Sleep(31 * time.Second) // until no agent is in restart backoff
	}
	floor = floorReplace(b, n)
	b.ReportMetric(ms(quantile(took, 0.5)), "ms-median")
	b.ReportMetric(ms(quantile(took, 0.99)), "ms-p99")
	b.ReportMetric(ms(quantile(floor, 0.5)), "floor-ms-median")
	b.ReportMetric(0, "ns/op")
}

func floorReplace(b *testing.B, n int) []time.Duration {
	c := newTown(b, 0, "")
	cmd := c.spawn("floor")
	c.born(1)
	var took []time.Duration
	for range n {
		killed := time.Now()
		if err := cmd.Process.Kill(); err != nil {
			b.Fatal(err)
		}
		cmd.Wait()
		cmd = c.spawn("floor")
		took = append(took, c.born(1).at.Sub(killed))
	}
	return took
}

// BenchmarkIdle measures CPU time, forks and memory of a city in which nothing happens (W3). Targets with one
// patrol per second: no fork; per minute 0.1 CPU seconds with 100 agents and 0.4 with 500; at most 1.3 MB per
// holder.
func BenchmarkIdle(b *testing.B) {
	const watch = 20 * time.Second
	for _, c := range []struct {
		n        int
		settings string
		name     string
	}{{100, `patrol_interval = "1s"`, "100-patrol-1s"}, {500, `patrol_interval = "1s"`, "500-patrol-1s"}, {500, "", "500-patrol-30s"}} {
		b.Run(c.name, func(b *testing.B) {
			city := newTown(b, c.n, c.settings)
			city.run()
			city.born(c.n)
			time.Sleep(3 * time.Second) // until the city has settled
			for range b.N {
				pids := city.running()
				forked, used := forks(b), cpu(pids)
				time.Sleep(watch) // the length of the measurement
				perMinute := float64(time.Minute) / float64(watch)
				b.ReportMetric((cpu(pids)-used).Seconds()*perMinute, "cpu-s/min")
				b.ReportMetric(float64(forks(b)-forked)*perMinute, "forks/min")
			}
			city.reportMemory(b)
			b.ReportMetric(0, "ns/op")
		})
	}
}

func (c *town) reportMemory(b *testing.B) {
	var holders, n int64
	for _, pid := range c.running() {
		if pid == c.ctl.Process.Pid {
			b.ReportMetric(float64(pss(pid))/1024, "controller-MB")
			continue
		}
		holders += pss(pid)
		n++
	}
	b.ReportMetric(float64(holders)/float64(max(1, n))/1024, "MB/holder")
}

// BenchmarkStatus measures the status command as a whole process (W5; target: 25 ms) and a request to the socket
// (target: 15 ms).
func BenchmarkStatus(b *testing.B) {
	const n = 500
	c := newTown(b, n, "")
	c.run()
	c.born(n)
	c.settle()
	var whole, first []time.Duration
	for range b.N {
		for range 20 {
			begun := time.Now()
			if out, err := exec.Command(c.bin, "status", "--city", c.dir).CombinedOutput(); err != nil {
				b.Fatalf("status: %v\n%s", err, out)
			}
			whole = append(whole, time.Since(begun))
			first = append(first, c.firstByte())
		}
	}
	b.ReportMetric(ms(quantile(whole, 0.5)), "ms-command")
	b.ReportMetric(ms(quantile(first, 0.5)), "ms-first-byte")
	b.ReportMetric(0, "ns/op")
}

func (c *town) settle() {
	eventually.True(c.t, "the socket answers", c.answers)
}

func (c *town) socket() string { return filepath.Join(c.dir, ".gc", "controller.sock") }

func (c *town) firstByte() time.Duration {
	begun := time.Now()
	conn, err := net.Dial("unix", c.socket())
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /v0/agents HTTP/1.1\r\nHost: city\r\nConnection: close\r\n\r\n")
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		c.t.Fatal(err)
	}
	return time.Since(begun)
}

// BenchmarkReload measures the time from an edit until the new process runs (W5). Target: 150 ms after the debounce
// time of 200 ms.
func BenchmarkReload(b *testing.B) {
	const n = 500
	c := newTown(b, n, "")
	c.run()
	c.born(n)
	var took []time.Duration
	for i := range b.N * 5 {
		changed := agentName(7)
		if i%2 == 1 {
			changed = ""
		}
		begun := time.Now()
		c.write(n, "", changed)
		at := c.born(1)
		if at.agent != agentName(7) {
			b.Fatalf("%s was restarted", at.agent)
		}
		took = append(took, at.at.Sub(begun)-200*time.Millisecond)
	}
	b.ReportMetric(ms(quantile(took, 0.5)), "ms-beyond-debounce")
	b.ReportMetric(0, "ns/op")
	if len(c.births) > 0 {
		b.Errorf("%d other agents were restarted too", len(c.births))
	}
}
