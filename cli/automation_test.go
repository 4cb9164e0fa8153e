package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gcity/beads"
	"gcity/beads/fake"
	"gcity/city"
	"gcity/events"
)

// busyCity has an automation in each state.
func busyCity() *still {
	at := func(d time.Duration) *time.Time { t := noon.Add(d); return &t }
	seven, zero := 7, 0
	s := demoCity()
	s.snapshot.Work = city.Work{Open: 3, InProgress: 1}
	s.snapshot.Automations = []city.Automation{
		{Name: "bad", Source: "formulas/automations/bad/automation.toml", State: city.AutomationBroken, Reason: "x.toml:4:1: both formula and exec"},
		{Name: "digest", Gate: "cron", When: "0 3 * * *", State: city.AutomationRunning, Reason: "by hand", Exec: "make digest", Since: at(-14 * time.Second),
			Last: &city.Run{ID: "br-9", Opened: noon.Add(-14 * time.Second), Reason: "by hand", By: "operator"}},
		{Name: "health:rig:demo", Rig: "demo", Gate: "cooldown", When: "5m0s", State: city.AutomationIdle, Reason: "cooldown: 2m41s remaining",
			Next: at(161 * time.Second), Last: &city.Run{ID: "br-8", Reason: "never run", Opened: noon.Add(-140 * time.Second), Ended: at(-139 * time.Second), Outcome: "ok", Code: &zero}},
		{Name: "prune", Gate: "condition", When: "git worktree list | grep -q prunable\n", State: city.AutomationBackoff, Reason: "retry 1 in 8s", Failures: 3,
			Next: at(8 * time.Second), Last: &city.Run{ID: "br-7", Reason: "condition: exit 0", Opened: noon.Add(-time.Minute), Ended: at(-58 * time.Second), Outcome: "failed", Code: &seven, Error: "exit 7", Output: "not a\x1b[2J repository"}},
		{Name: "release", Gate: "manual", State: city.AutomationOff, Reason: "disabled by enabled = false"},
	}
	return s
}

func TestAutomationPictures(t *testing.T) {
	for name, line := range map[string]string{
		"automation-list": "automation list", "automation-show": "automation show prune", "automation-why": "why health", "automation-status": "status",
		"help-automation": "automation run --help", "help-bead": "bead --help", "help-bead-update": "bead update --help",
	} {
		code, out, errs := told(t, busyCity(), strings.Fields(line)...)
		if code != exitDone || errs != "" {
			t.Errorf("%s: exit %d, %s", line, code, errs)
		}
		golden(t, name+".golden", out)
	}
}

// run --wait waits for its own run, and ends as that did.
func TestAutomationRun(t *testing.T) {
	ended := func(kind, run string) events.Event {
		return events.Event{Seq: 9, Type: kind, Subject: "digest", Payload: json.RawMessage(`{"run":"` + run + `"}`)}
	}
	for _, c := range []struct {
		name string
		meta map[string]string
		want int
	}{
		{"well", map[string]string{city.RunOutcome: "ok", city.RunCode: "0", city.RunOutput: "hello"}, exitDone},
		{"badly", map[string]string{city.RunOutcome: "failed", city.RunCode: "7", city.RunError: "exit 7"}, 7},
		{"late", map[string]string{city.RunOutcome: "failed", city.RunError: "it had not ended after timeout = 1s"}, exitTimedOut},
		{"cut off", map[string]string{city.RunOutcome: "interrupted", city.RunError: "stopped"}, exitFailed},
	} {
		s := busyCity()
		s.live = []events.Event{ended(events.AutomationFailed, "br-0"), ended(events.AutomationFired, "br-1"), ended(events.AutomationCompleted, "br-1")}
		s.work = map[string]*fake.Store{"": fake.New("br")}
		if _, err := s.work[""].Create(t.Context(), beads.Bead{Title: "run", Type: typeRun, Labels: []string{city.RunLabel + "digest"}, Metadata: c.meta}); err != nil {
			t.Fatal(err)
		}
		code, out, errs := told(t, s, "automation", "run", "digest", "--wait")
		if code != c.want || strings.TrimSpace(out) != c.meta[city.RunOutput] || !strings.Contains(errs, "digest: run br-1: ") {
			t.Errorf("%s: exit %d, %q, %s", c.name, code, out, errs)
		}
		if f, ok := s.done[0].(city.Fire); !ok || f != (city.Fire{Automation: "digest", By: "operator"}) {
			t.Errorf("%s: %+v", c.name, s.done)
		}
		if code, out, _ := told(t, s, "automation", "history", "digest"); code != exitDone || !strings.Contains(out, "br-1") {
			t.Errorf("%s: history: exit %d\n%s", c.name, code, out)
		}
	}
}

// A wait that cannot come to its end says so, and where the run is; nothing is fired that cannot run.
func TestAutomationRunRefused(t *testing.T) {
	s := busyCity()
	if code, _, errs := told(t, s, "automation", "run", "digest", "--wait"); code != exitFailed || !strings.Contains(errs, "waited in vain for the end of run br-1") {
		t.Errorf("exit %d, %s", code, errs)
	}
	s = busyCity()
	for line, want := range map[string]struct {
		code int
		says string
	}{
		"automation run bad": {exitConflict, "its file is broken: x.toml:4:1"}, "automation run diges": {exitFailed, `did you mean "digest"?`},
		"--read-only automation run digest": {exitFailed, "refused"}, "automation run health --rig other": {exitFailed, "there is no automation"},
		"automation history nothing": {exitFailed, "there is no automation"}, "automation check --rig demo": {exitUsage, "NAME"},
	} {
		if code, out, errs := told(t, s, strings.Fields(line)...); code != want.code || out != "" || !strings.Contains(errs, want.says) {
			t.Errorf("%s: exit %d, %q, %s", line, code, out, errs)
		}
	}
	s.idle = true
	if code, _, errs := told(t, s, "automation", "run", "digest"); code != exitNotRunning || !strings.Contains(errs, "gcity --headless") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if len(s.done) > 0 {
		t.Errorf("done all the same: %+v", s.done)
	}
}

// check exits 0 if any is due.
func TestAutomationCheck(t *testing.T) {
	s := busyCity()
	if code, out, _ := told(t, s, "automation", "check"); code != exitFailed || strings.Contains(out, "yes") {
		t.Errorf("exit %d\n%s", code, out)
	}
	s.snapshot.Automations[2].State = city.AutomationDue
	if code, out, _ := told(t, s, "automation", "check"); code != exitDone || !strings.Contains(out, "yes  health:rig:demo") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if code, _, _ := told(t, s, "automation", "check", "health", "--rig", "demo"); code != exitDone {
		t.Errorf("health: exit %d", code)
	}
	if code, _, _ := told(t, s, "automation", "check", "digest"); code != exitFailed {
		t.Errorf("digest: exit %d", code)
	}
}
