package machine

import (
	"slices"
	"strings"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/controller/attention"
	"gcity/controller/effect"
	"gcity/controller/lifecycle"
	"gcity/controller/outbox"
	"gcity/controller/pools"
	"gcity/controller/usage"
	"gcity/internal/redact"
	"gcity/restart"
	"gcity/session"
)

// record is the state of one agent, which may be undeclared.
type record struct {
	name    string
	command string
	want    *agent.Want // nil = the agent is an orphan
	policy  policy
	pool    *pools.Pool // nil = the agent is not in a pool
	// names of dependencies; kept after the agent is removed
	needs []string
	// at the last call of decideRelated
	wasUp, wasThere bool
	status
	phase   lifecycle.Phase
	sess    sessionInfo
	act     action
	restart restartState
	drain   drainState
	silence silence
	// whether it needs a user
	attention attention.Agent
	triage    triage
	requests
}

type status struct {
	state     city.State
	reason    string
	since     time.Time
	until     time.Time // zero = the end is unknown
	decisions []city.Decision
}

// since changes with the state, but not with the reason or until (L14)
func (s *status) change(now time.Time, state city.State, reason string, until time.Time) bool {
	if s.state == state && s.reason == reason && s.until.Equal(until) {
		return false
	}
	if s.state != state {
		s.since = now
	}
	s.state, s.reason, s.until = state, reason, until
	return true
}

type requests struct {
	waiters []waiter
	out     *outbox.Outbox
}

func (d *requests) take(verbs ...string) []waiter {
	if len(d.waiters) == 0 {
		return nil
	}
	var out []waiter
	d.waiters = slices.DeleteFunc(d.waiters, func(w waiter) bool {
		if slices.Contains(verbs, w.verb) {
			out = append(out, w)
			return true
		}
		return false
	})
	return out
}

type cause struct {
	kind     causeKind
	why      string
	finished bool // drain by a user: the agent has reported that it has finished
	final    bool // drain by a user: the agent must not restart
	// kill by a user: abandon the session if its host does not confirm that it has ended
	force bool
	by    city.Peer // sender of the command
}

type causeKind int

const (
	causeNone causeKind = iota
	causeRestart
	causeKill
	causeRequest // the agent itself requested the stop
	causeBeat    // the beat that a triage agent was started for has ended
	causeWatchdog
	causeStrategy // another agent crashed, and its strategy restarts this one too
	causeDrained
	causeIdle
	causeDrift
	causeSuspend
	causeOrphan
	causeCityStop
)

type waiter struct {
	id   uint64
	verb string
}

type sessionInfo struct {
	life      session.Status
	uncertain bool   // the provider cannot list its sessions
	seenStep  uint64 // step in which the latest list with a session of the agent was handled
	listStep  uint64 // step in which the latest list with a session of the agent was requested
	seenAt    time.Time
	// the agent.started event of the session is not in the log
	startUnrecorded bool
	// zero = unknown
	lastOutput time.Time
	exit       *city.Exit
	lastEnd    string // session ID of the exit that was handled last
	drift      []string
	// why a restart because of drift would fail; "" = no known reason
	restartBarred string
	sample        usage.Sample
}

func (p *sessionInfo) unknown() bool { return p.uncertain || !p.life.Silent.IsZero() }

func (p *sessionInfo) busy(now time.Time) bool {
	return p.life.Attached > 0 || (!p.life.TypedAt.IsZero() &&
		// a time further in the future was read before the clock was set back
		now.Sub(p.life.TypedAt).Abs() < typedRecently)
}

// If the provider does not count output, activity counts as output.
func (p *sessionInfo) noteOutput(now time.Time, s *session.Status, adopted bool) {
	switch {
	case s.Activity.IsZero() && s.Output == 0:
		p.lastOutput = time.Time{}
	case adopted && !s.Activity.IsZero():
		p.lastOutput = now.Add(-max(0, now.Sub(s.Activity)))
	case adopted, p.lastOutput.IsZero(), s.Output != p.life.Output,
		s.Output == 0 && !s.Activity.Equal(p.life.Activity):
		p.lastOutput = now
	}
}

