package controller

import (
	"maps"
	"sync"
	"time"

	"gcity/city"
	"gcity/events"
)

// gauges holds counters and measurements of a controller. No decision depends on them.
type gauges struct {
	mu  sync.Mutex
	now city.Gauges
}

func newGauges() *gauges {
	return &gauges{now: city.Gauges{Runs: map[string]uint64{}, Reads: map[string]city.Timing{},
		Writes: map[string]city.Timing{}}}
}

// Gauges implements city.Gauged.
func (c *Controller) Gauges() city.Gauges {
	g := c.gauges
	g.mu.Lock()
	defer g.mu.Unlock()
	out := g.now
	out.Runs, out.Reads, out.Writes = maps.Clone(out.Runs), maps.Clone(out.Reads),
		maps.Clone(out.Writes)
	return out
}

// happened counts an event by its type.
func (g *gauges) happened(kind string) {
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

func (g *gauges) patrolled(took time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now.Patrol.Add(took)
}

func (g *gauges) iterated(took time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now.Turn.Add(took)
}

// called counts a call of a scope's store.
func (g *gauges) called(scope string, writes bool, took time.Duration) {
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
