package offline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gcity/city"
	"gcity/cli/folder"
	"gcity/config"
	"gcity/controller"
	"gcity/controller/machine"
	"gcity/events"
)

// Snapshot implements city.Control. With an invalid configuration, it returns an error unless agents are alive.
func (b *City) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	if b.invalid != nil {
		return b.snapshotOfSessions(ctx)
	}
	times := b.readStateTimes(ctx)
	s, err := controller.Observe(ctx, b.options(), b.config, b.now(),
		machine.Observation{Stopped: times.stopped, Ends: times.ends})
	if err != nil {
		return nil, fmt.Errorf("cannot list the sessions of %s: %w", b.Dir, err)
	}
	if s.Host, err = os.Hostname(); err != nil {
		s.Host = "localhost"
	}
	s.Seq, s.Watchdogs = times.seq, folder.WatchdogsOf(b.config)
	automations, warnings, troubles := b.automations(ctx)
	s.Automations, s.Degraded = automations, append(s.Degraded, troubles...)
	s.Config.Warnings = append(s.Config.Warnings, warnings...)
	return s, nil
}

// snapshotOfSessions returns the live sessions of a city with an invalid configuration, and the cached agents. It
// returns an error if no agent is alive.
func (b *City) snapshotOfSessions(ctx context.Context) (*city.Snapshot, error) {
	cached := &city.Snapshot{Name: filepath.Base(b.Dir)}
	if b.known != nil {
		cached = b.known.Snapshot(b.Dir)
	}
	times := b.readStateTimes(ctx)
	s, err := controller.Observe(ctx, controller.Options{Dir: b.Dir, Provider: b.Sessions,
		Host: folder.ThisHost(b.Dir)}, &config.City{Path: b.Dir,
		Workspace: config.Workspace{Name: cached.Name}}, b.now(),
		machine.Observation{Stopped: times.stopped, Ends: times.ends})
	if err != nil || !slices.ContainsFunc(s.Agents, func(a city.Agent) bool { return a.Running }) {
		return nil, b.invalid
	}
	for i := range s.Agents {
		s.Agents[i].Reason = "alive, but its definition is unknown"
	}
	for _, a := range cached.Agents {
		if _, alive := s.Agent(a.Name); !alive {
			a.State, a.Reason, a.Since = city.Stopped, "no controller is running", times.stopped
			s.Agents = append(s.Agents, a)
		}
	}
	s.Seq, s.Store = times.seq, cached.Store
	s.Degraded = append(s.Degraded, "the configuration is invalid, so only live sessions and "+
		"cached names are shown; `gcity config check` lists the errors")
	return s, nil
}

// options returns the options for a controller that would run the city.
func (b *City) options() controller.Options {
	o := controller.Options{Dir: b.Dir, Provider: b.Sessions, Host: folder.ThisHost(b.Dir)}
	if len(b.stores) > 0 {
		o.Stores = b.storeOf
	}
	return o
}

// Inspect implements city.Control.
func (b *City) Inspect(ctx context.Context, name string) (*city.Inspection, error) {
	if b.invalid != nil {
		return nil, b.invalid
	}
	all, err := b.list(ctx)
	if err != nil {
		return nil, err
	}
	past, err := b.History(ctx, city.CrashQuery(name, b.now()))
	if err != nil {
		return nil, err
	}
	return folder.Inspect(ctx, controller.Subject{City: b.Dir, Agent: name, Past: past},
		folder.Plan(b.config, b.Dir), all, b.Sessions)
}

// stateTimes contains times from the event log.
type stateTimes struct {
	seq     uint64
	stopped time.Time            // time since which no controller has been running, or zero
	ends    map[string]time.Time // time since which each agent has had its state
}

// readStateTimes reads the event log. If the controller was killed, the time of its last event is used as the time
// of its exit.
func (b *City) readStateTimes(ctx context.Context) stateTimes {
	p := stateTimes{ends: map[string]time.Time{}}
	if last, err := b.History(ctx, events.Query{Limit: 1}); err == nil && len(last) > 0 {
		p.seq = last[0].Seq
	}
	if last, err := b.History(ctx, events.Query{Actor: "controller", Limit: 1}); err == nil &&
		len(last) > 0 {
		p.stopped = last[0].TS
	}
	ends, err := b.History(ctx, events.Query{Limit: 1000, Types: []string{
		events.AgentStopped, events.AgentCrashed, events.AgentSuspended, events.AgentResumed,
		events.AgentStartFailed,
	}})
	if err != nil {
		return p
	}
	for _, e := range ends { // the newest event is first
		if _, ok := p.ends[e.Subject]; !ok {
			p.ends[e.Subject] = e.TS
		}
	}
	return p
}
