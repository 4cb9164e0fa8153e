package machine

import (
	"cmp"
	"time"

	"gcity/city"
	"gcity/controller/effect"
)

// Observation puts a machine in observation mode: it does not start or stop agents, open runs, or check pools.
type Observation struct {
	// end of the last controller; zero if none has ever run
	Stopped time.Time
	Ends    map[string]time.Time // times of the latest stop events, by agent
}

func (ob *Observation) decide(m *Machine, now time.Time, a *record) {
	switch {
	case a.phase.Alive():
		ob.decideAlive(m, now, a)
		return
	case a.want == nil:
		m.set(now, a, city.Exited, "not in the configuration")
	case a.stoppedBySetting().State != "": // keep the state that the previous controller saved
		return
	case a.want.Suspended.On():
		m.set(now, a, city.Suspended, a.want.Suspended.Where)
	case a.want.Problem != "":
		m.set(now, a, city.Failed, a.want.Problem)
	case !a.phase.Seen() && m.lists.unknown[a.want.Spec.Provider] != nil:
		m.set(now, a, city.Unknown, "provider "+a.want.Spec.Provider+
			" does not respond, so it is unknown whether the agent is running")
	case a.sess.exit != nil:
		m.set(now, a, city.Exited, "no controller is running; the agent exited while none "+
			"was running")
		a.since = a.sess.exit.At
		return
	case ob.Stopped.IsZero():
		m.set(now, a, city.Stopped, "no controller has started it yet")
	default:
		m.set(now, a, city.Stopped, "no controller is running")
	}
	var known bool
	if a.since, known = ob.Ends[a.name]; !known {
		a.since = ob.Stopped
	}
}

func (ob *Observation) decideAlive(m *Machine, now time.Time, a *record) {
	switch d := a.drain.current; {
	case d != nil:
		// without a controller, a drain does not end at its timeout, so measure it from its start
		d.since = effect.NotInFuture(now, a.sess.life.Drain.Since)
		d.limit(a.drainTimeout(d.by))
		why := "asked by " + d.by + " to finish"
		if d.acked {
			why += ", reported done"
		}
		m.set(now, a, city.Draining, why+"; no controller is running to stop it")
		a.since = d.since
		return
	case !a.sess.life.Silent.IsZero():
		m.set(now, a, city.Unknown, cmp.Or(a.sess.life.Reason, silentWhy))
	case a.want == nil:
		m.set(now, a, city.Running, "alive, but not in the configuration")
	default:
		a.sess.drift = a.sess.life.Drift(&a.want.Spec)
		m.set(now, a, city.Running, "alive, but no controller is watching it")
	}
	a.since = a.sess.life.Started
}

func (ob *Observation) complete(s *city.Snapshot) {
	s.Config.Loaded, s.Config.Environ, s.Patrol = time.Time{}, nil, city.Patrol{}
	for i := range s.Agents {
		a := &s.Agents[i]
		a.Next, a.Decisions = nil, nil
		a.Available, a.UnavailableReason = a.Running, ""
		if !a.Available {
			a.UnavailableReason = a.Reason
		}
	}
	for i := range s.Watchdogs {
		w := s.Watchdogs[i]
		s.Watchdogs[i] = city.Watchdog{Name: w.Name, Watches: w.Watches, Triage: w.Triage,
			Every: w.Every, Fresh: w.Fresh, VeryStale: w.VeryStale, TTL: w.TTL, Source: w.Source,
			Mode: city.ByThresholds}
		if w.Triage != "" {
			s.Watchdogs[i].Mode = city.ByTriage
		}
	}
	for i := range s.Pools {
		p := &s.Pools[i]
		p.Since, p.Decisions = ob.Stopped, nil
		switch {
		case p.Override != nil:
			p.Reason = city.PoolSetBy + "by hand; no controller is running"
		case p.Check.Command == "":
			p.Reason = "no controller is running to start members for open work"
		default:
			p.Reason = "no controller is running, so the pool's check is not run"
		}
	}
}
