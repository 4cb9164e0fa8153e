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
	"gcity/session"
)

// typedRecently is how long a restart for a changed configuration waits after a user has typed.
const typedRecently = time.Minute

// viewersFresh is the maximum age of the list of sessions when the machine relies on it to stop an agent. The list
// shows attached viewers and activity.
const viewersFresh = time.Second

// stopRetry is the wait before a failed stop is retried.
const stopRetry = 5 * time.Second

func (m *Machine) decideAll(now time.Time) {
	for _, a := range m.order {
		m.decide(now, a)
	}
}

// decide brings one agent one step closer to the wanted state. It is level-triggered: it depends on the current
// facts only, and a second call changes nothing (L5).
func (m *Machine) decide(now time.Time, a *record) {
	if !m.looks.listed || m.ending == leaveAgents || m.ending == ended {
		return
	}
	switch a.phase.State() {
	case lifecycle.Starting, lifecycle.Resuming:
		m.mayCancel(a)
	case lifecycle.Stopping:
		m.cityStop.overdue(now, a)
	case lifecycle.Unready, lifecycle.Running:
		m.decideAlive(now, a)
	case lifecycle.Absent:
		m.decideDead(now, a)
	case lifecycle.Unclear: // the next list decides
		if !a.until.IsZero() && !now.Before(a.until) {
			m.set(now, a, a.state, a.reason, time.Time{})
		}
	}
}

// mayCancel cancels a start that is no longer wanted. The result of the start is still awaited (L1).
func (m *Machine) mayCancel(a *record) {
	idle := m.ending == stopAgents || a.unwanted() || a.want.Suspended != "" ||
		a.act.intent.kind != causeNone || m.policy(a).obsolete(a)
	if idle && a.phase.Cancel() {
		m.step.Do(effect.Cancel{Agent: a.name})
	}
}

func (m *Machine) decideAlive(now time.Time, a *record) {
	if now.Before(a.act.stopFrom) {
		return
	}
	m.drains.pending(now, a)
	if c := m.whyStop(now, a); c.kind != causeNone {
		if last := m.deps.leavesLater(a); last != "" && c.kind.wide() {
			m.set(now, a, city.Stopping, c.why+"; stops after "+last+", which depends on it",
				time.Time{})
			return
		}
		m.stop(now, a, c)
		return
	}
	m.drains.mark(now, a)
	if !a.phase.Ready() && !a.unwanted() {
		a.phase.Resume(m.turn)
		m.set(now, a, city.Starting, "adopted before it was ready", time.Time{})
		m.decided(now, a, "resume", "the previous controller started it and did not see it ready")
		m.step.Do(effect.Resume{Want: a.want, Status: a.sess.life})
		return
	}
	if a.finish.drain != nil {
		m.drains.draining(now, a)
		return
	}
	m.drifts.running(now, a)
}

// wide reports whether a cause can stop many agents at once. They then stop in the order of their dependencies.
func (k causeKind) wide() bool { return k == causeEnd || k == causeOrphan || k == causeSuspend }

// whyStop returns the most important reason to stop a running session. The order is documented in the operator's
// guide.
func (m *Machine) whyStop(now time.Time, a *record) cause {
	p := m.policy(a)
	over := p.overstays(now, a)
	switch {
	case m.ending == stopAgents:
		return cause{kind: causeEnd, why: "the city is stopped"}
	case a.want == nil && a.pool == nil && a.finish.drain != nil && a.finish.drain.by == byPool:
		// the pool was removed; its members may finish first
		return a.drained(now)
	case a.want == nil && a.pool == nil:
		return cause{kind: causeOrphan, why: "orphan: not declared"}
	case a.want != nil && a.want.Suspended != "":
		return cause{kind: causeSuspend, why: a.want.Suspended}
	case a.want == nil && a.pool.Want.Suspended != "":
		return cause{kind: causeSuspend, why: a.pool.Want.Suspended}
	case a.act.intent.kind != causeNone:
		return a.act.intent
	case a.unwanted() && !a.phase.Ready() && !m.settling && !a.pool.Guessed():
		return cause{kind: causeDrained, why: a.surplusReason() + "; it was not ready yet"}
	case over.kind != causeNone:
		return over
	case a.finish.drain != nil || a.unwanted():
		return a.drained(now)
	}
	return p.replace(now, a)
}

