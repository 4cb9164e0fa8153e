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
