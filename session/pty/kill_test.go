package pty

import (
	"flag"
	"testing"
	"time"

	"gcity/session"
	"gcity/session/sessiontest"
)

var (
	kills = flag.Int("kills", 15, "how often TestControllerKilled kills its controller")
	seed  = flag.Uint64("seed", 0, "seed of TestControllerKilled; 0 = a new one, which is logged")
)

// A controller is killed at any time, even while it starts agents. No agent ever runs twice (L11).
func TestControllerKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	t.Parallel()
	sessiontest.ControllerKilled(t, sessiontest.Kills{
		Open: func(t *testing.T, city string) session.Provider { return newProvider(t, city) },
		N:    *kills, Seed: *seed, Longest: 60 * time.Millisecond,
	})
}
