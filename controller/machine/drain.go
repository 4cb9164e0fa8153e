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
	"gcity/internal/span"
	"gcity/restart"
	"gcity/session"
)

type drain struct {
	since    time.Time
	stamp    int64 // start of the drain in Unix seconds, as in the session's marks
	by       string
	sender   string // actor that sent the command; "" = none
	why      string
	acked    bool
	final    bool          // the agent does not restart afterwards
	timeout  time.Duration // 0 = unlimited
	deadline time.Time
}

const (
	byPool     = "pool"
	byOperator = effect.ActorOperator
	byHost     = "host" // the session's host is ending it, for example to delete a pod
)

// drainTimeout is the timeout for draining agents that are not in a pool.
const drainTimeout = 5 * time.Minute

// drainTimeout returns 0 if the session's host ends the session.
func (a *record) drainTimeout(by string) time.Duration {
	switch {
	case by == byHost:
		return 0
	case a.pool != nil:
		return a.pool.Want.DrainTimeout
	}
	return drainTimeout
}

type drains struct{ m *Machine }

func (dr *drains) pending(now time.Time, a *record) {
	if a.pool == nil && a.drain.current == nil {
		return
	}
	switch {
	case dr.m.oneShot || dr.m.ending != running || a.pool.Provisional():
	// a removed member that might have work drains even if it is not ready, because no start waits for it
	case !a.phase.Ready() && (a.want != nil || !dr.m.work.finishesFirst(a) ||
		dr.m.work.countedStep == 0):
	case a.pool != nil && a.unwanted() && a.drain.current == nil:
		dr.drain(now, a, city.Peer{}, byPool, a.surplusReason())
	case a.drain.current != nil && a.drain.current.by == byPool && !a.unwanted() &&
		!a.drain.current.acked:
		why := "the member is now declared as a separate agent"
		if a.pool != nil {
			why = fmt.Sprintf("pool %s wants %d", a.pool.Name(), a.pool.Desired)
		}
		dr.undrain(now, a, events.Event{Actor: effect.ActorController, Message: why})
	}
	// a new configuration may set a different timeout
	if d := a.drain.current; d != nil && d.timeout != a.drainTimeout(d.by) {
		d.limit(a.drainTimeout(d.by))
	}
}

func (a *record) surplusReason() string {
	if a.want == nil {
		return "no longer a member of pool " + a.pool.Name()
	}
	return fmt.Sprintf("pool %s wants %d", a.pool.Name(), a.pool.Desired)
}

func (d *drain) limit(t time.Duration) {
	d.timeout, d.deadline = t, time.Time{}
	if t > 0 {
		d.deadline = d.since.Add(t)
	}
}

func (dr *drains) drain(now time.Time, a *record, sender city.Peer, by, why string) {
	a.drain.current = &drain{since: now, stamp: now.Unix(), by: by, why: why}
	a.drain.current.limit(a.drainTimeout(by))
	dr.m.decided(now, a, "drain", why)
	end := a.drain.current.end(now)
	if !a.drain.current.deadline.IsZero() || by == byHost {
		end += " if still running"
	}
	e := events.Event{Type: events.AgentDraining, Message: why + "; " + end}
	if by == byOperator {
		e = sender.AsActor(e)
		a.drain.current.sender = e.Actor
	}
	e.Payload = step.Payload(map[string]any{"by": cmp.Or(a.drain.current.sender, by),
		"session": a.sess.life.ID})
	dr.m.journal.record(a, e)
}

func (d *drain) end(now time.Time) string {
	switch {
	case d.by == byHost:
		return "its host stops it"
	case d.deadline.IsZero():
		return "no timeout"
	}
	return "kill in " + span.Text(d.deadline.Sub(now).Round(time.Second))
}

func (dr *drains) undrain(now time.Time, a *record, e events.Event) {
	a.drain.current = nil
	if a.act.stopping.kind == causeDrained { // a stop that failed might still end the session
		a.act.stopping = cause{}
	}
	dr.m.commands.resolve(a, "the drain of agent "+a.name+" was canceled ("+e.Message+")", "drain")
	dr.m.decided(now, a, "undrain", e.Message)
	a.act.startReason = "drain canceled " + e.Message
	if e.Actor == effect.ActorController {
		e.Message = "drain canceled: " + e.Message
		a.act.startReason = e.Message
	}
	e.Type = events.AgentUndrained
	dr.m.journal.record(a, e)
}

