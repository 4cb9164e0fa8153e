package controller

import (
	"encoding/json"
	"testing"

	"gcity/events"
)

// Secrets in a quoted command line are removed from the message and payload of an event. An event without secrets is
// written unchanged.
func TestEventsHaveNoSecrets(t *testing.T) {
	got := withoutSecrets(events.Event{Message: "TOKEN=hunter2 cmd failed",
		Payload: json.RawMessage(
			`{"why":"cmd --api-key hunter2 x","n":12345678901234567890,"token":"hunter2"}`)})
	if want := `{"n":12345678901234567890,"token":"…","why":"cmd --api-key … x"}`; got.Message !=
		"TOKEN=… cmd failed" || string(got.Payload) != want {
		t.Errorf("%s %s", got.Message, got.Payload)
	}
	const plain = `{ "why":"exit 1",  "n":1 }`
	if got := withoutSecrets(events.Event{Message: "exit 1",
		Payload: json.RawMessage(plain)}); got.Message != "exit 1" || string(got.Payload) != plain {
		t.Errorf("%s %s", got.Message, got.Payload)
	}
}
