package tui

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
	"gcity/themes"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/tuitest"
)

func (s *stage) automating() []string {
	var names []string
	for _, i := range s.m.Automations.List.Shown {
		names = append(names, s.m.Automations.Rows[i].Name)
	}
	return names
}

// The cursor starts on a failing automation, because the header points to it.
func TestTheCursorIsOnWhatFails(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(func(n *city.Snapshot) {
		withAutomations(n)
		for i := range n.Automations {
			n.Automations[i].State, n.Automations[i].Failures, n.Automations[i].Last = city.AutomationIdle, 0, nil
		}
	})
	healthy := s.m.Automations.SelectedKey
	fails := "db-health"
	if healthy == fails {
		fails = "nightly"
	}
	s.automation(fails, func(a *city.Automation) { a.State, a.Failures = city.AutomationFailing, 2 })
	s.press("4")
	if s.m.Automations.SelectedKey != fails {
		t.Errorf("the cursor is on %s", s.m.Automations.SelectedKey)
	}
	s.press("k", "g", "j", "1")
	at := s.m.Automations.SelectedKey
	s.automation("triage", func(a *city.Automation) { a.State, a.Failures = city.AutomationFailing, 2 })
	s.press("4")
	if s.m.Automations.SelectedKey != at {
		t.Errorf("the cursor moved from %s to %s", at, s.m.Automations.SelectedKey)
	}
}

func TestAutomationsSayHowTheyAreAndWhy(t *testing.T) {
	s := automated(t, 160, 34)
	s.send(tuitest.KeyPress("4"))
	s.shows(
		"4 Automations 8 (1 due, 1 failing, 1 broken)",
		"! 1 automation failing, 1 broken  press 4",
		"● idle     db-health       cooldown 5m · due in 2m41s ",
		"ok 2m ago (1.2s)",
		"◐ running  digest          cron 0 3 * * * · due again at 03:00 ", "running 14s",
		"● idle     nightly         cron 30 3 * * * · next Nov 22 03:30 · in 16h48m",
		"✗ failing  prune-branches  condition test -d repo · last exit 128: fatal: not a git repository · retry 1 of 3 · retries in 5s",
		"failed 3m ago (3×)",
		"○ manual   release         manual, press t",
		"○ off      sweep:rig:shop  event bead.closed · suspended with rig shop",
		"◌ due      triage          event bead.created · 2 bead.created since 1041 · due for 3s",
		"! broken   wisp-compact    automation.toml:4:1: both formula and exec are set; keep one")
	s.wait(40 * time.Second)
	s.shows("due in 2m01s", "running 54s", "due for 43s")
}

func TestTheDetailsOfAManualAutomationNameItsKeyOnce(t *testing.T) {
	s := automated(t, 120, 40)
	s.point("release")
	s.press("d")
	s.shows("gate        manual, press t")
	s.hides("reason ")
}

func TestAutomationTexts(t *testing.T) {
	at := epoch.Add(time.Minute)
	gone := epoch.Add(-time.Minute)
	for _, c := range []struct {
		a               city.Automation
		state           panel.AutomationState
		why, soon, last string
	}{
		{city.Automation{Gate: "cooldown", When: "1h30m0s", State: city.AutomationDue, Reason: "first run"}, panel.AutomationDue,
			"cooldown 1h30m · first run", "", "never"},
		{city.Automation{Gate: "cooldown", When: "5m0s", State: city.AutomationIdle, Reason: "cooldown: 1m remaining", Next: &gone}, panel.AutomationIdle,
			"cooldown 5m", "now", "never"},
		{city.Automation{Gate: "manual", State: city.AutomationIdle, Reason: "manual", Failures: 1, Last: &city.Run{Outcome: "interrupted", Opened: gone, Ended: &epoch}},
			panel.AutomationFailing, "manual · last interrupted", "", "interrupted 0s ago (60s)"},
		{city.Automation{Gate: "manual", State: city.AutomationOff, Reason: "disabled in its file (enabled = false)", Next: &at}, panel.AutomationOff,
			"manual · disabled in its file (enabled = false)", "", "never"},
		{city.Automation{Gate: "event", When: "x.y", State: city.AutomationRunning, Reason: "event", Since: &gone}, panel.AutomationRunning,
			"event x.y", "for 1m", "running 1m"},
		{city.Automation{Gate: "event", When: "x.y", State: "later", Reason: "new"}, "later", "event x.y · new", "", "never"},
		{city.Automation{State: city.AutomationBroken, Reason: "a:1:1: bad"}, panel.AutomationBroken, "a:1:1: bad", "", ""},
	} {
		r := panel.NewAutomationRow(&c.a)
		if r.State != c.state || r.Why(epoch, "·") != c.why || r.DueText(epoch).Full != c.soon || r.LastRunText(epoch) != strings.Replace(c.last, "(60s)", "(1m)", 1) {
			t.Errorf("%+v: %q %q %q %q", c.a, r.State, r.Why(epoch, "·"), r.DueText(epoch).Full, r.LastRunText(epoch))
		}
	}
}

