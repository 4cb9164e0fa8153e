// Package tier implements a city's watchdogs. A watchdog checks an agent at regular intervals and decides what to do.
// Each check is a beat.
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

// Watchdogs is the state of all watchdogs in a city.
type Watchdogs struct {
	city City
	out  *step.Output

	tiers []*tier // sorted by name
	// watchdogs with a heartbeat read or an escalation in flight; they might have been removed
	reading    map[string]bool
	escalating map[string]bool
}

// New returns an empty Watchdogs that adds its effects to out.
func New(c City, out *step.Output) Watchdogs {
	return Watchdogs{city: c, out: out, reading: map[string]bool{}, escalating: map[string]bool{}}
}

// City is the view of the city that watchdogs use.
type City interface {
	Configuration() *effect.Configuration
	Running() bool           // the city is not being stopped
	OneShot() bool           // one-shot mode, in which nothing may start
	Listed() bool            // the sessions have been listed at least once
	StalledUntil() time.Time // end of the program's latest stall; zero = no stall
	CountWork()
	// Record records an event, after the events that are already queued.
	Record(e events.Event, replies ...effect.Reply)

	Agent(name string) *Agent // nil if the agent does not exist
	Decide(now time.Time, name string)
	// Start ends an agent's wait and starts the agent. Replace restarts the agent. Both return a description of the
	// result.
	Start(now time.Time, name, why string) string
	Replace(now time.Time, name, why string) string
	// Type queues a nudge for an agent. It returns the nudge's ID, or the reason why it was rejected.
	Type(now time.Time, name, watchdog, text string) (id uint64, problem string)
	MessageReason(name string, id uint64) string // reason why a nudge has not been submitted yet
	TakeBack(now time.Time, name string, id uint64, why string)
	// StartTriage requests a start of a triage agent for a beat. StopTriage stops the triage agent. Decided records
	// that the triage agent has decided.
	StartTriage(name string, s *TriageRequest)
	StopTriage(now time.Time, name, watchdog string)
	Decided(name, beat string, until time.Time)
}

// Agent is the part of an agent's state that watchdogs use.
type Agent struct {
	Name             string
	State            city.State
	Reason           string
	Declared         bool
	Suspended        string // for example "suspended in city.toml"; "" = not suspended
	Problem          string // reason why the agent cannot start; "" = it can start
	TriageOf         string // the watchdog that uses the agent as its triage agent; "" = none
	Alive, Ready     bool
	Starting         bool
	Stopping         bool
	Ending           bool // the agent is being stopped or is about to be
	StaysEnded       bool // a user drained the agent and asked for it to stay stopped
	Stuck            bool
	QuarantinedUntil time.Time       // zero = not quarantined
	Life             *session.Status // the agent's session, even if the session has ended
	LastOutput       time.Time       // time of its last output; zero = unknown
	Mail             int             // number of unread messages
	Task, Gate       string          // work in progress, and the gate that it is waiting for
	// reason why nudges cannot be typed into its session; "" = they can be typed
	CannotType string

	Request  *TriageRequest // the beat that a triage agent must decide, or nil
	LastBeat string         // ID of the latest beat that a triage agent was started for
}

// TriageRequest describes the beat that a triage agent is started for.
type TriageRequest struct {
	Tier, Beat string
	Env        []string
	Brief      effect.Brief
	Judged     bool
	Until      time.Time // time by which its session is stopped
}

// LeftAlone is the prefix of a result if no action was necessary.
const LeftAlone = "left alone: "

// StateText returns a clause about an agent's state, for use in a message.
func StateText(s city.State, reason string) string {
	if s == city.Backoff {
		return "the agent is waiting to restart: " + reason
	}
	return fmt.Sprintf("the agent is %s: %s", s, reason)
}

// SentMessage is the result of a nudge that a watchdog sent.
type SentMessage struct {
	ID                uint64
	Dropped, Withdrew bool
	Why               string
}

// TriageEnded handles the end of the session for the request s, or the failure to start it.
func (wd *Watchdogs) TriageEnded(now time.Time, s *TriageRequest, why string) {
	if t := wd.tier(s.Tier); t != nil && t.beat != nil && t.beat.id == s.Beat {
		wd.fallBack(now, t, why)
	}
}

// Degraded returns the reason why the thresholds decide in place of the triage agent, or "". ok is false for an unknown
// watchdog.
func (wd *Watchdogs) Degraded(name string) (why string, ok bool) {
	t := wd.tier(name)
	if t == nil {
		return "", false
	}
	return t.degraded, true
}

// Judging returns the ID of the beat that a triage agent is judging, or "".
func (wd *Watchdogs) Judging(name string) string {
	if t := wd.tier(name); t != nil && t.beat != nil {
		return t.beat.id
	}
	return ""
}
