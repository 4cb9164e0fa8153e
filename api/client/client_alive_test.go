package client

import (
	"context"
	"testing"
	"time"
)

// A peer that misses pings because the machine is busy does not hang.
func TestMissedPings(t *testing.T) {
	t.Parallel()
	for demand, want := range map[time.Duration]int{0: maxMissed, time.Second / 2: maxMissed, 2 * time.Second: maxMissedBusy} {
		missed, now, n := misses{}, time.Unix(0, 0), 1
		for !missed.add(now, time.Duration(n)*demand) {
			now = now.Add(pingAfter + pingLimit)
			n++
		}
		if n != want {
			t.Errorf("with a demand of %s for each ping, the peer hangs after %d pings, want %d", demand, n, want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	expired, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for n := range maxMissed + 1 {
		if m := (misses{n: n}); m.late(ended) || m.late(t.Context()) || m.late(expired) != (n == maxMissed) {
			t.Errorf("after %d missed pings: the end of the request counts wrongly", n)
		}
	}
}