func TestAutomationsAreFiltered(t *testing.T) {
	for text, want := range map[string][]string{
		"state:fail": {"prune-branches"}, "rig:shop": {"sweep:rig:shop"}, "pool:wor": {"digest"}, "name:d": {"db-health", "digest"},
		"cron": {"digest", "nightly"}, "cron !digest": {"nightly"}, "~dbh": {"db-health"}, "provider:x": nil,
	} {
		s := automated(t, 120, 40)
		s.press("4", "/")
		for _, c := range text {
			s.press(string(c))
		}
		s.press("enter")
		if got := s.automating(); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		if len(s.order()) != len(s.m.Agents.Rows) {
			t.Errorf("%q: the filter also applies to Agents", text)
		}
	}
	s := automated(t, 120, 40)
	s.press("4", "/", "x", "x", "enter")
	s.shows(`None of the 8 automations matches "xx".`)
	s.press("esc", "!")
	if got := s.automating(); !slices.Equal(got, []string{"wisp-compact", "prune-branches"}) {
		t.Errorf("automations that need attention: %v", got)
	}
	s.change(func(n *city.Snapshot) { n.Automations = n.Automations[:1] })
	s.shows("No automation needs attention.", "! shows all 1.")
	s.hides("automation failing", "4 Automations 1 (")
}

func TestTheAutomationsCursorIsItsOwn(t *testing.T) {
	s := automated(t, 200, 60)
	s.choose("idle")
	s.point("nightly")
	s.shows("─ automation nightly ─", "make -s nightly")
	s.change(func(n *city.Snapshot) {
		n.Automations = append([]city.Automation{{Name: "aaa", Gate: "manual"}}, n.Automations...)
	})
	if s.m.Automations.SelectedKey != "nightly" || s.m.Agents.SelectedKey != "idle" {
		t.Errorf("the cursors are on %s and %s", s.m.Automations.SelectedKey, s.m.Agents.SelectedKey)
	}
	s.change(func(n *city.Snapshot) { n.Automations = nil })
	s.press("j", "G", "g", "enter", "t", "d")
	s.wants()
	s.shows("No automations yet. Each automation has its own file below /srv/bright-lights:", "cannot show details: there are no automations")
}

