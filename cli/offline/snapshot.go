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
	"gcity/controller/effect"
	"gcity/controller/machine"
	"gcity/events"
)

// Snapshot implements city.Control. With an invalid configuration, it returns an error unless agents are alive.
func (b *City) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	if b.invalid != nil {
		return b.snapshotOfSessions(ctx)
	}
	return b.observe(ctx, nil)
}

func (b *City) observe(ctx context.Context, wantsCheck func(automation string) bool) (
	*city.Snapshot, error) {
	times := b.readStateTimes(ctx)
	saved, problem := folder.AutomationsOf(b.Dir)
	r := automationReader{b: b, newest: times.seq, asks: wantsCheck}
	past := times.past(r.execute)
	past.Automations = saved
	if problem != nil {
		past.AutomationsProblem = problem.Error()
	}
	s, err := controller.Observe(ctx, b.options(), b.config, b.now(), past)
	if err != nil {
		return nil, fmt.Errorf("cannot list the sessions of %s: %w", b.Dir, err)
	}
	if s.Host, err = os.Hostname(); err != nil {
		s.Host = "localhost"
	}
	s.Seq = times.seq
	return s, nil
}

func (b *City) snapshotOfSessions(ctx context.Context) (*city.Snapshot, error) {
	cached := &city.Snapshot{Name: filepath.Base(b.Dir)}
	if b.known != nil {
		cached = b.known.Snapshot(b.Dir)
	}
	times := b.readStateTimes(ctx)
	s, err := controller.Observe(ctx, controller.Options{Dir: b.Dir, Provider: b.Sessions,
		Host: folder.ThisHost(b.Dir)}, &config.City{Path: b.Dir,
		Workspace: config.Workspace{Name: cached.Name}}, b.now(),
		times.past(func(context.Context, effect.Effect) effect.Input { return nil }))
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

type stateTimes struct {
	seq     uint64
	stopped time.Time // when the last controller exited, or zero
	ends    map[string]time.Time
}

func (p stateTimes) past(
	execute func(context.Context, effect.Effect) effect.Input) controller.Past {
	return controller.Past{InitialState: machine.InitialState{
		Observes: &machine.Observation{Stopped: p.stopped, Ends: p.ends}}, Execute: execute}
}

// readStateTimes reads from the event log when the controller exited and when agents changed state. The controller's
// last event counts as its exit, even if the controller was killed.
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
	for _, e := range ends {
		if _, ok := p.ends[e.Subject]; !ok {
			p.ends[e.Subject] = e.TS
		}
	}
	return p
}
