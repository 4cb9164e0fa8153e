package machine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/lifecycle"
	"gcity/controller/step"
	"gcity/events"
	"gcity/internal/span"
)

// HurryLimit is how long a stopping city waits for killed agents.
const HurryLimit = 10 * time.Second

type cityStop struct {
	m *Machine

	leaving []effect.Reply
	hurried bool
	// the latest list of sessions was requested while effects were in flight
	early  bool
	relook time.Time
	gaveUp bool
	since  time.Time
	hurry  time.Time // when the grace period was ended early; zero = never
	by     time.Time // when the controller gives up
	waits  []string
	giveUp string // what might still be running after the controller has given up
}

func (cs *cityStop) begin(now, deadline time.Time) {
	cs.since, cs.by = now, deadline
	cs.hurry, cs.waits, cs.giveUp = time.Time{}, nil, ""
}

func (cs *cityStop) hurryAt() time.Time {
	if cs.m.ending != stopAgents || cs.hurried {
		return time.Time{}
	}
	return cs.by.Add(-HurryLimit)
}

func (cs *cityStop) hurryUp(now time.Time) {
	if cs.m.ending != stopAgents || cs.hurried {
		return
	}
	cs.hurried, cs.m.step.Changed = true, true
	cs.hurry = now
	if by := now.Add(HurryLimit); by.Before(cs.by) {
		cs.by = by
	}
	for _, a := range cs.m.order {
		if a.phase.Stopping() {
			cs.m.step.Do(effect.Kill{Agent: a.name, Session: a.sess.life.Name})
			cs.m.setUntil(now, a, city.Stopping, a.act.stopping.why+"; being killed", cs.by)
		}
		a.act.retryStopAt = time.Time{}
		cs.m.decide(now, a)
	}
}

func (cs *cityStop) stopUntil(now time.Time, grace time.Duration) time.Time {
	switch {
	case grace > 0:
		return now.Add(grace)
	case cs.m.ending == stopAgents:
		return cs.by
	}
	return time.Time{}
}

func (cs *cityStop) overdue(now time.Time, a *record) {
	if a.state == city.Stopping && !a.until.IsZero() && !now.Before(a.until) {
		cs.m.setUntil(now, a, city.Stopping, a.act.stopping.why+"; the agent did not stop in time "+
			"and is being killed", cs.stopUntil(now, 0))
	}
}

func (cs *cityStop) noteWaits() {
	if waits := cs.awaited(); !slices.Equal(waits, cs.waits) {
		cs.waits, cs.m.step.Changed = waits, true
	}
}

func (cs *cityStop) awaited() []string {
	var out []string
	for _, name := range cs.m.runs.ActiveNames() {
		out = append(out, "the run of "+name+" is ending")
	}
	if records := cs.m.runs.Closing(); records > 0 {
		out = append(out, fmt.Sprintf("run records are being closed (%d)", records))
	}
	for i := range cs.m.journal.queue {
		if q := &cs.m.journal.queue[i]; q.output != "" {
			out = append(out, "the last output of "+q.agent.name+" is being saved")
		}
	}
	if cs.nothingInFlight() {
		out = append(out, cs.unlistedReason())
	}
	return out
}

func (cs *cityStop) unlistedReason() string {
	if len(cs.m.lists.unknown) == 0 {
		return "listing the sessions, to confirm that all have ended"
	}
	return "the sessions of " + strings.Join(slices.Sorted(maps.Keys(cs.m.lists.unknown)), ", ") +
		" cannot be listed, so they might still be running"
}

func (cs *cityStop) snapshotStop() *city.Ending {
	if cs.since.IsZero() {
		return nil
	}
	e := &city.Ending{Since: cs.since, Hurried: cs.hurried, Hurry: cs.hurry,
		Until: cs.by, Waits: cs.waits}
	if at := cs.hurryAt(); !at.IsZero() {
		e.Hurry = at
	}
	return e
}

const namedAtMost = 10

// GiveUpAgents ends the city's stop although agents might still be running.
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
		parts = append(parts, "might still be running: "+strings.Join(left, ", "))
	}
	if m.lists.problem != "" {
		parts = append(parts, m.lists.problem)
	} else if len(left) == 0 {
		parts = append(parts, "it is unknown whether agents are still running; last status: "+
			cmp.Or(strings.Join(m.cityStop.waits, "; "), m.cityStop.unlistedReason()))
	}
	m.cityStop.gaveUp, m.cityStop.giveUp = true, strings.Join(parts, "; ")
	m.cityStop.end(now, "gave up after "+span.Text(now.Sub(m.cityStop.since).Round(time.Second))+
		": "+m.cityStop.giveUp)
	return m.step.Effects
}