// idle returns the cause to stop an agent that was silent for too long. It needs a recent list of sessions and a
// provider that reports activity.
func (m *Machine) idle(now time.Time, a *record) cause {
	a.silence.idleAt = time.Time{}
	limit := a.want.IdleTimeout
	if limit == 0 || m.settling || a.sess.life.Activity.IsZero() || a.sess.life.Attached > 0 ||
		a.sess.life.Frozen || a.obscure() {
		return cause{}
	}
	active := a.sess.life.Activity
	if m.awake.After(active) { // a stall of the whole program does not count as silence
		active = m.awake
	}
	a.silence.idleAt = active.Add(limit)
	if now.Before(a.silence.idleAt) {
		return cause{}
	}
	if now.Sub(a.sess.fresh) > viewersFresh {
		m.looks.look()
		return cause{}
	}
	return cause{kind: causeIdle, why: fmt.Sprintf("silent for %s (idle_timeout %s)",
		now.Sub(active).Round(time.Second), limit)}
}

func (m *Machine) decideDead(now time.Time, a *record) {
	m.unstick(a)
	switch {
	case m.ending == stopAgents:
		m.set(now, a, city.Exited, "the city is being stopped", time.Time{})
	case a.unwanted(): // the record is removed once no list shows the session
		why := "no longer declared"
		if a.want != nil {
			why = a.surplusReason()
		}
		a.act.intent, a.act.because = cause{}, ""
		m.set(now, a, city.Exited, why, time.Time{})
		m.commands.refuse(a, city.NotFound, "agent "+a.name+" has ended: "+why)
	case a.want.Suspended != "":
		a.act.intent = cause{}
		m.set(now, a, city.Suspended, a.want.Suspended, time.Time{})
		m.commands.resolve(a, "agent "+a.name+" is suspended "+a.want.Suspended, "stop", "suspend")
		m.commands.refuseAll(m.commands.takeWaiters(a, "restart", "kill"), city.Conflict,
			"agent "+a.name+" is suspended "+a.want.Suspended)
	case a.want.Problem != "":
		a.act.intent = cause{}
		m.set(now, a, city.Failed, a.want.Problem, time.Time{})
		m.commands.refuse(a, city.Unavailable, fmt.Sprintf("agent %s cannot start: %s", a.name,
			a.want.Problem))
	case m.policy(a).waits(a):
		m.policy(a).rest(now, a)
	case a.act.intent.kind == causeRestart || a.act.intent.kind == causeKill:
		// a restart by a user ends the wait before the next start
		if a.rest.staysDown || now.Before(a.rest.notBefore) {
			a.act.because = a.act.intent.why
		}
		m.start(now, a)
	case a.rest.staysDown:
		m.set(now, a, a.rest.hold, a.rest.holdWhy, time.Time{})
	case now.Before(a.rest.notBefore):
		m.set(now, a, a.rest.hold, a.rest.holdWhy, a.rest.notBefore)
	default:
		m.start(now, a)
	}
}

