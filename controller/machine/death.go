package machine

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
	"gcity/restart"
	"gcity/session"
)

// exited handles an exit that the provider reported. A provider may report an exit several times; the session ID
// ensures that it is handled once.
func (m *Machine) exited(now time.Time, e session.Exit) {
	a, ok := m.agents[e.Agent]
	if !ok || e.ID == a.sess.lastEnd {
		return
	}
	switch {
	case a.phase.Starting():
		a.act.early = &e
	case a.phase.Stopping():
	case a.phase.Alive() && a.sess.life.ID == e.ID && e.Asked:
		// an earlier stop that reported an error has succeeded after all
		m.endedAsAsked(now, a, e.ID)
		m.decide(now, a)
	case a.phase.Alive() && a.sess.life.ID == e.ID:
		m.died(now, a, e)
		m.decide(now, a)
	}
}

// endedAsAsked handles the exit of a session that gcity stopped, if the stop itself did not report it.
func (m *Machine) endedAsAsked(now time.Time, a *record, id string) {
	a.phase.Ends()
	a.sess.drift, a.act.stopFrom = nil, time.Time{}
	m.ended(now, a, id)
	m.afterStop(now, a, a.act.stopping)
}

// died handles an exit that was not requested.
func (m *Machine) died(now time.Time, a *record, e session.Exit) {
	a.phase.Ends()
	a.sess.drift = nil
	a.sess.life.ID, a.sess.life.PID = e.ID, 0
	drained := a.finish.drain
	m.ended(now, a, e.ID)
	a.sess.exit = &city.Exit{Code: e.Code, Signal: e.Signal, At: e.At, Uptime: e.Uptime}
	d := effect.Death(&e)
	// an exit with code 0 completes a drain
	if drained != nil && m.policy(a).counts() && e.Code == 0 && e.Signal == "" {
		m.decided(now, a, "drained", "it exited 0")
		m.journal.recordEnd(a, e, events.Event{Type: events.AgentStopped,
			Message: "drained: it exited 0", Payload: effect.ExitPayload(e)})
		a.rest.notBefore, a.rest.hold, a.rest.staysDown = time.Time{}, "", false
		m.drains.afterDrain(a, "it exited 0", drained.by == byOperator, drained.final)
		return
	}
	if a.act.intent.kind == causeRequest { // it exited before it was stopped
		asked := a.act.intent
		a.act.intent = cause{}
		m.afterStop(now, a, asked)
		return
	}
	if a.want == nil || a.want.Suspended != "" || m.ending != alive {
		m.journal.recordEnd(a, e, events.Event{Type: events.AgentStopped, Message: d.String(),
			Payload: effect.ExitPayload(e)})
		return
	}
	m.policy(a).died(now, a, e, drained)
}

// died applies the restart policy.
func (p always) died(now time.Time, a *record, e session.Exit, drained *drain) {
	m, d := p.m, effect.Death(&e)
	v := a.rest.history.Died(now, d, a.want.Policy)
	a.rest.diedOnItsOwn = true
	m.decided(now, a, "died", d.String())
	m.recordDeath(now, a, e, v)
	m.follow(now, a, v)
	if drained != nil && drained.final && v.Outcome == restart.Restart {
		a.Rest("it exited while draining: " + v.Reason)
	}
	if m.settling {
		a.rest.staysDown, a.rest.hold, a.rest.holdWhy = true, city.Exited, v.Reason
		return
	}
	if v.Crash {
		m.deps.spread(now, a)
	}
}

// recordDeath records an exit. The event of a crash waits until the last output is saved.
func (m *Machine) recordDeath(now time.Time, a *record, e session.Exit, v restart.Verdict) {
	switch {
	case m.journal.past[e.ID]:
	case e.Lost:
		why := "host_lost: " + cmp.Or(e.Reason, "the process that held its terminal has exited")
		m.journal.recordEnd(a, e, events.Event{Type: events.AgentStopped, Message: why,
			Payload: effect.ExitPayload(e)})
	case !v.Crash:
		m.journal.recordEnd(a, e, events.Event{Type: events.AgentStopped, Message: "exited 0",
			Payload: effect.ExitPayload(e)})
	default:
		msg := fmt.Sprintf("%s after %s", restart.Death{Code: e.Code, Signal: e.Signal},
			e.Uptime.Round(time.Millisecond))
		if e.Code == 0 && e.Signal == "" {
			msg = fmt.Sprintf("exited 0 after %s, sooner than min_uptime",
				e.Uptime.Round(time.Millisecond))
		}
		m.journal.recordCrash(now, a, e, events.Event{
			Type: events.AgentCrashed, Actor: effect.ActorController, Subject: a.name, Message: msg,
			Payload: effect.ExitPayload(e),
		})
	}
}

