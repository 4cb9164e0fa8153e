// Package pulse decides how often the loop of a controller must run, and records the time of its latest iteration.
package pulse

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"gcity/controller/effect"
)

const (
	// idle is the maximum interval between iterations while no client is watching snapshots. systemd expects a
	// notification every 30 s.
	idle       = 10 * time.Second
	freshLimit = 500 * time.Millisecond
)

// Pulse is the state that a loop and its clients share.
type Pulse struct {
	watched  time.Duration
	newest   atomic.Int64 // end of the latest iteration, in nanoseconds since 1970
	watchers atomic.Int64
	pings    chan Ping
}

// Ping is a client's request to the loop to confirm that it is running.
type Ping chan struct{}

// New returns the pulse of a loop. The parameter watched is the maximum interval while a client watches; 0 means 1 s.
func New(watched time.Duration) *Pulse {
	p := &Pulse{watched: cmp.Or(watched, time.Second), pings: make(chan Ping, 16)}
	p.Stamp()
	return p
}

// Stamp records that the loop has just completed an iteration.
func (p *Pulse) Stamp() { p.newest.Store(time.Now().UnixNano()) }

// Last returns the end of the loop's latest iteration.
func (p *Pulse) Last() time.Time { return time.Unix(0, p.newest.Load()) }

// Every returns the maximum interval between two iterations.
func (p *Pulse) Every(patrol time.Duration) time.Duration {
	if p.Watched() {
		return min(p.watched, patrol)
	}
	return min(max(p.watched, idle), patrol)
}

// Watched reports whether a client is watching.
func (p *Pulse) Watched() bool { return p.watchers.Load() > 0 }

// Watch counts a client that is watching. The client must call the returned function when it stops watching.
func (p *Pulse) Watch() (leave func()) {
	p.watchers.Add(1)
	select {
	case p.pings <- make(Ping):
	default: // the loop has pings to answer, so it will run soon
	}
	return func() { p.watchers.Add(-1) }
}

// Pings returns the channel of pings that the loop must answer.
func (p *Pulse) Pings() <-chan Ping { return p.pings }

// Answer answers a ping.
func (p *Pulse) Answer(ping Ping) {
	p.Stamp()
	close(ping)
}

// Input returns SnapshotsWatched if a client is watching, otherwise nil.
func (p *Pulse) Input() effect.Input {
	if !p.Watched() {
		return nil
	}
	return effect.SnapshotsWatched{}
}

// Due returns the time by which the next iteration must run.
func Due(now time.Time, every time.Duration, wake time.Time) time.Time {
	due := now.Add(every)
	switch {
	case wake.IsZero() || wake.After(due):
		return due
	case wake.Before(now):
		return now
	}
	return wake
}

// Refresh pings the loop if its latest iteration is old. If Last is still old afterwards, the loop is stuck. Refresh
// waits at most half a second, or until done is closed.
func (p *Pulse) Refresh(ctx context.Context, done <-chan struct{}) {
	if time.Since(p.Last()) <= p.watched {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, freshLimit)
	defer cancel()
	ping := make(Ping)
	select {
	case p.pings <- ping:
	case <-done:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-ping:
	case <-done:
	case <-ctx.Done():
	}
}
