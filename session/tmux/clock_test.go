package tmux

import (
	"testing"
	"time"

	"gcity/internal/wallclock"
)

// After the clock was set back, times before that are in the future. They do not hide newer ones.
func TestClockSetBack(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Round(0).Add(-d) }
	later := wallclock.Shift(t, now.Add(-time.Second), time.Hour)
	e := newEntry("a")
	e.known, e.rec.Born, e.sent, e.typed = true, ago(-time.Hour).UnixNano(), later, later
	e.pane.activity, e.views.typed = ago(2*time.Second), ago(-time.Hour)
	if st, _ := e.status(); !st.Activity.Equal(ago(2*time.Second)) || !st.TypedAt.IsZero() {
		t.Errorf("got activity at %v, typed at %v; want %v, never", st.Activity, st.TypedAt, ago(2*time.Second))
	}
	e.typed = ago(time.Second)
	if st, _ := e.status(); !st.Activity.Equal(e.typed) || !st.TypedAt.Equal(e.typed) {
		t.Errorf("got activity at %v, typed at %v; want %v", st.Activity, st.TypedAt, e.typed)
	}
}
