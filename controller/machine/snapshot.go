package machine

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/lifecycle"
	"gcity/controller/pools"
	"gcity/controller/step"
)

// Snapshot returns a copy of the city's state for clients.
func (m *Machine) Snapshot(now time.Time) *city.Snapshot {
	s := &city.Snapshot{At: now, Agents: make([]city.Agent, 0, len(m.order)), Degraded: []string{},
		ShutDown: m.stops(), Ending: m.cityStop.snapshotStop()}
	if m.conf != nil {
		s.Name, s.Suspended = m.conf.Name, m.conf.Suspended
		s.Config = city.ConfigInfo{Revision: step.Short(m.conf.Revision), Loaded: m.loader.loaded,
			Rejected: m.loader.rejected, Trust: m.loader.trust, Warnings: m.warnings(),
			Environ: m.conf.Environ}
		s.Patrol.Interval = m.conf.Patrol
		if m.loader.held != nil {
			s.Config.Held = &m.loader.held.Held
		}
	}
	for _, problem := range slices.Concat([]string{m.folderMoved, m.lists.problem,
		m.runs.StateNotRead,
		m.runs.FoldersNotRead,
		m.runs.RecordsNotRead, m.runs.Unclosable, m.runs.NoEvents}, m.work.storeProblems(),
		[]string{
			m.runs.RecordNotCreated, m.runs.RecordNotClosed, m.work.uncounted, m.work.unpurged,
			m.work.unbacked,
			m.work.unreturned, m.runs.StateNotSaved, m.logProblem, m.listener.Problem,
			m.histories.readProblem,
			m.histories.saveProblem, m.gauge.problem,
		}) {
		if problem != "" {
			s.Degraded = append(s.Degraded, problem)
		}
	}
	defer m.deps.remember()()
	for _, a := range m.order {
		if a.hidden() {
			continue
		}
		v := a.draw()
		v.Next = m.nextFor(a)
		v.Refusal = city.Refusal{NoRestart: m.commands.noRestart(a), Surplus: a.surplus()}
		v.Task, v.AwaitsGate = m.work.tasks[a.name], m.work.gated[a.name]
		for _, d := range a.out.All() {
			v.Sends = append(v.Sends, d.Draw())
		}
		v.Crashes = a.restart.recentCrashes(now, m.window())
		v.Quarantine = a.restart.hold.quarantine
		s.Agents = append(s.Agents, v)
	}
	s.Degraded = append(s.Degraded, m.watchdogs.Problems()...)
	s.Watchdogs = m.watchdogs.Snapshot(now)
	if m.conf != nil {
		s.Console, s.Store = m.conf.Console, m.conf.Store
	}
	s.Away, s.Mode = m.folderMoved, m.mode
	s.API, s.APIToken = m.listener.Address, m.listener.TokenFile
	s.Pools = m.drawPools()
	s.CountMail(m.work.mail)
	s.Rigs = m.drawRigs()
	s.Automations, s.Work, s.Stranded = m.runs.Snapshot(), m.work.counts, m.work.stranded
	if m.observes != nil {
		m.observes.complete(s)
	}
	return s
}

func (m *Machine) warnings() []string {
	found := m.runs.Warnings()
	if len(found) == 0 {
		return m.conf.Warnings
	}
	all := slices.Clone(m.conf.Warnings)
	for _, p := range found {
		all = append(all, strings.ReplaceAll(p.String(), m.conf.Dir+"/", ""))
	}
	return all
}

func (m *Machine) drawPools() []city.Pool {
	members := map[*pools.Pool]pools.MemberCount{}
	for _, a := range m.order {
		if a.pool == nil || !a.phase.Alive() {
			continue
		}
		c := members[a.pool]
		if a.drain.current != nil {
			c.Draining = append(c.Draining, a.name)
		} else {
			c.Size++
		}
		members[a.pool] = c
	}
	return m.pools.Snapshot(members)
}

func (m *Machine) drawRigs() []city.Rig {
	if m.conf == nil {
		return []city.Rig{}
	}
	rigs := make([]city.Rig, len(m.conf.Rigs))
	for i := range m.conf.Rigs {
		r := &m.conf.Rigs[i]
		rigs[i] = city.Rig{Name: r.Name, Path: r.Path, Prefix: r.Prefix, Suspended: r.Suspended,
			Problem: r.Problem, Source: r.Source}
		if work, known := m.work.rigs[r.Name]; known {
			rigs[i].Work = &work
		}
		for _, a := range m.order {
			if a.want == nil || a.want.Rig != r.Name || a.hidden() {
				continue
			}
			rigs[i].Agents++
			if a.hasSession() {
				rigs[i].Running++
			}
		}
	}
	return rigs
}

func (m *Machine) window() time.Duration {
	if m.conf == nil {
		return 0
	}
	return m.conf.Window
}

