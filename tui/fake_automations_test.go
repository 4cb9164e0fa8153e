package tui

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"testing"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
	"gcity/tui/feed"
)

func withAutomations(s *city.Snapshot) {
	ago := func(d time.Duration) *time.Time { at := epoch.Add(-d); return &at }
	in := func(d time.Duration) *time.Time { at := epoch.Add(d); return &at }
	code := func(n int) *int { return &n }
	file := func(name string) string { return "formulas/automations/" + name + "/automation.toml" }
	run := func(id, outcome string, opened, took time.Duration) *city.Run {
		r := &city.Run{ID: id, Reason: "cooldown: 5m elapsed", Opened: *ago(opened), Outcome: outcome}
		if outcome != "" {
			end := r.Opened.Add(took)
			r.Ended = &end
		}
		return r
	}
	health := run("gc-214", "ok", 2*time.Minute+19*time.Second, 1200*time.Millisecond)
	health.Code, health.Output = code(0), "12 tables, 0 broken\nall is well\n"
	digest := run("gc-215", "", 14*time.Second, 0)
	digest.Reason = "cron: due 10:42"
	prune := run("gc-213", "failed", 4*time.Minute, 300*time.Millisecond)
	prune.Code, prune.Output, prune.Reason = code(128), "fatal: not a git repository\n", "condition: exit 0"
	pruneAgain := run("gc-190", "ok", 26*time.Hour, 3*time.Second)
	s.Automations = []city.Automation{
		{Name: "db-health", Description: "asks the database how it is", Source: file("db-health"), Layer: "city", Gate: "cooldown", When: "5m0s",
			Exec: "./check-db.sh --fast", State: city.AutomationIdle, Reason: "cooldown: 2m41s remaining", Next: in(161 * time.Second), Last: health,
			Timeout: 90 * time.Second, Retry: 2, Overlap: "skip", Warnings: []string{file("db-health") + `:7:1: unknown key "colour"`}},
		{Name: "digest", Source: file("digest"), Gate: "cron", When: "0 3 * * *", Formula: "digest", Pool: "worker", State: city.AutomationRunning,
			Reason: "due again at 03:00", Since: ago(14 * time.Second), Last: digest},
		{Name: "nightly", Source: file("nightly"), Gate: "cron", When: "30 3 * * *", Exec: "make -s nightly", State: city.AutomationIdle,
			Reason: "cron: next 2026-11-22 03:30", Next: in(16*time.Hour + 48*time.Minute), Last: pruneAgain},
		{Name: "prune-branches", Source: file("prune-branches"), Gate: "condition", When: "test -d repo", Exec: "git fetch --prune",
			State: city.AutomationBackoff, Reason: "retry 1 of 3 in 5s", Next: in(5 * time.Second), Failures: 3, Last: prune},
		{Name: "release", Source: file("release"), Gate: "manual", Exec: "./release.sh", State: city.AutomationIdle, Reason: "manual"},
		{Name: "sweep:rig:shop", Rig: "shop", Source: "shop/" + file("sweep"), Gate: "event", When: "bead.closed", Exec: "./sweep.sh",
			State: city.AutomationOff, Reason: "suspended with rig shop"},
		{Name: "triage", Source: file("triage"), Gate: "event", When: "bead.created", Formula: "triage", Pool: "triage", State: city.AutomationDue,
			Reason: "event: 2 bead.created since 1041", Since: ago(3 * time.Second)},
		{Name: "wisp-compact", Source: file("wisp-compact"), State: city.AutomationBroken,
			Reason: file("wisp-compact") + ":4:1: both formula and exec are set; keep one"},
	}
	s.Work = city.Work{Open: 4, InProgress: 1, Pools: map[string]int{"worker": 3, "triage": 1}}
}

