package citytest_test

import (
	"errors"
	"testing"
	"time"

	"gcity/city"
	"gcity/city/citytest"
)

// A watchdog's beat is judged by its triage agent, else by ages; a word about a beat that is over is refused.
func TestWatchdogs(t *testing.T) {
	f := citytest.NewTown()
	f.Set(func(s *city.Snapshot) {
		s.Watchdogs = []city.Watchdog{
			{Name: "chain", Watches: "ann", Triage: "scout", Mode: city.ByTriage, TTL: time.Minute, Freshness: city.VeryStale, Escalated: &city.Escalation{To: "ann"}},
			{Name: "plain", Watches: "ann", Mode: city.ByThresholds, Freshness: city.Stale, Mail: 1},
		}
	})
	do := func(c city.Command) (*city.Watchdog, error) {
		_, err := f.Do(t.Context(), c)
		s, _ := f.Snapshot(t.Context())
		w, _ := s.Watchdog(c.Target())
		return w, err
	}
	w, err := do(city.Beat{Watchdog: "plain"})
	if err != nil || w.Last == nil || w.Last.Decision != city.RemedyNudge || w.Next == nil {
		t.Errorf("%+v, %v", w, err)
	}
	w, err = do(city.Beat{Watchdog: "chain"})
	if err != nil || w.Triaged == nil || w.Last != nil {
		t.Fatalf("%+v, %v", w, err)
	}
	beat := w.Triaged.Beat
	w, err = do(city.Decide{Watchdog: "chain", Decision: city.RemedyWake, Reason: "it hangs", Beat: beat, By: "scout"})
	if err != nil || w.Triaged != nil || w.Last.By != "scout" || len(w.Recent) != 1 {
		t.Errorf("%+v, %v", w, err)
	}
	w, err = do(city.Acknowledge{Watchdog: "chain", By: "ann"})
	if err != nil || w.Calls() || w.Escalated.By != "ann" {
		t.Errorf("%+v, %v", w, err)
	}
	for _, c := range []struct {
		command city.Command
		code    city.Code
	}{
		{city.Decide{Watchdog: "chain", Decision: city.RemedyWake, Reason: "again", Beat: beat}, city.Conflict},
		{city.Acknowledge{Watchdog: "chain"}, city.Conflict},
		{city.Beat{Watchdog: "nobody"}, city.NotFound},
	} {
		var problem *city.Error
		if _, err := do(c.command); !errors.As(err, &problem) || problem.Code != c.code {
			t.Errorf("%+v: %v", c.command, err)
		}
	}
}
