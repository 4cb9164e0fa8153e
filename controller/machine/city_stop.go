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
	"gcity/controller/lifecycle"
)

// HurryLimit is the time for which a stopping city waits for killed agents. It starts when their grace period ends
// or when a user hurries the stop.
const HurryLimit = 10 * time.Second

// cityStop is the state of a city that is being stopped.
type cityStop struct {
	m *Machine

	leaving []effect.Answer // answers to the shutdown commands
	hurried bool            // agents are stopped without a grace period
	// the newest list of sessions was requested while effects were in flight
	early  bool
	relook time.Time // time at which listing the sessions is retried
	gaveUp bool      // some agents could not be stopped in time
	since  time.Time
	hurry  time.Time // time at which the grace period was ended early; zero = it was not
	by     time.Time // time at which the controller gives up
	waits  []string  // what the stop waits for besides agents
	giveUp string    // what may still be running after the controller has given up
}

// begin starts the stop of the city. by is the time at which the controller gives up waiting.
func (fn *cityStop) begin(now, by time.Time) {
	fn.since, fn.by = now, by
	fn.hurry, fn.waits, fn.giveUp = time.Time{}, nil, ""
}

// hurryAt returns the end of the remaining agents' grace period. It returns zero if the grace period has been
// ended, or if the city is not stopping.
func (fn *cityStop) hurryAt() time.Time {
	if fn.m.ending != stopAgents || fn.hurried {
		return time.Time{}
	}
	return fn.by.Add(-HurryLimit)
}

// hurryUp ends the grace period of the remaining agents.
func (fn *cityStop) hurryUp(now time.Time) {
	if fn.m.ending != stopAgents || fn.hurried {
		return
	}
	fn.hurried, fn.m.step.Changed = true, true
	fn.hurry = now
	if by := now.Add(HurryLimit); by.Before(fn.by) {
		fn.by = by
	}
	for _, a := range fn.m.order {
		if a.phase.Stopping() {
			fn.m.step.Do(effect.Kill{Agent: a.name, Session: a.sess.life.Name})
			fn.m.set(now, a, city.Stopping, a.act.stopping.why+"; being killed", fn.by)
		}
		a.act.stopFrom = time.Time{}
		fn.m.decide(now, a)
	}
}

// stopUntil returns the time at which a stop with this grace period ends, or zero if that is unknown.
func (fn *cityStop) stopUntil(now time.Time, grace time.Duration) time.Time {
	switch {
	case grace > 0:
		return now.Add(grace)
	case fn.m.ending == stopAgents:
		return fn.by
	}
	return time.Time{}
}

// overdue updates the reason of an agent that did not stop within its grace period.
func (fn *cityStop) overdue(now time.Time, a *record) {
	if a.state == city.Stopping && !a.until.IsZero() && !now.Before(a.until) {
		fn.m.set(now, a, city.Stopping, a.act.stopping.why+"; the agent did not stop in time and "+
			"is being killed", fn.stopUntil(now, 0))
	}
}

// noteWaits updates the list of things besides agents that a stopping city waits for.
func (fn *cityStop) noteWaits() {
	if waits := fn.awaited(); !slices.Equal(waits, fn.waits) {
		fn.waits, fn.m.step.Changed = waits, true
	}
}

func (fn *cityStop) awaited() []string {
	var out []string
	for _, name := range fn.m.runs.Going() {
		out = append(out, "the run of "+name+" is ending")
	}
	if records := fn.m.runs.Closing(); records > 0 {
		out = append(out, fmt.Sprintf("%d records of runs are being closed", records))
	}
	for i := range fn.m.journal.queue {
		if q := &fn.m.journal.queue[i]; q.output != "" {
			out = append(out, "the last output of "+q.agent.name+" is being saved")
		}
	}
	if fn.quiet() {
		out = append(out, fn.unlistedReason())
	}
	return out
}

// unlistedReason returns the reason why it is unknown whether sessions are still running.
func (fn *cityStop) unlistedReason() string {
	if len(fn.m.lists.unknown) == 0 {
		return "listing the sessions, to confirm that all have ended"
	}
	return "the sessions of " + strings.Join(slices.Sorted(maps.Keys(fn.m.lists.unknown)), ", ") +
		" cannot be listed, so they may still be running"
}

// snapshotStop returns the city's stop for a snapshot, or nil if the city is not stopping.
func (fn *cityStop) snapshotStop() *city.Ending {
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

// namedAtMost is the maximum number of agents that GiveUpAgents names.
const namedAtMost = 10

// GiveUpAgents ends the stop of a city although agents may still be running. It names these agents.
func (m *Machine) GiveUpAgents(now time.Time) []effect.Effect {
	m.step.Begin()
	if m.ending == ended {
		return nil
	}
	var left []string
	for _, a := range m.order {
		if a.phase.State() == lifecycle.Absent {
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
		parts = append(parts, "may still be running: "+strings.Join(left, ", "))
	}
	if m.lists.problem != "" {
		parts = append(parts, m.lists.problem)
	} else if len(left) == 0 {
		parts = append(parts, "it is unknown whether agents still run: "+
			orDefault(strings.Join(m.cityStop.waits, "; "), m.cityStop.unlistedReason()))
	}
	m.cityStop.gaveUp, m.cityStop.giveUp = true, strings.Join(parts, "; ")
	m.cityStop.end(now, "gave up after "+now.Sub(m.cityStop.since).Round(time.Second).String()+
		": "+m.cityStop.giveUp)
	return m.step.Effects
}

// StopLimit returns the maximum duration of a shutdown. Agents that depend on each other stop one after the other.
func (m *Machine) StopLimit() time.Duration {
	return time.Duration(max(1, m.deps.depth))*m.conf.Grace + StopSlack
}

// StopLimit returns the maximum duration of the stop of these agents, if each has this grace period. Agents that
// depend on each other stop one after the other.
func StopLimit(wants []agent.Want, grace time.Duration) time.Duration {
	return time.Duration(max(1, agent.Depth(wants)))*grace + StopSlack
}

// LookFor is advice to a user if sessions may still be running.
const LookFor = "`gcity doctor` finds sessions that still run; `gcity stop` tries to " +
	"stop them again"

// StopSlack is the maximum duration of a shutdown beyond the grace period of its agents.
const StopSlack = 30 * time.Second

// due reports whether it is time to list the sessions again.
func (fn *cityStop) due(now time.Time) bool {
	return !fn.relook.IsZero() && !now.Before(fn.relook)
}

// hurryInTime kills the remaining agents when their grace period is over.
func (fn *cityStop) hurryInTime(now time.Time) {
	if at := fn.hurryAt(); !at.IsZero() && !now.Before(at) {
		fn.hurryUp(now)
	}
}

// proceed checks whether the stop of the city is complete.
func (fn *cityStop) proceed(now time.Time) {
	m := fn.m
	switch m.ending {
	case stopAgents:
		if !m.lists.listing && fn.quiet() &&
			(fn.early || m.lists.ordered < fn.lastOp() || fn.due(now)) {
			fn.relook = time.Time{}
			m.lists.request()
		}
		fn.noteWaits()
	case leaveAgents:
		m.leftRunning = true
		fn.end(now, "agents are left running")
	}
}
