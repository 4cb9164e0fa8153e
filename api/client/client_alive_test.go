package client

import (
	"testing"
	"time"
)

// A peer that misses pings because the machine is busy does not hang.
func TestMissedPings(t *testing.T) {
	t.Parallel()
	for demand, want := range map[time.Duration]int{0: missedPings, time.Second / 2: missedPings, 2 * time.Second: missedByBusy} {
		beat, now, n := pulse{}, time.Unix(0, 0), 1
		for !beat.miss(now, time.Duration(n)*demand) {
			now = now.Add(pingAfter + pingLimit)
			n++
		}
		if n != want {
			t.Errorf("with a demand of %s for each ping, the peer hangs after %d pings, want %d", demand, n, want)
		}
	}
}
