package e2e

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/internal/gobuild"
)

var outputFor = flag.Duration("output", time.Minute, "how long BenchmarkOutput lets its agents print")

// BenchmarkOutput measures the memory of the controller while 50 agents print 200 lines per second each. It reports the
// maximum PSS, and the median at the start and the end. Target: constant.
func BenchmarkOutput(b *testing.B) {
	const n = 50
	noise := filepath.Join(b.TempDir(), "noise")
	if err := gobuild.Static("-o", noise, "gcity/internal/benchpeers"); err != nil {
		b.Fatal(err)
	}
	c := newTown(b, 0, "")
	var toml strings.Builder
	fmt.Fprint(&toml, "[workspace]\nname = \"bench\"\n")
	for i := range n {
		fmt.Fprintf(&toml, "[[agents]]\nname = %q\nstart_command = %q\n", agentName(i),
			fmt.Sprintf("echo %s $$ >%s/births; exec %s noise", agentName(i), c.dir, noise))
	}
	c.config(toml.String())
	c.run()
	c.born(n)
	c.settle()
	var sizes []int64
	for end := time.Now().Add(*outputFor); time.Now().Before(end); {
		sizes = append(sizes, pss(c.ctl.Process.Pid))
		c.gcity(0, "agent", "peek", "-n", "20", agentName(len(sizes)%n))
		time.Sleep(time.Second) // the interval between samples
	}
	tenth := max(1, len(sizes)/10)
	mib := func(kib int64) float64 { return float64(kib) / 1024 }
	b.ReportMetric(mib(middle(sizes[:tenth])), "MiB-first")
	b.ReportMetric(mib(middle(sizes[len(sizes)-tenth:])), "MiB-last")
	b.ReportMetric(mib(slices.Max(sizes)), "MiB-max")
	b.ReportMetric(0, "ns/op")
}

func middle(of []int64) int64 {
	of = slices.Sorted(slices.Values(of))
	return of[len(of)/2]
}
