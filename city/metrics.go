package city

import (
	"context"
	"time"
)

// Configured is a city that can show its active configuration, without secrets.
type Configured interface {
	// Config returns the complete configuration as TOML.
	Config(ctx context.Context) (string, error)
	// Explain returns the effective values of an agent, a pool or a rig, and where they come from.
	Explain(ctx context.Context, name string) (string, error)
}

// MetricsSource is a city that reports counters and timings.
type MetricsSource interface {
	Metrics() Metrics
}

// Metrics contains a city's counters and timings since its controller started.
type Metrics struct {
	Starts, StartsFailed, Crashes uint64
	// by result: "fired", "completed", "failed", "skipped"
	Runs map[string]uint64

	Patrol    Timing            // how long patrols (checks of all agents) take
	Iteration Timing            // of the controller's loop
	Reads     map[string]Timing // calls to bead stores, by rig; "" = the city's store
	Writes    map[string]Timing
}

// Timing is a histogram of durations.
type Timing struct {
	Count uint64
	Sum   time.Duration
	Under [len(TimingBounds)]uint64 // number of durations up to the bound with the same index
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
