package tui

import (
	"time"

	"gcity/city"
)

// withWatchdogs gives a city one watchdog in each state, and a stuck agent.
func withWatchdogs(s *city.Snapshot) {
	at := func(d time.Duration) *time.Time { t := epoch.Add(d); return &t }
	said := func(ago time.Duration, what city.Remedy, why, by, result string) city.Judgement {
		return city.Judgement{At: epoch.Add(-ago), Decision: what, Reason: why, By: by, Result: result}
	}
	nudged := said(4*time.Minute, city.RemedyNudge, "heartbeat 6m old, 2 messages wait", "thresholds", "typed")
	woken := said(65*time.Second, city.RemedyWake, "the same question is on its screen since 17m", "boot", "typed")
	woken.Took = 12 * time.Second
	before := said(4*time.Minute, city.RemedyWake, "heartbeat 16m old", "thresholds", "typed")
	calm := said(100*time.Second, city.RemedyNothing, "heartbeat 40s old", "thresholds", "")
	started := said(30*time.Minute, city.RemedyStart, "it has no session", "thresholds", "started")
	s.Watchdogs = []city.Watchdog{
		{Name: "calm", Watches: "monitor", Every: 3 * time.Minute, Fresh: 5 * time.Minute, VeryStale: 15 * time.Minute, Mode: city.ByThresholds,
			Heartbeat: at(-100 * time.Second), Freshness: city.Fresh, Next: at(80 * time.Second), Last: &calm, Recent: []city.Judgement{nudged}, Source: "city.toml:40:1"},
		{Name: "chain", Watches: "builder", Triage: "boot", Every: 3 * time.Minute, Fresh: 5 * time.Minute, VeryStale: 15 * time.Minute, TTL: 5 * time.Minute,
			Mode: city.ByTriage, Heartbeat: at(-18 * time.Minute), Freshness: city.VeryStale, Mail: 2, Last: &woken, Recent: []city.Judgement{before, woken}, Failed: 3,
			Triaged:   &city.TriageRun{Since: epoch.Add(-8 * time.Second), Until: epoch.Add(292 * time.Second), Beat: "17"},
			Escalated: &city.Escalation{At: epoch.Add(-50 * time.Second), To: "overseer", Message: "builder is no better after 3 wakes"}, Source: "city.toml:46:1"},
		{Name: "late", Watches: "worker-1", Triage: "boot", Every: time.Minute, Fresh: 5 * time.Minute, VeryStale: 15 * time.Minute, TTL: 5 * time.Minute, Mode: city.ByThresholds,
			Degraded: "triage agent boot did not decide within 5m", Problem: ".gc/heartbeats/worker-1.json holds no timestamp",
			Heartbeat: at(-7 * time.Minute), Freshness: city.Stale, Next: at(20 * time.Second), Source: "city.toml:52:1"},
		{Name: "night", Watches: "idle", Every: 10 * time.Minute, Mode: city.ByRestart, Freshness: city.Dead, Suspended: true, Last: &started, Source: "city.toml:60:1"},
	}
	for i := range s.Agents {
		if a := &s.Agents[i]; a.Name == "monitor" {
			a.Stuck = &city.Stuck{Since: epoch.Add(-21 * time.Minute), Task: "gc-216 fix the flaky retry test"}
		}
	}
}

func guarded(s *stage) {
	withAll(s)
	s.change(withWatchdogs)
}

func (s *stage) pointWatchdog(name string) {
	s.t.Helper()
	s.press("6", "g")
	for range len(s.m.Watchdogs.Rows) {
		if s.m.Watchdogs.SelectedKey == name {
			return
		}
		s.press("j")
	}
	if s.m.Watchdogs.SelectedKey != name {
		s.t.Fatalf("%s cannot be reached, the cursor is on %s", name, s.m.Watchdogs.SelectedKey)
	}
}

func (s *stage) watchdog(name string, edit func(*city.Watchdog)) {
	s.change(func(n *city.Snapshot) {
		all := append([]city.Watchdog(nil), n.Watchdogs...)
		for i := range all {
			if all[i].Name == name {
				edit(&all[i])
			}
		}
		n.Watchdogs = all
	})
}
