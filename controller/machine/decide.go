package machine

import (
	"fmt"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/lifecycle"
	"gcity/controller/step"
	"gcity/events"
)

// typedRecently is how long a restart for a configuration change is delayed after a user has typed.
const typedRecently = time.Minute

// viewersFresh is the maximum age of a session list on which a decision to stop an agent may rely. The list shows
// attached viewers and activity.
const viewersFresh = time.Second

// stopRetry is the wait before a failed stop is retried.
const stopRetry = 5 * time.Second

func (m *Machine) decideAll(now time.Time) {
	for _, a := range m.order {
		m.decide(now, a)
	}
}

// decide brings an agent one step closer to the wanted state. It is level-triggered: it depends only on the current
// facts, and a second call changes nothing (L5).
func (m *Machine) decide(now time.Time, a *record) {
	if !m.lists.listed || m.ending == leaveAgents || m.ending == ended {
		return
	}
	if m.observes != nil {
		m.observes.decide(m, now, a)
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
	case lifecycle.Unknown: // the next list decides
		if !a.until.IsZero() && !now.Before(a.until) {
			m.set(now, a, a.state, a.reason, time.Time{})
		}
	}
}

// mayCancel cancels a start that is no longer wanted. The start still returns a result (L1).
func (m *Machine) mayCancel(a *record) {
	idle := m.ending == stopAgents || a.unwanted() || a.want.Suspended.On() ||
		a.act.intent.kind != causeNone || a.policy.obsolete(a)
	if idle && a.phase.Cancel() {
		m.step.Do(effect.Cancel{Agent: a.name})
	}
}

func (m *Machine) decideAlive(now time.Time, a *record) {
	if now.Before(a.act.retryStopAt) {
		return
	}
	m.drains.pending(now, a)
	if c := m.whyStop(now, a); c.kind != causeNone {
		if last := m.deps.mustStopFirst(a); last != "" && c.kind.stopsMany() {
			m.set(now, a, city.Stopping, c.why+"; stops after "+last+", which depends on it",
				time.Time{})
			return
		}
		m.stop(now, a, c)
		return
	}
	m.drains.mark(now, a)
	if !a.phase.Ready() && !a.unwanted() {
		a.phase.Resume(m.stepNumber)
		m.set(now, a, city.Starting, "adopted before it was ready", time.Time{})
		m.decided(now, a, "resume", "the previous controller started it but did not see it "+
			"become ready")
		m.step.Do(effect.Resume{Want: a.want, Status: a.sess.life})
		return
	}
	if a.drain.current != nil {
		m.drains.draining(now, a)
		return
	}
	m.drifts.running(now, a)
}

// stopsMany reports whether a cause can stop many agents at the same time. These agents stop in dependency order.
func (k causeKind) stopsMany() bool {
	return k == causeCityStop || k == causeOrphan ||
		k == causeSuspend
}

// whyStop returns the most important cause for stopping a running session. The cases are in order of importance.
func (m *Machine) whyStop(now time.Time, a *record) cause {
	switch {
	case m.ending == stopAgents:
		return cause{kind: causeCityStop, why: "the city is being stopped"}
	case a.want == nil && a.pool == nil && a.drain.current != nil && a.drain.current.by == byPool:
		// the pool was removed; its members may finish first
		return a.drained(now)
	case a.want == nil && a.pool == nil:
		return cause{kind: causeOrphan, why: "orphan: not declared"}
	case a.want != nil && a.want.Suspended.On():
		return cause{kind: causeSuspend, why: a.want.Suspended.String()}
	case a.want == nil && a.pool.Want.Suspended.On():
		return cause{kind: causeSuspend, why: a.pool.Want.Suspended.String()}
	case a.act.intent.kind != causeNone:
		return a.act.intent
	case a.unwanted() && !a.phase.Ready() && !m.oneShot && !a.pool.Provisional():
		return cause{kind: causeDrained, why: a.surplusReason() + "; it was not ready yet"}
	}
	return a.policy.ends(now, a)
}

// idle returns the cause for stopping an agent that has been silent for too long. It needs a recent list of sessions
// and a provider that reports activity.
func (m *Machine) idle(now time.Time, a *record) cause {
	a.silence.idleAt = time.Time{}
	limit := a.want.IdleTimeout
	if limit == 0 || m.oneShot || a.sess.life.Activity.IsZero() || a.sess.life.Attached > 0 ||
		a.sess.life.Frozen || a.sess.unknown() {
		return cause{}
	}
	active := a.sess.life.Activity
	if m.stalledUntil.After(active) { // a stall of the whole program does not count as silence
		active = m.stalledUntil
	}
	a.silence.idleAt = active.Add(limit)
	if now.Before(a.silence.idleAt) {
		return cause{}
	}
	if now.Sub(a.sess.seenAt) > viewersFresh {
		m.lists.request()
		return cause{}
	}
	return cause{kind: causeIdle, why: fmt.Sprintf("silent for %s (idle_timeout %s)",
		now.Sub(active).Round(time.Second), limit)}
}

