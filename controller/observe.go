package controller

import (
	"fmt"
	"slices"
	"time"

	"gcity/city"
	"gcity/session"
)

// observed compares what runs with what was believed to run. What the machine did to an agent after the look was
// ordered is newer than the look, and wins.
func (m *machine) observed(now time.Time, in inObserved) {
	m.listing = false
	if m.relist {
		m.relist = false
		m.look()
	}
	if in.err != nil {
		m.note(&m.unlisted, "sessions cannot be listed: "+in.err.Error())
		if !m.listed {
			m.refuseAll(m.waiting, city.Unavailable, m.unlisted)
			for _, w := range m.waiting {
				delete(m.confirms, w.id)
			}
			m.waiting = nil
		}
		if m.ending == stopAgents {
			m.relook = now.Add(stopRetry)
		}
		return
	}
	m.note(&m.unlisted, "")
	first := !m.listed
	m.listed = true
	for i := range in.sessions {
		m.see(now, &in.sessions[i], in.turn)
	}
	if first {
		m.sizePools(now)
		if m.reload {
			m.load()
		}
	}
	for _, a := range m.order {
		if a.seen == m.turn || a.op != opNone || a.opTurn > in.turn {
			continue
		}
		a.unsure = false
		if a.alive {
			m.died(now, a, session.Exit{
				Name: a.life.Name, Agent: a.name, ID: a.life.ID, Code: -1, Lost: true, At: now, Uptime: now.Sub(a.life.Started),
			})
		}
	}
	m.order = slices.DeleteFunc(m.order, func(a *record) bool {
		if a.seen == m.turn || !a.gone() || a.capturing != "" || a.opTurn > in.turn || a.remembered(now) {
			return false
		}
		delete(m.agents, a.name)
		m.after, m.named = nil, nil
		return true
	})
	m.decideAll(now)
	m.seenEmpty(in.turn)
}

// remembered reports that a surplus member's crashes still count: a pool that grows again must not forget them.
func (a *record) remembered(now time.Time) bool {
	return a.want != nil && (now.Before(a.notBefore) || a.history.Within(now, a.want.Policy.Window) > 0)
}

// see takes one session of the look.
func (m *machine) see(now time.Time, s *session.Status, turn uint64) {
	a, known := m.agents[s.Agent]
	if !known {
		if !s.Alive && s.Exit == nil {
			return
		}
		a = m.record(now, s.Agent)
		m.member(a)
	}
	if known && a.seen == m.turn && s.Alive && a.alive && a.life.ID != s.ID {
		m.decided(now, a, "kill", fmt.Sprintf("a second session, %s", s.ID))
		m.do(fxKill{agent: a.name, session: s.Name})
		return
	}
	a.seen = m.turn
	if a.op != opNone || a.opTurn > turn {
		return
	}
	a.unsure, a.looked, a.fresh = false, turn, now
	switch {
	case s.Alive:
		m.seeAlive(now, a, s)
	case s.ID == a.lastEnd:
		if f := (fxAck{agent: a.name, session: s.Name, id: s.ID}); turn > a.ackTurn && !slices.Contains(a.acks, f) {
			a.acks = append(a.acks, f)
		}
	case s.Exit != nil && a.alive && a.life.ID != s.ID: // of an earlier life, under another name
		if f := (fxAck{agent: a.name, session: s.Name, id: s.ID}); !slices.Contains(a.acks, f) {
			a.acks = append(a.acks, f)
		}
	case s.Exit != nil && s.Exit.Asked:
		a.life, a.alive = *s, false
		m.ended(now, a, s.ID)
	case s.Exit != nil:
		a.life = *s
		m.died(now, a, *s.Exit)
	}
}

func (m *machine) seeAlive(now time.Time, a *record, s *session.Status) {
	if !a.alive || a.life.ID != s.ID {
		a.alive, a.ready, a.drain = true, s.Ready, nil
		a.notBefore, a.hold, a.holdWhy = time.Time{}, "", "" // what it waited for has come
		a.because = "adopted: it ran already when this controller began"
		if s.Ready {
			m.set(now, a, city.Running, a.because, time.Time{})
			a.since = s.Started
		}
		m.decided(now, a, "adopt", fmt.Sprintf("pid %d was running already", s.PID))
		a.life = *s
		m.resumeDrain(now, a)
	} else if a.life.Attached != s.Attached || a.life.Frozen != s.Frozen || !a.life.Activity.Equal(s.Activity) {
		m.changed = true
	}
	marks := a.life.Drain
	a.life = *s
	if a.marking || a.markTurn > a.looked { // the look is older than the marks
		a.life.Drain = marks
	} else if a.drain != nil && s.Drain.Acked && !a.drain.acked {
		a.drain.acked, m.changed = true, true
	}
}
