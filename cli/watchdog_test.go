package cli

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/cli/exit"
)

func watchedCity() *fakeCity {
	at := func(d time.Duration) *time.Time { t := noon.Add(d); return &t }
	s, well, ill := demoCity(), 3, 1
	s.snapshot.Agents[0].Stuck = &city.Stuck{Since: noon.Add(-21 * time.Minute), Task: "gc-214 fix the retry test"}
	s.snapshot.Agents[3].Asks = &city.Question{Since: noon.Add(-2 * time.Minute), About: "the\x1b[2J theme"}
	nudged := city.Judgement{At: noon.Add(-4 * time.Minute), Decision: city.RemedyNudge, Reason: "heartbeat 6m old, 2 messages wait", By: "thresholds", Result: "typed"}
	woken := city.Judgement{At: noon.Add(-time.Minute), Decision: city.RemedyWake, Reason: "it shows a\x1b[2J question since 16m", By: "boot", Took: 12 * time.Second, Result: "failed: it is suspended"}
	s.snapshot.Watchdogs = []city.Watchdog{
		{Name: "calm", Watches: "app/reader", Every: 3 * time.Minute, Fresh: 5 * time.Minute, VeryStale: 15 * time.Minute, Mode: city.ByThresholds,
			HealthyAgents: &well, UnhealthyAgents: &ill, Heartbeat: at(-40 * time.Second), Freshness: city.Fresh, Next: at(95 * time.Second), Last: &nudged, Recent: []city.Judgement{nudged}, Source: "city.toml:40:1"},
		{Name: "chain", Watches: "idle", Triage: "boot", Every: 3 * time.Minute, Fresh: 5 * time.Minute, VeryStale: 15 * time.Minute, TTL: 5 * time.Minute,
			Mode: city.ByTriage, Degraded: "triage agent boot did not decide within 5m", Heartbeat: at(-17 * time.Minute), Freshness: city.VeryStale, Mail: 2, Problem: "its heartbeat file has no timestamp",
			Triaged: &city.TriageRun{Since: noon.Add(-8 * time.Second), Until: noon.Add(292 * time.Second), Beat: "17"}, Last: &woken, Recent: []city.Judgement{nudged, woken}, Failed: 3,
			Escalated: &city.Escalation{At: noon.Add(-50 * time.Second), To: "overseer", Message: "idle did not get better after 3 wakes"}, Source: "city.toml:46:1"},
		{Name: "heard", Watches: "scout", Every: time.Minute, Mode: city.ByRestart, Freshness: city.Dead, Next: at(-time.Second),
			Escalated: &city.Escalation{At: noon.Add(-time.Hour), To: "overseer", Message: "scout is gone", Seen: true, By: "ann"}},
		{Name: "off", Watches: "idle", Every: time.Minute, Mode: city.ByThresholds, Freshness: city.Dead, Suspended: true},
	}
	return s
}

func TestWatchdogPictures(t *testing.T) {
	for name, line := range map[string]string{
		"watchdog-list": "watchdog list", "watchdog-status": "watchdog status", "watchdog-status-one": "watchdog status chain",
		"watchdog-why": "why chain", "watchdog-why-agent": "why reader", "why-asking": "why \x1b]0;evil\x07w", "watchdog-city": "status", "help-watchdog": "watchdog --help", "help-watchdog-decide": "watchdog decide --help",
	} {
		code, out, errs := runCLI(t, watchedCity(), strings.Fields(line)...)
		if code != exit.CodeDone || errs != "" {
			t.Errorf("%s: got exit %d, %s", line, code, errs)
		}
		golden(t, name+".golden", out)
	}
}

func TestWatchdogJSON(t *testing.T) {
	var all struct {
		Items []city.Watchdog
		Total int
	}
	var one city.Watchdog
	s := watchedCity()
	for line, into := range map[string]any{"watchdog list --json": &all, "watchdog status chain --json": &one} {
		code, out, errs := runCLI(t, s, strings.Fields(line)...)
		if code != exit.CodeDone || errs != "" {
			t.Fatalf("%s: got exit %d, %s", line, code, errs)
		}
		if err := json.Unmarshal([]byte(out), into); err != nil {
			t.Fatal(err)
		}
	}
	if all.Total != 4 || !reflect.DeepEqual(all.Items, s.snapshot.Watchdogs) || !reflect.DeepEqual(one, s.snapshot.Watchdogs[1]) {
		t.Errorf("%+v, %+v", all, one)
	}
}

// status shows that an agent is very stale even after a user has acknowledged the watchdog's call.
func TestStatusVeryStale(t *testing.T) {
	s := watchedCity()
	w := &s.snapshot.Watchdogs[1]
	w.Escalated.Seen, w.Degraded = true, ""
	_, out, errs := runCLI(t, s, "status")
	if !strings.Contains(out, "4 watchdogs: 1 very stale\n") ||
		!strings.Contains(out, "\n! agent idle is very stale (watchdog chain); `gcity watchdog status chain` shows details\n") {
		t.Errorf("%s%s", out, errs)
	}
}

// The state of a heartbeat is as old as the latest check.
func TestWatchdogHasAged(t *testing.T) {
	s := watchedCity()
	old := noon.Add(-6 * time.Minute)
	s.snapshot.Watchdogs[0].Heartbeat = &old
	if _, out, errs := runCLI(t, s, "watchdog", "status", "calm"); !strings.Contains(out, "6m ago, fresh at the latest check (stale after 5m") {
		t.Errorf("%s%s", out, errs)
	}
}

