package city

import (
	"context"
	"time"
)

// Configured is a city that shows the configuration that it goes by, without secrets. One that is far away need not.
type Configured interface {
	// Config is the whole of it, as TOML.
	Config(ctx context.Context) (string, error)
	// Explain is what an agent, a pool or a rig comes to, and where each value is from.
	Explain(ctx context.Context, name string) (string, error)
}

// Gauged is a city that says what it has counted and measured. One that is far away need not.
type Gauged interface {
	Gauges() Gauges
}

// Gauges are what a city has counted and measured since its controller began.
type Gauges struct {
	Starts, StartsFailed, Crashes uint64 // of agents
	// of automations, by what has become of them: "fired", "completed", "failed", "skipped"
	Runs map[string]uint64

	Patrol Timing            // looks at all agents
	Turn   Timing            // turns of the loop
	Reads  map[string]Timing // of stores of work, by rig, "" = the city's
	Writes map[string]Timing
}

// Timing is how long something took, each time.
type Timing struct {
	Count uint64
	Sum   time.Duration
	Under [len(TimingBounds)]uint64 // how many took at most as long as the bound with this number
}

// TimingBounds are what durations are compared with.
var TimingBounds = [...]time.Duration{time.Millisecond, 5 * time.Millisecond, 25 * time.Millisecond,
	100 * time.Millisecond, 500 * time.Millisecond, 2500 * time.Millisecond, 10 * time.Second}

// Add counts one more.
func (t *Timing) Add(d time.Duration) {
	t.Count++
	t.Sum += d
	for i, bound := range TimingBounds {
		if d <= bound {
			t.Under[i]++
		}
	}
}
