// Package tier has the watchdogs of a city: it judges agents at their beats and decides what to do about them.
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

	tiers []*tier // in name order
	// names of watchdogs for which a heartbeat is being read or an escalation sent; they may have been removed
	// since
	reading map[string]bool
	posting map[string]bool
}

// New returns the state of a city without watchdogs. Effects go to out.
func New(c City, out *step.Output) Watchdogs {
	return Watchdogs{city: c, out: out, reading: map[string]bool{}, posting: map[string]bool{}}
}

// City is what watchdogs need of the city.
type City interface {
	Configuration() *effect.Configuration
	Running() bool    // the city is not being stopped
	Settling() bool   // the controller lists sessions once and starts nothing
	Listed() bool     // sessions were listed at least once
	Awake() time.Time // when the newest stall of the whole program ended; zero = there was none
	CountWork()
	// Record records an event after those that wait before it.
	Record(e events.Event, answers ...effect.Answer)

	Agent(name string) *Agent // nil if it does not exist
	Decide(now time.Time, name string)
	// Start lifts the agent's wait and starts it. It returns the result for the log, as Replace does.
	Start(now time.Time, name, why string) string
	Replace(now time.Time, name, why string) string
	// Type queues a text for an agent. It returns the ID of the text, or why it was refused.
	Type(now time.Time, name, watchdog, text string) (id uint64, problem string)
	TextReason(name string, id uint64) string // why a queued text is not typed yet
	TakeBack(now time.Time, name string, id uint64, why string)
	// Summon makes a triage agent start for a beat, Dismiss ends that, and Decided notes that it has decided.
	Summon(name string, s *Summons)
	Dismiss(now time.Time, name, watchdog string)
	Decided(name, beat string, until time.Time)
}

// Agent is what watchdogs see of an agent.
type Agent struct {
	Name             string
	State            city.State
	Reason           string
	Declared         bool
	Suspended        string // why, "" = it is not
	Problem          string // why it cannot be started, "" = it can
	TriageOf         string // the watchdog that it is the triage of, "" = none
	Alive, Ready     bool
	Starting         bool // a start is in flight
	Stopping         bool // a stop is in flight
	Ending           bool // it is stopping or about to stop
	KeptEnded        bool // it was drained by a user and stays ended
	Stuck            bool
	QuarantinedUntil time.Time       // zero = it is not quarantined
	Life             *session.Status // of its session, also after it ended
	Spoke            time.Time       // when it printed something last; zero = unknown
	Mail             int             // unread messages
	Task, Gate       string          // the work in progress, and the gate that it waits for
	CannotType       string          // why nothing can be typed into it, "" = it can

	Summons *Summons // the beat that a triage agent judges
	Served  string   // the beat that a triage agent was last started for
}

// Summons is the beat that a triage agent is started for.
type Summons struct {
	Tier, Beat string
	Env        []string
	Brief      effect.Brief
	Judged     bool
	Until      time.Time // its session is stopped at this time at the latest
}

// LeftAlone begins the result of a decision that needed no action.
const LeftAlone = "left alone: "

// Standing describes the state of an agent in a sentence about it.
func Standing(s city.State, reason string) string {
	if s == city.Backoff {
		return "it waits for its restart: " + reason
	}
	return fmt.Sprintf("it is %s: %s", s, reason)
}

// Text is the result of a text that a watchdog sent.
type Text struct {
	ID                uint64
	Dropped, Withdrew bool
	Why               string
}

// TriageEnded takes the end of the session that was started for s, or of its start.
func (wd *Watchdogs) TriageEnded(now time.Time, s *Summons, why string) {
	if t := wd.tier(s.Tier); t != nil && t.beat != nil && t.beat.id == s.Beat {
		wd.instead(now, t, why)
	}
}

// Degraded returns why the thresholds judge instead of the triage; ok is false if the watchdog does not exist.
func (wd *Watchdogs) Degraded(name string) (why string, ok bool) {
	t := wd.tier(name)
	if t == nil {
		return "", false
	}
	return t.degraded, true
}

// Judging returns the ID of the beat that a triage is judging, "" if it judges no beat.
func (wd *Watchdogs) Judging(name string) string {
	if t := wd.tier(name); t != nil && t.beat != nil {
		return t.beat.id
	}
	return ""
}
