package machine

import (
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/outbox"
	"gcity/restart"
	"gcity/session"
)

// op is the effect in flight for an agent.
type op int

const (
	opNone op = iota
	opStart
	opStop
)

// record is the state of one agent, declared or found.
type record struct {
	command         string // of want, for display
	name            string
	want            *agent.Want // nil: an orphan
	pool            *poolRecord // nil: not a member
	sess            presence
	state           city.State
	reason          string
	since           time.Time
	until           time.Time
	act             action
	silence         silence
	triage          triage
	finish          finishing
	needs           []string // names of its dependencies; kept after it was removed
	wasUp, wasThere bool     // at the last ripple
	rest            rest
	typing          []typing       // oldest first; the first is in flight
	out             *outbox.Outbox // queued texts; nil: empty
	waiters         []waiter
	decisions       []city.Decision
}

// cause is why a session is stopped, and what follows.
type cause struct {
	kind     causeKind
	why      string
	finished bool // of a drain by a user: the agent has finished
	final    bool // of such a drain: it must not restart
}

type causeKind int

const (
	causeNone causeKind = iota
	causeRestart
	causeKill
	causeRequest // the agent requested it
	causeBeat    // the beat of a triage agent is over
	causeWatch   // a watchdog requested it
	causeFellow  // another agent with a shared fate crashed
	causeDrained
	causeIdle
	causeDrift
	causeSuspend
	causeOrphan
	causeEnd // the city stops
)

// typing is an entry in the queue of a terminal.
type typing struct {
	id   uint64 // of the command; 0 = it was answered
	cmd  city.Command
	text *outbox.Delivery // instead of a command
}

// waiter is a command that is answered when its agent or the configuration reaches the requested state.
type waiter struct {
	id   uint64
	verb string
}

// obscure reports whether the state of a running agent is out of date: its provider or its holder does not answer.
func (a *record) obscure() bool { return a.sess.uncertain || !a.sess.life.Silent.IsZero() }

// presence is what is known of an agent's session.
type presence struct {
	life         session.Status
	alive        bool // the session is believed to run
	ready        bool
	startUnclear bool // a start was canceled: list sessions before the next action
	// the newest list has no information about it
	uncertain bool
	seenAlive bool      // this controller has seen it running
	seen      uint64    // turn of the newest list that showed a session of it
	looked    uint64    // turn in which that list was requested
	fresh     time.Time // when that list returned
	// when it printed something last, as far as known; zero = unknown
	lastOutput time.Time
	exit       *city.Exit
	lastEnd    string // ID of the newest session with an exit that was handled
	drift      []string
	// why it does not restart for its drift although no user is attached; "" = it may
	restartBarred string
	sample        sample // of the resources of its processes
}

// action is the effect in flight for an agent, and what follows it.
type action struct {
	op       op
	opTurn   uint64 // turn in which op last changed: older lists are out of date
	canceled bool
	// of a start in flight: its program asks a question in its terminal
	asking   *session.Status
	early    *session.Exit        // an exit that arrived before the result of its start
	stopFrom time.Time            // when a failed stop is retried
	stopping cause                // why the stop in flight was requested
	intent   cause                // what was requested and is not done yet
	because  string               // reason of the next start
	endFiles bool                 // the start in flight saves exits
	queued   int                  // its events in the queue
	acks     []effect.Acknowledge // exits to acknowledge
	ackTurn  uint64               // turn of the last acknowledgements
}

// rest is the history of an agent's exits, and its wait before the next start.
type rest struct {
	history           restart.History
	kept              *effect.Memo // the last saved history; nil = not saved
	notBefore         time.Time    // of the next start
	hold              city.State
	holdWhy           string
	quarantineCrashes int // crashes that led to the current quarantine
	missing           lack
	staysDown         bool // it exited and its policy does not restart it
	final             bool // the user asked for no restart
	restarts          int
	// it exited by itself, or was killed for its silence, since the last start
	diedOnItsOwn bool
}

