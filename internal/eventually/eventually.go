// Package eventually helps tests wait for conditions that can only be polled.
package eventually

import (
	"testing"
	"time"
)

// Timeout limits every wait.
const Timeout = 2 * time.Minute

// maxPause is the longest pause between two cheap polls. After an expensive one, for example one that starts a process,
// the pause is twice as long as the poll took, up to maxRest.
const (
	maxPause = 50 * time.Millisecond
	maxRest  = 250 * time.Millisecond

	maxUnchanged = 500 * time.Millisecond
)

// True polls cond until it is true. After Timeout, the test fails with the given description and the results of the
// state functions.
func True(t testing.TB, what string, cond func() bool, state ...func() string) {
	t.Helper()
	if !Poll(cond) {
		fail(t, what, state)
	}
}

// Receive returns the next value of a channel, or the zero value if the channel is closed. If nothing arrives within
// Timeout, the test fails.
func Receive[T any](t testing.TB, what string, from <-chan T, state ...func() string) T {
	t.Helper()
	late := time.NewTimer(Timeout)
	defer late.Stop()
	select {
	case v := <-from:
		return v
	case <-late.C:
		fail(t, what, state)
		panic("unreachable")
	}
}

// Poll reports whether cond becomes true within Timeout. It is for tests that must clean up before they fail.
func Poll(cond func() bool) bool {
	began, pause := time.Now(), time.Millisecond
	for polled := began; !cond(); polled = time.Now() {
		now := time.Now()
		if now.Sub(began) > Timeout {
			return false
		}
		pause = min(2*pause, maxPause)
		time.Sleep(max(pause, min(2*now.Sub(polled), maxRest)))
	}
	return true
}

// PollOnChange is like Poll, but for an expensive condition. It polls when version returns a new value, and at least
// every maxUnchanged.
func PollOnChange(version func() int64, cond func() bool) bool {
	for began := time.Now(); ; {
		before := version()
		if cond() {
			return true
		}
		polled := time.Now()
		if polled.Sub(began) > Timeout {
			return false
		}
		for same := true; same && time.Since(polled) < maxUnchanged; same = version() == before {
			time.Sleep(maxPause / 2)
		}
	}
}

func fail(t testing.TB, what string, states []func() string) {
	t.Helper()
	for _, state := range states {
		what += "\n" + state()
	}
	t.Fatalf("not within %s: %s", Timeout, what)
}
