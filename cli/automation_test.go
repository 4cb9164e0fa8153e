package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gcity/beads"
	"gcity/beads/fake"
	"gcity/city"
	"gcity/cli/agents"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/cli/workstore"
	"gcity/events"
)

func busyCity() *fakeCity {
	at := func(d time.Duration) *time.Time { t := noon.Add(d); return &t }
	seven, zero := 7, 0
	s := demoCity()
	s.snapshot.Work = city.Work{Open: 3, InProgress: 1}
	s.snapshot.Automations = []city.Automation{
		{Name: "bad", Source: "formulas/automations/bad/automation.toml", State: city.AutomationBroken, Reason: "x.toml:4:1: both formula and exec"},
		{Name: "digest", Gate: "cron", When: "0 3 * * *", State: city.AutomationRunning, Reason: "by hand", Exec: "make digest", Timeout: 90 * time.Second, Retry: 3, Overlap: "skip", Since: at(-14 * time.Second),
			Last: &city.Run{ID: "br-9", Opened: noon.Add(-14 * time.Second), Reason: "by hand", By: "operator"}},
		{Name: "health:rig:demo", Rig: "demo", Gate: "cooldown", When: "5m0s", State: city.AutomationIdle, Reason: "cooldown: 2m41s remaining",
			Next: at(161 * time.Second), Last: &city.Run{ID: "br-8", Reason: "first run", Opened: noon.Add(-140 * time.Second), Ended: at(-139 * time.Second), Outcome: "ok", Code: &zero}},
		{Name: "prune", Gate: "condition", When: "git worktree list | grep -q prunable\n", State: city.AutomationBackoff, Reason: "retry 1 in 8s", Failures: 3,
			Next: at(8 * time.Second), Last: &city.Run{ID: "br-7", Reason: "condition: exit 0", Opened: noon.Add(-time.Minute), Ended: at(-58 * time.Second), Outcome: "failed", Code: &seven, Error: "exit 7", Output: "not a\x1b[2J repository"}},
		{Name: "by-hand", Gate: "manual", State: city.AutomationIdle, Reason: "manual"},
		{Name: "cut", Gate: "manual", State: city.AutomationIdle, Reason: "manual", Last: &city.Run{ID: "br-6", Reason: "by hand", Opened: noon.Add(-12 * time.Second)}},
		{Name: "quick", Gate: "manual", State: city.AutomationIdle, Reason: "manual", Last: &city.Run{ID: "br-5", Reason: "by hand", Opened: noon.Add(-12 * time.Second), Outcome: "ok"}},
		{Name: "release", Gate: "manual", State: city.AutomationOff, Reason: "disabled by enabled = false"},
	}
	return s
}

func TestAutomationPictures(t *testing.T) {
	for name, line := range map[string]string{
		"automation-list": "automation list", "automation-show": "automation show prune", "automation-show-going": "automation show digest", "automation-show-cut": "automation show cut", "automation-show-ending": "automation show quick", "automation-why": "why health", "automation-status": "status",
		"help-automation": "automation run --help", "help-bead": "bead --help", "help-bead-update": "bead update --help",
	} {
		code, out, errs := runCLI(t, busyCity(), strings.Fields(line)...)
		if code != exit.CodeDone || errs != "" {
			t.Errorf("%s: got exit %d, %s", line, code, errs)
		}
		golden(t, name+".golden", out)
	}
}

// `gcity why` explains a failing automation, and shows the time zone of a schedule.
func TestWhyOfAutomations(t *testing.T) {
	s := busyCity()
	at := noon.Add(time.Minute)
	s.snapshot.Automations = append(s.snapshot.Automations, city.Automation{Name: "daily", Gate: "cron",
		State: city.AutomationIdle, Reason: "cron: next 2026-11-21 07:01 EST", Next: &at})
	for name, want := range map[string]string{
		"prune":   "prune: failing\n  because      the last 3 runs failed: exit 7: not a repository\n  waits        retry 1 in 8s\n",
		"by-hand": "because      starts only by hand: `gcity automation run by-hand`\n",
		"daily":   "next         12:01:00 UTC (in 1m)\n",
	} {
		if code, out, errs := runCLI(t, s, "why", name); code != exit.CodeDone || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d, %s\n%s", name, code, errs, out)
		}
	}
}