type action struct {
	// session of the start in flight, if it exists already
	begun *session.Status
	// arrived before the result of the session's start
	earlyExit   *session.Exit
	retryStopAt time.Time
	startCheck  lifecycle.Check
	stopping    cause
	intent      cause // cause of a stop that has not started yet
	startReason string
	flaggedBy   city.Peer // sender of the command that suspended or resumed the agent
	exitFiles   bool      // the start in flight saves unrecorded exits to files
	queued      int
	acks        []effect.Acknowledge
	ackStep     uint64
}

type drainState struct {
	current *drain // nil = the agent is not draining
	// from the previous controller; nil once the session has been adopted
	inherited *effect.SavedDrain
	marking   bool
	markStep  uint64
	markFrom  time.Time // when a failed attempt is repeated; zero if the latest attempt succeeded
	unmarked  bool      // the session's provider does not support marks
}

type silence struct {
	idleAt time.Time // when idle_timeout expires; zero = never
	barred string    // why the agent is not restarted although idle_timeout has expired
}

const declaredAt = "declared at "

func (a *record) declared() string {
	if a.pool != nil {
		return "member of pool " + a.pool.Name()
	}
	return declaredAt + a.want.Source
}

// updatePosition corrects a reason that names an earlier position of the agent in the configuration.
func (a *record) updatePosition() {
	if a.want != nil && strings.HasPrefix(a.act.startReason, declaredAt) {
		a.act.startReason = a.declared()
	}
}

func (a *record) names() []string {
	if a.pool != nil && a.pool.Name() != a.name {
		return []string{a.name, a.pool.Name()}
	}
	return []string{a.name}
}

func (a *record) isUp() bool {
	if a.phase.Alive() {
		return a.phase.Ready() && !a.phase.InFlight()
	}
	return a.restart.hasExited() && a.sess.exit != nil && a.sess.exit.Code == 0 &&
		a.sess.exit.Signal == ""
}

func (a *record) forgive(because string) {
	a.act.startReason = because
	a.restart.forgive()
}

func (a *record) hidden() bool { return a.unwanted() && a.phase.Idle() }

func (a *record) surplus() bool {
	return a.pool != nil && (a.want == nil || !a.pool.Has(a.want.Index))
}

func (a *record) unwanted() bool { return a.want == nil || a.surplus() }

// hasSession reports whether the agent is assumed to have a live session, which might not be ready.
func (a *record) hasSession() bool { return a.phase.Alive() || a.act.begun != nil }

func (a *record) suspension() (s agent.Suspension) {
	switch {
	case a.want != nil:
		s = a.want.Suspended
	case a.pool != nil:
		s = a.pool.Want.Suspended
	}
	return s
}

func (a *record) waitsForCount() string {
	switch {
	case a.pool == nil || !a.pool.Waits():
		return ""
	case a.pool.Provisional():
		return "waits until it is known which members of pool " + a.pool.Name() + " are busy"
	}
	return "waits until it is known which members of pool " + a.pool.Name() +
		" are busy, because the pool is shrinking"
}

func (m *Machine) join(a *record, p *pools.Pool, w *agent.Want) {
	a.pool, a.needs = p, w.DependsOn
	m.declare(a, w)
}

func (m *Machine) declare(a *record, w *agent.Want) {
	a.want, a.policy = w, always{m}
	if w == nil {
		return
	}
	a.updatePosition()
	a.command = redact.Text(w.Spec.Command)
	if w.TriageOf != "" {
		a.policy = onCall{m}
	}
}

func (a *record) unknownIn(unknown map[string]error) bool {
	return unknown[a.sess.life.Provider] != nil || a.want != nil &&
		unknown[a.want.Spec.Provider] != nil
}

func (a *record) hasRelevantCrashes(now time.Time) bool {
	return a.want != nil && a.restart.counts(now, a.want.Policy.Window)
}

// set sets the state of an agent. The state does not end by itself.
func (m *Machine) set(now time.Time, a *record, s city.State, reason string) {
	m.setUntil(now, a, s, reason, time.Time{})
}

func (m *Machine) setUntil(now time.Time, a *record, s city.State, reason string,
	until time.Time) {
	resumes := s == city.Running && (a.state == city.Draining || a.state == city.Unknown)
	if a.change(now, s, reason, until) {
		m.step.Changed = true
	}
	if resumes && !a.sess.life.Started.IsZero() {
		a.since = a.sess.life.Started
	}
}

