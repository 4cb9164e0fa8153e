package city_test

import (
	"strings"
	"testing"

	"gcity/city"
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
