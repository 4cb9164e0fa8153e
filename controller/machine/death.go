package machine

import (
	"cmp"
	"fmt"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/lifecycle"
	"gcity/controller/step"
	"gcity/events"
	"gcity/restart"
	"gcity/session"
)

// exited handles an exit that the provider reported. A provider may report an exit several times. The session ID
// ensures that the exit is handled only once.
func (m *Machine) exited(now time.Time, e session.Exit) {
	a, ok := m.agents[e.Agent]
	if !ok || e.ID == a.sess.lastEnd {
		return
	}
	switch a.phase.State() {
	case lifecycle.Starting, lifecycle.Resuming:
		a.act.earlyExit = &e
		return
	case lifecycle.Stopping: // the stop reports the end
		return
	}
	switch {
	case !a.phase.Alive() || a.sess.life.ID != e.ID:
		return
	case e.Asked: // an earlier stop that reported an error has succeeded after all
		m.endedAsRequested(now, a, e.ID)
	default:
		m.died(now, a, e)
	}
	m.decide(now, a)
}

// endedAsRequested handles the exit of a session that gcity stopped, if the result of the stop did not report the
// exit.
func (m *Machine) endedAsRequested(now time.Time, a *record, id string) {
	a.phase.Ends()
	a.sess.drift, a.act.retryStopAt = nil, time.Time{}
	m.ended(now, a, id)
	m.afterStop(now, a, a.act.stopping)
}

// died handles an exit that was not requested.
func (m *Machine) died(now time.Time, a *record, e session.Exit) {
	a.phase.Ends()
	a.sess.drift = nil
	a.sess.life.ID, a.sess.life.PID = e.ID, 0
	drained := a.drain.current
	m.ended(now, a, e.ID)
	a.sess.exit = &city.Exit{Code: e.Code, Signal: e.Signal, At: e.At, Uptime: e.Uptime}
	d := effect.Death(&e)
	// an exit with code 0 completes a drain
	if drained != nil && a.policy.counts() && e.Code == 0 && e.Signal == "" {
		m.decided(now, a, "drained", "exited 0")
		m.journal.recordEnd(a, e, events.Event{Type: events.AgentStopped,
			Message: "drained: exited 0", Payload: effect.ExitPayload(e)})
		a.restart.retry()
		m.drains.afterDrain(a, "exited 0", drained.by == byOperator, drained.final)
		return
	}
	if a.act.intent.kind == causeRequest { // the agent exited before it was stopped
		asked := a.act.intent
		a.act.intent = cause{}
		m.afterStop(now, a, asked)
		return
	}
	if a.want == nil || a.want.Suspended.On() || m.ending != running {
		m.journal.recordEnd(a, e, events.Event{Type: events.AgentStopped, Message: d.String(),
			Payload: effect.ExitPayload(e)})
		return
	}
	a.policy.died(now, a, e, drained)
}

// died applies the restart policy to an exit.
func (p always) died(now time.Time, a *record, e session.Exit, drained *drain) {
	m, d := p.m, effect.Death(&e)
	v := a.restart.history.Died(now, d, a.want.Policy)
	a.restart.diedOnItsOwn = true
	final := drained != nil && drained.final && v.Outcome != restart.Leave
	if final { // an agent that stays stopped needs no quarantine and no delay
		v.Outcome, v.At = restart.Restart, now
	}
	m.recordDeath(now, a, e, v)
	m.applyVerdict(now, a, v, "died", d.String())
	if final {
		a.stayFinal("exited while draining: " + v.Reason)
	}
	if m.oneShot {
		a.restart.stay(v.Reason)
		return
	}
	if v.Crash && m.deps.ordered {
		m.deps.restartCoupled(now, a)
	}
}

// applyVerdict applies the restart policy's verdict on a death. what and why describe the death.
func (m *Machine) applyVerdict(now time.Time, a *record, v restart.Verdict, what, why string) {
	m.decided(now, a, what, why)
	a.act.startReason = "restarted after " + v.Reason
	switch v.Outcome {
	case restart.Leave:
		a.restart.wait(city.Exited, v.Reason, v.At)
		a.restart.staysDown = true
	case restart.Quarantine:
		a.restart.wait(city.Quarantined, v.Reason, v.At)
		a.restart.quarantineCrashes = v.Count
		m.decided(now, a, "quarantine", v.Reason)
		m.journal.record(a, events.Event{
			Type: events.AgentQuarantined, Message: fmt.Sprintf(
				"%s; retries in %s, or when it is released", v.Reason,
				v.At.Sub(now).Round(time.Second)),
			Payload: step.Payload(map[string]any{"until": v.At.UTC().Format(time.RFC3339)}),
		})
	case restart.Restart:
		a.restart.wait(city.Backoff, v.Reason, v.At)
		if v.At.After(now) {
			wait := v.At.Sub(now).Round(time.Millisecond)
			if wait > time.Second {
				wait = wait.Round(100 * time.Millisecond)
			}
			m.decided(now, a, "backoff", fmt.Sprintf("%s; restarts in %s", v.Reason, wait))
		}
	}
}