func (m *Machine) decideDead(now time.Time, a *record) {
	m.clearStuck(a)
	switch {
	case a.unwanted(): // the record is removed when no list shows the session
		why := "no longer declared"
		if a.want != nil {
			why = a.surplusReason()
		}
		a.act.intent, a.act.startReason = cause{}, ""
		m.set(now, a, city.Exited, why, time.Time{})
		m.commands.reject(a, city.NotFound, "agent "+a.name+" has stopped: "+why)
	case a.want.Suspended.On():
		a.act.intent = cause{}
		m.set(now, a, city.Suspended, a.want.Suspended.Where, time.Time{})
		m.commands.resolve(a, fmt.Sprintf("agent %s is %s", a.name, a.want.Suspended), "stop",
			"suspend")
		m.commands.rejectAll(a.take("restart", "kill"), city.Conflict,
			fmt.Sprintf("agent %s is %s", a.name, a.want.Suspended))
	case a.want.Problem != "":
		a.act.intent = cause{}
		m.set(now, a, city.Failed, a.want.Problem, time.Time{})
		m.commands.reject(a, city.Unavailable, fmt.Sprintf("agent %s cannot start: %s", a.name,
			a.want.Problem))
	case m.ending == stopAgents:
		m.set(now, a, city.Exited, "the city is being stopped", time.Time{})
	case a.policy.waits(a):
		a.policy.rest(now, a)
	case a.act.intent.kind == causeRestart || a.act.intent.kind == causeKill:
		// a restart by a user ends the wait before the next start
		if a.restart.staysDown || now.Before(a.restart.notBefore) {
			a.act.startReason = a.act.intent.why
		}
		m.start(now, a)
	case a.restart.staysDown:
		m.set(now, a, a.restart.hold, a.restart.holdWhy, time.Time{})
	case now.Before(a.restart.notBefore):
		m.set(now, a, a.restart.hold, a.restart.holdWhy, a.restart.notBefore)
	default:
		m.start(now, a)
	}
}

func (m *Machine) stop(now time.Time, a *record, c cause) {
	a.phase.Stop(m.stepNumber)
	killed := c.kind == causeKill || a.act.intent.kind == causeKill
	// the force of a requested kill applies even if another cause takes precedence
	c.force = c.force || a.act.intent.force
	a.act.stopping, a.act.intent = c, cause{}
	grace := m.conf.Grace
	if killed || m.cityStop.hurried {
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
	m.step.Do(effect.Stop{Agent: a.name, Session: a.sess.life.Name, Grace: grace,
		Force: c.force})
}

// updateStuck determines whether an agent has work and has printed nothing for too long. The time is counted from the
// agent's last output, from the assignment of the work, or from a stall of the whole program, whichever is latest. An
// agent that is waiting for a gate is not stuck.
func (m *Machine) updateStuck(now time.Time, a *record) {
	a.silence.stuckAt = time.Time{}
	if a.want == nil || a.want.StuckAfter == 0 { // a former member of a pool has no declaration
		m.clearStuck(a)
		return
	}
	limit := a.want.StuckAfter
	if task, gate := m.work.tasks[a.name], m.work.gated[a.name]; task != a.silence.task ||
		gate != a.silence.gate {
		a.silence.task, a.silence.gate, a.silence.taskAt = task, gate, now
	}
	if a.silence.task == "" || a.silence.gate != "" || a.sess.lastOutput.IsZero() ||
		a.sess.unknown() {
		m.clearStuck(a)
		return
	}
	since := a.sess.lastOutput
	for _, t := range []time.Time{a.silence.taskAt, m.stalledUntil} {
		if t.After(since) {
			since = t
		}
	}
	switch at := since.Add(limit); {
	case now.Before(at):
		a.silence.stuckAt = at
		m.clearStuck(a)
	case a.silence.stuck != nil:
	case now.Sub(a.sess.seenAt) > viewersFresh:
		m.lists.request()
	default:
		a.silence.stuck, m.step.Changed = &city.Stuck{Since: since, Task: a.silence.task}, true
		why := fmt.Sprintf("printed nothing for %s (stuck_after %s) while working on %s",
			now.Sub(since).Round(time.Second), limit, a.silence.task)
		m.decided(now, a, "stuck", why)
		m.journal.record(a, events.Event{Type: events.AgentStuck, Message: why,
			Payload: step.Payload(map[string]any{"since": since.UTC().Format(time.RFC3339),
				"task": a.silence.task})})
	}
}

func (m *Machine) clearStuck(a *record) {
	if a.silence.stuck != nil {
		a.silence.stuck, m.step.Changed = nil, true
	}
}