// NEXT and WHY show the same remaining time, even if the snapshot is old.
func TestAutomationNext(t *testing.T) {
	s := busyCity()
	at := noon.Add(31 * time.Second)
	s.snapshot.Automations = []city.Automation{{Name: "tidy", Gate: "cooldown", When: "40s", State: city.AutomationIdle,
		Reason: "cooldown: 34s remaining", Next: &at}}
	if _, out, _ := runCLI(t, s, "automation", "list"); !strings.Contains(out, " in 31s ") || !strings.Contains(out, "cooldown: 31s remaining") {
		t.Error(out)
	}
	if _, out, _ := runCLI(t, s, "automation", "show", "tidy"); !strings.Contains(out, "cooldown: 31s remaining") || !strings.Contains(out, "(in 31s)") {
		t.Error(out)
	}
	a := &s.snapshot.Automations[0]
	for _, c := range []struct {
		state        city.AutomationState
		reason, want string
	}{
		{city.AutomationIdle, "cooldown: 3m remaining", "cooldown: 2m remaining"},
		{city.AutomationBackoff, "retry 1 of 2 in 3m; no controller", "retry 1 of 2 in 2m; no controller"},
		{city.AutomationDue, "retry 1 of 2; cannot start: no room in tw", "retry 1 of 2; cannot start: no room in tw"},
	} {
		a.State, a.Reason, at = c.state, c.reason, noon.Add(161*time.Second)
		if _, out, _ := runCLI(t, s, "automation", "list"); !strings.Contains(out, " in 2m ") || !strings.Contains(out, c.want+"\n") {
			t.Error(out)
		}
	}
	a.State, a.Reason, at = city.AutomationIdle, "cooldown: 34s remaining", noon.Add(31*time.Second)
	s.idle = true
	for _, line := range []string{"list", "show tidy"} {
		if _, out, _ := runCLI(t, s, append([]string{"automation"}, strings.Fields(line)...)...); strings.Contains(out, "in 31s") {
			t.Errorf("want no mention of a missing controller in:\n%s", out)
		}
	}
}

// run --wait waits for the start of a queued run, and for the end of its last try.
func TestWaitForALaterRun(t *testing.T) {
	s := busyCity()
	s.queues = true
	event := func(seq uint64, kind, payload string) events.Event {
		return events.Event{Seq: seq, Type: kind, Subject: "digest", Payload: json.RawMessage(payload)}
	}
	s.live = []events.Event{
		event(8, events.AutomationCompleted, `{"run":"br-0"}`), event(9, events.AutomationFired, `{"run":"br-1"}`),
		event(10, events.AutomationFailed, `{"run":"br-1","again":{"try":1,"of":2,"at":"2026-11-21T12:00:10Z"}}`),
		{Seq: 11, Type: events.AutomationFired, Subject: "other", Payload: json.RawMessage(`{"run":"br-7"}`)},
		event(12, events.AutomationFired, `{"run":"br-2"}`), event(13, events.AutomationFailed, `{"run":"br-2"}`),
	}
	s.work = map[string]*fake.Store{"": fake.New("br")}
	for _, code := range []string{"5", "6"} {
		if _, err := s.work[""].Create(t.Context(), beads.Bead{Title: "run", Type: workstore.TypeRun, Labels: []string{city.RunLabel + "digest"}, Metadata: map[string]string{
			city.RunOutcome: "failed", city.RunCode: code, city.RunError: "exit " + code}}); err != nil {
			t.Fatal(err)
		}
	}
	code, _, errs := runCLI(t, s, "automation", "run", "digest", "--wait")
	for _, want := range []string{"digest is queued\n", "run br-1: failed after ", ": exit 5; retry in 10s (1 of 2)\n", "run br-2: failed after ", ": exit 6\n"} {
		if !strings.Contains(errs, want) {
			t.Errorf("want %q in:\n%s", want, errs)
		}
	}
	if code != 6 {
		t.Errorf("exit %d", code)
	}
}