func (a *record) drained(now time.Time) cause {
	switch d := a.drain.current; {
	case d == nil:
	case d.acked:
		return cause{kind: causeDrained, why: "drained: reported done",
			finished: d.by == byOperator, final: d.final}
	case !d.deadline.IsZero() && !now.Before(d.deadline):
		return cause{kind: causeDrained, why: fmt.Sprintf("drained: not finished within %s",
			span.Text(d.timeout)), final: d.final}
	}
	return cause{}
}

func (dr *drains) afterDrain(a *record, why string, finished, final bool) {
	a.act.startReason = "restarted after its drain"
	switch {
	case final:
		a.stayFinal(why)
	case finished && a.want != nil && a.want.Policy.Mode != restart.Always:
		a.restart.stay(fmt.Sprintf("%s, restart = %q", why, a.want.Policy.Mode))
	}
}

func (a *record) stayFinal(why string) {
	if a.want != nil {
		a.restart.stayFinal(why)
	}
}

func (dr *drains) draining(now time.Time, a *record) {
	reason := a.drain.current.why
	if a.drain.unmarked {
		reason += "; the session cannot be notified of the drain"
	}
	dr.m.setUntil(now, a, city.Draining, reason, a.drain.current.deadline)
	a.since = a.drain.current.since
}

func (a *record) nextOfDrain() string {
	switch d := a.drain.current; {
	case d != nil && d.by == byHost:
		return "is stopped by its host" + city.IfNotDone
	case a.until.IsZero():
		return "stops when it reports done"
	}
	return "is killed" + city.IfNotDone
}

func (dr *drains) mark(now time.Time, a *record) {
	want := session.Drain{}
	if d := a.drain.current; d != nil {
		want = session.Drain{Since: time.Unix(d.stamp, 0), By: d.by, Acked: d.acked}
	}
	have := a.sess.life.Drain
	same := want.Since.IsZero() == have.Since.IsZero() &&
		(want.Since.IsZero() || want.Since.Unix() == have.Since.Unix() && want.By == have.By)
	if same || a.drain.marking || now.Before(a.drain.markFrom) || a.drain.unmarked {
		return
	}
	a.drain.marking = true
	dr.m.step.Do(effect.MarkDrain{Agent: a.name, Session: a.sess.life.Name, ID: a.sess.life.ID,
		Drain: want})
}

func (dr *drains) marked(now time.Time, in effect.DrainMarked) {
	a, ok := dr.m.agents[in.Agent]
	if !ok || !a.drain.marking {
		return
	}
	a.drain.marking, a.drain.markStep = false, dr.m.stepNumber
	switch {
	case errors.Is(in.Err, session.ErrUnsupported):
		a.drain.unmarked = true
		dr.notified(now, a)
	case in.Err != nil:
		if a.drain.markFrom.IsZero() {
			dr.m.decided(now, a, "mark failed", in.Err.Error())
		}
		a.drain.markFrom = now.Add(stopRetry)
		dr.m.commands.rejectAll(a.take("drain"), city.Unavailable,
			"agent %s is draining, but its session could not be notified yet: %v",
			a.name, in.Err)
		dr.m.commands.rejectAll(a.take("undrain"), city.Unavailable,
			"the drain of agent %s was canceled, but its session could not be "+
				"notified yet: %v", a.name, in.Err)
	case a.sess.life.ID == in.Session:
		a.sess.life.Drain, a.drain.markFrom = in.Drain, time.Time{}
		dr.notified(now, a)
	}
	dr.m.decide(now, a)
}

// The next controller continues a drain, or its cancellation, only if the session's marks are up to date.
func (dr *drains) notified(now time.Time, a *record) {
	d, since := a.drain.current, a.sess.life.Drain.Since
	if !a.drain.unmarked && (d == nil && !since.IsZero() || d != nil && since.Unix() != d.stamp) {
		return
	}
	dr.m.commands.resolve(a, "canceled the drain of agent "+a.name, "undrain")
	if d != nil {
		dr.m.commands.resolve(a, fmt.Sprintf("agent %s was asked to finish; %s", a.name,
			d.end(now)), "drain")
	}
}

