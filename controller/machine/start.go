package machine

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
	"gcity/restart"
	"gcity/session"
)

func (m *Machine) start(now time.Time, a *record) {
	if why := cmp.Or(m.deps.missing(a), a.waitsForCount(), m.work.waitsForReturn(a),
		m.lists.mayRunUnlisted(a)); why != "" {
		m.set(now, a, city.Waiting, why, time.Time{})
		m.commands.resolve(a, fmt.Sprintf("agent %s has not started yet: it %s", a.name, why),
			"restart", "kill")
		return
	}
	if a.restart.hold == city.Quarantined {
		a.act.startReason = "quarantine ended"
	}
	a.policy.begins(a)
	a.act.startReason = orDefault(a.act.startReason, a.declared())
	a.phase.Start(m.stepNumber)
	a.act.earlyExit = nil
	a.act.intent = cause{}
	a.restart.clear() // a user may start an agent that otherwise stays stopped
	m.set(now, a, city.Starting, a.act.startReason, time.Time{})
	if a.restart.missing.Why == "" {
		m.decided(now, a, "start", a.act.startReason)
	}
	m.journal.begin(a)
}

func (m *Machine) started(now time.Time, in effect.Started) {
	a, ok := m.agents[in.Agent]
	if !ok || !a.phase.StartEnds(m.stepNumber) {
		return
	}
	early := a.act.earlyExit
	a.act.earlyExit, a.act.asking, a.act.exitFiles = nil, nil, false
	switch {
	case in.Err == nil:
		m.up(now, a, in)
		switch {
		case early == nil || early.ID != in.Status.ID:
		case early.Asked:
			m.endedAsRequested(now, a, early.ID)
		default:
			m.died(now, a, *early)
		}
	case early != nil && early.ID != a.sess.lastEnd && !early.Asked:
		// this exit caused the failed start and explains it better
		m.died(now, a, *early)
	case a.phase.Canceled():
		a.phase.BecomesUnknown()
		m.lists.request()
		a.policy.canceled(now, a)
	default:
		a.phase.BecomesUnknown()
		m.lists.request()
		a.phase.Ends()
		if a.want != nil {
			a.policy.failed(now, a, in.Err)
		}
	}
	m.decide(now, a)
}

func (m *Machine) up(now time.Time, a *record, in effect.Started) {
	fresh, before := !a.phase.Alive(), a.sess.life
	if fresh {
		a.sess.lastOutput = time.Time{}
		a.sess.noteOutput(now, &in.Status, false)
	}
	a.phase.Runs()
	a.sess.life = in.Status
	a.restart.started(fresh)
	m.set(now, a, city.Running, a.act.startReason, time.Time{})
	if fresh && before.ProviderChanged(&session.Spec{Provider: in.Status.Provider}) {
		a.drain.unmarked = false
		m.journal.record(a, events.Event{
			Type: events.ProviderSwapped, Message: fmt.Sprintf("from %s to %s", before.Provider,
				in.Status.Provider),
			Payload: step.Payload(map[string]any{"from": before.Provider, "to": in.Status.Provider,
				"session": in.Status.ID}),
		})
	}
	counts := a.policy.counts()
	if fresh && counts {
		runs := "is running" + step.Numbered(in.Status.PID, ", pid %d")
		m.journal.record(a, events.Event{
			Type: events.AgentStarted, Message: step.Numbered(in.Status.PID, "pid %d: ") +
				a.act.startReason,
			Payload: step.Payload(map[string]any{"pid": in.Status.PID, "session": in.Status.ID,
				"reason": a.act.startReason}),
		}, append(m.commands.repliesFor(a, "agent "+a.name+" "+runs, "restart"),
			m.commands.repliesFor(a, "agent "+a.name+" was killed and "+runs, "kill")...)...)
	}
	if in.Copied != "" {
		m.decided(now, a, "equip", in.Copied)
	}
	for _, trouble := range in.CopyProblems {
		m.decided(now, a, "equip failed", trouble)
		if counts {
			m.journal.record(a, events.Event{Type: events.AgentUnequipped, Message: trouble})
		}
	}
}

