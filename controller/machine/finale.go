package machine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/controller/effect"
)

// HurryLimit is how long a city waits for those who are ended at once: at the end of its time, or since somebody
// was in haste.
const HurryLimit = 10 * time.Second

// finale is the stop of a city under way.
type finale struct {
	since  time.Time
	hurry  time.Time // since when nobody has any grace; zero = they have
	by     time.Time // when it is given up
	waits  []string  // for what besides its agents
	giveUp string    // who may still run
}

// hurryAt is when the grace ends of those who are left; zero = it has, or the city goes on.
func (m *Machine) hurryAt() time.Time {
	if m.ending != stopAgents || m.hurried {
		return time.Time{}
	}
	return m.finale.by.Add(-HurryLimit)
}

// hurry takes the grace away from those who still have it.
func (m *Machine) hurry(now time.Time) {
	if m.ending != stopAgents || m.hurried {
		return
	}
	m.hurried, m.step.Changed = true, true
	m.finale.hurry = now
	if by := now.Add(HurryLimit); by.Before(m.finale.by) {
		m.finale.by = by
	}
	for _, a := range m.order {
		if a.act.op == opStop {
			m.step.Do(effect.Kill{Agent: a.name, Session: a.sess.life.Name})
			m.set(now, a, city.Stopping, a.act.stopping.why+"; ended at once", m.finale.by)
		}
		a.act.stopFrom = time.Time{}
		m.decide(now, a)
	}
}

// stopUntil is until when a session is being stopped that has so much grace; zero = nobody can tell.
func (m *Machine) stopUntil(now time.Time, grace time.Duration) time.Time {
	switch {
	case grace > 0:
		return now.Add(grace)
	case m.ending == stopAgents:
		return m.finale.by
	}
	return time.Time{}
}

// overdue shows of a session that is being stopped when its grace is over.
func (m *Machine) overdue(now time.Time, a *record) {
	if a.state == city.Stopping && !a.until.IsZero() && !now.Before(a.until) {
		m.set(now, a, city.Stopping, a.act.stopping.why+"; it has not ended in its time, and is "+
			"being ended", m.stopUntil(now, 0))
	}
}

// noteWaits shows what an ending city waits for besides its agents.
func (m *Machine) noteWaits() {
	if waits := m.waits(); !slices.Equal(waits, m.finale.waits) {
		m.finale.waits, m.step.Changed = waits, true
	}
}

func (m *Machine) waits() []string {
	var out []string
	for _, name := range m.runs.Going() {
		out = append(out, "the run of "+name+" is being ended")
	}
	if records := m.runs.Closing(); records > 0 {
		out = append(out, fmt.Sprintf("records of runs are being closed: %d", records))
	}
	for i := range m.queue {
		if q := &m.queue[i]; q.output != "" {
			out = append(out, "the last output of "+q.agent.name+" is being kept")
		}
	}
	if m.quiet() {
		out = append(out, m.sightless())
	}
	return out
}

// sightless says what keeps it from being known that nothing runs.
func (m *Machine) sightless() string {
	if len(m.unknown) == 0 {
		return "the sessions are being listed, to see that nothing runs"
	}
	return "the sessions of " + strings.Join(slices.Sorted(maps.Keys(m.unknown)), ", ") +
		" cannot be listed so far, and whether anything runs there is not known"
}

// drawEnding shows a stop under way.
func (m *Machine) drawEnding() *city.Ending {
	if m.finale.since.IsZero() {
		return nil
	}
	e := &city.Ending{Since: m.finale.since, Hurried: m.hurried, Hurry: m.finale.hurry,
		Until: m.finale.by, Waits: m.finale.waits}
	if at := m.hurryAt(); !at.IsZero() {
		e.Hurry = at
	}
	return e
}

// namedAtMost bounds how many agents are named that may still run.
const namedAtMost = 10

// GiveUpAgents ends a city whose agents could not all be stopped in time, and says who may live.
func (m *Machine) GiveUpAgents(now time.Time) []effect.Effect {
	m.step.Begin()
	if m.ending == ended {
		return nil
	}
	var left []string
	for _, a := range m.order {
		if !a.sess.alive && a.act.op == opNone && !a.sess.unsure {
			continue
		}
		by := a.sess.life.Provider
		if by == "" && a.want != nil {
			by = a.want.Spec.Provider
		}
		if by != "" {
			by = "by " + by + ", "
		}
		a.until = time.Time{}
		left = append(left, fmt.Sprintf("%s (%ssession %s)", a.name, by, a.sessionName()))
	}
	var parts []string
	if n := len(left) - namedAtMost; n > 0 {
		left = append(left[:namedAtMost:namedAtMost], fmt.Sprintf("%d more", n))
	}
	if len(left) > 0 {
		parts = append(parts, "these may still run: "+strings.Join(left, ", "))
	}
	if m.unlisted != "" {
		parts = append(parts, m.unlisted)
	} else if len(left) == 0 {
		parts = append(parts, "whether anything runs still is "+
			"not known: "+orDefault(strings.Join(m.finale.waits, "; "), m.sightless()))
	}
	m.gaveUp, m.finale.giveUp = true, strings.Join(parts, "; ")
	m.end(now, "given up after "+now.Sub(m.finale.since).Round(time.Second).String()+": "+
		m.finale.giveUp)
	return m.step.Effects
}

// StopLimit is how long a shutdown may take: those that depend on each other end one after the other.
func (m *Machine) StopLimit() time.Duration {
	return time.Duration(max(1, m.deps.depth))*m.conf.Grace + StopSlack
}

// StopLimit is how long the stop of a city may take in which these are wanted: those that depend on each other end
// one after the other, with this grace each.
func StopLimit(wants []agent.Want, grace time.Duration) time.Duration {
	return time.Duration(max(1, agent.Depth(wants)))*grace + StopSlack
}

// LookFor is what to do about sessions that may run still.
const LookFor = "`gcity doctor` looks for sessions that run still, `gcity stop` tries again " +
	"to end them"

// StopSlack is how long a shutdown may take beyond its agents' grace.
const StopSlack = 30 * time.Second