// finishing is the drain of an agent and its marks at the session.
type finishing struct {
	drain    *drain // nil: it does not drain
	marking  bool   // a mark is in flight
	markTurn uint64 // turn in which the marks last changed
	markFrom time.Time
	unmarked bool // its provider supports no marks
}

// silence is how long an agent has printed nothing while it has work.
type silence struct {
	idleAt  time.Time // when it is idle for too long; zero = never
	task    string    // in progress, at taskAt
	gate    string    // that the task waits for, at taskAt
	taskAt  time.Time
	stuck   *city.Stuck // it has work and is silent; nil: it is not stuck
	stuckAt time.Time   // when it counts as stuck; zero = never
}

// declared returns why an agent exists.
func (a *record) declared() string {
	if a.pool != nil {
		return "member of pool " + a.pool.name()
	}
	return "declared at " + a.want.Source
}

// names returns the names under which others can depend on an agent: its own and its pool's.
func (a *record) names() []string {
	if a.pool != nil && a.pool.name() != a.name {
		return []string{a.name, a.pool.name()}
	}
	return []string{a.name}
}

// isUp reports whether dependents may start: the agent runs, or has exited successfully.
func (a *record) isUp() bool {
	if a.sess.alive {
		return a.sess.ready && a.act.op == opNone
	}
	return a.rest.staysDown && a.rest.hold == city.Exited && a.sess.exit != nil &&
		a.sess.exit.Code == 0 &&
		a.sess.exit.Signal == ""
}

// busy reports whether a user is at the agent's terminal.
func (a *record) busy(now time.Time) bool {
	return a.sess.life.Attached > 0 || (!a.sess.life.TypedAt.IsZero() &&
		now.Sub(a.sess.life.TypedAt) < typedRecently)
}

// forgive clears crashes and waits, because the agent has changed or a user asked for it.
func (a *record) forgive(because string) {
	a.act.because = because
	a.rest.history, a.rest.notBefore, a.rest.hold, a.rest.holdWhy, a.rest.staysDown,
		a.rest.final = restart.History{}, time.Time{}, "",
		"", false, false
	a.rest.missing = lack{}
}

// gone reports whether an unwanted agent has stopped. It is hidden, but kept until a list shows that the
// provider has forgotten its last session.
func (a *record) gone() bool { return a.unwanted() && !a.sess.alive && a.act.op == opNone }

// shrinks returns why a member does not start yet: its pool may not want it after the next count of work.
func (a *record) shrinks() string {
	switch {
	case a.pool == nil || a.pool.asks == 0:
		return ""
	case a.pool.guessed():
		return "waits until it is known which members of pool " + a.pool.name() + " are busy"
	}
	return "waits until it is known which members of pool " + a.pool.name() +
		" are busy, because fewer are wanted"
}

func (a *record) join(p *poolRecord, w *agent.Want) { a.pool, a.want, a.needs = p, w, w.DependsOn }

// unknownIn reports whether the agent's last provider did not answer.
func (a *record) unknownIn(unknown map[string]error) bool {
	return unknown[a.sess.life.Provider] != nil || a.want != nil &&
		unknown[a.want.Spec.Provider] != nil
}

// remembered reports whether the crashes of an unwanted member still count, for when its pool grows again.
func (a *record) remembered(now time.Time) bool {
	return a.want != nil && (now.Before(a.rest.notBefore) ||
		a.rest.history.Within(now, a.want.Policy.Window) > 0)
}

// heard notes when an agent printed something last, by this controller's clock. If the provider does not count
// output, any activity counts.
func (a *record) heard(now time.Time, s *session.Status, adopted bool) {
	switch {
	case s.Activity.IsZero() && s.Output == 0:
		a.sess.lastOutput = time.Time{}
	case adopted && !s.Activity.IsZero():
		a.sess.lastOutput = now.Add(-max(0, now.Sub(s.Activity)))
	case adopted, a.sess.lastOutput.IsZero(), s.Output != a.sess.life.Output,
		s.Output == 0 && !s.Activity.Equal(a.sess.life.Activity):
		a.sess.lastOutput = now
	}
}