func TestAutomationRun(t *testing.T) {
	ended := func(kind, run string) events.Event {
		return events.Event{Seq: 9, Type: kind, Subject: "digest", Payload: json.RawMessage(`{"run":"` + run + `"}`)}
	}
	for _, c := range []struct {
		name string
		meta map[string]string
		want int
	}{
		{"well", map[string]string{city.RunOutcome: "ok", city.RunCode: "0", city.RunOutput: "hello"}, exit.CodeDone},
		{"badly", map[string]string{city.RunOutcome: "failed", city.RunCode: "7", city.RunError: "exit 7"}, 7},
		{"late", map[string]string{city.RunOutcome: "failed", city.RunError: "it was too slow", city.RunTimedOut: "true"}, agents.ExitTimedOut},
		{"timed out, by its message", map[string]string{city.RunOutcome: "failed", city.RunError: "the run did not finish within timeout = 1s"}, exit.CodeFailed},
		{"interrupted", map[string]string{city.RunOutcome: "interrupted", city.RunError: "stopped"}, exit.CodeFailed},
	} {
		s := busyCity()
		s.live = []events.Event{ended(events.AutomationFailed, "br-0"), ended(events.AutomationFired, "br-1"), ended(events.AutomationCompleted, "br-1")}
		s.work = map[string]*fake.Store{"": fake.New("br")}
		if _, err := s.work[""].Create(t.Context(), beads.Bead{Title: "run", Type: workstore.TypeRun, Labels: []string{city.RunLabel + "digest"}, Metadata: c.meta}); err != nil {
			t.Fatal(err)
		}
		code, out, errs := runCLI(t, s, "automation", "run", "digest", "--wait")
		if code != c.want || strings.TrimSpace(out) != c.meta[city.RunOutput] || !strings.Contains(errs, "digest: run br-1: ") {
			t.Errorf("%s: got exit %d, %q, %s", c.name, code, out, errs)
		}
		if f, ok := s.done[0].(city.Fire); !ok || f != (city.Fire{Automation: "digest", By: "operator"}) {
			t.Errorf("%s: %+v", c.name, s.done)
		}
		if code, out, _ := runCLI(t, s, "automation", "history", "digest"); code != exit.CodeDone || !strings.Contains(out, "br-1") {
			t.Errorf("%s: history: exit %d\n%s", c.name, code, out)
		}
	}
}

