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
	m *Machine

	leaving []effect.Answer // to the shutdown's commands
	hurried bool            // agents get no shutdown_timeout
	// the newest look at a city that stops came while something was in flight
	early  bool
	relook time.Time // when a look that failed is tried again
	gaveUp bool      // not all agents could be ended in time
	since  time.Time
	hurry  time.Time // since when nobody has any grace; zero = they have
	by     time.Time // when it is given up
	waits  []string  // for what besides its agents
	giveUp string    // who may still run
}

// begin starts the end of the city: a stop that is not done at by is given up.
func (fn *finale) begin(now, by time.Time) {
	fn.since, fn.by = now, by
	fn.hurry, fn.waits, fn.giveUp = time.Time{}, nil, ""
}

// hurryAt is when the grace ends of those who are left; zero = it has, or the city goes on.
func (fn *finale) hurryAt() time.Time {
	if fn.m.ending != stopAgents || fn.hurried {
		return time.Time{}
	}
	return fn.by.Add(-HurryLimit)
}

// hurryUp takes the grace away from those who still have it.
func (fn *finale) hurryUp(now time.Time) {
	if fn.m.ending != stopAgents || fn.hurried {
		return
	}
	fn.hurried, fn.m.step.Changed = true, true
	fn.hurry = now
	if by := now.Add(HurryLimit); by.Before(fn.by) {
		fn.by = by
	}
	for _, a := range fn.m.order {
		if a.act.op == opStop {
			fn.m.step.Do(effect.Kill{Agent: a.name, Session: a.sess.life.Name})
			fn.m.set(now, a, city.Stopping, a.act.stopping.why+"; ended at once", fn.by)
		}
		a.act.stopFrom = time.Time{}
		fn.m.decide(now, a)
	}
}

// stopUntil is until when a session is being stopped that has so much grace; zero = nobody can tell.
func (fn *finale) stopUntil(now time.Time, grace time.Duration) time.Time {
	switch {
	case grace > 0:
		return now.Add(grace)
	case fn.m.ending == stopAgents:
		return fn.by
	}
	return time.Time{}
}

// overdue shows of a session that is being stopped when its grace is over.
func (fn *finale) overdue(now time.Time, a *record) {
	if a.state == city.Stopping && !a.until.IsZero() && !now.Before(a.until) {
		fn.m.set(now, a, city.Stopping, a.act.stopping.why+"; it has not ended in its "+
			"time, and is "+
			"being ended", fn.stopUntil(now, 0))
	}
}

// noteWaits shows what an ending city waits for besides its agents.
func (fn *finale) noteWaits() {
	if waits := fn.awaited(); !slices.Equal(waits, fn.waits) {
		fn.waits, fn.m.step.Changed = waits, true
	}
}

func (fn *finale) awaited() []string {
	var out []string
	for _, name := range fn.m.runs.Going() {
		out = append(out, "the run of "+name+" is being ended")
	}
	if records := fn.m.runs.Closing(); records > 0 {
		out = append(out, fmt.Sprintf("records of runs are being closed: %d", records))
	}
	for i := range fn.m.journal.queue {
		if q := &fn.m.journal.queue[i]; q.output != "" {
			out = append(out, "the last output of "+q.agent.name+" is being kept")
		}
	}
	if fn.quiet() {
		out = append(out, fn.sightless())
	}
	return out
}

// sightless says what keeps it from being known that nothing runs.
func (fn *finale) sightless() string {
	if len(fn.m.looks.unknown) == 0 {
		return "the sessions are being listed, to see that nothing runs"
	}
	return "the sessions of " + strings.Join(slices.Sorted(maps.Keys(fn.m.looks.unknown)), ", ") +
		" cannot be listed so far, and whether anything runs there is not known"
}

// drawEnding shows a stop under way.
func (fn *finale) drawEnding() *city.Ending {
	if fn.since.IsZero() {
		return nil
	}
	e := &city.Ending{Since: fn.since, Hurried: fn.hurried, Hurry: fn.hurry,
		Until: fn.by, Waits: fn.waits}
	if at := fn.hurryAt(); !at.IsZero() {
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
	if m.looks.unlisted != "" {
		parts = append(parts, m.looks.unlisted)
	} else if len(left) == 0 {
		parts = append(parts, "whether anything runs still is "+
			"not known: "+orDefault(strings.Join(m.finale.waits, "; "), m.finale.sightless()))
	}
	m.finale.gaveUp, m.finale.giveUp = true, strings.Join(parts, "; ")
	m.finale.end(now, "given up after "+now.Sub(m.finale.since).Round(time.Second).String()+": "+
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