// Firing asks for confirmation if something prevents a run.
func TestFire(t *testing.T) {
	fire := func(name string) city.Command { return city.Fire{Automation: name, By: "operator"} }
	s := automated(t, 120, 40)
	s.point("triage")
	s.press("t")
	s.wants(fire("triage"))
	s.shows("firing triage (event: 2 bead.created since 1041)")
	s.point("release")
	s.press("t")
	s.wants(fire("release"))
	s.point("nightly")
	s.press("t")
	s.wants()
	s.shows("Fire nightly now?", "Not due until Nov 22 03:30 (in 16h47m). Fire it now anyway?")
	s.press("enter") // "no" is preselected
	s.wants()
	s.press("t", "y")
	s.wants(fire("nightly"))
	s.change(func(n *city.Snapshot) {
		for i := range n.Automations {
			if n.Automations[i].Name == "nightly" {
				n.Automations[i].Next = new(s.now.Add(13 * time.Second))
			}
		}
	})
	s.press("t")
	s.shows("Not due until " + s.now.Add(13*time.Second).Format("15:04:05") + " (in 13s).")
	s.press("n")
	s.point("digest")
	s.press("t")
	s.wants()
	s.shows(`cannot fire the automation now: digest is running, and overlap is not "queue"`)
	s.automation("digest", func(a *city.Automation) { a.Overlap = "queue" })
	s.press("t")
	s.shows("A run has been in progress for", "Another run will follow.")
	s.automation("digest", func(a *city.Automation) { a.Overlap = "" }) // while the question is open
	s.hides("Fire digest now?")
	s.shows(`not fired: digest is running, and overlap is not "queue"`)
	s.automation("digest", func(a *city.Automation) { a.Overlap = "queue" })
	s.press("n")
	s.automation("digest", func(a *city.Automation) {
		a.State, a.Disabled, a.Reason = "off", true, "disabled in its file (enabled = false)"
	})
	s.press("t")
	s.wants()
	s.shows("cannot fire the automation now: digest is disabled in its file (enabled = false)")
	s.automation("digest", func(a *city.Automation) {
		a.State, a.Disabled, a.Reason = "running", false, "by hand"
	})
	s.point("prune-branches")
	s.press("t")
	s.shows("Not due: condition test -d repo; retry 1 of 3. Fire it now anyway?")
	s.press("n")
	s.point("sweep:rig:shop")
	s.press("t")
	s.shows("rig shop is suspended: its automations do not fire by themselves.")
	s.press("y")
	s.wants(fire("sweep:rig:shop"))
	s.change(func(n *city.Snapshot) { n.Suspended = true })
	s.point("release")
	s.press("t")
	s.wants()
	s.shows("Fire release now?", "bright-lights is suspended: its automations do not fire by themselves.")
	s.press("esc")
	s.point("wisp-compact")
	s.press("t")
	s.wants()
	s.shows("cannot fire the automation now: wisp-compact is broken: formulas/automations/wisp-compact")
	s.press("esc")
	s.point("digest")
	s.press("t")
	s.shows("Fire digest now?", "Another run will follow")
	s.press("y")
	s.wants(fire("digest"))
}

// A run in progress can be stopped after a confirmation.
func TestEndRun(t *testing.T) {
	end := func(name string) city.Command { return city.EndRun{Automation: name, By: "operator"} }
	s := automated(t, 120, 40)
	s.point("digest")
	s.line("stop digest", "enter")
	s.wants()
	s.shows("Stop the run of digest?", "count as failed")
	s.press("enter") // "no" is preselected
	s.wants()
	s.line("stop digest", "enter")
	s.press("y")
	s.wants(end("digest"))
	s.line("stop release", "enter")
	s.wants()
	s.shows("no run of release is in progress")
	s.press("esc", "esc")
	s.line("stop builder", "enter")
	s.shows("Kill or stop builder")
	s.press("esc")
	s.point("digest")
	s.press("x")
	s.shows("stop the automation's run")
}

func TestFireFromThePalette(t *testing.T) {
	s := automated(t, 120, 40)
	s.press(":", "f", "i", "r", "e")
	s.shows("fire the automation now: even if not due", "no automation is selected; press 4")
	s.press("enter")
	s.shows("no automation is selected; press 4")
	s = newStage(t, Options{Mode: state.ReadOnly})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.change(withAutomations)
	s.point("triage")
	s.hides("t fire ")
	s.press("t")
	s.wants()
	s.shows("read-only")
}

