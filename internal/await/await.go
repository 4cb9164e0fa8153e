// Package await waits for what can only be asked for, for tests.
package await

import (
	"testing"
	"time"
)

// Limit bounds every wait. Nothing is judged by it but that something never comes, and it has to be long enough for
// a machine that is busy with other things.
const Limit = 2 * time.Minute

// slowest is the longest pause between two looks; a look may be a process.
const slowest = 50 * time.Millisecond

// Until asks until something is so. If it never is the test fails, and tells the state that it is in.
func Until(t testing.TB, what string, so func() bool, state ...func() string) {
	t.Helper()
	if !So(so) {
		fail(t, what, state)
	}
}

// One is what a channel has to give; that may be its end.
func One[T any](t testing.TB, what string, from <-chan T, state ...func() string) T {
	t.Helper()
	late := time.NewTimer(Limit)
	defer late.Stop()
	select {
	case v := <-from:
		return v
	case <-late.C:
		fail(t, what, state)
		panic("unreachable")
	}
}

// So reports whether something comes to be so, for those who have something to do before the test fails.
func So(so func() bool) bool {
	pause := time.Millisecond
	for end := time.Now().Add(Limit); !so(); time.Sleep(pause) {
		if time.Now().After(end) {
			return false
		}
		pause = min(2*pause, slowest)
	}
	return true
}

func fail(t testing.TB, what string, state []func() string) {
	t.Helper()
	for _, tell := range state {
		what += "\n" + tell()
	}
	t.Fatalf("not within %s: %s", Limit, what)
}
