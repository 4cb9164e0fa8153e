package offline

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/cli/folder"
	"gcity/config"
	"gcity/config/edit"
	"gcity/controller"
	"gcity/describe"
	"gcity/events"
	"gcity/internal/redact"
	"gcity/pool"
	"gcity/session"
)

// drainTimeout is how long a draining agent that is not in a pool may take to finish. A pool has its own setting.
const drainTimeout = 5 * time.Minute

// cityState is the state of a city without a controller. It is read once.
type cityState struct {
	now   time.Time
	alive map[string]session.Status // sessions by agent, with ended ones that are not recorded
	usage map[string]session.Usage  // resource usage by session name
	times stateTimes
	pools map[string]city.Pool
	mute  map[string]error // errors of session providers that do not respond
}

// Snapshot implements city.Control.
func (b *City) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	if b.refused != nil {
		return nil, b.refused
	}
	all, unknown, err := b.listAvailable(ctx)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	v := cityState{now: b.now(), alive: map[string]session.Status{}, pools: map[string]city.Pool{},
		times: b.readStateTimes(ctx)}
	s := &city.Snapshot{
		Name: b.config.Workspace.Name, Path: b.Dir, Host: host, At: v.now,
		Suspended: b.config.Workspace.Suspended,
		Config: city.ConfigInfo{Revision: folder.Short(b.config.Revision),
			Warnings: folder.ProblemLines(b.config.Warnings)},
		Seq: v.times.seq,
	}
	if unknown != nil {
		s.Degraded = append(s.Degraded, unknown.Error())
		if partial, ok := errors.AsType[*session.Partial](unknown); ok {
			v.mute = partial.Unknown
		}
	}
	for _, st := range all {
		v.alive[st.Agent] = st
	}
	if m, ok := b.Sessions.(session.Meter); ok {
		if v.usage, err = m.Usage(ctx); err != nil {
			s.Degraded = append(s.Degraded, "cannot measure the resource usage of "+
				"the agents: "+err.Error())
		}
	}
	overrides, err := edit.Overrides(b.Dir)
	if err != nil {
		s.Degraded = append(s.Degraded, err.Error())
	}
	wants := folder.Plan(b.config, b.Dir)
	for _, p := range folder.PoolPlan(b.config, b.Dir) {
		q := b.pool(p, folder.Members(wants, p.Name), overrides, &v)
		v.pools[q.Name] = q
		s.Pools = append(s.Pools, q)
	}
	s.Agents = b.agents(wants, &v)
	s.Watchdogs = folder.WatchdogsOf(b.config)
	s.Rigs = rigs(folder.RigPlan(b.config), s.Agents)
	work, rigWork, letters, troubles := b.work(ctx)
	s.Work, s.Degraded = work, append(s.Degraded, troubles...)
	for i := range s.Rigs {
		s.Rigs[i].Work = rigWork[s.Rigs[i].Name]
	}
	s.CountMail(letters)
	automations, warnings, troubles := b.automations(ctx)
	s.Automations, s.Degraded = automations, append(s.Degraded, troubles...)
	s.Config.Warnings = append(s.Config.Warnings, warnings...)
	return s, nil
}