// The result of a run that was fired in this room is shown when the run ends.
func TestFiredRunsReportTheirResult(t *testing.T) {
	ended := func(s *stage, id, outcome string) {
		s.automation("release", func(a *city.Automation) {
			end := s.now
			a.Last = &city.Run{ID: id, Outcome: outcome, Opened: s.now.Add(-1500 * time.Millisecond), Ended: &end, Output: "no tag\n"}
		})
	}
	s := automated(t, 120, 40)
	s.point("release")
	ended(s, "gc-1", "ok")
	s.hides("release: ok in")
	s.press("t")
	s.hear(feed.News{Results: []feed.Result{{ID: s.m.Status.ID, Title: "firing", Total: 1, Receipts: []string{"fired release"}}}})
	s.shows("fired release")
	s.automation("release", func(a *city.Automation) { a.Last = &city.Run{ID: "gc-2", Opened: s.now} })
	s.hides("release: ok")
	ended(s, "gc-2", "ok")
	s.shows("release: ok in 1.5s")
	s.press("t")
	ended(s, "gc-3", "failed")
	s.shows("firing release")
	s.hear(feed.News{Results: []feed.Result{{ID: s.m.Status.ID, Title: "firing", Total: 1, Receipts: []string{"fired release"}}}})
	s.shows("release failed after 1.5s: failed: no tag")
	s.press("esc", "t")
	s.hear(feed.News{Results: []feed.Result{{ID: s.m.Status.ID, Title: "firing", Total: 1, Receipts: []string{"fired release"}}}})
	s.automation("release", func(a *city.Automation) {
		a.Last = &city.Run{ID: "gc-3b", Outcome: "ok", Opened: s.now, Ended: &epoch, Made: "gc-3c", MadeTitle: "crates have come"}
	})
	s.shows("release: took ", " and created gc-3c: crates have come", "The run printed nothing. It created gc-3c: crates have come.")
	s.press("t")
	s.hear(feed.News{Results: []feed.Result{{ID: s.m.Status.ID, Title: "firing", Total: 1, Failures: []string{"release is disabled"}}}})
	ended(s, "gc-4", "ok")
	s.hides("release: ok in")
	s.shows("release is disabled")
}

func TestAutomationDetails(t *testing.T) {
	s := automated(t, 120, 50)
	s.point("db-health")
	s.press("enter")
	q, ok := effectOf[feed.QueryBeads](s)
	if !ok || q.Query.Limit != 10 || q.Query.Type != "run" || !slices.Equal(q.Query.Labels, []string{"automation-run:db-health"}) {
		t.Fatalf("the query is %+v", q)
	}
	s.shows("loading")
	s.find(someWork(), "")
	s.shows("Runs", "exit 3        0.9s  fired by operator", "Nov 20 08:42  ok              2s", "all is well", `unknown key "colour"`)
	s.hides("loading")
	s.automation("db-health", func(a *city.Automation) { a.Reason = "cooldown: 2m remaining" })
	if _, again := effectOf[feed.QueryBeads](s); again {
		t.Error("the runs are requested although there is no new run")
	}
	s.automation("db-health", func(a *city.Automation) { a.Last = &city.Run{ID: "gc-300", Opened: s.now} })
	s.find(nil, "the store did not answer")
	s.shows("cannot be read: the store did not answer", "exit 3        0.9s  fired by operator")
	s.press("esc")
	s.automation("db-health", func(a *city.Automation) { a.Last = nil })
	if _, again := effectOf[feed.QueryBeads](s); again {
		t.Error("runs are requested for a closed reader")
	}
	s.press("d")
	s.find(nil, "")
	s.shows("This automation has never run.", "No runs are recorded.")
	s.change(func(n *city.Snapshot) { n.Automations = n.Automations[1:] })
	s.shows("This automation is no longer part of the city.")
}

// A late response to the details of one automation is not shown in the details of another.
func TestLateResponsesAreDropped(t *testing.T) {
	s := automated(t, 120, 50)
	s.point("db-health")
	s.press("d")
	first, _ := effectOf[feed.QueryBeads](s)
	s.press("esc", "j", "d")
	s.hear(feed.News{Found: []feed.FoundBeads{{ID: first.ID, Beads: someWork()}}})
	s.shows("loading")
}