func (m *Machine) decided(now time.Time, a *record, what, why string) {
	m.step.Decided(now, &a.decisions, what, why)
}

type restartState struct {
	hold
	history     restart.History
	saved       *effect.SavedAgent
	missing     effect.FailedStarts
	restarts    int
	earlierExit *city.Exit // saved by a previous controller
	inherited   effect.SavedAgent
	// the latest session ended because of an exit, an idle timeout, or a request by the agent itself
	diedOnItsOwn bool
}

type hold struct {
	kind    holdKind
	why     string
	until   time.Time // time of the next start; zero if the agent does not start by itself
	crashes int       // number of crashes that led to a quarantine
	// nil = unknown, or no quarantine
	quarantine *city.Quarantine
}

type holdKind int

const (
	noHold holdKind = iota
	inBackoff
	startFailed
	quarantined
	staysExited // its policy does not restart it
	staysFailed // its policy does not retry the start
	staysFinal  // the user asked for the agent to stay stopped
)

func (h *hold) state() city.State {
	return [...]city.State{"", city.Backoff, city.Failed, city.Quarantined, city.Exited,
		city.Failed, city.Exited}[h.kind]
}

func (h *hold) stays() bool { return h.kind >= staysExited }

func (h *hold) hasExited() bool { return h.kind == staysExited || h.kind == staysFinal }

func (h *hold) waits(now time.Time) bool { return now.Before(h.until) }

func (h *hold) pause() city.State {
	if h.stays() {
		return ""
	}
	return h.state()
}

func (h *hold) exits(v restart.Verdict) {
	*h = hold{kind: inBackoff, why: v.Reason, until: v.At}
	switch v.Outcome {
	case restart.Leave:
		h.kind = staysExited
	case restart.Quarantine:
		h.kind, h.crashes = quarantined, v.Count
		h.quarantine = &city.Quarantine{LastCrash: v.Last, Span: v.Span}
	}
}

func (h *hold) failsToStart(v restart.Verdict, why string) {
	h.exits(v)
	switch h.kind {
	case inBackoff:
		h.kind, h.why = startFailed, why
	case staysExited:
		h.kind, h.why = staysFailed, why
	}
}

func (h *hold) cannotStart(why string, retry time.Time) {
	*h = hold{kind: startFailed, why: why, until: retry}
}

func (h *hold) restartsLater(why string, at time.Time) {
	*h = hold{kind: inBackoff, why: why, until: at}
}

func (h *hold) stay(why string) { *h = hold{kind: staysExited, why: why} }

func (h *hold) stayFinal(why string) {
	*h = hold{kind: staysFinal, why: why + "; the user asked for it to stay stopped"}
}

// a one-shot run does not retry
func (h *hold) giveUp() { *h = hold{kind: staysFailed, why: h.why} }

func (h *hold) end() { *h = hold{} }

func (h *hold) wantedAgain() {
	if h.stays() {
		h.end()
	}
}

func (h *hold) inherit(r *effect.SavedAgent, until time.Time) {
	*h = hold{why: r.Why, until: until, crashes: max(0, r.QuarantineCrashes),
		quarantine: r.Quarantine}
	switch r.State {
	case city.Backoff:
		h.kind = inBackoff
	case city.Failed:
		h.kind = startFailed
	case city.Quarantined:
		h.kind = quarantined
	}
}

func (h *hold) inheritExit(x *effect.SavedExit) {
	h.stay(x.Why)
	switch {
	case x.Final:
		h.kind = staysFinal
	case x.Failed:
		h.kind = staysFailed
	}
}

func (r *restartState) forgive() {
	r.end()
	r.history, r.missing = restart.History{}, effect.FailedStarts{}
}

func (r *restartState) started(fresh bool) {
	if r.missing = (effect.FailedStarts{}); r.stays() {
		r.end()
	}
	if fresh && r.diedOnItsOwn {
		r.restarts++
	}
	r.diedOnItsOwn = r.diedOnItsOwn && !fresh
}

func (r *restartState) counts(now time.Time, window time.Duration) bool {
	return r.waits(now) || r.history.Within(now, window) > 0
}

func (r *restartState) recentCrashes(now time.Time, window time.Duration) int {
	if r.kind == quarantined {
		return r.hold.crashes
	}
	return r.history.Within(now, window)
}