func (m *Machine) start(now time.Time, a *record) {
	if why := cmp.Or(m.deps.missing(a), a.shrinks(), m.work.handsBack(a),
		m.looks.mayRunUnlisted(a)); why != "" {
		m.set(now, a, city.Waiting, why, time.Time{})
		m.commands.resolve(a, fmt.Sprintf("agent %s %s and then starts", a.name, why),
			"restart", "kill")
		return
	}
	if a.rest.hold == city.Quarantined {
		a.act.because = "quarantine ended"
	}
	m.policy(a).begins(a)
	a.act.because = orDefault(a.act.because, a.declared())
	a.phase.Start(m.turn)
	a.act.early = nil
	a.act.intent, a.rest.notBefore, a.rest.hold, a.rest.holdWhy = cause{}, time.Time{}, "", ""
	m.set(now, a, city.Starting, a.act.because, time.Time{})
	if a.rest.missing.Why == "" {
		m.decided(now, a, "start", a.act.because)
	}
	m.journal.begin(a)
}

func (m *Machine) stop(now time.Time, a *record, c cause) {
	a.phase.Stop(m.turn)
	a.act.stopping, a.act.intent = c, cause{}
	grace := m.conf.Grace
	if c.kind == causeKill || m.cityStop.hurried {
		grace = 0
	}
	m.set(now, a, city.Stopping, c.why, m.cityStop.stopUntil(now, grace))
	m.decided(now, a, "stop", c.why)
	if c.kind == causeRequest {
		m.journal.record(a, events.Event{Type: events.AgentDraining, Actor: a.name, Message: c.why})
	}
	if c.kind == causeIdle {
		m.journal.record(a, events.Event{Type: events.AgentIdleKilled, Message: c.why})
	}
	m.step.Do(effect.Stop{Agent: a.name, Session: a.sess.life.Name, Grace: grace})
}

func (m *Machine) started(now time.Time, in effect.Started) {
	a, ok := m.agents[in.Agent]
	if !ok || !a.phase.StartEnds(m.turn) {
		return
	}
	early := a.act.early
	a.act.early, a.act.asking, a.act.endFiles = nil, nil, false
	switch {
	case in.Err == nil:
		m.up(now, a, in)
		switch {
		case early == nil || early.ID != in.Status.ID:
		case early.Asked:
			m.endedAsAsked(now, a, early.ID)
		default:
			m.died(now, a, *early)
		}
	case early != nil && early.ID != a.sess.lastEnd && !early.Asked:
		// the failed start caused this exit, which has the better reason
		m.died(now, a, *early)
	case a.phase.Canceled():
		a.phase.Doubt()
		m.looks.look()
		m.policy(a).canceled(now, a)
	default:
		a.phase.Doubt()
		m.looks.look()
		a.phase.Ends()
		if a.want != nil {
			m.policy(a).failed(now, a, in.Err)
		}
	}
	m.decide(now, a)
}

func (m *Machine) up(now time.Time, a *record, in effect.Started) {
	fresh, before := !a.phase.Alive(), a.sess.life
	if fresh {
		a.sess.lastOutput = time.Time{}
		a.noteOutput(now, &in.Status, false)
	}
	a.phase.Runs()
	a.sess.life, a.rest.staysDown, a.rest.final, a.rest.missing = in.Status, false, false,
		effect.MissingMemo{}
	if fresh && a.rest.diedOnItsOwn {
		a.rest.restarts++
	}
	a.rest.diedOnItsOwn = a.rest.diedOnItsOwn && !fresh
	m.set(now, a, city.Running, a.act.because, time.Time{})
	if fresh && before.Swapped(&session.Spec{Provider: in.Status.Provider}) {
		a.finish.unmarked = false
		m.journal.record(a, events.Event{
			Type: events.ProviderSwapped, Message: fmt.Sprintf("from %s to %s", before.Provider,
				in.Status.Provider),
			Payload: step.Payload(map[string]any{"from": before.Provider, "to": in.Status.Provider,
				"session": in.Status.ID}),
		})
	}
	counts := m.policy(a).counts()
	if fresh && counts {
		m.journal.record(a, events.Event{
			Type: events.AgentStarted, Message: step.Numbered(in.Status.PID, "pid %d: ") +
				a.act.because,
			Payload: step.Payload(map[string]any{"pid": in.Status.PID, "session": in.Status.ID,
				"reason": a.act.because}),
		}, m.commands.answersFor(a, "agent "+a.name+" is running"+
			step.Numbered(in.Status.PID, ", pid %d"),
			"restart", "kill")...)
	}
	if in.Equipped != "" {
		m.decided(now, a, "equip", in.Equipped)
	}
	for _, trouble := range in.Troubles {
		m.decided(now, a, "equip failed", trouble)
		if counts {
			m.journal.record(a, events.Event{Type: events.AgentUnequipped, Message: trouble})
		}
	}
}

