package supervisor

import (
	"testing"
	"time"

	"gcity/city"
	"gcity/internal/wallclock"
)

// The next attempt is shown as a time of the present wall clock (L13). Here, the computer slept after the time was set.
func TestNextAttemptAfterASleep(t *testing.T) {
	want := time.Now().Add(time.Minute)
	w := &worker{state: city.CityRefused, until: wallclock.Shift(t, want, -8*time.Hour)}
	before := city.Info{Status: city.CityRefused, Until: new(w.until)}
	first := w.info()
	got := *first.Until
	if !got.Equal(want) || got.Round(0).Sub(want.Round(0)).Abs() > time.Second {
		t.Errorf("got %v, want %v", got, want)
	}
	if first.Same(before) {
		t.Error("Watch would not report the corrected time")
	}
	if again := w.info(); !again.Same(first) {
		t.Errorf("the clock was not set: got %v, then %v", got, *again.Until)
	}
}
