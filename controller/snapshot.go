package controller

import (
	"slices"
	"time"

	"gcity/city"
)

// snapshot draws what an operator may see. Everything in it is a copy.
func (m *machine) snapshot(now time.Time) *city.Snapshot {
	s := &city.Snapshot{At: now, Agents: make([]city.Agent, 0, len(m.order)), Degraded: []string{}, ShutDown: m.ending != alive && !m.left}
	if m.conf != nil {
		s.Name, s.Suspended = m.conf.name, m.conf.suspended
		s.Config = city.ConfigInfo{Revision: short(m.conf.revision), Loaded: m.loaded, Rejected: m.rejected, Warnings: m.conf.warnings}
		s.Patrol.Interval = m.conf.patrol
		if m.held != nil {
			s.Config.Held = &m.held.Held
		}
	}
	for _, problem := range []string{m.unlisted, m.work.forgot, m.work.unread, m.work.lost, m.work.unsaved, m.health, m.keeper.unread, m.keeper.unkept, m.gauge.problem} {
		if problem != "" {
			s.Degraded = append(s.Degraded, problem)
		}
	}
	for _, a := range m.order {
		if a.gone() {
			continue
		}
		v := a.draw()
		v.Next = m.nextFor(a)
		v.Crashes = a.history.Within(now, m.window())
		s.Agents = append(s.Agents, v)
	}
	s.Pools = m.drawPools()
	s.Rigs = m.drawRigs()
	s.Automations, s.Work = m.drawAutomations(), m.work.counts
	return s
}

func (m *machine) drawRigs() []city.Rig {
	if m.conf == nil {
		return []city.Rig{}
	}
	rigs := make([]city.Rig, len(m.conf.rigs))
	for i := range m.conf.rigs {
		r := &m.conf.rigs[i]
		rigs[i] = city.Rig{Name: r.Name, Path: r.Path, Prefix: r.Prefix, Suspended: r.Suspended, Problem: r.Problem, Source: r.Source}
		for _, a := range m.order {
			if a.want == nil || a.want.Rig != r.Name || a.gone() {
				continue
			}
			rigs[i].Agents++
			if a.alive {
				rigs[i].Running++
			}
		}
	}
	return rigs
}

func (m *machine) window() time.Duration {
	if m.conf == nil {
		return 0
	}
	return m.conf.window
}

func (a *record) draw() city.Agent {
	v := city.Agent{
		Name: a.name, State: a.state, Reason: a.reason, Since: a.since,
		Running: a.alive, Restarts: a.restarts, Exit: a.exit, Drift: a.drift, Decisions: slices.Clone(a.decisions),
	}
	if !a.until.IsZero() {
		until := a.until
		v.Until = &until
	}
	if w := a.want; w != nil {
		v.Description, v.Rig, v.Provider, v.Source = w.Description, w.Rig, w.Provider, w.Source
		v.Command, v.Dir = w.Spec.Command, w.Spec.Dir
		v.Suspended = w.Suspended != ""
		v.UnavailableReason = w.Problem
		v.Pool, v.DependsOn, v.IdleTimeout = w.Pool, w.DependsOn, w.IdleTimeout
	}
	if d := a.drain; d != nil && a.alive {
		v.Drain = &city.DrainInfo{Since: d.since, By: d.by, Acked: d.acked}
		if !d.deadline.IsZero() {
			deadline := d.deadline
			v.Drain.Deadline = &deadline
		}
	}
	v.Available = a.want != nil && a.want.Problem == "" && !v.Suspended
	if !v.Available && v.UnavailableReason == "" {
		v.UnavailableReason = a.reason
	}
	if a.alive {
		v.PID, v.Frozen, v.Session, v.Usage = a.life.PID, a.life.Frozen, a.session(), a.usage()
	}
	return v
}

func (a *record) session() *city.Session {
	s := &city.Session{
		Name: a.life.Name, ID: a.life.ID, Started: a.life.Started,
		Attached: a.life.Attached > 0, Viewers: a.life.Attached,
	}
	if !a.life.Activity.IsZero() {
		t := a.life.Activity
		s.LastActivity = &t
	}
	return s
}
