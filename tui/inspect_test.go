package tui

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/describe"
	"gcity/events"
	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/state"
)

func scoutInspection() *city.Inspection {
	exit := func(ago time.Duration, code int) city.Exit {
		return city.Exit{Code: code, At: epoch.Add(-ago), Uptime: 4 * time.Second}
	}
	return &city.Inspection{
		Agent: "scout",
		Spec: &city.Spec{Source: "city.toml:4:1", Command: "./scout", Provider: "pty", Cols: 120, Rows: 40, ReadyPrefix: "> ", ReadyLimit: time.Minute,
			PreStart: []string{"git fetch"}, Restart: city.RestartPolicy{Mode: "always", MinUptime: 10 * time.Second, MaxRestarts: 5,
				Window: time.Hour, Backoff: time.Second, MaxBackoff: 30 * time.Second}},
		Env: []city.Variable{{Name: "HOME", Value: "/h", From: city.FromInherited}, {Name: "MAP", Value: "old\x1b[31m", From: city.FromConfig},
			{Name: "MAP_KEY", Hidden: true, From: city.FromConfig}},
		Drift: []city.Difference{{Field: "env MAP", What: "changed", Runs: "new", Wants: "old"}, {Field: "command", What: "changed", Wants: "./scout", RunsUnknown: true},
			{Field: "env MAP_KEY", What: "added", Hidden: true}},
		Crashes: []city.Crash{{Exit: exit(time.Minute, 3), Output: "looking\nno map, giving up\n", Seq: 9}, {Exit: exit(2*time.Minute, 2), Seq: 8}},
	}
}

func (s *stage) asked() feed.Inspect {
	s.t.Helper()
	for _, e := range s.out {
		if q, ok := e.(feed.Inspect); ok {
			return q
		}
	}
	s.t.Fatalf("nothing was requested: %v", s.out)
	return feed.Inspect{}
}

// The details show the content of the snapshot immediately, and further details when the response arrives.
func TestInspection(t *testing.T) {
	s := demo(t, 120, 60)
	state.SelectAgent(s.m, "scout")
	s.press("d")
	q := s.asked()
	if q.Agent != "scout" || !strings.Contains(s.text(), "loading further details") {
		t.Errorf("%+v\n%s", q, s.text())
	}
	s.hear(feed.News{Inspected: []feed.Inspected{{ID: q.ID + 1, Problem: "of another one"}}})
	if strings.Contains(s.text(), "another") {
		t.Error("the response to another request is accepted")
	}
	s.hear(feed.News{Inspected: []feed.Inspected{{ID: q.ID, Inspection: scoutInspection()}}})
	all := strings.Join(s.m.Dialogs.Reader().Lines(100), "\n")
	for _, want := range []string{"git fetch", "quarantined on crash 6 within 1h", "when a line begins with", "within 1m", "no map, giving up", "a secret: not shown", "only a fingerprint"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in\n%s", want, all)
		}
	}
	if strings.Contains(all, "\x1b[31mold") || strings.Contains(all, "old\x1b[31m") {
		t.Error("a value's escape sequences are not removed")
	}
	s.press("l")
	if got := s.text(); !strings.Contains(got, "crashes of scout") || !strings.Contains(got, "looking") || !strings.Contains(got, "no output") {
		t.Errorf("no crashes in\n%s", got)
	}
}