// recordDeath records an exit. A crash event waits until the last output is saved.
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

// limitRestarts limits how often an agent can restart itself by request. A requested restart never counts as a crash.
func (a *record) limitRestarts(now time.Time, why string) {
	if at := a.want.Policy.Paced(now, now.Sub(a.sess.life.Started)); at.After(now) {
		a.restart.wait(city.Backoff, why, at)
	}
}

func (m *Machine) flushAcks(a *record) {
	for _, f := range a.act.acks {
		m.step.Do(f)
	}
	a.act.acks, a.act.ackStep = a.act.acks[:0], m.stepNumber
}

// ended handles the end of a session. It is called exactly once for each session.
func (m *Machine) ended(now time.Time, a *record, id string) {
	a.sess.lastEnd, a.drain.current, a.silence.idleAt = id, nil, time.Time{}
	a.sess.exit = beforeOther(a.sess.exit)
	a.restart.earlierExit = beforeOther(a.restart.earlierExit)
	if len(a.waiters) > 0 {
		m.commands.resolve(a, "agent "+a.name+" has stopped", "drain")
	}
	if a.pool != nil {
		m.work.noteLeaver(a)
	}
	a.act.acks = append(a.act.acks, effect.Acknowledge{Agent: a.name, Session: a.sessionName(),
		ID: id})
	if a.sess.exit == nil || a.sess.exit.At.Before(now) {
		m.step.Changed = true
	}
}

// beforeOther returns an exit, which may be nil, as the exit of a session before the last one.
func beforeOther(e *city.Exit) *city.Exit {
	if e == nil || e.Earlier {
		return e
	}
	earlier := *e // snapshots share e
	earlier.Earlier = true
	return &earlier
}

func (m *Machine) stopped(now time.Time, in effect.Stopped) {
	a, ok := m.agents[in.Agent]
	if !ok || !a.phase.StopEnds(m.stepNumber) {
		return
	}
	if in.Err != nil {
		a.act.retryStopAt = now.Add(stopRetry)
		a.act.intent = a.act.stopping.forRetry()
		a.phase.BecomesUnknown()
		m.lists.request()
		m.set(now, a, city.Stopping, "cannot be stopped: "+in.Err.Error(), a.act.retryStopAt)
		m.decided(now, a, "stop failed", in.Err.Error())
		m.commands.reject(a, city.Unavailable,
			fmt.Sprintf("agent %s cannot be stopped: %v", a.name, in.Err))
		m.loader.rejectGroupsOf(a, fmt.Sprintf("agent %s cannot be stopped: %v", a.name, in.Err))
		return
	}
	a.phase.Ends()
	a.sess.drift, a.act.retryStopAt = nil, time.Time{}
	m.ended(now, a, a.sess.life.ID)
	m.afterStop(now, a, a.act.stopping)
	m.decide(now, a)
}

// forRetry returns the cause for a retry of a failed stop. It returns the zero value for a cause that whyStop will
// find again, such as a configuration change.
func (c cause) forRetry() cause {
	switch c.kind {
	case causeRestart, causeKill, causeRequest, causeStrategy, causeWatchdog:
		return c
	}
	return cause{}
}

func (m *Machine) afterStop(now time.Time, a *record, c cause) {
	e := events.Event{Type: events.AgentStopped, Message: c.why,
		Payload: step.Payload(map[string]any{"session": a.sess.life.ID})}
	a.act.startReason = ""
	a.restart.clear()
	var replies []effect.Reply
	if c.kind != causeKill || !a.startsAfterKill() {
		replies = m.commands.repliesFor(a, "agent "+a.name+" was killed", "kill")
	}
	switch c.kind {
	case causeRestart:
		e.Actor, a.act.startReason = effect.ActorOperator, c.why
	case causeKill:
		e.Actor, a.act.startReason = effect.ActorOperator,
			"restarted after it was killed by operator"
	case causeDrift, causeStrategy, causeWatchdog:
		a.act.startReason = c.why
	case causeIdle:
		a.restart.diedOnItsOwn = true
		a.act.startReason = "restarted: " + c.why
	case causeDrained:
		m.drains.afterDrain(a, c.why, c.finished, c.final)
	case causeSuspend:
		e.Type, e.Actor = events.AgentSuspended, effect.ActorOperator
		replies = append(replies, m.commands.repliesFor(a,
			fmt.Sprintf("agent %s is %s", a.name, c.why), "stop", "suspend")...)
	case causeRequest:
		e.Actor, a.act.startReason, a.restart.diedOnItsOwn = a.name, c.why, true
	}
	a.policy.stopped(now, a, c, e, replies)
}
