package panel

import (
	"testing"
	"time"
)

// Only a run on the same day is shown without its date.
func TestGateStateNamesTheDay(t *testing.T) {
	now := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	for reason, want := range map[string]string{
		"next 2026-11-28 15:00": "next 15:00",
		"next 2026-11-29 09:00": "next Nov 29 09:00",
		"next 2027-11-28 09:00": "next Nov 28 09:00",
	} {
		r := AutomationRow{gate: "cron", Reason: "cron: " + reason}
		if got := r.GateState(now); got != want {
			t.Errorf("%s: %q, want %q", reason, got, want)
		}
	}
}
