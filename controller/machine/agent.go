package machine

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/lifecycle"
	"gcity/controller/rollout"
	"gcity/controller/step"
	"gcity/events"
	"gcity/internal/span"
	"gcity/restart"
	"gcity/session"
)

// a restart for a configuration change is delayed this long after a user has typed
const typedRecently = time.Minute

// maximum age of a session list that is used to decide whether to stop an agent
const viewersFresh = time.Second

const stopRetry = 5 * time.Second

func (m *Machine) decideAll(now time.Time) {
	for _, a := range m.order {
		m.decide(now, a)
	}
}

// decide brings an agent one step closer to the wanted state. A second call in the same step changes nothing (L5).
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
	case lifecycle.Unknown:
		if !a.until.IsZero() && !now.Before(a.until) {
			m.set(now, a, a.state, a.reason)
		}
	}
}

// a canceled start still returns a result (L1)
func (m *Machine) mayCancel(a *record) {
	idle := m.ending == stopAgents || a.unwanted() && !m.work.finishesFirst(a) ||
		a.suspension().On() || a.act.intent.kind != causeNone || a.isTriage() && a.triage.isOver()
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
		last := m.deps.mustStopFirst(a)
		if last != "" && c.kind.stopsMany() && a.act.intent.kind != causeKill {
			m.set(now, a, city.Stopping, c.why+"; stops after "+last+", which depends on it")
			return
		}
		m.stop(now, a, c)
		return
	}
	m.drains.mark(now, a)
	if !a.phase.Ready() && (!a.unwanted() || a.want != nil && m.work.finishesFirst(a)) {
		a.phase.Resume(m.stepNumber)
		m.set(now, a, city.Starting, "adopted before it was ready")
		m.decided(now, a, "resume", "the previous controller started it but did not see it "+
			"become ready")
		m.step.Do(effect.Resume{Want: a.want, Status: a.sess.life})
		return
	}
	f := m.attentionFacts(a)
	m.attention.Look(now, &a.attention, &f)
	if d := a.drain.current; d != nil && (d.by != byHost || !a.sess.unknown()) {
		m.drains.draining(now, a)
		return
	}
	m.drifts.running(now, a, &f)
}

func (k causeKind) stopsMany() bool {
	return k == causeCityStop || k == causeOrphan || k == causeSuspend
}

// the cases are in order of importance
func (m *Machine) whyStop(now time.Time, a *record) cause {
	switch {
	case m.ending == stopAgents:
		return cause{kind: causeCityStop, why: "the city is being stopped"}
	case a.want == nil && a.pool == nil && a.drain.current != nil && a.drain.current.by == byPool &&
		a.act.intent.kind == causeNone:
		// the pool was removed; its members may finish first
		return a.drained(now)
	case a.want == nil && a.pool == nil:
		return cause{kind: causeOrphan, why: "orphan: not declared"}
	case a.suspension().On():
		return cause{kind: causeSuspend, why: a.suspension().String()}
	case a.act.intent.kind != causeNone:
		return m.drifts.requested(now, a)
	case a.unwanted() && !a.phase.Ready() && !m.oneShot && !a.pool.Provisional() &&
		a.drain.current == nil && !m.work.finishesFirst(a):
		return cause{kind: causeDrained, why: a.surplusReason() + "; it was not ready yet"}
	}
	return a.policy.ends(now, a)
}

