package controller

import (
	"maps"
	"sync"
	"time"

	"gcity/city"
	"gcity/events"
)

// No decision depends on metrics.
type metrics struct {
	mu  sync.Mutex
	now city.Metrics
}

func newMetrics() *metrics {
	return &metrics{now: city.Metrics{Runs: map[string]uint64{}, Reads: map[string]city.Timing{},
		Writes: map[string]city.Timing{}}}
}

// Metrics implements city.MetricsSource.
func (c *Controller) Metrics() city.Metrics {
	g := c.metrics
	g.mu.Lock()
	defer g.mu.Unlock()
	out := g.now
	out.Runs, out.Reads, out.Writes = maps.Clone(out.Runs), maps.Clone(out.Reads),
		maps.Clone(out.Writes)
	return out
}

func (g *metrics) countEvent(kind string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch kind {
	case events.AgentStarted:
		g.now.Starts++
	case events.AgentStartFailed:
		g.now.StartsFailed++
	case events.AgentCrashed:
		g.now.Crashes++
	case events.AutomationFired:
		g.now.Runs["fired"]++
	case events.AutomationCompleted:
		g.now.Runs["completed"]++
	case events.AutomationFailed:
		g.now.Runs["failed"]++
	case events.AutomationSkipped:
		g.now.Runs["skipped"]++
	}
}

func (g *metrics) patrolled(took time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now.Patrol.Add(took)
}

func (g *metrics) iterated(took time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now.Iteration.Add(took)
}

func (g *metrics) storeCalled(scope string, writes bool, took time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	by := g.now.Reads
	if writes {
		by = g.now.Writes
	}
	t := by[scope]
	t.Add(took)
	by[scope] = t
}
