// Package pulse decides how often the loop of a controller has to turn, and records when it last did.
package pulse

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"gcity/controller/effect"
)

const (
	// idle is the pulse while no client watches snapshots. systemd expects a sign of life every 30 s.
	idle = 10 * time.Second
	// freshLimit bounds the time for which Refresh waits for the loop.
	freshLimit = 500 * time.Millisecond
)

// Pulse is shared by a loop and its clients.
type Pulse struct {
	watched  time.Duration
	newest   atomic.Int64 // end of the newest turn, Unix nanoseconds
	watchers atomic.Int64
	pings    chan Ping
}

// Ping asks the loop for a sign of life.
type Ping chan struct{}

// New returns the pulse of a loop that turns at least this often while a client watches; 0 means each second.
func New(watched time.Duration) *Pulse {
	p := &Pulse{watched: cmp.Or(watched, time.Second), pings: make(chan Ping, 16)}
	p.Stamp()
	return p
}

// Stamp records that the loop has just turned.
func (p *Pulse) Stamp() { p.newest.Store(time.Now().UnixNano()) }

// Last returns when the loop last turned.
func (p *Pulse) Last() time.Time { return time.Unix(0, p.newest.Load()) }

// Every returns the longest time that the loop may rest.
func (p *Pulse) Every(patrol time.Duration) time.Duration {
	if p.Watched() {
		return min(p.watched, patrol)
	}
	return min(max(p.watched, idle), patrol)
}

// Watched reports whether a client watches.
func (p *Pulse) Watched() bool { return p.watchers.Load() > 0 }

// Watch counts a client that watches, until the returned function is called.
func (p *Pulse) Watch() (leave func()) {
	p.watchers.Add(1)
	select {
	case p.pings <- make(Ping):
	default: // the loop has others to answer, so it will turn
	}
	return func() { p.watchers.Add(-1) }
}

// Pings brings the pings that the loop has to answer.
func (p *Pulse) Pings() <-chan Ping { return p.pings }

// Answer confirms to the client that the loop runs.
func (p *Pulse) Answer(ping Ping) {
	p.Stamp()
	close(ping)
}

// Input returns the input for the machine: Watched if a client watches, else nil.
func (p *Pulse) Input() effect.Input {
	if !p.Watched() {
		return nil
	}
	return effect.Watched{}
}

// Due returns when the next turn is due at the latest: after a pulse, or earlier if the machine waits for a time.
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

// Refresh asks the loop for a sign of life if the newest is older than the pulse of a watched loop. So Last is old only
// if the loop hangs, and not if it had nothing to do. It waits for half a second at most, or until done is closed.
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