// Without a NAME, history lists the runs of all automations, or of a rig's automations.
func TestAutomationHistoryOfAll(t *testing.T) {
	s := busyCity()
	s.work = map[string]*fake.Store{"": fake.New("br")}
	for _, name := range []string{"tidy:rig:demo", "tidy:rig:demo", "digest"} {
		if _, err := s.work[""].Create(t.Context(), beads.Bead{Title: "run", Type: workstore.TypeRun, Labels: []string{city.RunLabel + name}}); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{"": "br-3 digest br-2 tidy:rig:demo br-1 tidy:rig:demo", "--rig demo": "br-2 tidy:rig:demo br-1 tidy:rig:demo", "--rig demo -n 1": "br-2 tidy:rig:demo"} {
		code, out, errs := runCLI(t, s, strings.Fields("automation history "+line)...)
		var got []string
		for _, row := range strings.Split(strings.TrimSpace(out), "\n")[1:] {
			got = append(got, strings.Fields(row)[1:3]...)
		}
		if code != exit.CodeDone || strings.Join(got, " ") != want {
			t.Errorf("history %s: exit %d\n%s%s", line, code, out, errs)
		}
	}
}

// If --wait cannot follow a run to its end, the error names the run. An invalid request does not fire an automation.
func TestAutomationRunRefused(t *testing.T) {
	s := busyCity()
	if code, _, errs := runCLI(t, s, "automation", "run", "digest", "--wait"); code != exit.CodeFailed || !strings.Contains(errs, "stopped waiting for run br-1") {
		t.Errorf("exit %d, %s", code, errs)
	}
	s = busyCity()
	for line, want := range map[string]struct {
		code int
		says string
	}{
		"automation run digest --timeout 1s": {exit.CodeUsage, "add --wait"},
		"--read-only automation run digest":  {exit.CodeFailed, "not allowed"},
		"automation history nothing":         {exit.CodeUsage, "automation \"nothing\" not found"}, "automation check --rig demo": {exit.CodeUsage, "NAME"},
		"automation history --rig nothing": {exit.CodeUsage, "rig \"nothing\" not found"},
	} {
		if code, out, errs := runCLI(t, s, strings.Fields(line)...); code != want.code || out != "" || !strings.Contains(errs, want.says) {
			t.Errorf("%s: got exit %d, %q, %s", line, code, out, errs)
		}
	}
	s.idle = true
	if code, _, errs := runCLI(t, s, "automation", "run", "digest"); code != exit.CodeNotRunning || !strings.Contains(errs, "gcity start") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if len(s.done) > 0 {
		t.Errorf("the city was changed: %+v", s.done)
	}
}

// The city decides whether an automation exists and is valid, because its snapshot may be older than the file.
func TestAutomationRunUnread(t *testing.T) {
	for line, want := range map[string]string{
		"bad": "bad", "diges": "diges", "health --rig other": "health:rig:other", "health --rig demo": "health:rig:demo",
	} {
		s := busyCity()
		if code, _, errs := runCLI(t, s, strings.Fields("automation run "+line)...); code != exit.CodeDone {
			t.Errorf("%s: exit %d, %s", line, code, errs)
		}
		if len(s.done) != 1 || s.done[0] != (city.Fire{Automation: want, By: "operator"}) {
			t.Errorf("%s: sent %+v", line, s.done)
		}
	}
}

func TestAutomationCheck(t *testing.T) {
	s := busyCity()
	if code, out, _ := runCLI(t, s, "automation", "check"); code != exit.CodeFailed || strings.Contains(out, "yes") {
		t.Errorf("exit %d\n%s", code, out)
	}
	s.snapshot.Automations[2].State = city.AutomationDue
	if code, out, _ := runCLI(t, s, "automation", "check"); code != exit.CodeDone || !strings.Contains(out, "yes  health:rig:demo") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if code, _, _ := runCLI(t, s, "automation", "check", "health", "--rig", "demo"); code != exit.CodeDone {
		t.Errorf("health: exit %d", code)
	}
	if code, _, _ := runCLI(t, s, "automation", "check", "digest"); code != exit.CodeFailed {
		t.Errorf("digest: exit %d", code)
	}
	s.snapshot.Automations[1].Reason = "condition: exit 0"
	if _, out, _ := runCLI(t, s, "automation", "check", "digest"); !strings.Contains(out, "no   digest      running for 14s; reason for the start: condition: exit 0") {
		t.Error(out)
	}
}

// run --wait prints the output of the run as it arrives, then the result.
func TestAutomationRunShowsOutput(t *testing.T) {
	pieces := []city.Piece{{}, {Text: "gr\x1b[31m"}, {Text: "öße\n"}, {Dropped: 70, Text: "the end"}}
	for _, c := range []struct {
		name, args string
		prints     []city.Piece
		silent     error
		out, errs  string
	}{
		{"all", "", pieces, nil, "größe\nthe end\n", "70 bytes"},
		{"nothing", "", nil, nil, "kept\n", "digest: run br-1: ok"},
		{"cut", "", pieces[:3], &city.Error{Code: city.Unavailable, Message: "the connection was lost"}, "größe\n", "cannot print the rest of the output from run br-1: the connection was lost"},
		{"cut at once", "", nil, &city.Error{Code: city.Unavailable, Message: "the connection was lost"}, "kept\n", "the connection was lost"},
		{"json", " --json", pieces, nil, "", ""},
	} {
		s := busyCity()
		s.prints, s.silent = c.prints, c.silent
		s.live = []events.Event{{Seq: 9, Type: events.AutomationCompleted, Payload: json.RawMessage(`{"run":"br-1"}`)}}
		s.work = map[string]*fake.Store{"": fake.New("br")}
		meta := map[string]string{city.RunOutcome: "ok", city.RunOutput: "kept"}
		if _, err := s.work[""].Create(t.Context(), beads.Bead{Title: "run", Type: workstore.TypeRun, Labels: []string{city.RunLabel + "digest"}, Metadata: meta}); err != nil {
			t.Fatal(err)
		}
		code, out, errs := runCLI(t, s, strings.Fields("automation run digest --wait"+c.args)...)
		if c.args != "" {
			var r city.Run
			if err := json.Unmarshal([]byte(out), &r); err != nil || r.ID != "br-1" {
				t.Errorf("%s: %v in %q", c.name, err, out)
			}
			continue
		}
		if code != exit.CodeDone || out != c.out || !strings.Contains(errs, c.errs) {
			t.Errorf("%s: got exit %d, %q, %s", c.name, code, out, errs)
		}
	}
}

func TestAutomationLogs(t *testing.T) {
	s := busyCity()
	s.prints = []city.Piece{{Text: "so far"}, {Text: " and on\n"}}
	s.work = map[string]*fake.Store{"": fake.New("br")}
	if _, err := s.work[""].Create(t.Context(), beads.Bead{Title: "run", Type: workstore.TypeRun, Labels: []string{city.RunLabel + "digest"}}); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]struct {
		code      int
		out, errs string
	}{
		"automation logs digest":               {exit.CodeDone, "so far\n", ""},
		"automation logs digest --follow":      {exit.CodeDone, "so far and on\n", ""},
		"automation logs digest br-1 -f":       {exit.CodeDone, "so far and on\n", ""},
		"automation logs digest --json -f":     {exit.CodeDone, "{\"text\":\"so far\"}\n{\"text\":\" and on\\n\"}\n", ""},
		"automation logs digest br-7":          {exit.CodeUsage, "", `run "br-7" not found`},
		"automation logs release":              {exit.CodeDone, "", "release has never run"},
		"automation logs nothing":              {exit.CodeUsage, "", `automation "nothing" not found`},
		"automation logs digest br-1 too-many": {exit.CodeUsage, "", "unexpected argument"},
	} {
		if code, out, errs := runCLI(t, s, strings.Fields(line)...); code != want.code || out != want.out || !strings.Contains(errs, want.errs) {
			t.Errorf("%s: got exit %d, %q, %s", line, code, out, errs)
		}
	}
}

