package main

import (
	"context"
	"iter"
	"time"

	"gcity/city"
)

// watchdogCity adds invented watchdogs to the recorded city, because the demo has none.
type watchdogCity struct{ *player }

func watched(s *city.Snapshot) *city.Snapshot {
	now := s.Patrol.Last
	ago := func(d time.Duration) *time.Time { t := now.Add(-d); return &t }
	in := func(d time.Duration) *time.Time { return ago(-d) }
	dog := func(name, watches string, heart time.Duration, next *time.Time) city.Watchdog {
		return city.Watchdog{Name: name, Watches: watches, Every: 12 * time.Second,
			Fresh: 15 * time.Second, VeryStale: 30 * time.Second,
			Mode: city.ByThresholds, Freshness: city.Fresh, Heartbeat: ago(heart), Next: next,
			Source: "city.toml"}
	}
	calling := dog("yard", "courier", 68*time.Second, in(3*time.Second))
	calling.Freshness, calling.Failed = city.VeryStale, 3
	calling.Recent = []city.Judgement{
		{At: *ago(33 * time.Second), Decision: city.RemedyWake, By: "thresholds", Result: "typed",
			Reason: "its heartbeat is 35s old; the limit is 30s"},
		{At: *ago(21 * time.Second), Decision: city.RemedyWake, By: "thresholds", Result: "typed",
			Reason: "its heartbeat is 47s old; the limit is 30s"},
		{At: *ago(9 * time.Second), Decision: city.RemedyWake, By: "thresholds", Result: "typed",
			Reason: "its heartbeat is 59s old; the limit is 30s"},
	}
	calling.Last = &calling.Recent[2]
	calling.Escalated = &city.Escalation{At: *ago(9 * time.Second), To: "human",
		Message: "courier is unhealthy, and the last 3 actions did not help"}
	judging := dog("works", "builder", 19*time.Second, nil)
	judging.Mode, judging.Triage, judging.TTL, judging.Freshness, judging.Mail = city.ByTriage,
		"scribe", 15*time.Second, city.Stale, 2
	judging.Triaged = &city.TriageRun{Since: *ago(4 * time.Second), Until: *in(11 * time.Second),
		Beat: "5"}
	judging.Last = &city.Judgement{At: *ago(14 * time.Second), Decision: city.RemedyNudge,
		Reason: "a long job is running, and 2 messages are waiting", By: "scribe",
		Took: 2 * time.Second, Result: "typed"}
	judging.Recent = []city.Judgement{*judging.Last}
	well := dog("dials", "gauges", 2*time.Second, in(7*time.Second))
	well.Last = &city.Judgement{At: *ago(5 * time.Second), Decision: city.RemedyNothing,
		Reason: "its heartbeat is 3s old", By: "thresholds"}
	s.Watchdogs = []city.Watchdog{well, judging, calling}
	return s
}

// Snapshot implements city.Control.
func (k watchdogCity) Snapshot(context.Context) (*city.Snapshot, error) {
	return watched(k.state(k.now())), nil
}

// Snapshots implements city.Control.
func (k watchdogCity) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(yield func(*city.Snapshot, error) bool) {
		for s, err := range k.player.Snapshots(ctx) {
			if !yield(watched(s), err) {
				return
			}
		}
	}
}