func TestEventTones(t *testing.T) {
	for kind, want := range map[string]themes.Token{
		events.AutomationFired: themes.Text, events.AutomationCompleted: themes.Text, events.AutomationFailed: themes.Bad,
		events.AutomationSkipped: themes.Off, events.BeadClosed: themes.Text, events.AgentStarted: themes.Text, events.AgentStopped: themes.Text,
		events.PoolScaled: themes.Text, events.AgentReleased: themes.Good, events.ConfigHeld: themes.Warn, events.BeadUpdated: themes.Text,
	} {
		if got := panel.EventToken(kind); got != want {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
	}
}

// slowCity is a city with a bead store that never responds.
type slowCity struct{ *fakeCity }

func (slowCity) Beads(ctx context.Context, _ beads.Query) ([]beads.Bead, error) {
	return nil, context.DeadlineExceeded
}

func TestQueryAlwaysResponds(t *testing.T) {
	f := newFakeCity(epoch)
	f.beads, f.fail = someWork(), map[string]string{"beads": "the store is gone"}
	for _, c := range []struct {
		city city.Control
		want string
	}{{f, "the store is gone"}, {slowCity{f}, "no response from the city within 10s"}} {
		box := feed.NewMailbox()
		r := &feed.Runner{Ctx: t.Context(), City: c.city, Mailbox: box, Log: slog.New(slog.DiscardHandler), Fail: func() { t.Error(errors.New("it panicked")) }}
		r.Start(feed.QueryBeads{ID: 7})
		r.Wait()
		n, _ := box.Take(epoch)
		if len(n.Found) != 1 || n.Found[0].ID != 7 || n.Found[0].Problem != c.want {
			t.Errorf("%+v, want %q", n.Found, c.want)
		}
	}
}

// A row shows the first error and the number of further errors. The details show all errors.
func TestAutomationReasonsOfSeveralLines(t *testing.T) {
	s := automated(t, 160, 34)
	s.automation("wisp-compact", func(a *city.Automation) {
		a.Reason = "automation.gate: there is no gate \"x\"\nautomation.foo: unknown key"
	})
	s.automation("db-health", func(a *city.Automation) { a.Gate, a.When = "condition", "test -e flag &&\n  test -e go\n" })
	s.send(tuitest.KeyPress("4"))
	s.shows(`there is no gate "x" and 1 more`, "condition test -e flag && test -e go")
	s.hides("␊")
	for s.m.Automations.SelectedKey != "wisp-compact" {
		s.press("j")
	}
	s.press("enter")
	s.shows(`automation.gate: there is no gate "x"`, "automation.foo: unknown key")
	s.hides("␊")
}

func TestEnteringAutomationsMovesNoCursor(t *testing.T) {
	s := demo(t, 200, 60)
	s.change(func(n *city.Snapshot) {
		withAutomations(n)
		n.Automations = slices.DeleteFunc(n.Automations, func(a city.Automation) bool {
			return a.State == city.AutomationBroken
		})
	})
	fail := func(name string) {
		s.wait(time.Minute)
		s.change(func(n *city.Snapshot) {
			n.Automations = slices.Clone(n.Automations)
			for i := range n.Automations {
				n.Automations[i].Failures = 0
				if n.Automations[i].Name == name {
					n.Automations[i].Failures = 3
				}
			}
		})
		s.wait(time.Minute)
	}
	fail("nightly")
	before := s.m.Automations.SelectedKey
	s.press("4")
	if now := s.m.Automations.SelectedKey; before != "nightly" || now != before {
		t.Errorf("key 4 moved the cursor from %s to %s", before, now)
	}
	fail("release")
	s.press("1", "4")
	if now := s.m.Automations.SelectedKey; now != before {
		t.Errorf("the cursor moved from %s to %s", before, now)
	}
}

// A remaining time never exceeds the configured time, even if the frame is older than the start of that time. All places
// of one frame show the same remaining time.
func TestRemainingTimesNeverExceedTheTimeout(t *testing.T) {
	s := automated(t, 120, 40)
	s.point("db-health")
	s.press("1")
	s.choose("deployer")
	s.wait(s.now.Truncate(time.Second).Add(2*time.Second + 100*time.Millisecond).Sub(s.now))
	s.text() // the first frame of this second
	s.now = s.now.Add(800 * time.Millisecond)
	s.agent("deployer", func(a *city.Agent) { a.Until = new(s.now.Add(20 * time.Second)) })
	s.shows("draining", "kill in 20s if still running", "kill in 20s if still running\n")
	s.hides("21s")
	s.automation("db-health", func(a *city.Automation) {
		a.Next, a.State = new(s.now.Add(40*time.Second)), city.AutomationIdle
	})
	s.m.Focus = panel.IDAutomations
	s.shows("due in 40s")
	s.hides("in 41s")
	s.out = perform(s.m, actionOf(s.m, "automation.fire"))
	s.shows("(in 40s). Fire it now anyway?", "due in 40s")
}