// failed handles a failed start. The failure counts as a crash unless nothing was started.
func (p always) failed(now time.Time, a *record, err error) {
	m := p.m
	if errors.Is(err, session.ErrMissing) || errors.Is(err, session.ErrCommand) ||
		errors.Is(err, session.ErrExhausted) {
		m.cannotStart(now, a, err)
		return
	}
	a.restart.missing = effect.FailedStarts{}
	v := a.restart.history.Died(now, restart.Death{Code: -1, StartFailed: true}, a.want.Policy)
	m.journal.record(a, events.Event{Type: events.AgentStartFailed, Message: err.Error()})
	m.commands.reject(a, city.Unavailable, fmt.Sprintf("agent %s cannot start: %v", a.name, err))
	if v.Outcome == restart.Quarantine {
		v.Reason += ": " + err.Error()
	}
	m.applyVerdict(now, a, v, "start failed", err.Error())
	a.act.startReason = "retried after a failed start"
	if v.Outcome != restart.Quarantine {
		a.restart.wait(city.Failed, err.Error(), a.restart.notBefore)
	}
	if m.oneShot {
		a.restart.staysDown = true
	}
}

// cannotStart handles a start that could not begin because something is missing or exhausted. Nothing has run, so
// this is not a crash. The start is retried while the agent is wanted, but the failure is recorded only once.
func (m *Machine) cannotStart(now time.Time, a *record, err error) {
	if a.restart.missing.Why != err.Error() {
		m.decided(now, a, city.CannotStart, err.Error())
		m.journal.record(a, events.Event{Type: events.AgentStartFailed, Message: err.Error()})
		a.restart.missing = effect.FailedStarts{Why: err.Error(),
			Tries: a.restart.missing.Tries, Since: now}
	}
	m.commands.reject(a, city.Unavailable, fmt.Sprintf("agent %s cannot start: %v", a.name, err))
	a.restart.missing.Tries++
	a.restart.wait(city.Failed, a.restart.missing.Why,
		a.want.Policy.Again(now, a.restart.missing.Tries))
	a.act.startReason = "retried after a failed start"
	m.set(now, a, a.restart.hold, a.restart.holdWhy, a.restart.notBefore)
	a.since = a.restart.missing.Since // keep the time of the first failure
	if m.oneShot {
		a.restart.staysDown = true
	}
}

// dialogAnswered records that gcity answered a question in an agent's terminal on the user's behalf.
func (m *Machine) dialogAnswered(in effect.DialogAnswered) {
	keys := strings.Join(in.Dialog.Keys, ", ")
	e := events.Event{
		Type: events.AgentNudged, Actor: effect.ActorController, Subject: in.Agent,
		Message: fmt.Sprintf("the agent's question about %s was answered with %s because "+
			"emits_permission_warning is set", in.Dialog.Name, keys),
		Payload: step.Payload(map[string]any{"session": in.Session, "dialog": in.Dialog.Name,
			"keys": in.Dialog.Keys}),
	}
	if a, ok := m.agents[in.Agent]; ok {
		m.journal.record(a, e)
		return
	}
	m.step.Do(effect.Record{Event: e})
}

// asks updates the reason for a starting agent's state. The agent is waiting for its provider, or for a user to
// answer a question in the terminal.
func (m *Machine) asks(now time.Time, in effect.Asking) {
	a, ok := m.agents[in.Agent]
	if !ok || !a.phase.Starting() || a.phase.Canceled() {
		return
	}
	if in.About == "" {
		a.act.asking = nil
		why := orDefault(in.Waits, orDefault(a.act.startReason, "started"))
		m.set(now, a, city.Starting, why, time.Time{})
		return
	}
	a.act.asking, m.step.Changed = &in.Status, true
	m.set(now, a, city.Starting, "asks about "+in.About+": answer it in the agent's terminal; "+
		"with emits_permission_warning = true, gcity answers such questions", time.Time{})
}