func someWork() []beads.Bead {
	at := func(ago time.Duration) time.Time { return epoch.Add(-ago) }
	run := func(id, name, outcome, code string, opened, took time.Duration) beads.Bead {
		end := at(opened - took)
		return beads.Bead{ID: id, Title: name, Type: "run", Status: beads.StatusClosed, Labels: []string{city.RunLabel + name, "exec"},
			CreatedAt: at(opened), UpdatedAt: end, ClosedAt: &end,
			Metadata: map[string]string{city.RunReason: "cooldown: 5m elapsed", city.RunOutcome: outcome, city.RunCode: code}}
	}
	hand := run("gc-208", "db-health", "failed", "3", 8*time.Minute, 900*time.Millisecond)
	hand.Metadata[city.RunReason], hand.Metadata[city.RunBy] = "manual", "operator"
	return []beads.Bead{
		{ID: "gc-219", Title: "look at the two new ones", Type: "task", Status: beads.StatusOpen, Priority: beads.Urgent, CreatedAt: at(40 * time.Second),
			UpdatedAt: at(40 * time.Second), ParentID: "gc-218", Ref: "look", Needs: []string{"gc-217"}},
		{ID: "gc-218", Title: "triage", Type: "molecule", Status: beads.StatusOpen, CreatedAt: at(41 * time.Second),
			UpdatedAt: at(40 * time.Second), Labels: []string{city.PoolLabel + "triage"}, Ref: "triage"},
		{ID: "gc-217", Title: "document the exec provider", Type: "task", Status: beads.StatusOpen, CreatedAt: at(22 * time.Minute),
			UpdatedAt: at(22 * time.Minute), Labels: []string{city.PoolLabel + "worker"}, Description: "With an example.\nAnd its limits."},
		{ID: "gc-216", Title: "fix the flaky retry test", Type: "task", Status: beads.StatusInProgress, Assignee: "worker-1", CreatedAt: at(3 * time.Hour),
			UpdatedAt: at(22 * time.Minute), Labels: []string{city.PoolLabel + "worker"}, Metadata: map[string]string{"branch": "retry"}},
		run("gc-214", "db-health", "ok", "0", 2*time.Minute+19*time.Second, 1200*time.Millisecond),
		hand,
		run("gc-201", "db-health", "ok", "0", 26*time.Hour, 2*time.Second),
		{ID: "gc-7", Title: "thank the neighbours", Type: "task", Status: beads.StatusOpen, Assignee: "builder", CreatedAt: at(50 * time.Hour), UpdatedAt: at(50 * time.Hour)},
		{ID: "gc-6", Title: "a paint that does not peel", Type: "task", Status: beads.StatusOpen, Priority: beads.Someday, CreatedAt: at(90 * time.Hour),
			UpdatedAt: at(90 * time.Hour)},
	}
}

func automationEvents() []events.Event {
	var es []events.Event
	for i, e := range []events.Event{
		{Type: events.AutomationFired, Subject: "db-health", Message: "cooldown: 5m elapsed"},
		{Type: events.AutomationCompleted, Subject: "db-health", Message: "ok in 1.2s"},
		{Type: events.AutomationFailed, Subject: "prune-branches", Message: "exit 128: not a git repository"},
		{Type: events.AutomationSkipped, Subject: "digest", Message: "it still ran"},
		{Type: events.BeadCreated, Subject: "gc-219", Message: "look at the two new ones", Actor: "operator"},
		{Type: events.BeadClosed, Subject: "gc-212", Message: "paint the door", Actor: "worker-1"},
	} {
		e.Seq, e.TS = uint64(100+i), epoch.Add(time.Duration(i-6)*time.Second)
		es = append(es, e)
	}
	return es
}

func automated(t testing.TB, w, h int) *stage {
	s := pooled(t, w, h)
	s.change(withAutomations)
	return s
}

func (s *stage) find(all []beads.Bead, problem string) {
	s.t.Helper()
	for more := true; more; {
		more = false
		for _, e := range s.out {
			q, ok := e.(feed.QueryBeads)
			if !ok {
				continue
			}
			more = true
			f := feed.FoundBeads{ID: q.ID, Problem: problem}
			for _, b := range all {
				if problem == "" && q.Query.Match(b) && len(f.Beads) < q.Query.MaxResults() {
					f.Beads = append(f.Beads, b)
				}
			}
			s.hear(feed.News{Found: []feed.FoundBeads{f}})
		}
	}
}

func (s *stage) point(name string) {
	s.t.Helper()
	s.press("4", "g")
	for range len(s.m.Automations.Rows) {
		if s.m.Automations.SelectedKey == name {
			return
		}
		s.press("j")
	}
	if s.m.Automations.SelectedKey != name {
		s.t.Fatalf("%s cannot be reached, the cursor is on %s", name, s.m.Automations.SelectedKey)
	}
}

func (s *stage) automation(name string, edit func(*city.Automation)) {
	s.change(func(n *city.Snapshot) {
		all := append([]city.Automation(nil), n.Automations...)
		for i := range all {
			if all[i].Name == name {
				edit(&all[i])
			}
		}
		n.Automations = all
	})
}

func (f *fakeCity) Beads(_ context.Context, q beads.Query) ([]beads.Bead, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if why := f.fail["beads"]; why != "" {
		return nil, &city.Error{Code: city.Unavailable, Message: why}
	}
	var all []beads.Bead
	for _, b := range f.beads {
		if q.Match(b) && (q.MaxResults() < 0 || len(all) < q.MaxResults()) {
			all = append(all, b.Clone())
		}
	}
	return all, nil
}

func (f *fakeCity) Bead(ctx context.Context, id string) (beads.Bead, error) {
	all, err := f.Beads(ctx, beads.Query{Limit: -1})
	if i := slices.IndexFunc(all, func(b beads.Bead) bool { return b.ID == id }); i >= 0 {
		return all[i], nil
	}
	return beads.Bead{}, cmp.Or(err, city.WorkError(beads.NotFound(id)))
}

// RunOutput implements city.Control. Every run prints its name; its stream then stays open.
func (f *fakeCity) RunOutput(ctx context.Context, run string) iter.Seq2[city.Piece, error] {
	return func(yield func(city.Piece, error) bool) {
		if yield(city.Piece{Text: run + " prints this\n"}, nil) {
			<-ctx.Done()
		}
	}
}
