package machine

import (
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/restart"
	"gcity/session"
)

// op is what is in flight for an agent.
type op int

const (
	opNone op = iota
	opStart
	opStop
)

// record is one agent: wanted, or found.
type record struct {
	command         string // of want, as it is shown
	name            string
	want            *agent.Want // nil: an orphan
	pool            *poolRecord // nil: it is in none
	sess            presence
	state           city.State
	reason          string
	since           time.Time
	until           time.Time
	act             action
	silence         silence
	triage          triage
	finish          finishing
	needs           []string // names of those it depends on; kept when it is no longer declared
	wasUp, wasThere bool     // as of the last ripple
	rest            rest
	typing          []typing // oldest first; the first is in flight
	out             *outbox  // texts on their way into it; nil: none
	waiters         []waiter
	decisions       []city.Decision
}

// cause says why a session is stopped, and what follows.
type cause struct {
	kind     causeKind
	why      string
	finished bool // of an operator's drain: the agent has done what it was told to
	final    bool // of such a drain: no new session is to begin
}

type causeKind int

const (
	causeNone causeKind = iota
	causeRestart
	causeKill
	causeRequest // the agent's own
	causeBeat    // of a triage: its beat is over
	causeWatch   // a watchdog wants it
	causeFellow  // one that shares its fate crashed
	causeDrained
	causeIdle
	causeDrift
	causeSuspend
	causeOrphan
	causeEnd // the city ends
)

// typing is what a terminal takes, one thing at a time.
type typing struct {
	id   uint64 // of the command; 0 = it has been answered
	cmd  city.Command
	text *delivery // instead of these
}

// waiter is a command that is answered when its agent, or the configuration, gets where it wants it.
type waiter struct {
	id   uint64
	verb string
}

// obscure reports that what is known of a living agent is not fresh: its provider or its holder does not answer.
func (a *record) obscure() bool { return a.sess.hazy || !a.sess.life.Silent.IsZero() }

// presence is what is known of an agent's session.
type presence struct {
	life   session.Status
	alive  bool // life is believed to live
	ready  bool
	unsure bool // a start was cut short: look before acting
	// the newest look could not tell of it: who holds its session did not answer
	hazy   bool
	met    bool      // this controller has seen it live
	seen   uint64    // turn of the newest look that showed a session of it
	looked uint64    // turn in which that look was ordered
	fresh  time.Time // when it came back
	// when it has printed something last, as far as it was looked at; zero = nobody can tell
	spoke   time.Time
	exit    *city.Exit
	lastEnd string // id of the newest life whose end was handled
	drift   []string
	// why it is not restarted for its drift, though nobody is at it; "" = nothing is known against it
	barred string
	sample sample // of what its processes take
}

// action is what is in flight for an agent, and what is asked for next.
type action struct {
	op       op
	opTurn   uint64 // turn in which op last changed: older observations are stale
	canceled bool
	asking   *session.Status      // of a start under way: its program asks somebody at its terminal
	early    *session.Exit        // an end that came before its start's result
	stopFrom time.Time            // a stop that failed is tried again from then on
	stopping cause                // why the stop in flight was ordered
	intent   cause                // what has been asked for and is not done yet
	because  string               // why the next start happens, for its reason
	endFiles bool                 // the start in flight keeps files of ends
	queued   int                  // events in the machine's queue
	acks     []effect.Acknowledge // ends to acknowledge
	ackTurn  uint64               // turn in which the last ones went out
}

// rest is how an agent's lives ended, and how long it waits before the next one.
type rest struct {
	history   restart.History
	kept      *effect.Memo // what was written of it last; nil = nothing
	notBefore time.Time    // of the next start
	hold      city.State
	holdWhy   string
	struck    int // crashes that led to the quarantine it is in
	lacks     lack
	left      bool // it ended and its policy leaves it
	final     bool // and so does the operator who drained it
	restarts  int
	fell      bool // it ended by itself, or for its silence, since it was last started
}

