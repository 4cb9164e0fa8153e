package effect

import (
	"encoding/json"

	"gcity/events"
	"gcity/restart"
	"gcity/session"
)

// NewestEvents is the number of events that are read from the end of the log to determine what the previous
// controller recorded.
const NewestEvents = events.MaxLimit

// RecordedEnds returns the IDs of the sessions for which these events record an exit.
func RecordedEnds(newest []events.Event) map[string]bool {
	recorded := map[string]bool{}
	for i := range newest {
		if id := EndedSession(&newest[i]); id != "" {
			recorded[id] = true
		}
	}
	return recorded
}

// EndedSession returns the session ID of the exit that an event records, or "" if the event records no exit.
func EndedSession(e *events.Event) string {
	switch e.Type {
	case events.AgentCrashed, events.AgentStopped, events.AgentSuspended:
		var about struct{ Session string }
		if json.Unmarshal(e.Payload, &about) == nil {
			return about.Session
		}
	}
	return ""
}

// Death converts an exit to the form that the restart policy uses.
func Death(e *session.Exit) restart.Death {
	return restart.Death{Code: e.Code, Signal: e.Signal, Uptime: e.Uptime, Lost: e.Lost}
}

// ExitPayload returns the payload of an event about an exit.
func ExitPayload(e session.Exit) json.RawMessage {
	about := map[string]any{"session": e.ID, "code": e.Code, "uptime_ms": e.Uptime.Milliseconds()}
	if e.Signal != "" {
		about["signal"] = e.Signal
	}
	if e.Lost {
		about["cause"] = "host_lost"
	}
	if e.Reason != "" {
		about["reason"] = e.Reason
	}
	data, err := json.Marshal(about)
	if err != nil {
		return nil
	}
	return data
}
