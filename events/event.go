// Package events is the memory of a city: an append-only log of what happened, read by cursor.
package events

import (
	"encoding/json"
	"time"
)

// Event is one line of the log. Seq and TS are given by the log when the event is written; everything else by the
// writer.
type Event struct {
	Seq     uint64          `json:"seq"`
	TS      time.Time       `json:"ts"`
	Type    string          `json:"type"`              // "noun.verb", the constants below or an emitter's own
	Actor   string          `json:"actor"`             // who caused it: "controller", "operator", an agent's name, …
	Subject string          `json:"subject,omitempty"` // what it is about: an agent, an automation, a pool, a bead
	Message string          `json:"message,omitempty"` // one line for a person
	Payload json.RawMessage `json:"payload,omitempty"` // one JSON value, at most what fits a 64 KiB line
}

// The types that gcity itself writes. Agents and scripts emit their own.
const (
	AgentStarted     = "agent.started"
	AgentStartFailed = "agent.start_failed"
	AgentStopped     = "agent.stopped"
	AgentCrashed     = "agent.crashed"
	AgentDraining    = "agent.draining"
	AgentQuarantined = "agent.quarantined"
	AgentReleased    = "agent.released"
	AgentSuspended   = "agent.suspended"
	AgentResumed     = "agent.resumed"
	AgentNudged      = "agent.nudged"

	ControllerStarted = "controller.started"
	ControllerStopped = "controller.stopped"
	ConfigReloaded    = "controller.config_reloaded"
	ConfigRejected    = "controller.config_rejected"

	CitySuspended = "city.suspended"
	CityResumed   = "city.resumed"

	// Gap stands for events that could not be written; its payload counts them.
	Gap = "events.gap"
	// Repaired says that a torn or damaged stretch of the log was healed or is being skipped.
	Repaired = "events.repaired"
)

// Query selects events. The zero value selects the newest DefaultLimit.
type Query struct {
	Types   []string  // any of these; a trailing "*" matches the rest ("agent.*")
	Actor   string    // exact
	Subject string    // exact
	Since   time.Time // not before
	After   uint64    // only seq > After; with After or Cursor set the oldest come first
	Forward bool      // oldest first from After, also when After is 0
	Limit   int       // at most so many; 0 = DefaultLimit
}

// DefaultLimit bounds a page when the query names no limit.
const DefaultLimit = 200