// finishing is a drain of an agent, and the marks of it at the session.
type finishing struct {
	drain    *drain // told to finish; nil: not
	marking  bool   // a mark is in flight
	markTurn uint64 // turn in which the marks last changed
	markFrom time.Time
	unmarked bool // its provider keeps no marks
}

// silence is how long an agent has printed nothing, and the work that it has.
type silence struct {
	idleAt  time.Time // when it will have been silent for too long; zero = never
	task    string    // that is in progress, as of taskAt
	gate    string    // that task awaits, as of taskAt
	taskAt  time.Time
	stuck   *city.Stuck // it has work and is silent; nil: not
	stuckAt time.Time   // when it will be; zero = never
}

// declared is why an agent is there at all.
func (a *record) declared() string {
	if a.pool != nil {
		return "member of pool " + a.pool.name()
	}
	return "declared at " + a.want.Source
}

// names are those by which others may depend on an agent: its own and its pool's.
func (a *record) names() []string {
	if a.pool != nil && a.pool.name() != a.name {
		return []string{a.name, a.pool.name()}
	}
	return []string{a.name}
}

// isUp reports that whoever depends on an agent may start: it runs, or has ended as it was meant to.
func (a *record) isUp() bool {
	if a.sess.alive {
		return a.sess.ready && a.act.op == opNone
	}
	return a.rest.left && a.rest.hold == city.Exited && a.sess.exit != nil &&
		a.sess.exit.Code == 0 &&
		a.sess.exit.Signal == ""
}

// busy reports whether a person is at the agent's terminal.
func (a *record) busy(now time.Time) bool {
	return a.sess.life.Attached > 0 || (!a.sess.life.TypedAt.IsZero() &&
		now.Sub(a.sess.life.TypedAt) < typedRecently)
}

// forgive forgets crashes and waits: the agent they belong to is no longer the same.
func (a *record) forgive(because string) {
	a.act.because = because
	a.rest.history, a.rest.notBefore, a.rest.hold, a.rest.holdWhy, a.rest.left,
		a.rest.final = restart.History{}, time.Time{}, "",
		"", false, false
	a.rest.lacks = lack{}
}

// gone reports that nothing is left of an agent that is not wanted: it is no longer shown, but remembered until a
// look has shown that its last session is forgotten by the provider too.
func (a *record) gone() bool { return a.unwanted() && !a.sess.alive && a.act.op == opNone }

// shrinks says why a member is not started just now: it is being found out who of its pool is at work, and it may
// be one of those that are not wanted then.
func (a *record) shrinks() string {
	switch {
	case a.pool == nil || a.pool.asks == 0:
		return ""
	case a.pool.guessed():
		return "waits until it is known who of pool " + a.pool.name() + " is at work"
	}
	return "waits until it is known who of pool " + a.pool.name() +
		" is at work, since fewer are wanted"
}

func (a *record) join(p *poolRecord, w *agent.Want) { a.pool, a.want, a.needs = p, w, w.DependsOn }

// unknownIn reports that whoever was to run an agent last did not answer.
func (a *record) unknownIn(unknown map[string]error) bool {
	return unknown[a.sess.life.Provider] != nil || a.want != nil &&
		unknown[a.want.Spec.Provider] != nil
}

// remembered reports that a surplus member's crashes still count: a pool that grows again must not forget them.
func (a *record) remembered(now time.Time) bool {
	return a.want != nil && (now.Before(a.rest.notBefore) ||
		a.rest.history.Within(now, a.want.Policy.Window) > 0)
}

// heard notes when an agent has printed something last, by our own clock. Where nobody counts what is printed, any
// activity is taken for it.
func (a *record) heard(now time.Time, s *session.Status, adopted bool) {
	switch {
	case s.Activity.IsZero() && s.Output == 0:
		a.sess.spoke = time.Time{}
	case adopted && !s.Activity.IsZero():
		a.sess.spoke = now.Add(-max(0, now.Sub(s.Activity)))
	case adopted, a.sess.spoke.IsZero(), s.Output != a.sess.life.Output,
		s.Output == 0 && !s.Activity.Equal(a.sess.life.Activity):
		a.sess.spoke = now
	}
}
