// Package tier contains the watchdogs of a city. A watchdog checks an agent at regular intervals, its beats, and
// decides what to do.
package tier

import (
	"fmt"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
	"gcity/session"
)

// Watchdogs is the state of all watchdogs of a city.
type Watchdogs struct {
	city City
	out  *step.Output

	tiers []*tier // sorted by name
	// names of watchdogs with a heartbeat that is being read, or with an escalation that is being sent; they may
	// have been removed since
	reading map[string]bool
	posting map[string]bool
}

// New returns a Watchdogs without watchdogs. Effects are added to out.
func New(c City, out *step.Output) Watchdogs {
	return Watchdogs{city: c, out: out, reading: map[string]bool{}, posting: map[string]bool{}}
}

// City is the view of the city that watchdogs use.
type City interface {
	Configuration() *effect.Configuration
	Running() bool    // the city is not being stopped
	Settling() bool   // one-shot mode: nothing may start
	Listed() bool     // at least one list of sessions has succeeded
	Awake() time.Time // when the last stall of the whole program ended; zero = no stall
	CountWork()
	// Record records an event, after those that are already queued.
	Record(e events.Event, answers ...effect.Answer)

	Agent(name string) *Agent // nil if it does not exist
	Decide(now time.Time, name string)
	// Start ends the wait of an agent and starts it. Like Replace, it returns the result for the watchdog's record.
	Start(now time.Time, name, why string) string
	Replace(now time.Time, name, why string) string
	// Type queues a text for an agent. It returns the ID of the text, or why it was refused.
	Type(now time.Time, name, watchdog, text string) (id uint64, problem string)
	TextReason(name string, id uint64) string // why a text is not submitted yet
	TakeBack(now time.Time, name string, id uint64, why string)
	// Summon makes a triage agent start for a beat. Dismiss stops it. Decided notes that it has decided.
	Summon(name string, s *Summons)
	Dismiss(now time.Time, name, watchdog string)
	Decided(name, beat string, until time.Time)
}

// Agent is the state of an agent that watchdogs use.
type Agent struct {
	Name             string
	State            city.State
	Reason           string
	Declared         bool
	Suspended        string // "suspended in city.toml"; "" = it is not suspended
	Problem          string // why it cannot start; "" = it can
	TriageOf         string // the watchdog for which it is the triage agent; "" = none
	Alive, Ready     bool
	Starting         bool // a start is in flight
	Stopping         bool // a stop is in flight
	Ending           bool // it is being stopped or is about to be
	KeptEnded        bool // a user has drained it without a restart
	Stuck            bool
	QuarantinedUntil time.Time       // zero = not quarantined
	Life             *session.Status // its session, even if that has ended
	Spoke            time.Time       // when it last printed something; zero = unknown
	Mail             int             // number of unread messages
	Task, Gate       string          // its work in progress, and the gate that this waits for
	CannotType       string          // why texts cannot be typed into it; "" = they can

	Summons *Summons // the beat that a triage agent has to decide; nil = none
	Served  string   // ID of the beat that a triage agent was last started for
}

// Summons describes the beat that a triage agent is started for.
type Summons struct {
	Tier, Beat string
	Env        []string
	Brief      effect.Brief
	Judged     bool
	Until      time.Time // latest time at which its session is stopped
}

// LeftAlone is the beginning of a result if no action was necessary.
const LeftAlone = "left alone: "

// Standing returns a clause that describes the state of an agent, for use in a message.
func Standing(s city.State, reason string) string {
	if s == city.Backoff {
		return "the agent waits for its restart: " + reason
	}
	return fmt.Sprintf("the agent is %s: %s", s, reason)
}

// Text is the result of a text that a watchdog sent.
type Text struct {
	ID                uint64
	Dropped, Withdrew bool
	Why               string
}

// TriageEnded handles the end of the session that was started for s, or its failed start.
func (wd *Watchdogs) TriageEnded(now time.Time, s *Summons, why string) {
	if t := wd.tier(s.Tier); t != nil && t.beat != nil && t.beat.id == s.Beat {
		wd.instead(now, t, why)
	}
}

// Degraded returns why the thresholds decide instead of the triage agent. ok is false if the watchdog does not
// exist.
func (wd *Watchdogs) Degraded(name string) (why string, ok bool) {
	t := wd.tier(name)
	if t == nil {
		return "", false
	}
	return t.degraded, true
}

// Judging returns the ID of the beat that a triage agent is deciding, or "".
func (wd *Watchdogs) Judging(name string) string {
	if t := wd.tier(name); t != nil && t.beat != nil {
		return t.beat.id
	}
	return ""
}
