// Package citytest contains a test suite for city.Control, and a city in memory.
package citytest

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"gcity/beads/fake"
	"gcity/city"
	"gcity/events"
)

// Fake is a city in memory. Running agents echo their input. Its methods are safe for concurrent use.
type Fake struct {
	mu       sync.Mutex
	snap     *city.Snapshot
	log      []events.Event
	screens  map[string]*screen
	commands []city.Command
	onDo     func(city.Command) (city.Receipt, error)
	store    *fake.Store
	changed  chan struct{} // closed and replaced at every change
}

var (
	_ city.Control     = (*Fake)(nil)
	_ city.StoreReader = (*Fake)(nil)
)

type screen struct {
	out, typed []byte
	cols, rows int
	raw        bool
}

func newScreen() *screen { return &screen{cols: 80, rows: 24} }

// NewFake returns a city with these agents. Use Set to add pools, rigs and automations.
func NewFake(name string, agents ...city.Agent) *Fake {
	now := time.Now()
	f := &Fake{
		changed: make(chan struct{}), screens: map[string]*screen{}, store: fake.New("tw"),
		snap: &city.Snapshot{
			Name: name, Path: "/" + name, Host: "host", Version: "test", Rev: 1, At: now,
			Started: now, PID: 1,
			Mode: "headless", Patrol: city.Patrol{Interval: time.Second, Last: now},
			Agents: slices.Clone(agents),
		},
	}
	slices.SortFunc(f.snap.Agents, func(a, b city.Agent) int {
		return strings.Compare(a.Name, b.Name)
	})
	for i := range f.snap.Agents {
		a := &f.snap.Agents[i]
		f.screens[a.Name] = newScreen()
		if a.Since.IsZero() {
			a.Since = now
		}
		if a.Running {
			a.State, a.Reason, a.Available, a.PID = city.Running, "as configured", true,
				1000+len(a.Name)
			a.Session = &city.Session{Name: strings.ReplaceAll(a.Name, "/", "_s"),
				ID: a.Name + "-1", Started: a.Since}
		} else if a.State == "" {
			a.State, a.Reason, a.Suspended = city.Suspended, "in city.toml", true
			a.SuspendedBy = city.AgentLevel
		}
	}
	return f
}

func (f *Fake) edit(change func(*city.Snapshot)) {
	s := *f.snap
	s.Agents, s.Pools, s.Rigs, s.Automations = slices.Clone(s.Agents), slices.Clone(s.Pools),
		slices.Clone(s.Rigs), slices.Clone(s.Automations)
	s.Watchdogs = slices.Clone(s.Watchdogs)
	change(&s)
	for i := range s.Agents {
		if name := s.Agents[i].Name; f.screens[name] == nil {
			f.screens[name] = newScreen()
		}
	}
	s.Rev++
	s.Seq = uint64(len(f.log))
	s.At = time.Now()
	s.Patrol.Last = s.At
	f.snap = &s
	f.wake()
}

func (f *Fake) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// Set changes a copy of the snapshot and publishes it.
func (f *Fake) Set(change func(*city.Snapshot)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.edit(change)
}

// OnDo replaces the implementation of commands. nil restores the built-in one.
func (f *Fake) OnDo(do func(city.Command) (city.Receipt, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.onDo = do
}

// Commands returns the commands received so far.
func (f *Fake) Commands() []city.Command {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.commands)
}

// Print simulates output from an agent.
func (f *Fake) Print(agent, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.screens[agent].out = append(f.screens[agent].out, text...)
	f.wake()
}

// Typed returns the input to an agent's current session.
func (f *Fake) Typed(agent string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return string(f.screens[agent].typed)
}

// Record appends an event and returns its seq.
func (f *Fake) Record(e events.Event) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.publish(e)
}

func (f *Fake) record(e events.Event) uint64 {
	e.Seq, e.TS = uint64(len(f.log)+1), time.Now()
	f.log = append(f.log, e)
	return e.Seq
}

// Snapshot implements city.Control.
func (f *Fake) Snapshot(context.Context) (*city.Snapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snap, nil
}

// Snapshots implements city.Control.
func (f *Fake) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(yield func(*city.Snapshot, error) bool) {
		var rev uint64
		for {
			f.mu.Lock()
			snap, changed := f.snap, f.changed
			f.mu.Unlock()
			switch {
			case snap.ShutDown:
				yield(nil, city.Errorf(city.Unavailable, "the controller has exited"))
				return
			case snap.Rev != rev:
				rev = snap.Rev
				if !yield(snap, nil) {
					return
				}
				continue
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// The caller must hold f.mu.
func (f *Fake) running(agent string) (*screen, error) {
	a, ok := f.snap.Agent(agent)
	switch {
	case !ok:
		return nil, city.Errorf(city.NotFound, "agent %q not found", agent)
	case !a.Running:
		return nil, city.Errorf(city.Conflict, "%s has no session: the agent is %s", agent,
			string(a.State))
	}
	return f.screens[agent], nil
}

// Output implements city.Control. The screen contains everything that was printed.
func (f *Fake) Output(_ context.Context, agent string, lines int) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.running(agent)
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(strings.ReplaceAll(string(s.out), "\r", ""), "\n")
	all := strings.Split(text, "\n")
	if lines > 0 && len(all) > lines {
		all = all[len(all)-lines:]
	}
	return strings.Join(all, "\n"), nil
}

// History implements city.Control.
func (f *Fake) History(_ context.Context, q events.Query) ([]events.Event, error) {
	f.mu.Lock()
	log := slices.Clone(f.log)
	f.mu.Unlock()
	if !q.Forward && q.After == 0 {
		slices.Reverse(log)
	}
	limit := q.Limit
	if limit <= 0 {
		limit = events.DefaultLimit
	}
	var found []events.Event
	for i := range log {
		if len(found) < limit && q.Match(&log[i]) {
			found = append(found, log[i])
		}
	}
	return found, nil
}

// Events implements city.Control.
func (f *Fake) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		for ctx.Err() == nil {
			f.mu.Lock()
			log, changed := f.log, f.changed
			f.mu.Unlock()
			if after < uint64(len(log)) {
				if !yield(log[after], nil) {
					return
				}
				after++
				continue
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}
}

// Watch implements city.Control.
func (f *Fake) Watch(ctx context.Context, agent string) iter.Seq2[city.Frame, error] {
	return func(yield func(city.Frame, error) bool) {
		first, at := true, 0
		for ctx.Err() == nil {
			f.mu.Lock()
			changed := f.changed
			s, err := f.running(agent)
			var frame city.Frame
			if err == nil {
				frame = city.Frame{Reset: first, Data: bytes.Clone(s.out[at:])}
				if first {
					frame.Cols, frame.Rows = s.cols, s.rows
				}
				first, at = false, len(s.out)
			}
			f.mu.Unlock()
			if err != nil {
				yield(city.Frame{}, err)
				return
			}
			if frame.Reset || len(frame.Data) > 0 {
				if !yield(frame, nil) {
					return
				}
				continue
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}
}