// If patrol_interval is shorter than restart_backoff, the wait before a restart is a single value.
func TestRestartWaits(t *testing.T) {
	spec := &city.Spec{Restart: city.RestartPolicy{Mode: "on-failure", Backoff: time.Second, MaxBackoff: 500 * time.Millisecond}}
	got := describe.RestartLines(spec)
	if want := []string{"on-failure", "crashes never lead to quarantine", "first restart: immediate; then waits 500ms"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The details are requested again only after a change.
func TestDetailsStayTrue(t *testing.T) {
	s := demo(t, 120, 40)
	state.SelectAgent(s.m, "scout")
	s.press("d")
	s.hear(feed.News{Inspected: []feed.Inspected{{ID: s.asked().ID, Inspection: scoutInspection()}}})
	s.change(func(*city.Snapshot) {})
	if slices.ContainsFunc(s.out, func(e feed.Effect) bool { _, ok := e.(feed.Inspect); return ok }) {
		t.Error("requested again although nothing has changed")
	}
	s.change(func(n *city.Snapshot) { n.Config.Revision = "fedcba987654" })
	q := s.asked()
	s.hear(feed.News{Inspected: []feed.Inspected{{ID: q.ID, Problem: "the disk is full"}}})
	if all := strings.Join(s.m.Dialogs.Reader().Lines(100), "\n"); !strings.Contains(all,
		"the disk is full") || !strings.Contains(all, "git fetch") {
		t.Errorf("the failure and the previous details are not both in\n%s", all)
	}
}

// On the page with an agent's crashes, u releases this agent, regardless of marks.
func TestCrashesReleaseTheAgentThatIsRead(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("*", "3", "enter")
	if s.m.Dialogs.Reader() == nil || s.m.Dialogs.Reader().Title != "crashes of scout" {
		t.Fatalf("no crashes:\n%s", s.text())
	}
	s.hear(feed.News{Inspected: []feed.Inspected{{ID: s.asked().ID, Inspection: scoutInspection()}}})
	s.press("u")
	got := s.commands()
	if want := []city.Command{city.Release{Agent: "scout"}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	s = newStage(t, Options{Mode: state.ReadOnly})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.press("3", "enter", "u")
	if got := s.commands(); got != nil || !strings.Contains(s.text(), "read-only") {
		t.Errorf("a read-only room did %v\n%s", got, s.text())
	}
}

// Hostile text in an inspection does not damage the frame (L12).
func TestHostileInspection(t *testing.T) {
	for name, text := range hostile() {
		about := &city.Inspection{
			Spec: &city.Spec{Source: text, Command: text, Dir: text, Provider: text, PreStart: []string{text}, Setup: []string{text}, SetupScript: text, Nudge: text,
				ReadyPrefix: text, ReadyLimit: time.Second, Restart: city.RestartPolicy{Mode: text}},
			Env:    []city.Variable{{Name: text, Value: text, From: city.FromConfig}},
			Prompt: text, PromptFile: text, PromptMode: text,
			Drift:    []city.Difference{{Field: text, What: text, Runs: text, Wants: text}},
			Crashes:  []city.Crash{{Exit: city.Exit{Signal: text, File: text}, Why: text, Output: text}, {Why: text, NoStart: true}},
			Problems: []string{text},
		}
		for _, size := range [][2]int{{120, 40}, {60, 20}} {
			s := demo(t, size[0], size[1])
			s.choose("scout")
			s.press("d")
			s.hear(feed.News{Inspected: []feed.Inspected{{ID: s.asked().ID, Inspection: about}}})
			for _, k := range []string{"pgdown", "pgdown", "l", "pgdown"} {
				s.press(k)
				s.frame(name + " after " + k)
			}
			s.press("esc")
			s.hear(feed.News{Events: []events.Event{{Seq: 1 << 40, TS: epoch, Type: text, Actor: text, Subject: text, Message: text, Payload: json.RawMessage(text)}}})
			s.press("5", "G", ",")
			s.frame(name + " in the timeline")
			s.press(",", "enter")
			s.frame(name + " in an event")
			s.press("esc")
			actions.EditedConfig(s.m, feed.Edited{Draft: &feed.Draft{}, Plan: feed.Plan{Changes: []feed.Change{{Agent: text, Pool: text, Kind: text, Why: text}}, Notes: []string{text}}})
			s.frame(name + " in a plan")
		}
	}
}

// On a page that was opened from an agent's details, esc goes back to the details.
func TestAPageOfTheDetailsLeadsBack(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("scout")
	s.press("d")
	s.hear(feed.News{Inspected: []feed.Inspected{{ID: s.asked().ID, Inspection: scoutInspection()}}})
	s.press("l")
	s.shows("━ crashes of scout ━")
	s.press("p")
	s.shows("━ prompt of scout ━")
	s.press("esc")
	s.shows("━ scout ━", "Last decisions")
	s.press("l", "esc", "esc")
	s.hides("━ scout ━", "━ crashes of scout ━")
	s.press("d", "l", "u")
	s.wants(city.Release{Agent: "scout"})
	s.hides("━ scout ━")
	s.press("3", "enter", "esc") // the page was not opened from the details
	s.hides("━ scout ━", "━ crashes of scout ━")
}

// If the snapshot does not contain an exit, the details show the newest crash as the last exit.
func TestTheLastExitIsTheNewestCrash(t *testing.T) {
	s := demo(t, 120, 40)
	s.agent("scout", func(a *city.Agent) { a.Exit = nil })
	s.choose("scout")
	s.press("d")
	s.shows("last exit   none")
	s.hear(feed.News{Inspected: []feed.Inspected{{ID: s.asked().ID, Inspection: scoutInspection()}}})
	s.hides("last exit   none")
	s.shows("last exit   exit 3 after 4s, 1m ago")
}

// An agent with an invalid configuration cannot be released: it cannot start until the configuration changes.
func TestABrokenAgentIsNotReleased(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("prober")
	s.shows("u release")
	const why = `unknown provider "tmx"`
	s.agent("prober", func(a *city.Agent) {
		a.Until, a.Next, a.Reason, a.UnavailableReason = nil, nil, why, why
	})
	s.hides("u release")
	s.press("u")
	s.wants()
	s.shows("prober cannot start: " + why)
	s.press("esc", "a")
	s.shows("prober has failed and has no session")
	s.hides("releases it")
	s.press("esc", "d")
	s.hides("u releases it")
	s.press("u")
	s.wants()
	s.shows("prober cannot start: " + why)
	s.press("esc", "esc")
	s.line("release prober", "enter")
	s.wants()
	s.shows("prober has failed: " + why)
}

// The details of a member that drains because its pool is scaling down do not offer to release it.
func TestDetailsOfASurplusMemberOfferNoRelease(t *testing.T) {
	s := pooled(t, 160, 40)
	s.choose("worker-3")
	s.press("d")
	s.hides("u releases it")
	s.press("u")
	s.wants()
	s.shows("worker-3 is draining because pool worker is scaling down")
}
