package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/cli/folder"
	"gcity/controller"
	"gcity/controller/effect"
	"gcity/internal/redact"
	"gcity/pool"
	"gcity/session"
)

type forecast struct {
	v             *planInput
	sessions      map[string]session.Status // after the simulated effects, by agent
	tasks         map[string]string         // beads in progress, by agent
	starts, stops map[string]bool
	barred        map[string]change
	*city.Snapshot
}

func (v *planInput) forecast(alive map[string]session.Status) *forecast {
	f := &forecast{v: v, sessions: maps.Clone(alive), tasks: map[string]string{},
		starts: map[string]bool{}, stops: map[string]bool{}, barred: map[string]change{}}
	conf := &effect.Configuration{Wants: v.wants, Pools: v.pools, Overrides: map[string]int{},
		Patrol: time.Minute} // long enough that no failed check of a provider is repeated
	running := cmp.Or(v.running, &city.Snapshot{})
	for i := range running.Pools {
		conf.Overrides[running.Pools[i].Name] = running.Pools[i].Desired
	}
	for i := range running.Agents {
		g := &running.Agents[i]
		if f.tasks[g.Name] = g.Task; g.Pool != "" && !alive[g.Name].Alive {
			f.tasks[g.Name] = "any"
		}
	}
	maps.Copy(conf.Overrides, v.overrides)
	f.Snapshot = controller.Forecast(v.now, conf, v.histories(), f.execute)
	return f
}

func (v *planInput) histories() effect.Histories {
	if v.running == nil {
		return v.saved
	}
	out := effect.Histories{Agents: map[string]effect.SavedAgent{}}
	for i := range v.wants {
		w := &v.wants[i]
		g := v.agent(w.Name)
		if g == nil || v.edit(w, g) != "" {
			continue
		}
		saved := effect.SavedAgent{Fingerprint: w.Spec.Fingerprint.Sum}
		switch g.State {
		case city.Exited:
			saved.Exited = &effect.SavedExit{Why: g.Reason, Exit: g.Exit}
		case city.Quarantined, city.Backoff, city.Failed:
			if g.Until != nil {
				saved.State, saved.Why, saved.Until = g.State, g.Reason, *g.Until
			} else if g.Available || v.inForce {
				saved.Exited = &effect.SavedExit{Why: g.Reason, Failed: g.State == city.Failed}
			}
		}
		out.Agents[w.Name] = saved
	}
	return out
}

func (f *forecast) execute(e effect.Effect) effect.Input {
	switch e := e.(type) {
	case effect.List:
		in := effect.Listed{Step: e.Step, Sessions: slices.Collect(maps.Values(f.sessions))}
		session.Order(in.Sessions)
		// a running controller has already listed the sessions
		if f.v.running == nil && len(f.v.unknown) > 0 {
			in.Err = &session.PartialError{Unknown: f.v.unknown}
		}
		return in
	case effect.CountWork:
		return effect.WorkCounted{Unknown: true, Tasks: f.tasks}
	case effect.CheckProvider:
		in := effect.ProviderChecked{Provider: e.Provider}
		if f.v.unable != nil {
			if why := f.v.unable(e.Provider); why != "" {
				in.Err = errors.New(why)
			}
		}
		return in
	case effect.CheckStart:
		in := effect.StartChecked{Agent: e.Want.Name}
		if why := f.v.whyUnfit(e.Want); why != "" {
			f.barred[e.Want.Name] = change{Change: "fail", Reason: why}
			in.Err = errors.New(why)
		}
		return in
	case effect.Stop:
		f.stops[e.Agent] = true
		delete(f.sessions, e.Agent)
		return effect.Stopped{Agent: e.Agent}
	case effect.Resume:
		return f.run(e.Want, e.Status)
	case effect.Start:
		if _, again := f.barred[e.Want.Name]; again {
			return nil
		}
		if c := f.v.bar(e.Want); c.Change != "" {
			f.barred[e.Want.Name] = c
			if c.Change == "fail" {
				return effect.Started{Agent: e.Want.Name, Err: session.ErrMissing}
			}
			return nil
		}
		f.starts[e.Want.Name] = true
		return f.run(e.Want, session.Status{Name: e.Want.Spec.Name, Agent: e.Want.Name,
			ID: "planned", Alive: true, Provider: e.Want.Spec.Provider,
			Fingerprint: e.Want.Spec.Fingerprint})
	}
	return nil
}

func (f *forecast) run(w *agent.Want, st session.Status) effect.Input {
	st.Ready = true
	f.sessions[w.Name] = st
	return effect.Started{Agent: w.Name, Status: st}
}

func (v *planInput) agent(name string) *city.Agent {
	g, _ := cmp.Or(v.running, &city.Snapshot{}).Agent(name)
	return g
}

func (v *planInput) edit(w *agent.Want, g *city.Agent) string {
	switch {
	case g.Declared == folder.Short(w.Spec.Fingerprint.Sum) || g.Declared == "":
		return ""
	case g.Command != redact.Text(w.Spec.Command):
		return "command changed"
	}
	return "configuration changed"
}