// StopLimit returns the maximum duration of a shutdown.
func (m *Machine) StopLimit() time.Duration {
	return time.Duration(max(1, m.deps.depth))*m.conf.Grace + StopSlack
}

// StopLimit returns the maximum time for stopping the agents in wants in dependency order.
func StopLimit(wants []agent.Want, grace time.Duration) time.Duration {
	return time.Duration(max(1, agent.Depth(wants)))*grace + StopSlack
}

// StopSlack is the time that a shutdown may take in addition to the grace periods.
const StopSlack = 30 * time.Second

func (cs *cityStop) due(now time.Time) bool {
	return !cs.relook.IsZero() && !now.Before(cs.relook)
}

// nextRelook returns the time of the next list, or zero. An overdue list waits for an effect in flight. The result of
// that effect leads to a step.
func (cs *cityStop) nextRelook(now time.Time) time.Time {
	if cs.due(now) {
		return time.Time{}
	}
	return cs.relook
}

func (cs *cityStop) hurryInTime(now time.Time) {
	if at := cs.hurryAt(); !at.IsZero() && !now.Before(at) {
		cs.hurryUp(now)
	}
}

func (cs *cityStop) proceed(now time.Time) {
	m := cs.m
	switch m.ending {
	case stopAgents:
		if !m.lists.listing && cs.nothingInFlight() &&
			(cs.early || m.lists.ordered < cs.lastStop() || cs.due(now)) {
			cs.relook = time.Time{}
			m.lists.request()
		}
		cs.noteWaits()
	case leaveAgents:
		m.leftRunning = true
		cs.end(now, "the agents were left running")
	}
}

// If leave is true, only the controller exits.
func (m *Machine) shutdown(now time.Time, leave bool) {
	if m.ending != running {
		return
	}
	m.step.Changed = true
	m.commands.rejectAll(m.loader.asking, city.Unavailable, "the city is being stopped")
	m.commands.rejectAll(m.loader.waiting, city.Unavailable, "the city is being stopped")
	m.loader.asking, m.loader.waiting = nil, nil
	m.loader.rejectGroups(city.Unavailable, "the city is being stopped")
	for _, a := range m.order {
		m.commands.reject(a, city.Unavailable, "the city is being stopped")
	}
	if leave {
		m.ending = leaveAgents
		return
	}
	m.ending = stopAgents
	m.cityStop.begin(now, now.Add(m.StopLimit()))
	m.runs.Stop()
	m.decideAll(now)
	m.lists.request()
}

func (cs *cityStop) nothingInFlight() bool {
	if len(cs.m.journal.queue) > 0 {
		return false
	}
	for _, a := range cs.m.order {
		if a.phase.InFlight() {
			return false
		}
	}
	return cs.m.runs.Quiet()
}

func (cs *cityStop) lastStop() uint64 {
	var last uint64
	for _, a := range cs.m.order {
		last = max(last, a.phase.Step())
	}
	return last
}

// seen handles a list of sessions that was requested in the given step.
func (cs *cityStop) seen(now time.Time, step uint64) {
	switch {
	case cs.m.ending != stopAgents:
		return
	case len(cs.m.lists.unknown) > 0:
		cs.relook = now.Add(stopRetry)
		return
	case !cs.nothingInFlight():
		cs.early = true
		return
	}
	for _, a := range cs.m.order {
		if a.phase.State() != lifecycle.Absent || a.phase.Step() > step {
			return
		}
	}
	cs.end(now, "all agents have stopped")
}

// the loop ends after this step
func (cs *cityStop) end(now time.Time, msg string) {
	cs.m.ending = ended
	cs.by, cs.waits, cs.m.step.Changed = now.Add(effect.ShutdownLimit),
		[]string{"waiting for the last operations to finish"}, true
	cs.m.messages.GiveUpAll(now)
	cs.m.journal.release(time.Time{})
	for i := range cs.leaving {
		if cs.gaveUp {
			cs.leaving[i].Err = &city.Error{Code: city.Unavailable,
				Message: "cannot stop the city: " + msg + "; " + step.StillRunningAdvice}
			continue
		}
		cs.leaving[i].Receipt.Message = msg
	}
	cs.m.step.Record(events.Event{Type: events.ControllerStopped, Message: msg}, cs.leaving...)
	cs.leaving = nil
}

// OneShotDone reports whether a one-shot run is complete.
func (m *Machine) OneShotDone() bool {
	return m.lists.listed && m.cityStop.nothingInFlight() && !m.lists.listing &&
		m.lists.lateResponses == 0 && !m.loader.loading &&
		!m.pools.Busy() && m.drifts.checking == 0
}
