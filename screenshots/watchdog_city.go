package main

import (
	"context"
	"iter"
	"time"

	"gcity/city"
)

// watchdogCity is the recorded city with invented watchdogs, because the demo has none.
type watchdogCity struct{ *player }

// watched adds the invented watchdogs to a snapshot.
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
		{At: *ago(33 * time.Second), Decision: city.RemedyWake, Reason: "nothing heard for 35s",
			By: "thresholds", Result: "typed"},
		{At: *ago(21 * time.Second), Decision: city.RemedyWake, Reason: "nothing heard for 47s",
			By: "thresholds", Result: "typed"},
		{At: *ago(9 * time.Second), Decision: city.RemedyWake, Reason: "nothing heard for 59s",
			By: "thresholds", Result: "typed"},
	}
	calling.Last = &calling.Recent[2]
	calling.Escalated = &city.Escalation{At: *ago(9 * time.Second), To: "human",
		Message: "courier has been woken 3 times in a row, and gives no sign"}
	judging := dog("works", "builder", 19*time.Second, nil)
	judging.Mode, judging.Triage, judging.TTL, judging.Freshness, judging.Mail = city.ByTriage,
		"scribe", 15*time.Second, city.Stale, 2
	judging.Triaged = &city.TriageRun{Since: *ago(4 * time.Second), Until: *in(11 * time.Second),
		Beat: "5"}
	judging.Last = &city.Judgement{At: *ago(14 * time.Second), Decision: city.RemedyNudge,
		Reason: "it is at a long job, and mail waits", By: "scribe",
		Took: 2 * time.Second, Result: "typed"}
	judging.Recent = []city.Judgement{*judging.Last}
	well := dog("dials", "gauges", 2*time.Second, in(7*time.Second))
	well.Last = &city.Judgement{At: *ago(5 * time.Second), Decision: city.RemedyNothing,
		Reason: "heard 3s before", By: "thresholds"}
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