func (v *planInput) whyUnfit(w *agent.Want) string {
	if v.unfit == nil {
		return ""
	}
	return v.unfit(w)
}

func (v *planInput) bar(w *agent.Want) change {
	if why := v.unlistedReason(w.Name); why != "" {
		return change{Change: "wait", Reason: why}
	}
	if why := v.whyUnfit(w); why != "" {
		return change{Change: "fail", Reason: why}
	}
	if g := v.agent(w.Name); g != nil && g.State == city.Starting && v.edit(w, g) == "" {
		return change{Change: "wait", Reason: v.hold(g)}
	}
	return change{}
}

func (f *forecast) change(w *agent.Want, g *city.Agent, st session.Status, lives bool) change {
	c := change{Agent: w.Name, Pool: w.Pool, Change: "none", Reason: "runs as configured"}
	barred, isBarred := f.barred[w.Name]
	why := f.v.unlistedReason(w.Name)
	stops := f.stops[w.Name]
	switch {
	case !lives && why != "":
		c.Change, c.Reason = "wait", why
	case w.Suspended.On() && stops:
		c.Change, c.Reason = "stop", w.Suspended.String()
	case w.Suspended.On():
		c.Reason = w.Suspended.String()
	case w.TriageOf != "" && lives && f.v.running != nil: // checks are not simulated
	case w.TriageOf != "" && !stops:
		c.Reason = "triage agent of watchdog " + w.TriageOf + "; starts only for its checks"
	case stops:
		return f.restart(c, w, g, st)
	case f.starts[w.Name]:
		c.Change, c.Reason = f.v.startReason(w)
	case isBarred && lives && len(g.Drift) > 0:
		c.Change, c.Reason, c.Fields = barred.Change, g.Reason, g.Drift
	case isBarred:
		c.Change, c.Reason = barred.Change, barred.Reason
	case g.Drain != nil && g.Drain.By == "pool" && w.Pool != "":
		c.Change, c.Reason = "drain", f.surplus(w.Pool)
	case g.Drain != nil:
		c.Change, c.Reason = "wait", "draining: asked by "+g.Drain.By+" to finish"
	case lives && len(g.Drift) > 0:
		c.Change, c.Reason, c.Fields = "wait", g.Reason, g.Drift
	case lives && g.State == city.Running:
	case !lives && w.Problem != "":
		c.Change, c.Reason = "fail", w.Problem
	case g.State == city.Waiting:
		c.Change, c.Reason = "wait", g.Reason
	default:
		c.Change, c.Reason = "wait", f.v.hold(cmp.Or(f.v.agent(w.Name), g))
		if g.State == city.Backoff || g.State == city.Failed {
			if why := f.v.whyUnfit(w); why != "" {
				c.Change, c.Reason = "fail", why
			}
		}
	}
	return c
}

func (f *forecast) restart(c change, w *agent.Want, g *city.Agent, st session.Status) change {
	c.Change, c.Fields = "restart", st.Drift(&w.Spec)
	c.Reason = strings.Join(c.Fields, ", ")
	for _, d := range g.Decisions {
		if d.What == "stop" && c.Fields == nil {
			c.Reason = d.Why
		}
	}
	barred, isBarred := f.barred[w.Name]
	switch {
	case f.starts[w.Name]:
	case isBarred:
		c.Change, c.Reason = "fail", c.Reason+"; it cannot start again: "+barred.Reason
	case g.State == city.Waiting:
		c.Reason += "; then it " + g.Reason
	default:
		c.Change = "stop"
	}
	return c
}

func (f *forecast) surplus(name string) string {
	p, _ := f.Pool(name)
	return fmt.Sprintf("pool %s scales to %d", name, p.Desired)
}

func (v *planInput) undeclared(name string) change {
	c := change{Agent: name, Change: "stop", Reason: "not in the configuration"}
	for _, p := range v.pools {
		if (pool.Spec{Name: p.Name, Max: math.MaxInt}).Index(name) > 0 {
			c.Pool = p.Name
		}
	}
	c.Pool = cmp.Or(c.Pool, v.saved.Agents[name].Member.Pool)
	if g := v.agent(name); g != nil {
		c.Pool = cmp.Or(g.Pool, c.Pool)
	}
	if c.Pool != "" {
		c.Change, c.Reason = "drain", "no longer a member of pool "+c.Pool
	}
	return c
}

func (v *planInput) startReason(w *agent.Want) (change, why string) {
	g := v.agent(w.Name)
	if g == nil {
		return "start", "not running"
	}
	edit := v.edit(w, g)
	switch {
	case g.Suspended:
		return "start", "no longer suspended"
	case edit != "" && g.State == city.Starting:
		return "restart", edit + "; it is currently starting"
	case edit != "":
		return "start", fmt.Sprintf("%s (was %s)", edit, g.State)
	case g.State == city.Failed && g.Until == nil:
		return "start", "the problem that prevented its start is gone"
	}
	return "start", "not running"
}

func (v *planInput) hold(g *city.Agent) string {
	why := string(g.State) + ": " + g.Reason
	if g.Until != nil {
		why += ", until " + v.clock(*g.Until)
	}
	return why
}
