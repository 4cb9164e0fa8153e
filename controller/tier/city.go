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
	// watchdogs with a heartbeat read or an escalation in flight, including removed ones
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
	Running() bool
	OneShot() bool           // in one-shot mode nothing may start
	Listed() bool            // the sessions have been listed at least once
	StalledUntil() time.Time // end of the program's latest stall; zero = no stall
	CountWork()
	Record(e events.Event, replies ...effect.Reply)

	Agent(name string) *Agent // nil if the agent does not exist
	Decide(now time.Time, name string)
	// Start ends an agent's wait and starts the agent. Replace restarts the agent. Both describe the result.
	Start(now time.Time, name, why string) string
	Replace(now time.Time, name, why string) string
	// Type queues a nudge for an agent. It returns the nudge's ID, or why it was rejected.
	Type(now time.Time, name, watchdog, text string) (id uint64, problem string)
	MessageReason(name string, id uint64) string // why a nudge has not been submitted yet
	TakeBack(now time.Time, name string, id uint64, why string)
	StartTriage(name string, s *TriageRequest)
	StopTriage(now time.Time, name, watchdog string)
	// Decided records that the triage agent has decided.
	Decided(name, beat string, until time.Time)
}

// Agent is the part of an agent's state that watchdogs use.
type Agent struct {
	Name             string
	State            city.State
	Reason           string
	Declared         bool
	Suspended        string // for example "suspended in city.toml"; "" = not suspended
	Problem          string // why the agent cannot start; "" = it can
	TriageOf         string // the watchdog that uses the agent for triage, or ""
	Alive, Ready     bool
	Starting         bool
	Stopping         bool
	Ending           bool // the agent is being stopped or is about to be
	StaysEnded       bool // a user drained the agent for good
	Stuck            bool
	QuarantinedUntil time.Time
	Life             *session.Status // the session, even if it has ended
	LastOutput       time.Time       // zero = unknown
	Mail             int             // unread messages
	Task, Gate       string          // work in progress, and the gate that it is waiting for
	// why nudges cannot be typed; "" = they can be
	CannotType string

	Request  *TriageRequest // the beat that a triage agent must decide, or nil
	LastBeat string
}

// TriageRequest describes the beat that a triage agent is started for.
type TriageRequest struct {
	Tier, Beat string
	Env        []string
	Brief      effect.Brief
	Judged     bool
	Until      time.Time // the session is stopped at this time
}

// LeftAlone is the prefix of the result if a watchdog took no action.
const LeftAlone = "left alone: "

// StateText returns a clause about an agent's state.
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

// TriageEnded handles the end of the triage session for s, or the failure to start it.
func (wd *Watchdogs) TriageEnded(now time.Time, s *TriageRequest, why string) {
	if t := wd.tier(s.Tier); t != nil && t.beat != nil && t.beat.id == s.Beat {
		wd.fallBack(now, t, why)
	}
}

// Degraded returns why the thresholds decide in place of the triage agent, or "". ok is false for an unknown watchdog.
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