func (a *record) draw() city.Agent {
	v := city.Agent{
		Name: a.name, State: a.state, Reason: a.reason, Since: a.since,
		Running: a.phase.Alive(), Restarts: a.restart.restarts, Exit: a.newestExit(),
		Drift:     a.sess.drift,
		Decisions: slices.Clone(a.decisions),
	}
	if !a.until.IsZero() {
		v.Until = new(a.until)
	}
	if w := a.want; w != nil {
		v.Description, v.Rig, v.Provider, v.Program, v.Source = w.Description, w.Rig, w.Provider,
			w.Program, w.Source
		v.Patched = w.Patched
		v.Command, v.Dir, v.Declared = a.command, w.Spec.Dir, step.Short(w.Spec.Fingerprint.Sum)
		v.Suspended, v.SuspendedBy = w.Suspended.On(), city.Level(w.Suspended.Level)
		v.UnavailableReason = w.Problem
		v.Pool, v.DependsOn, v.IdleTimeout = w.Pool, w.DependsOn, w.IdleTimeout
	}
	if d := a.drain.current; d != nil && a.phase.Alive() {
		v.Drain = &city.DrainInfo{Since: d.since, By: cmp.Or(d.sender, d.by), Acked: d.acked,
			Final: d.final}
		if !d.deadline.IsZero() {
			v.Drain.Deadline = new(d.deadline)
		}
	}
	v.Asks, v.Stuck = a.attention.Asks, a.attention.Stuck
	v.Available = a.want != nil && a.want.Problem == "" && !v.Suspended
	if !v.Available && v.UnavailableReason == "" {
		v.UnavailableReason = a.reason
	}
	if a.act.begun != nil && !a.phase.Alive() {
		v.Running, v.PID, v.Session = true, a.act.begun.PID, effect.Session(a.act.begun)
	}
	if a.phase.Alive() {
		v.Provider = cmp.Or(a.sess.life.Provider, v.Provider)
		v.PID, v.Frozen, v.Session, v.Usage = a.sess.life.PID, a.sess.life.Frozen,
			effect.Session(&a.sess.life),
			a.usage()
	}
	return v
}

func (a *record) nextOfStop() string {
	switch {
	case a.phase.Stopping():
		return "is killed" + city.IfStillRunning
	case !a.until.IsZero():
		return "is stopped again"
	case a.phase.State() == lifecycle.Unknown:
		return "is stopped when its provider's sessions can be listed"
	}
	return "stops after the agents that depend on it"
}

func (m *Machine) nextFor(a *record) *city.Next {
	at := func(t time.Time, what string) *city.Next {
		if t.IsZero() {
			return &city.Next{What: what}
		}
		return &city.Next{At: &t, What: what}
	}
	if m.stops() && !a.phase.Alive() {
		switch {
		case a.state == city.Quarantined && !a.until.IsZero():
			return at(a.until, "starts again"+city.IfCityRuns)
		case a.restart.stays(), a.state == city.Exited, a.state == city.Quarantined:
			return at(time.Time{}, "starts when the city is started")
		}
	}
	switch a.state {
	case city.Waiting:
		if m.deps.missing(a) == "" {
			return at(time.Time{}, "starts when the wait is over")
		}
		return at(time.Time{}, "starts when its dependencies are running")
	case city.Draining:
		return at(a.until, a.nextOfDrain())
	case city.Stopping:
		return at(a.until, a.nextOfStop())
	case city.Backoff, city.Failed, city.Quarantined:
		if a.until.IsZero() && a.phase.State() == lifecycle.Unknown {
			return at(a.until, "starts again when its provider's sessions can be listed")
		}
		if a.until.IsZero() {
			return at(a.until, "retries when the agent's configuration changes")
		}
		return at(a.until, "starts again")
	case city.Suspended:
		return at(time.Time{}, "waits until it is resumed")
	case city.Unknown:
		if a.sess.uncertain {
			return at(time.Time{}, "continues when its provider's sessions can be listed")
		}
		if a.sess.life.Reason != "" { // the session is running on a different host
			return at(time.Time{}, "continues when the session's host responds; if the host is "+
				"lost for good, `gcity agent kill --force "+a.name+"` restarts the agent")
		}
		return at(time.Time{}, "continues when the session's holder responds; `gcity agent "+
			"restart` kills and restarts both the agent and the holder")
	case city.Exited:
		return at(time.Time{}, "waits until it is restarted or released")
	case city.Running:
		switch {
		case a.sess.restartBarred != "":
			return at(a.until, "restarts when it can start")
		case len(a.sess.drift) > 0:
			return at(a.until, "restarts when no user is at its terminal")
		case !a.silence.idleAt.IsZero():
			return at(a.silence.idleAt, "restarts"+city.UnlessItPrints)
		}
	}
	return nil
}
