package controller

import (
	"encoding/json"
	"testing"

	"gcity/events"
)

// A reason that quotes a command line is on record without its secrets, in the message and in the payload. What has
// none is written byte for byte.
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