// Until the records of earlier runs are read, it is unknown whether an automation has run.
func TestUnknownLastRun(t *testing.T) {
	s := busyCity()
	s.snapshot.Automations = []city.Automation{{Name: "digest", Gate: "manual", State: city.AutomationIdle, Reason: "the store is closed", LastUnknown: true}}
	for line, want := range map[string]string{"automation list": " unknown ", "automation show digest": "unknown",
		"automation logs digest": "the latest run of digest is unknown, because the records"} {
		if _, out, errs := runCLI(t, s, strings.Fields(line)...); !strings.Contains(out+errs, want) || strings.Contains(out+errs, "never") {
			t.Errorf("%s: got %s%s", line, out, errs)
		}
	}
}

// opener frees a slot for a queued run after the command has printed that the run is waiting.
type opener struct {
	text  strings.Builder
	holds chan struct{}
}

func (o *opener) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "ctrl-c cancels the request") {
		close(o.holds)
	}
	return o.text.Write(p)
}

func TestAutomationRunReportsWaiting(t *testing.T) {
	t.Parallel()
	s := busyCity()
	s.snapshot.Automations = []city.Automation{{Name: "ninth", Gate: "manual", State: city.AutomationDue, Reason: "by hand; waiting for a slot (at most 8 automations run at the same time)"}}
	s.holds = make(chan struct{})
	errs := &opener{holds: s.holds}
	a := &env.Env{Printer: output.Printer{Err: errs}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := agents.Fire(ctx, a, &env.Link{Control: s}, city.Fire{Automation: "ninth"})
	if err != nil || r.Bead == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	if want := "ninth is due: by hand; waiting for a slot (at most 8 automations run at the same time); ctrl-c cancels the request\n"; errs.text.String() != want {
		t.Errorf("stderr is %q, want %q", errs.text.String(), want)
	}
}