func TestWatchdogCommands(t *testing.T) {
	inside := map[string]string{"GC_AGENT": "boot", "GC_WATCHDOG": "chain", "GC_WATCHDOG_BEAT": "17"}
	for _, c := range []struct {
		line string
		env  map[string]string
		idle bool
		code int
		says string
		done city.Command
	}{
		{line: "watchdog triage chain", done: city.Beat{Watchdog: "chain"}},
		{line: "watchdog beat calm", done: city.Beat{Watchdog: "calm"}},
		{line: "watchdog acknowledge chain", done: city.Acknowledge{Watchdog: "chain", By: "operator"}},
		{line: "watchdog ack chain", env: inside, done: city.Acknowledge{Watchdog: "chain", By: "boot"}},
		{line: "watchdog decide wake --reason hangs", env: inside, done: city.Decide{Watchdog: "chain", Decision: city.RemedyWake, Reason: "hangs", Beat: "17", By: "boot"}},
		{line: "watchdog decide start -r gone --beat 9", env: inside, done: city.Decide{Watchdog: "chain", Decision: city.RemedyStart, Reason: "gone", Beat: "9", By: "boot"}},
		{line: "watchdog decide nothing -r busy --watchdog calm", env: inside, done: city.Decide{Watchdog: "calm", Decision: city.RemedyNothing, Reason: "busy", By: "boot"}},
		{line: "watchdog decide nudge -r mail --watchdog calm", done: city.Decide{Watchdog: "calm", Decision: city.RemedyNudge, Reason: "mail", By: "operator"}},
		{line: "watchdog decide restart -r x", env: inside, code: exit.CodeUsage, says: `invalid decision "restart": use one of start, wake, nudge, nothing`},
		{line: "watchdog decide wake", env: inside, code: exit.CodeUsage, says: "no reason given for wake"},
		{line: "watchdog decide wake -r x", code: exit.CodeUsage, says: "no watchdog given"},
		{line: "watchdog decide wake -r x", env: inside, idle: true, code: exit.CodeNotRunning, says: "cannot record the decision wake for chain: no controller is running"},
		{line: "watchdog triage nobody", code: exit.CodeUsage, says: `watchdog "nobody" not found`},
		{line: "watchdog triage chian", code: exit.CodeUsage, says: `did you mean "chain"?`},
		{line: "watchdog triage chain", idle: true, code: exit.CodeNotRunning, says: "cannot triage chain: no controller is running"},
		{line: "watchdog ack chain --read-only", code: exit.CodeFailed, says: "watchdog acknowledge is not allowed"},
		{line: "watchdog status nobody", code: exit.CodeUsage, says: `watchdog "nobody" not found`},
	} {
		s := watchedCity()
		s.env, s.idle = c.env, c.idle
		code, _, errs := runCLI(t, s, strings.Fields(c.line)...)
		if code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%s: got exit %d, %s", c.line, code, errs)
		}
		if c.done != nil && (len(s.done) != 1 || s.done[0] != c.done) {
			t.Errorf("%s: %+v", c.line, s.done)
		}
		if c.done == nil && len(s.done) > 0 {
			t.Errorf("%s did %+v", c.line, s.done)
		}
	}
}

func TestNoWatchdogs(t *testing.T) {
	s := demoCity()
	if code, out, errs := runCLI(t, s, "watchdog", "list"); code != exit.CodeDone || !strings.Contains(out, "[[watchdogs]]\n  name    = \"chain\"\n  watches = \"app/reader\"") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	if code, out, _ := runCLI(t, s, "watchdog", "list", "--json"); code != exit.CodeDone || strings.Join(strings.Fields(out), "") != `{"items":[],"total":0}` {
		t.Errorf("exit %d, %s", code, out)
	}
}

// Recording a heartbeat needs no controller.
func TestHeartbeatFields(t *testing.T) {
	s := demoCity()
	s.env = map[string]string{"GC_AGENT": "rig/deep.one_two", "GC_SESSION_ID": "s-1"}
	s.idle = true
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/city.toml", []byte(tinyCity), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := runCLI(t, s, "heartbeat", "--city", dir, "--cycle", "42", "--last-action", "health-scan", "--healthy-agents", "3", "--unhealthy-agents", "0", "-m", "two\nlines")
	if code != exit.CodeDone {
		t.Fatalf("exit %d, %s", code, errs)
	}
	text, err := os.ReadFile(dir + "/.gc/heartbeats/rig_sdeep_done__two.json")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"agent":"rig/deep.one_two","timestamp":"2026-11-21T12:00:00Z","session_id":"s-1","cycle":42,"last_action":"health-scan","healthy_agents":3,"unhealthy_agents":0,"message":"two␊lines"}` + "\n"
	if string(text) != want {
		t.Errorf("%s, not %s", text, want)
	}
	if code, _, _ := runCLI(t, s, "heartbeat", "--cycle", "-1"); code != exit.CodeUsage {
		t.Errorf("heartbeat with a negative cycle: got exit %d", code)
	}
	if code, _, errs := runCLI(t, s, "heartbeat", "--unhealthy-agents", "-1"); code != exit.CodeUsage || !strings.Contains(errs, "use a whole number of at least 0") {
		t.Errorf("heartbeat with a negative number of agents: got exit %d, %s", code, errs)
	}
}
