package machine

import (
	"fmt"
	"time"

	"gcity/controller/effect"
	"gcity/events"
	"gcity/session"
)

// policy defines how the machine treats one kind of agent: when the agents start, and what happens after a session
// ends. Triage agents use the policy onCall. All other agents use the policy always.
type policy interface {
	// counts reports whether starts and ends are recorded, and whether exits count as crashes.
	counts() bool
	// noRestart returns the reason why a user cannot restart an agent, or "" if the user can.
	noRestart(a *record) string
	// waits reports whether a stopped agent has no reason to start. rest then sets its state.
	waits(a *record) bool
	rest(now time.Time, a *record)
	// begins records that a start begins, and may set its reason.
	begins(a *record)
	startEffect(a *record) effect.Start
	// obsolete reports whether the start in flight is no longer needed.
	obsolete(a *record) bool
	// ends returns the cause for stopping a session if no general cause applies.
	ends(now time.Time, a *record) cause
	// canceled handles the end of a canceled start. failed handles a failed start.
	canceled(now time.Time, a *record)
	failed(now time.Time, a *record, err error)
	// died handles an exit that was not requested. drained is the drain that ended with the exit, or nil.
	died(now time.Time, a *record, e session.Exit, drained *drain)
	// stopped handles a completed stop. e is the event that records it.
	stopped(now time.Time, a *record, c cause, e events.Event, replies []effect.Reply)
}

// always is the policy of agents that run as long as they are wanted.
type always struct{ m *Machine }

func (always) counts() bool                       { return true }
func (always) noRestart(*record) string           { return "" }
func (always) waits(*record) bool                 { return false }
func (always) rest(time.Time, *record)            {}
func (always) begins(*record)                     {}
func (always) startEffect(a *record) effect.Start { return effect.Start{Want: a.want} }
func (always) obsolete(*record) bool              { return false }
func (always) canceled(time.Time, *record)        {}

// ends returns the cause for stopping a session that is drained or idle, or that differs from the configuration.
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

// onCall is the policy of triage agents, which start only for a watchdog's beats. Their exits never count as crashes;
// the watchdog reports them instead.
type onCall struct{ m *Machine }

func (onCall) counts() bool { return false }

func (onCall) noRestart(a *record) string {
	return fmt.Sprintf("agent %s is the triage agent of watchdog %s and starts only for its "+
		"checks; run `gcity watchdog triage %s` to start one", a.name, a.want.TriageOf,
		a.want.TriageOf)
}

// obsolete reports whether the beat of the start in flight has ended.
func (onCall) obsolete(a *record) bool {
	return a.triage.request == nil || a.triage.lastBeat != a.triage.request.Beat
}

func (onCall) begins(a *record) {
	a.triage.lastBeat = a.triage.request.Beat
	a.act.startReason = "for check " + a.triage.request.Beat
}

func (p onCall) canceled(now time.Time, a *record) {
	p.m.triageOver(now, a, "was stopped before it was ready")
}

// stopped records a stop, unless the session was stopped only because its beat has ended.
func (p onCall) stopped(now time.Time, a *record, c cause, e events.Event,
	replies []effect.Reply) {
	if c.kind != causeBeat || len(replies) > 0 {
		p.m.journal.recordEnd(a, a.stopExit(now), e, replies...)
	}
	p.m.triageOver(now, a, "was stopped: "+c.why)
}