// Inspect implements city.Control.
func (b *City) Inspect(ctx context.Context, name string) (*city.Inspection, error) {
	if b.refused != nil {
		return nil, b.refused
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

// pool returns the state of a pool. Its check does not run without a controller, so the wanted size is the current
// one, or the one set by hand, within the pool's limits.
func (b *City) pool(p agent.Pool, of []agent.Want, overrides map[string]int,
	v *cityState) city.Pool {
	q := city.Pool{
		Name: p.Name, Description: p.Description, Rig: p.Rig, Min: p.Min, Max: p.Max,
		Since:     v.times.stopped,
		Suspended: p.Suspended.On(), SuspendedReason: p.Suspended.Where,
		SuspendedBy: city.Level(p.Suspended.Level),
		Check:       city.Check{Command: redact.Text(p.Check)},
		Timeout:     p.DrainTimeout, Source: p.Source, Patched: p.Patched,
	}
	for _, w := range of {
		switch st := v.alive[w.Name]; {
		case !st.Alive:
		case !st.Drain.On():
			q.Size++
		default:
			q.Draining = append(q.Draining, w.Name)
		}
	}
	q.Desired, q.Reason = p.Size(q.Size), "no controller is running, so its check does not run"
	if n, ok := overrides[p.Name]; ok {
		q.Override, q.Desired, q.Reason = &n, p.Size(n), "set by hand; no controller is running"
	}
	return q
}

// agents returns the state of all agents that should run, and of other living sessions.
func (b *City) agents(wants []agent.Want, v *cityState) []city.Agent {
	var out []city.Agent
	named, missed := map[string]bool{}, map[string]bool{}
	for _, p := range v.pools {
		maps.Copy(missed, folder.Chosen(folder.Members(wants, p.Name), max(p.Desired, p.Min),
			func(name string) pool.Standing {
				st, known := v.alive[name]
				return pool.Standing{In: known && !st.Drain.On(), Alive: st.Alive &&
					!st.Drain.Acked,
					Leaving: st.Drain.On()}
			}))
	}
	for _, w := range wants {
		named[w.Name] = true
		st, known := v.alive[w.Name]
		if _, ok := v.pools[w.Pool]; ok && !known && !missed[w.Name] {
			continue // a pool member that the current size does not need
		}
		out = append(out, b.agent(w, st, known, v))
	}
	for _, name := range slices.Sorted(maps.Keys(v.alive)) {
		if st := v.alive[name]; st.Alive && !named[name] {
			out = append(out, unconfigured(st, v))
		}
	}
	slices.SortFunc(out, func(x, y city.Agent) int { return strings.Compare(x.Name, y.Name) })
	return out
}

// agent returns the state of one agent that should run.
func (b *City) agent(w agent.Want, st session.Status, known bool, v *cityState) city.Agent {
	a := city.Agent{
		Name: w.Name, Description: w.Description, Rig: w.Rig, Pool: w.Pool, Provider: w.Provider,
		Program: w.Program, Suspended: w.Suspended.On(), Since: v.times.since(w.Name),
		Declaration: city.Declaration{SuspendedBy: city.Level(w.Suspended.Level),
			Source: w.Source, Patched: w.Patched,
			Command: redact.Text(w.Spec.Command), Dir: w.Spec.Dir, DependsOn: w.DependsOn,
			IdleTimeout: w.IdleTimeout},
	}
	if known && st.Exit != nil {
		a.Exit = &city.Exit{Code: st.Exit.Code, Signal: st.Exit.Signal, At: st.Exit.At,
			Uptime: st.Exit.Uptime}
	}
	switch {
	case known && st.Alive:
		occupy(&a, st, v)
		a.State, a.Since, a.Reason = city.Running, st.Started, "alive, but no controller watches it"
		a.Drift = st.Drift(&w.Spec)
		if st.Drain.On() {
			limit := drainTimeout
			if p, ok := v.pools[w.Pool]; ok {
				limit = p.Timeout
			}
			drains(&a, st.Drain, limit)
		}
	case w.Suspended.On():
		a.State, a.Reason = city.Suspended, w.Suspended.Where
	case w.Problem != "":
		a.State, a.Reason = city.Failed, w.Problem
	case !known && v.mute[w.Spec.Provider] != nil:
		a.State, a.Reason = city.Failed, "provider "+w.Spec.Provider+
			" does not respond, so it is unknown whether the agent is running"
	default:
		a.State, a.Reason = city.Exited, "no controller is running"
		if a.Exit != nil {
			a.Since, a.Reason = a.Exit.At, "no controller is running; the agent exited "+
				"while none was running"
		}
	}
	if !a.Available {
		a.UnavailableReason = a.Reason
	}
	return a
}

// drains sets the state of a draining agent. Only a controller stops the agent, so the deadline has no effect until
// a controller runs.
func drains(a *city.Agent, d session.Drain, limit time.Duration) {
	a.State, a.Since, a.Reason = city.Draining, d.Since, describe.ToldToFinish(d.By)
	a.Drain = &city.DrainInfo{Since: d.Since, By: d.By, Acked: d.Acked}
	if limit > 0 {
		end := d.Since.Add(limit)
		a.Drain.Deadline = &end
	}
	if d.Acked {
		a.Reason += ", reported done"
	}
	a.Reason += "; no controller is running to stop it"
}

// unconfigured returns the state of a living session that is not in the configuration.
func unconfigured(st session.Status, v *cityState) city.Agent {
	a := city.Agent{Name: st.Agent, State: city.Running, Since: st.Started,
		Reason: "alive, but not in the configuration"}
	occupy(&a, st, v)
	return a
}

func occupy(a *city.Agent, st session.Status, v *cityState) {
	a.Running, a.Available, a.PID, a.Frozen = true, true, st.PID, st.Frozen
	a.Session = &city.Session{Name: st.Name, ID: st.ID, Started: st.Started,
		Attached: st.Attached > 0, Viewers: st.Attached}
	if !st.Activity.IsZero() {
		at := st.Activity
		a.Session.LastActivity = &at
	}
	// there is only one sample, so the processor usage is the average since the session started
	if u, ok := v.usage[st.Name]; ok {
		a.Usage = &city.Usage{RSS: u.RSS, Procs: u.Procs}
		if life := v.now.Sub(st.Started); life > 0 {
			a.Usage.CPU = 100 * float64(u.CPU) / float64(life)
		}
	}
}

// rigs returns the state of the rigs.
func rigs(planned []agent.Rig, agents []city.Agent) []city.Rig {
	var out []city.Rig
	for _, r := range planned {
		q := city.Rig{Name: r.Name, Path: r.Path, Prefix: r.Prefix, Suspended: r.Suspended,
			Problem: r.Problem, Source: r.Source}
		for i := range agents {
			if agents[i].Rig != r.Name {
				continue
			}
			q.Agents++
			if agents[i].Running {
				q.Running++
			}
		}
		out = append(out, q)
	}
	return out
}

// stateTimes contains times from the event log.
type stateTimes struct {
	seq     uint64
	stopped time.Time            // time since which no controller has been running
	ends    map[string]time.Time // time since which each agent has had its state
}

// readStateTimes reads the event log. If the controller was killed, the time of its last event is used as the time
// of its end. If no controller has ever run, states are dated from the last change of the configuration.
func (b *City) readStateTimes(ctx context.Context) stateTimes {
	p := stateTimes{ends: map[string]time.Time{}}
	if info, err := os.Stat(filepath.Join(b.Dir, config.FileName)); err == nil {
		p.stopped = info.ModTime()
	}
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

// since returns the time since which an agent without a session has had its state.
func (p stateTimes) since(name string) time.Time {
	if t, ok := p.ends[name]; ok {
		return t
	}
	return p.stopped
}
