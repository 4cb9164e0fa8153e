// Package fake implements a session provider without processes, for gcity's own tests and for cities that set the
// provider "fake". It gives the same guarantees as any session.Provider, and lets callers simulate failures.
package fake

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"gcity/session"
)

// Provider holds a city's simulated sessions. It is safe for concurrent use.
type Provider struct {
	exits   chan session.Exit
	changes chan struct{}

	mu      sync.Mutex
	pid     int              // of the latest session; -1 if sessions have no PIDs
	lives   map[string]*life // latest session, by session name
	past    map[string]*life // previous session, by session name
	blind   error
	failing map[string]error // by agent
	started map[string]int   // by agent
	greets  map[string]string
	changed chan struct{} // closed and replaced when a terminal changes
}

type life struct {
	session.Status
	meta  map[string]string
	usage session.Usage
	screen
}

// New returns a provider with no sessions.
func New() *Provider {
	return &Provider{
		exits: make(chan session.Exit, 1024), pid: 1000, changes: make(chan struct{}, 1),
		lives: map[string]*life{}, past: map[string]*life{}, failing: map[string]error{},
		started: map[string]int{}, greets: map[string]string{}, changed: make(chan struct{}),
	}
}

// NewConfigured returns the provider for cities that set the provider "fake". Its sessions have no PIDs.
func NewConfigured() *Provider {
	p := New()
	p.pid = -1
	return p
}

// Start implements session.Provider.
func (p *Provider) Start(_ context.Context, s session.Spec) (session.Status, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.failing[s.Agent]; err != nil {
		return session.Status{}, err
	}
	if l, ok := p.lives[s.Name]; ok && l.Alive {
		return session.Status{}, fmt.Errorf("session %s: %w", s.Name, session.ErrExists)
	}
	if p.pid >= 0 {
		p.pid++
	}
	p.started[s.Agent]++
	now := time.Now()
	l := &life{meta: map[string]string{}, usage: session.Usage{Procs: 1}, Status: session.Status{
		Name: s.Name, Agent: s.Agent, City: s.City, ID: s.ID, Alive: true,
		Ready: !session.NeedsSettling(&s), PID: max(p.pid, 0),
		Started: now, Activity: now, Fingerprint: s.Fingerprint,
	}, screen: screen{cols: 80, rows: 24}}
	p.print(l, p.greets[s.Agent])
	p.past[s.Name] = p.lives[s.Name]
	p.lives[s.Name] = l
	return l.Status, nil
}

func (p *Provider) live(name string) (*life, error) {
	l, ok := p.lives[name]
	if !ok || !l.Alive {
		return nil, fmt.Errorf("session %s: %w", name, session.ErrNotFound)
	}
	return l, nil
}

func (p *Provider) with(name string, do func(*life)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, err := p.live(name)
	if err == nil {
		do(l)
		p.wake()
	}
	return err
}

// Stop implements session.Provider.
func (p *Provider) Stop(_ context.Context, name string, _ time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l, err := p.live(name); err == nil {
		p.end(l, session.Exit{Code: -1, Signal: "SIGINT", Asked: true})
	}
	return nil
}

// The caller must hold p.mu.
func (p *Provider) end(l *life, e session.Exit) {
	now := time.Now()
	e.Name, e.Agent, e.ID, e.At, e.Uptime = l.Name, l.Agent, l.ID, now, now.Sub(l.Started)
	l.Alive, l.PID, l.Exit = false, 0, &e
	p.wake()
	select {
	case p.exits <- e:
	default: // the channel is full, but List still reports the exit
	}
}

// List implements session.Provider.
func (p *Provider) List(context.Context) ([]session.Status, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.blind != nil {
		return nil, p.blind
	}
	all := make([]session.Status, 0, len(p.lives))
	for _, name := range slices.Sorted(maps.Keys(p.lives)) {
		all = append(all, p.lives[name].look())
	}
	return all, nil
}

// Look implements session.Looker.
func (p *Provider) Look(_ context.Context, name string) (session.Status, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, ok := p.lives[name]
	switch {
	case p.blind != nil:
		return session.Status{}, p.blind
	case !ok:
		return session.Status{}, fmt.Errorf("session %s: %w", name, session.ErrNotFound)
	}
	return l.look(), nil
}

// The caller must hold the provider's mu.
func (l *life) look() session.Status {
	l.Ready = l.Ready || l.meta[session.ReadyMark] == "1"
	l.Drain = session.Drain{}
	if l.Alive {
		l.Drain = session.ParseDrain(func(key string) string { return l.meta[key] })
	}
	return l.Status
}

// Exits implements session.Notifier.
func (p *Provider) Exits() <-chan session.Exit { return p.exits }

// Changes implements session.Changer.
func (p *Provider) Changes() <-chan struct{} { return p.changes }

// Acknowledge implements session.Acknowledger.
func (p *Provider) Acknowledge(_ context.Context, name, id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l, ok := p.lives[name]; ok && !l.Alive && l.ID == id {
		delete(p.lives, name)
	}
	return nil
}

// SetMeta implements session.Marker.
func (p *Provider) SetMeta(_ context.Context, name, key, value string) error {
	return p.with(name, func(l *life) {
		if value == "" {
			delete(l.meta, key)
			return
		}
		l.meta[key] = value
	})
}

// Meta implements session.Marker.
func (p *Provider) Meta(_ context.Context, name, key string) (value string, err error) {
	err = p.with(name, func(l *life) { value = l.meta[key] })
	return value, err
}

// Usage implements session.Meter.
func (p *Provider) Usage(context.Context) (map[string]session.Usage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.blind != nil {
		return nil, p.blind
	}
	all := map[string]session.Usage{}
	for name, l := range p.lives {
		if l.Alive {
			all[name] = l.usage
		}
	}
	return all, nil
}

// Take sets the simulated usage of an agent's live session.
func (p *Provider) Take(agent string, u session.Usage) bool {
	return p.withAgent(agent, func(l *life) { l.usage = u })
}

// Crash ends an agent's live session. It reports whether there was one.
func (p *Provider) Crash(agent string, code int, signal string) bool {
	return p.withAgent(agent, func(l *life) { p.end(l, session.Exit{Code: code, Signal: signal}) })
}

// Vanish removes an agent's session without reporting an exit.
func (p *Provider) Vanish(agent string) bool {
	return p.withAgent(agent, func(l *life) {
		delete(p.lives, l.Name)
		l.Alive = false
		p.wake()
	})
}

// Viewers sets the number of viewers attached to an agent's terminal.
func (p *Provider) Viewers(agent string, n int) bool {
	return p.withAgent(agent, func(l *life) { l.Attached = n })
}

// Draft sets whether a viewer has unsubmitted text on the input line.
func (p *Provider) Draft(agent string, draft bool) bool {
	return p.withAgent(agent, func(l *life) { l.Draft, l.TypedAt = draft, time.Now() })
}

func (p *Provider) withAgent(agent string, do func(*life)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lives {
		if l.Agent == agent && l.Alive {
			do(l)
			return true
		}
	}
	return false
}

// Blind makes List fail with err. If err is nil, List succeeds again.
func (p *Provider) Blind(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blind = err
}

// Lose simulates a platform that stops responding. It makes List fail like Blind does, and signals a change.
func (p *Provider) Lose(err error) {
	p.Blind(err)
	select {
	case p.changes <- struct{}{}:
	default: // a value is already pending
	}
}

// Fail makes an agent's starts fail with err. If err is nil, they succeed again.
func (p *Provider) Fail(agent string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failing[agent] = err
}

// Started returns how many times an agent has been started.
func (p *Provider) Started(agent string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started[agent]
}
