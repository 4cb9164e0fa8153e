package runs

import (
	"testing"
	"time"

	"gcity/city"
	"gcity/controller/effect"
)

// A run's record can be closed after its end event was written. If only the event is too old to be found, the run must
// not get a second one.
func TestEndMissing(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ended := since.Add(time.Second)
	for _, c := range []struct {
		name    string
		opened  time.Time
		ended   *time.Time
		logged  bool
		wasOpen bool
		want    bool
	}{
		{"opened before the oldest event searched", since.Add(-time.Second), &ended, false, false, false},
		{"opened after it", since, &ended, false, false, true},
		{"with an event", since, &ended, true, false, false},
		{"closed just now", since.Add(-time.Hour), &ended, false, true, true},
		{"not ended", since, nil, false, false, false},
	} {
		run := city.Run{ID: "r-1", Opened: c.opened, Ended: c.ended}
		in := &effect.LoggedRuns{Since: since, Ended: map[string]bool{run.ID: c.logged}}
		if got := (&Runs{}).endMissing(&run, in, c.wasOpen); got != c.want {
			t.Errorf("%s: got %t", c.name, got)
		}
	}
}
