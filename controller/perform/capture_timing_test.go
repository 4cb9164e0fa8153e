package perform

import (
	"testing"
	"testing/synctest"
	"time"

	"gcity/session"
)

// slow is a provider whose starts take long.
type slow struct{ session.Provider }

func (slow) Patience(string) time.Duration { return time.Minute }

// The last output of an agent is saved after the start of its next session, but at once if that start is slow: the
// event of the crash waits for it.
func TestCaptureDoesNotWaitForSlowStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := func(p session.Provider) time.Duration {
			sr := &sessions{base: &base{w: World{Provider: p}},
				starts: map[string]*starting{"a": {forked: make(chan struct{})}}}
			began := time.Now()
			sr.awaitStart(t.Context(), "a", "gc-a")
			return time.Since(began)
		}
		if got := waits(slow{}); got != 0 {
			t.Errorf("waits %s for the start of a slow provider", got)
		}
		if got := waits(nil); got != captureYield {
			t.Errorf("waits %s for the start of another provider, want %s", got, captureYield)
		}
	})
}