func (m *Machine) idle(now time.Time, a *record) cause {
	a.silence.idleAt, a.silence.barred = time.Time{}, ""
	limit := a.want.IdleTimeout
	if limit == 0 || m.oneShot || a.want.Problem != "" || a.sess.life.Activity.IsZero() ||
		a.sess.life.Attached > 0 || a.sess.life.Frozen || a.sess.unknown() ||
		a.attention.Asks != nil {
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
	switch why, known := m.drifts.whyNotRestarted(now, a); {
	case why != "":
		a.silence.idleAt = time.Time{}
		a.silence.barred = "idle_timeout has expired, but a restart would fail: " + why
		return cause{}
	case !known:
		return cause{}
	}
	if now.Sub(a.sess.seenAt) > viewersFresh {
		m.lists.request()
		return cause{}
	}
	if f := m.attentionFacts(a); m.attention.ReadScreen(&a.attention, &f) {
		return cause{}
	}
	return cause{kind: causeIdle, why: fmt.Sprintf("silent for %s (idle_timeout %s)",
		span.Text(now.Sub(active).Round(time.Second)), span.Text(limit))}
}

func (m *Machine) decideDead(now time.Time, a *record) {
	m.attention.Forget(&a.attention)
	switch {
	case a.unwanted():
		why := "no longer declared"
		if a.want != nil {
			why = a.surplusReason()
		}
		a.act.intent, a.act.startReason = cause{}, ""
		m.set(now, a, city.Exited, why)
		m.commands.reject(a, city.NotFound, "agent %s has stopped: %s", a.name, why)
	case a.want.Suspended.On():
		if a.act.intent.kind == causeSuspend { // it ended, or its start was canceled
			m.loader.recordSuspended(a, a.want.Suspended)
		}
		a.act.intent = cause{}
		m.set(now, a, city.Suspended, a.want.Suspended.Where)
		m.commands.resolve(a, fmt.Sprintf("agent %s is %s", a.name, a.want.Suspended), "suspend")
		m.commands.rejectAll(a.take("restart", "kill"), city.Conflict,
			"agent %s is %s", a.name, a.want.Suspended)
	case a.want.Problem != "":
		a.act.intent = cause{}
		if m.ending == running && (a.state != city.Failed || a.reason != a.want.Problem) {
			m.journal.recordCannotStart(now, a, a.want.Problem)
		}
		m.set(now, a, city.Failed, a.want.Problem)
		m.commands.reject(a, city.Unavailable, "agent %s cannot start: %s", a.name,
			a.want.Problem)
	case m.ending == stopAgents && (a.restart.stays() || a.restart.state() == city.Quarantined):
		until := a.restart.until
		if !m.conf.OnDisk { // without a saved history, the next controller starts the agent
			until = time.Time{}
		}
		m.setUntil(now, a, a.restart.state(), a.restart.why, until)
	case m.ending == stopAgents:
		m.set(now, a, city.Exited, "stopped with the city")
	case a.isTriage() && !a.triage.awaitsStart():
		onCall{m}.rest(now, a)
	case a.act.intent.kind == causeRestart || a.act.intent.kind == causeKill:
		if a.restart.stays() || a.restart.waits(now) {
			a.act.startReason = a.act.intent.why
		}
		m.start(now, a)
	case a.restart.stays() || a.restart.waits(now):
		m.setUntil(now, a, a.restart.state(), a.restart.why, a.restart.until)
	default:
		m.start(now, a)
	}
}

func (m *Machine) stop(now time.Time, a *record, c cause) {
	a.phase.Stop(m.stepNumber)
	killed := c.kind == causeKill || a.act.intent.kind == causeKill
	// the kill keeps its force if another cause takes precedence
	c.force = c.force || a.act.intent.force
	a.act.stopping, a.act.intent = c, cause{}
	grace := m.conf.Grace
	if killed || m.cityStop.hurried {
		grace = 0
	}
	m.setUntil(now, a, city.Stopping, c.why, m.cityStop.stopUntil(now, grace))
	m.decided(now, a, "stop", c.why)
	if c.kind == causeRequest {
		m.commands.resolve(a, "agent "+a.name+" is restarting", "request")
		m.journal.record(a, c.by.AsActor(events.Event{Type: events.AgentDraining, Message: c.why}))
	}
	if c.kind == causeIdle {
		m.journal.record(a, events.Event{Type: events.AgentIdleKilled, Message: c.why})
	}
	m.step.Do(effect.Stop{Agent: a.name, Session: a.sess.life.Name, Grace: grace, Force: c.force})
}

func (m *Machine) start(now time.Time, a *record) {
	if why := cmp.Or(m.deps.missing(a), a.waitsForCount(), m.work.waitsForReturn(a),
		m.lists.mayRunUnlisted(a)); why != "" {
		m.set(now, a, city.Waiting, why)
		m.commands.resolve(a, fmt.Sprintf("agent %s has not started yet: it %s", a.name, why),
			"restart", "kill")
		return
	}
	if a.restart.kind == quarantined {
		a.act.startReason = "quarantine ended"
	}
	if a.isTriage() {
		a.triage.lastBeat = a.triage.request.Beat
		a.act.startReason = "for check " + a.triage.lastBeat
	}
	a.act.startReason = cmp.Or(a.act.startReason, a.declared())
	a.phase.Start(m.stepNumber)
	a.act.earlyExit = nil
	a.act.intent = cause{}
	a.restart.end()
	m.set(now, a, city.Starting, a.act.startReason)
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
	a.act.earlyExit, a.act.begun, a.act.exitFiles = nil, nil, false
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
		// this exit explains the failed start better than in.Err
		m.died(now, a, *early)
	case a.phase.Canceled():
		a.phase.BecomesUnknown()
		m.lists.request()
		if a.isTriage() {
			m.triageOver(now, a, "was stopped before it was ready")
		}
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
	a.sess.life, a.act.stopping = in.Status, cause{}
	a.restart.started(fresh)
	m.set(now, a, city.Running, a.act.startReason)
	if fresh && before.ProviderChanged(&session.Spec{Provider: in.Status.Provider}) {
		a.drain.unmarked, a.drain.markFrom = false, time.Time{}
		m.journal.record(a, events.Event{
			Type: events.ProviderSwapped, Message: fmt.Sprintf("from %s to %s", before.Provider,
				in.Status.Provider),
			Payload: step.Payload(map[string]any{"from": before.Provider, "to": in.Status.Provider,
				"session": in.Status.ID}),
		})
	}
	counts := !a.isTriage()
	var replies []effect.Reply
	if fresh && counts {
		runs := "is running" + step.Numbered(in.Status.PID, ", pid %d")
		replies = append(m.commands.repliesFor(a, "agent "+a.name+" "+runs, "restart"),
			m.commands.repliesFor(a, "agent "+a.name+" was killed and "+runs, "kill")...)
	}
	a.sess.startUnrecorded = fresh || a.sess.startUnrecorded
	m.journal.recordStart(a, &in.Status, replies...)
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

// the failure counts as a crash unless nothing was started
func (p always) failed(now time.Time, a *record, err error) {
	m := p.m
	m.pools.Rollouts.Failed(a.name, rollout.Failure{Why: "did not start: " + err.Error()})
	if errors.Is(err, session.ErrMissing) || errors.Is(err, session.ErrCommand) ||
		errors.Is(err, session.ErrExhausted) {
		m.cannotStart(now, a, err)
		return
	}
	a.restart.missing = effect.FailedStarts{}
	v := a.restart.history.Died(now, restart.Death{Code: -1, StartFailed: true}, a.want.Policy)
	m.journal.record(a, events.Event{Type: events.AgentStartFailed, Message: err.Error()})
	m.commands.reject(a, city.Unavailable, "agent %s cannot start: %v", a.name, err)
	if v.Outcome == restart.Quarantine {
		v.Reason, v.Last = v.Reason+": "+err.Error(), v.Last+": "+err.Error()
	}
	m.applyVerdict(now, a, v, "start failed", err.Error())
	a.act.startReason = "retried after a failed start"
	if a.restart.failsToStart(v, err.Error()); m.oneShot {
		a.restart.giveUp()
	}
}

// cannotStart handles a start that could not begin, which is not a crash.
func (m *Machine) cannotStart(now time.Time, a *record, err error) {
	if a.restart.missing.Why != err.Error() {
		m.journal.recordCannotStart(now, a, err.Error())
		a.restart.missing = effect.FailedStarts{Why: err.Error(),
			Tries: a.restart.missing.Tries, Since: now}
	}
	m.commands.reject(a, city.Unavailable, "agent %s cannot start: %v", a.name, err)
	a.restart.missing.Tries++
	a.restart.cannotStart(err.Error(), a.want.Policy.Again(now, a.restart.missing.Tries))
	a.act.startReason = "retried after a failed start"
	m.setUntil(now, a, a.restart.state(), a.restart.why, a.restart.until)
	a.since = a.restart.missing.Since
	if m.oneShot {
		a.restart.giveUp()
	}
}

func (m *Machine) dialogAnswered(in effect.DialogAnswered) {
	e := events.Event{
		Type: events.AgentNudged, Subject: in.Agent,
		Message: fmt.Sprintf("the agent's question about %s was answered with %s because "+
			"emits_permission_warning is set", in.Dialog.Name, in.Dialog.Answer()),
		Payload: step.Payload(map[string]any{"session": in.Session, "dialog": in.Dialog.Name,
			"keys": in.Dialog.Keys}),
	}
	if a, ok := m.agents[in.Agent]; ok {
		m.journal.record(a, e)
		return
	}
	m.step.Record(e)
}

func (m *Machine) startProgress(now time.Time, in effect.StartProgress) {
	a, ok := m.agents[in.Agent]
	if !ok || !a.phase.Starting() || a.phase.Canceled() {
		return
	}
	if in.Status.ID != "" {
		a.act.begun, m.step.Changed = &in.Status, true
	}
	f := m.attentionFacts(a)
	m.attention.StartProgress(now, &a.attention, &f, in)
	why := cmp.Or(in.Question, in.Waits, a.act.startReason, "started")
	m.set(now, a, city.Starting, why)
}

// a provider may report an exit several times
func (m *Machine) exited(now time.Time, e session.Exit) {
	a, ok := m.agents[e.Agent]
	if !ok || e.ID == a.sess.lastEnd {
		return
	}
	switch a.phase.State() {
	case lifecycle.Starting, lifecycle.Resuming:
		a.act.earlyExit = &e
		return
	case lifecycle.Stopping: // the stop's result will report that the session has ended
		return
	}
	if !a.phase.Alive() || a.sess.life.ID != e.ID {
		return
	}
	a.phase.ExitReported(m.stepNumber)
	if a.phase.State() == lifecycle.Unknown {
		m.lists.request() // the list that is in progress is out of date
	}
	switch {
	case e.Asked: // an earlier stop that reported an error has succeeded after all
		m.endedAsRequested(now, a, e.ID)
	default:
		m.died(now, a, e)
	}
	m.decide(now, a)
}

func (m *Machine) endedAsRequested(now time.Time, a *record, id string) {
	a.phase.Ends()
	a.sess.drift, a.act.retryStopAt = nil, time.Time{}
	m.ended(now, a, id)
	// without a stop of this controller, a previous controller requested the exit
	m.afterStop(now, a, cmp.Or(a.act.stopping, cause{why: "stopped"}))
}

func (m *Machine) died(now time.Time, a *record, e session.Exit) {
	a.phase.Ends()
	a.sess.drift = nil
	a.sess.life.ID, a.sess.life.PID = e.ID, 0
	drained := a.drain.current
	m.ended(now, a, e.ID)
	a.sess.exit = &city.Exit{Code: e.Code, Signal: e.Signal, At: e.At, Uptime: e.Uptime}
	d := effect.Death(&e)
	if drained != nil && !a.isTriage() && e.Code == 0 && e.Signal == "" {
		m.decided(now, a, "drained", "exited 0")
		m.journal.recordExit(a, e, "drained: exited 0")
		a.restart.end()
		m.drains.afterDrain(a, "exited 0", drained.by == byOperator, drained.final)
		return
	}
	if a.act.intent.kind == causeRequest {
		asked := a.act.intent
		a.act.intent = cause{}
		m.afterStop(now, a, asked)
		return
	}
	if a.want == nil || a.want.Suspended.On() || m.ending != running {
		m.journal.recordExit(a, e, d.String())
		return
	}
	a.policy.died(now, a, e, drained)
}

func (p always) died(now time.Time, a *record, e session.Exit, drained *drain) {
	m, d := p.m, effect.Death(&e)
	v := a.restart.history.Died(now, d, a.want.Policy)
	m.pools.Rollouts.Failed(a.name, rollout.Failure{Session: e.ID, Why: d.Clause(),
		Early: v.Crash && e.Uptime < a.want.Policy.MinUptime})
	a.restart.diedOnItsOwn = true
	final := drained != nil && drained.final && v.Outcome != restart.Leave
	if final { // an agent that stays stopped does not need a quarantine or a delay
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

func (m *Machine) applyVerdict(now time.Time, a *record, v restart.Verdict, what, why string) {
	m.decided(now, a, what, why)
	a.act.startReason = "restarted after " + v.Reason
	a.restart.exits(v)
	switch v.Outcome {
	case restart.Quarantine:
		m.decided(now, a, "quarantine", v.Reason)
		m.journal.record(a, events.Event{
			Type: events.AgentQuarantined, Message: fmt.Sprintf(
				"%s; retries in %s, or when released", v.Reason,
				span.Text(v.At.Sub(now).Round(time.Second))),
			Payload: step.Payload(map[string]any{"until": v.At.UTC().Format(time.RFC3339)}),
		})
	case restart.Restart:
		if v.At.After(now) {
			wait := v.At.Sub(now).Round(time.Millisecond)
			if wait > time.Second {
				wait = wait.Round(100 * time.Millisecond)
			}
			m.decided(now, a, "backoff", v.Reason+"; restarts in "+span.Text(wait))
		}
	}
}

// a crash event waits until the last output is saved
func (m *Machine) recordDeath(now time.Time, a *record, e session.Exit, v restart.Verdict) {
	switch {
	case m.journal.past[e.ID]:
	case e.Lost:
		m.journal.recordExit(a, e, "session lost: "+
			cmp.Or(e.Reason, "the process that held it has exited"))
	case !v.Crash:
		m.journal.recordExit(a, e, "exited 0")
	default:
		m.journal.recordCrash(now, a, e, events.Event{Type: events.AgentCrashed,
			Message: effect.Death(&e).CrashText(), Payload: effect.ExitPayload(e)})
	}
}

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

func (a *record) limitRestarts(now time.Time, why string) {
	if at := a.want.Policy.Paced(now, now.Sub(a.sess.life.Started)); at.After(now) {
		a.restart.restartsLater(why, at)
	}
}

func (m *Machine) flushAcks(a *record) {
	for _, f := range a.act.acks {
		m.step.Do(f)
	}
	a.act.acks, a.act.ackStep = a.act.acks[:0], m.stepNumber
}

// ended is called exactly once for each session.
func (m *Machine) ended(now time.Time, a *record, id string) {
	a.sess.lastEnd, a.drain.current, a.silence.idleAt = id, nil, time.Time{}
	a.sess.exit = a.sess.exit.BeforeOther()
	a.restart.earlierExit = a.restart.earlierExit.BeforeOther()
	if len(a.waiters) > 0 {
		m.commands.resolve(a, "agent "+a.name+" has stopped", "drain", "undrain", "request")
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
		m.setUntil(now, a, city.Stopping, "cannot be stopped: "+in.Err.Error(), a.act.retryStopAt)
		m.decided(now, a, "stop failed", in.Err.Error())
		m.commands.reject(a, city.Unavailable,
			"agent %s cannot be stopped: %v", a.name, in.Err)
		m.loader.rejectGroupsOf(a, fmt.Sprintf("agent %s cannot be stopped: %v", a.name, in.Err))
		return
	}
	a.phase.Ends()
	a.sess.drift, a.act.retryStopAt = nil, time.Time{}
	m.ended(now, a, a.sess.life.ID)
	m.afterStop(now, a, a.act.stopping)
	m.decide(now, a)
}

// forRetry returns the cause if whyStop cannot find it again, and no cause otherwise
func (c cause) forRetry() cause {
	switch c.kind {
	case causeRestart, causeKill, causeRequest, causeBeat, causeStrategy, causeWatchdog:
		return c
	}
	return cause{}
}

func (m *Machine) afterStop(now time.Time, a *record, c cause) {
	e := events.Event{Type: events.AgentStopped, Message: c.why,
		Payload: step.Payload(map[string]any{"session": a.sess.life.ID})}
	before := a.act.startReason
	a.act.startReason = ""
	a.restart.end()
	var replies []effect.Reply
	if c.kind != causeKill || !a.startsAfterKill() {
		replies = m.commands.repliesFor(a, "agent "+a.name+" was killed", "kill")
	}
	switch c.kind {
	case causeRestart:
		e, a.act.startReason = c.by.AsActor(e), c.why
	case causeKill:
		e, a.act.startReason = c.by.AsActor(e), "restarted after it was "+c.why
	case causeDrift:
		a.act.startReason = a.whyChanged()
	case causeStrategy, causeWatchdog:
		a.act.startReason = c.why
	case causeIdle:
		a.restart.diedOnItsOwn = true
		a.act.startReason = "restarted: " + c.why
	case causeDrained:
		m.drains.afterDrain(a, c.why, c.finished, c.final)
	case causeSuspend:
		if a.want != nil && !a.want.Suspended.On() { // resumed during the stop, for this reason
			a.act.startReason = before
			break
		}
		if a.act.intent.kind == causeSuspend { // suspended again during the stop
			a.act.intent = cause{}
		}
		e = a.act.flaggedBy.AsActor(e)
		e.Type = events.AgentSuspended
		replies = append(replies, m.commands.repliesFor(a,
			fmt.Sprintf("agent %s is %s", a.name, c.why), "suspend")...)
	case causeRequest:
		e, a.act.startReason, a.restart.diedOnItsOwn = c.by.AsActor(e), c.why, true
	}
	a.policy.stopped(now, a, c, e, replies)
}

// policy defines when sessions of one kind of agent end, and what happens then.
type policy interface {
	// ends returns the cause for stopping a session if no general cause applies.
	ends(now time.Time, a *record) cause
	failed(now time.Time, a *record, err error)
	// died handles an exit that was not requested. drained is the drain that ended with it, or nil.
	died(now time.Time, a *record, e session.Exit, drained *drain)
	stopped(now time.Time, a *record, c cause, e events.Event, replies []effect.Reply)
}

type always struct{ m *Machine }

func (p always) ends(now time.Time, a *record) cause {
	if a.drain.current != nil || a.unwanted() {
		return a.drained(now)
	}
	if c := p.m.idle(now, a); c.kind != causeNone {
		return c
	}
	return p.m.drifts.whyReplace(now, a)
}

func (p always) stopped(now time.Time, a *record, c cause, e events.Event,
	replies []effect.Reply) {
	p.m.journal.recordEnd(a, a.stopExit(now), e, replies...)
	if c.kind == causeRequest && a.want != nil {
		a.limitRestarts(now, c.why)
	}
}

// onCall is the policy of triage agents. Their exits never count as crashes.
type onCall struct{ m *Machine }

func (p onCall) stopped(now time.Time, a *record, c cause, e events.Event,
	replies []effect.Reply) {
	if c.kind != causeBeat || len(replies) > 0 {
		p.m.journal.recordEnd(a, a.stopExit(now), e, replies...)
	}
	p.m.triageOver(now, a, "was stopped: "+c.why)
}