func (m *Machine) stopped(now time.Time, in effect.Stopped) {
	a, ok := m.agents[in.Agent]
	if !ok || !a.phase.StopEnds(m.turn) {
		return
	}
	if in.Err != nil {
		a.act.stopFrom = now.Add(stopRetry)
		a.act.intent = a.act.stopping.again()
		a.phase.Doubt()
		m.looks.look()
		m.set(now, a, city.Stopping, "cannot be stopped: "+in.Err.Error(), a.act.stopFrom)
		m.decided(now, a, "stop failed", in.Err.Error())
		m.commands.refuse(a, city.Unavailable,
			fmt.Sprintf("agent %s cannot be stopped: %v", a.name, in.Err))
		m.loader.refuseGroupsOf(a, fmt.Sprintf("agent %s cannot be stopped: %v", a.name, in.Err))
		return
	}
	a.phase.Ends()
	a.sess.drift, a.act.stopFrom = nil, time.Time{}
	m.ended(now, a, a.sess.life.ID)
	m.afterStop(now, a, a.act.stopping)
	m.decide(now, a)
}

// again returns the intent that retries a failed stop. It is empty for causes that follow from the configuration,
// because whyStop finds those again.
func (c cause) again() cause {
	switch c.kind {
	case causeRestart, causeKill, causeRequest, causeFellow, causeWatch:
		return c
	}
	return cause{}
}

// ended handles the end of a session. It is called exactly once per session.
func (m *Machine) ended(now time.Time, a *record, id string) {
	a.sess.lastEnd, a.finish.drain, a.silence.idleAt = id, nil, time.Time{}
	m.commands.resolve(a, "agent "+a.name+" has ended", "drain")
	m.work.leaves(a)
	a.act.acks = append(a.act.acks, effect.Acknowledge{Agent: a.name, Session: a.sessionName(),
		ID: id})
	if a.sess.exit == nil || a.sess.exit.At.Before(now) {
		m.step.Changed = true
	}
}

func (m *Machine) afterStop(now time.Time, a *record, c cause) {
	e := events.Event{Type: events.AgentStopped, Message: c.why,
		Payload: step.Payload(map[string]any{"session": a.sess.life.ID})}
	a.act.because, a.rest.notBefore, a.rest.hold, a.rest.staysDown, a.rest.final = "", time.Time{},
		"",
		false, false
	answers := m.commands.answersFor(a, fmt.Sprintf("agent %s was stopped", a.name), "kill")
	switch c.kind {
	case causeRestart:
		e.Actor, a.act.because = effect.ActorOperator, c.why
	case causeKill:
		e.Actor, a.act.because = effect.ActorOperator, "restarted after it was killed by operator"
	case causeDrift, causeFellow, causeWatch:
		a.act.because = c.why
	case causeIdle:
		a.rest.diedOnItsOwn = true
		a.act.because = "restarted: " + c.why
	case causeDrained:
		m.drains.afterDrain(a, c.why, c.finished, c.final)
	case causeSuspend:
		e.Type, e.Actor = events.AgentSuspended, effect.ActorOperator
		answers = append(answers, m.commands.answersFor(a,
			fmt.Sprintf("agent %s is suspended %s", a.name, c.why), "stop", "suspend")...)
	case causeRequest:
		e.Actor, a.act.because, a.rest.diedOnItsOwn = a.name, c.why, true
	}
	m.policy(a).stopped(now, a, c, e, answers)
}
