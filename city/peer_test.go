package city_test

import (
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/events"
	"gcity/mail"
)

func TestPeerName(t *testing.T) {
	for actor, want := range map[string]string{
		"": "operator", "controller": "operator", "a\nb": "operator",
		strings.Repeat("y", 1000): "operator",
		"boss":                    "boss", "yard/boss": "yard/boss", "tenant red": "tenant red",
	} {
		if got := (city.Peer{Actor: actor, From: "pid 4242"}).Name(); got != want {
			t.Errorf("%.20q: got %q, want %q", actor, got, want)
		}
	}
}

func TestAgentAcknowledgesOnlyItsOwnDrain(t *testing.T) {
	for _, c := range []struct {
		peer city.Peer
		want city.Code
	}{
		{city.Peer{Actor: "boss", From: "pid 4242", Agent: true}, city.Forbidden},
		{city.Peer{Actor: "worker", From: "pid 4242", Agent: true}, ""},
		{city.Peer{Actor: "boss", From: "pid 4242"}, ""},
		{city.Peer{Actor: "api", From: "tcp 192.0.2.7:4711", Remote: true}, ""},
		{city.Peer{}, ""},
	} {
		if _, err := city.Signed(city.DrainAck{Agent: "worker"}, c.peer); codeOf(err) != c.want {
			t.Errorf("%s: got %v, want code %q", c.peer, err, c.want)
		}
	}
}

func TestClientCannotSendMailAsGcity(t *testing.T) {
	remote := city.Peer{Actor: "api", From: "tcp 192.0.2.7:4711", Remote: true}
	for _, c := range []struct {
		from string
		peer city.Peer
		want city.Code
	}{
		{"controller", remote, city.Forbidden}, {"supervisor", remote, city.Forbidden}, {"ann", remote, ""}, {"", remote, ""},
		{"controller", city.Peer{}, ""},
	} {
		message := city.CreateBead{Bead: mail.ToBead(mail.Message{From: c.from, To: "dog", Subject: "x"})}
		if _, err := city.Signed(message, c.peer); codeOf(err) != c.want {
			t.Errorf("%q from %s: got %v, want code %q", c.from, c.peer, err, c.want)
		}
	}
}

// The actor of mail.read is the client that marks the message as read, not the recipient.
func TestActorOfMailRead(t *testing.T) {
	message := mail.ToBead(mail.Message{From: "ann", To: "dog", Subject: "x"})
	message.ID, message.Rev, message.CreatedAt = "tw-1", 1, time.Unix(1, 0)
	read, err := mail.ReadPatch().Apply(message, time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	for by, want := range map[string]string{"api": "api", "dog": "dog", "": "operator"} {
		if e := city.BeadEvent(&message, city.Located{Bead: read}, by, 0); e.Type != events.MailRead || e.Actor != want {
			t.Errorf("read by %q: got %s by %q, want %q", by, e.Type, e.Actor, want)
		}
	}
}
