package panel

import (
	"testing"

	"gcity/events"
)

// If a message already ends with the actor, the row does not add the actor again.
func TestTheActorIsNamedOnce(t *testing.T) {
	for message, want := range map[string]string{
		"restarted by operator": "restarted by operator",
		"asked to finish":       "asked to finish (by operator)",
	} {
		r := NewEventRow(events.Event{Message: message, Actor: "operator", Subject: "builder"})
		if r.message != want {
			t.Errorf("got %q, want %q", r.message, want)
		}
	}
}
