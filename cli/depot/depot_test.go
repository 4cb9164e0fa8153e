package depot

import (
	"errors"
	"testing"

	"gcity/events"
)

func TestChangesStopAtAFailedChange(t *testing.T) {
	unreported := &unreportedError{event: events.Event{Subject: "to-1"}, err: errors.New("disk full")}
	failed := errors.New("locked")
	for _, c := range []struct {
		err       error
		continues bool
	}{
		{nil, true},
		{unreported, true},
		{errors.Join(unreported, unreported), true},
		{failed, false},
		{errors.Join(unreported, failed), false},
		{errors.Join(errors.Join(unreported, unreported), errors.Join(unreported, failed)), false},
	} {
		var all Changes
		if got := all.Add(c.err); got != c.continues {
			t.Errorf("%v: got %t, want %t", c.err, got, c.continues)
		}
	}
}
