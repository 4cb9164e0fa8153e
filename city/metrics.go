package city

import (
	"context"
	"time"
)

// Configured is a city that can show its effective configuration, without secrets. A remote city may not implement
// it.
type Configured interface {
	// Config returns the complete configuration as TOML.
	Config(ctx context.Context) (string, error)
	// Explain returns the effective values of an agent, a pool or a rig, with their origins.
	Explain(ctx context.Context, name string) (string, error)
}

// MetricsSource is a city that reports counters and timings. A remote city may not implement it.
type MetricsSource interface {
	Metrics() Metrics
}

// Metrics contains the counters and timings of a city since its controller started.
type Metrics struct {
	Starts, StartsFailed, Crashes uint64 // agent starts, failed starts and crashes
	// number of automation runs by result: "fired", "completed", "failed", "skipped"
	Runs map[string]uint64

	Patrol    Timing            // durations of patrols, which check all agents
	Iteration Timing            // durations of loop passes
	Reads     map[string]Timing // durations of calls to bead stores, by rig; "" = the city's store
	Writes    map[string]Timing
}

// Timing is a histogram of durations.
type Timing struct {
	Count uint64
	Sum   time.Duration
	Under [len(TimingBounds)]uint64 // numbers of durations up to the bound with the same index
}

// TimingBounds are the upper bounds of the histogram.
var TimingBounds = [...]time.Duration{time.Millisecond, 5 * time.Millisecond, 25 * time.Millisecond,
	100 * time.Millisecond, 500 * time.Millisecond, 2500 * time.Millisecond, 10 * time.Second}

// Add counts one duration.
func (t *Timing) Add(d time.Duration) {
	t.Count++
	t.Sum += d
	for i, bound := range TimingBounds {
		if d <= bound {
			t.Under[i]++
		}
	}
}