// a handed-over drain takes precedence over the session's marks
func (dr *drains) resume(now time.Time, a *record) {
	d, h := a.sess.life.Drain, a.drain.inherited
	a.drain.inherited = nil
	switch {
	case h.Continues(&a.sess.life) && h.Canceled:
		return
	case h.Continues(&a.sess.life):
		a.drain.unmarked = h.Unmarked
		d = session.Drain{Since: h.Since, By: h.By, Acked: d.Acked || h.Acked}
	case d.Since.IsZero():
		return
	default:
		h = &effect.SavedDrain{Why: "the drain started before this controller"}
	}
	by := byOperator
	if d.By == byPool || d.By == byHost {
		by = d.By
	}
	lasted := min(max(0, time.Duration(now.UnixNano()-d.Since.UnixNano())),
		max(a.drainTimeout(by), time.Second))
	a.drain.current = &drain{since: now.Add(-lasted), stamp: d.Since.Unix(), by: by, why: h.Why,
		sender: h.Sender, acked: d.Acked, final: h.Final}
	a.drain.current.limit(a.drainTimeout(by))
	dr.m.decided(now, a, "drain", a.drain.current.why)
}

func (dr *drains) command(now time.Time, id uint64, a *record, c city.Drain) {
	switch {
	case !a.phase.Alive() || a.phase.Stopping():
		dr.m.step.Reject(id, city.Conflict, "agent %s has no session to drain: the "+
			"agent %s (%s)", a.name, a.state.Is(), a.reason)
	case a.drain.current != nil:
		a.drain.current.final = a.drain.current.final || c.Final
		dr.m.step.Reply(id, "agent %s is already draining; %s", a.name,
			a.drain.current.end(now))
	case !a.phase.Ready() || a.phase.InFlight():
		dr.m.step.Reject(id, city.Conflict, "agent %s %s and cannot be drained yet",
			a.name, a.state.Is())
	default:
		a.waiters = append(a.waiters, waiter{id, "drain"})
		sender := dr.m.step.Caller()
		by, why := byOperator, "requested by "+sender.Name()
		if c.Why != "" {
			by, why = byHost, c.Why
		}
		if c.Final {
			why += ", without a restart"
		}
		dr.drain(now, a, sender, by, why)
		a.drain.current.final = c.Final
		dr.m.decide(now, a)
		if !a.drain.marking { // otherwise the reply waits for the mark
			dr.notified(now, a)
		}
	}
}

func (dr *drains) undoCommand(now time.Time, id uint64, a *record) {
	switch by := dr.m.step.Caller(); {
	case a.restart.kind == staysFinal && a.phase.Idle() && !a.unwanted():
		a.forgive("restarted: its drain was canceled by " + by.Name())
		dr.m.step.Reply(id, "agent %s has already stopped and is being restarted", a.name)
		dr.m.decide(now, a)
	case a.drain.current == nil || !a.phase.Alive() || a.phase.Stopping():
		dr.m.step.Reject(id, city.Conflict, "agent %s %s and is not draining",
			a.name, a.state.Is())
	case a.unwanted() && a.want != nil:
		dr.m.step.Reject(id, city.Conflict, "pool %s wants only %s; to keep "+
			"%s, run `gcity pool scale %s %d`",
			a.pool.Name(), a.pool.DesiredText(), a.name, a.pool.Name(),
			dr.m.pools.SizeFor(a.pool, a.want.Index))
	case a.unwanted():
		dr.m.step.Reject(id, city.Conflict, "agent %s was removed from the configuration", a.name)
	default:
		a.waiters, a.drain.markFrom = append(a.waiters, waiter{id, "undrain"}), time.Time{}
		dr.undrain(now, a, by.AsActor(events.Event{Message: "by " + by.Name()}))
		dr.m.decide(now, a)
		if !a.drain.marking { // otherwise the reply waits for the mark
			dr.notified(now, a)
		}
	}
}

func (dr *drains) ack(now time.Time, id uint64, a *record) {
	if a.drain.current == nil || !a.phase.Alive() {
		dr.m.step.Reject(id, city.Conflict, "agent %s is not draining, so there is "+
			"nothing to acknowledge", a.name)
		return
	}
	a.drain.current.acked, dr.m.step.Changed = true, true
	dr.m.step.Reply(id, "agent %s has finished; its session is being stopped", a.name)
	dr.m.decide(now, a)
}

// correctDeadlines corrects the wall-clock times of the deadlines after the wall clock was set. Intervals are monotonic
// (L13), but clients and the next controller receive only the wall-clock time of a deadline.
func (a *record) correctDeadlines(now time.Time) {
	deadlines := []*time.Time{&a.until, &a.restart.until}
	if a.drain.current != nil {
		deadlines = append(deadlines, &a.drain.current.deadline)
	}
	for _, at := range deadlines {
		if at.After(now) {
			*at = now.Add(at.Sub(now))
		}
	}
}
