package city

import "testing"

func TestWatchdogWord(t *testing.T) {
	call, heard := &Escalation{To: "ann"}, &Escalation{To: "ann", Seen: true}
	for _, c := range []struct {
		w    Watchdog
		word string
		ill  bool
	}{
		{Watchdog{Freshness: Fresh}, "fresh", false},
		{Watchdog{Freshness: Stale}, "stale", false},
		{Watchdog{Freshness: Unchecked}, "unchecked", false},
		{Watchdog{Freshness: VeryStale}, "very stale", true},
		{Watchdog{Freshness: Dead}, "dead", true},
		{Watchdog{Freshness: Fresh, Degraded: "scout said nothing"}, "fresh", true},
		{Watchdog{Freshness: VeryStale, Escalated: call}, "calls", true},
		{Watchdog{Freshness: VeryStale, Escalated: heard}, "very stale", true},
		{Watchdog{Freshness: Dead, Suspended: true}, "suspended", false},
		{Watchdog{Freshness: Dead, Suspended: true, Escalated: call}, "calls", true},
	} {
		if c.w.StatusWord() != c.word || c.w.NeedsAttention() != c.ill {
			t.Errorf("%+v: status %q, needs attention %t; want %q, %t", c.w, c.w.StatusWord(), c.w.NeedsAttention(), c.word, c.ill)
		}
	}
}