// follow carries out the decision of the restart policy.
func (m *Machine) follow(now time.Time, a *record, v restart.Verdict) {
	a.act.because, a.rest.holdWhy, a.rest.notBefore = "restarted after "+v.Reason, v.Reason, v.At
	switch v.Outcome {
	case restart.Leave:
		a.rest.staysDown, a.rest.hold = true, city.Exited
	case restart.Quarantine:
		a.rest.hold, a.rest.quarantineCrashes = city.Quarantined, v.Count
		m.decided(now, a, "quarantine", v.Reason)
		m.journal.record(a, events.Event{
			Type: events.AgentQuarantined, Message: fmt.Sprintf(
				"%s; retries in %s, or when it is released", v.Reason,
				v.At.Sub(now).Round(time.Second)),
			Payload: step.Payload(map[string]any{"until": v.At.UTC().Format(time.RFC3339)}),
		})
	case restart.Restart:
		a.rest.hold = city.Backoff
		if v.At.After(now) {
			m.decided(now, a, "backoff", fmt.Sprintf("%s; restarts in %s", v.Reason,
				v.At.Sub(now).Round(time.Millisecond)))
		}
	}
}

// failed handles a failed start. It counts as a crash unless nothing was started.
func (p always) failed(now time.Time, a *record, err error) {
	m := p.m
	if errors.Is(err, session.ErrMissing) || errors.Is(err, session.ErrCommand) {
		m.cannotStart(now, a, err)
		return
	}
	a.rest.missing = effect.MissingMemo{}
	v := a.rest.history.Died(now, restart.Death{Code: -1, StartFailed: true}, a.want.Policy)
	m.decided(now, a, "start failed", err.Error())
	m.journal.record(a, events.Event{Type: events.AgentStartFailed, Message: err.Error()})
	m.commands.refuse(a, city.Unavailable, fmt.Sprintf("agent %s cannot start: %v", a.name, err))
	if v.Outcome == restart.Quarantine {
		v.Reason += ": " + err.Error()
	}
	m.follow(now, a, v)
	a.act.because = "retried after a failed start"
	if v.Outcome != restart.Quarantine {
		a.rest.hold, a.rest.holdWhy = city.Failed, err.Error()
	}
	if m.settling {
		a.rest.staysDown = true
	}
}

// cannotStart handles a start that could not begin because something is missing. Nothing has run, so it is not a
// crash. It is retried as long as the agent is wanted, but recorded only once.
func (m *Machine) cannotStart(now time.Time, a *record, err error) {
	if a.rest.missing.Why != err.Error() {
		m.decided(now, a, "cannot start", err.Error())
		m.journal.record(a, events.Event{Type: events.AgentStartFailed, Message: err.Error()})
		a.rest.missing = effect.MissingMemo{Why: err.Error(),
			Tries: a.rest.missing.Tries, Since: now}
	}
	m.commands.refuse(a, city.Unavailable, fmt.Sprintf("agent %s cannot start: %v", a.name, err))
	a.rest.missing.Tries++
	a.rest.notBefore = a.want.Policy.Again(now, a.rest.missing.Tries)
	a.rest.hold, a.rest.holdWhy, a.act.because = city.Failed, a.rest.missing.Why,
		"retried after a failed start"
	m.set(now, a, a.rest.hold, a.rest.holdWhy, a.rest.notBefore)
	a.since = a.rest.missing.Since // keep the time of the first failure
	if m.settling {
		a.rest.staysDown = true
	}
}

// stopExit returns the exit of a session that gcity stopped.
func (a *record) stopExit(now time.Time) session.Exit {
	return session.Exit{Name: a.sessionName(), Agent: a.name, ID: a.sess.life.ID, Code: -1,
		Asked: true, At: now}
}

func (a *record) sessionName() string {
	if a.sess.life.Name != "" {
		return a.sess.life.Name
	}
	return a.want.Spec.Name
}

// pace limits how often an agent can request its own restart. Such a request never counts as a crash.
func (a *record) pace(now time.Time, why string) {
	if at := a.want.Policy.Paced(now, now.Sub(a.sess.life.Started)); at.After(now) {
		a.rest.hold, a.rest.holdWhy, a.rest.notBefore = city.Backoff, why, at
	}
}

func (m *Machine) flushAcks(a *record) {
	for _, f := range a.act.acks {
		m.step.Do(f)
	}
	a.act.acks, a.act.ackTurn = a.act.acks[:0], m.turn
}
