package machine

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/watchdog"
)

// A triage agent gets the time since its worker's last output, even if the controller adopted the worker later.
func TestSilenceOfAnAdoptedWorker(t *testing.T) {
	w := newWorld()
	if err := w.keep([]string{"care", "watches=worker", "triage=scout"}); err != nil {
		t.Fatal(err)
	}
	w.declare("worker", "scout")
	w.advance(0)
	w.Step(effect.Shutdown{Leave: true})
	w.now = w.now.Add(3*time.Hour - 3*time.Minute)
	w.succeed()
	w.stuck["agent:scout"] = true
	w.advance(3 * time.Minute)
	at := slices.IndexFunc(w.pending, func(f effect.Effect) bool {
		return keyOf(f) == "agent:scout"
	})
	if at < 0 {
		t.Fatal("no triage agent was started")
	}
	env := w.pending[at].(effect.Start).Want.Spec.Env
	if !slices.Contains(env, "GC_WATCHDOG_SILENT=10800") {
		t.Errorf("the worker has been silent for 3h, but the triage agent gets %q", env)
	}
}

// A triage agent gets its facts in a file and in its environment. Other agents get neither.
func TestBriefing(t *testing.T) {
	w := newWorld()
	if err := w.keep([]string{"care", "watches=worker", "triage=scout"}); err != nil {
		t.Fatal(err)
	}
	w.declare("worker", "scout")
	w.stuck["agent:scout"] = true
	ill := 2
	w.watchdogs.files["/app/"+config.HeartbeatFile("worker")] =
		effect.HeartbeatRead{Stamp: w.now, Agents: watchdog.Agents{Unhealthy: &ill}}
	w.advance(4 * time.Minute)
	if d, _ := w.m.Snapshot(w.now).Watchdog("care"); d.HealthyAgents != nil ||
		d.UnhealthyAgents == nil || *d.UnhealthyAgents != ill {
		t.Errorf("heartbeat reports: got %q", d.Reports())
	}
	at := slices.IndexFunc(w.pending, func(f effect.Effect) bool {
		return keyOf(f) == "agent:scout"
	})
	if at < 0 {
		t.Fatal("no triage agent was started")
	}
	f := w.pending[at].(effect.Start)
	env := strings.Join(f.Want.Spec.Env, "\n")
	for _, line := range []string{"GC_WATCHDOG=care", "GC_WATCHDOG_BEAT=care-20260301T120300.000",
		"GC_WATCHDOG_WATCHES=worker", "GC_WATCHDOG_FACTS=/app/.gc/watchdogs/care.json",
		"GC_WATCHDOG_SESSION=alive", "GC_WATCHDOG_AGE=180", "GC_WATCHDOG_FRESHNESS=fresh",
		"GC_WATCHDOG_MAIL=0", "GC_WATCHDOG_FROZEN=false", "GC_WATCHDOG_HEALTHY_AGENTS=",
		"GC_WATCHDOG_UNHEALTHY_AGENTS=2", "GC_WATCHDOG_ADVICE=nothing"} {
		if !strings.Contains(env+"\n", line+"\n") {
			t.Errorf("no %s in\n%s", line, env)
		}
	}
	for _, part := range []string{`"watchdog": "care"`, `"watches": "worker"`, `"session": "alive"`,
		`"age": 180`, `"unhealthy_agents": 2`, `"until": "2026-03-01T12:08:00Z"`} {
		if f.Brief == nil || !strings.Contains(string(f.Brief.Data), part) {
			t.Errorf("no %s in the file: %+v", part, f.Brief)
		}
	}
	if own := w.m.agents["scout"].want.Spec.Env; len(own) > 0 {
		t.Errorf("the declared environment was changed: %q", own)
	}
	if worker := w.m.agents["worker"]; worker.startEffect().Brief != nil {
		t.Error("the worker received a brief")
	}
	w.die("worker", 1, "") // the next session has not written a heartbeat yet
	w.advance(time.Minute)
	if d, _ := w.m.Snapshot(w.now).Watchdog("care"); d.Reports() != "" {
		t.Errorf("reports of an earlier session: got %q", d.Reports())
	}
}

// If a wake text is too long to be typed, the wake fails with no further effect.
func TestWakeWithoutEffect(t *testing.T) {
	w := newWorld()
	if err := w.keep([]string{"care", "watches=worker"}); err != nil {
		t.Fatal(err)
	}
	d := w.watchdogs.dogs["care"]
	d.Wake = strings.Repeat("up ", city.MaxSend)
	w.watchdogs.dogs["care"] = d
	w.declare("worker")
	w.advance(20 * time.Minute)
	last := w.m.Snapshot(w.now).Watchdogs[0].Last
	if last == nil || last.Decision != city.RemedyWake ||
		!strings.HasPrefix(last.Result, "failed: the nudge has ") {
		t.Errorf("%+v", last)
	}
}

// The laws hold under random faults. A watchdog escalates once per problem and recovers after the faults end (L7).
func TestWatchdogLaws(t *testing.T) {
	for seed := range uint64(60) {
		w := newWorld()
		for _, dog := range []string{"care watches=worker triage=scout ttl=4m command=page",
			"deep watches=scout every=5m after=1"} {
			if err := w.keep(strings.Fields(dog)); err != nil {
				t.Fatal(err)
			}
		}
		same := w.watchdogs.dogs["care"]
		other := same
		other.Watches, other.Heartbeat = "else", "/app/"+config.HeartbeatFile("else")
		w.watchdogs.spare = map[string]config.Watchdog{"same": same, "other": other}
		w.floor.hands = map[string]string{}
		w.declare("worker:stuck=7m", "scout")
		rnd := rand.New(rand.NewPCG(seed, seed))
		called := map[string]bool{}
		for range 100 {
			from := len(w.events)
			if w.toss(rnd) {
				clear(called)
			}
			for _, e := range w.events[from:] {
				switch e.Type {
				case events.WatchdogEscalated:
					if called[e.Subject] {
						t.Fatalf("seed %d: the watchdog escalated twice\n%s", seed,
							strings.Join(w.log, "\n"))
					}
					called[e.Subject] = true
				case events.WatchdogRecovered:
					called[e.Subject] = false
				}
			}
			if len(w.breach) > 0 {
				t.Fatalf("seed %d: %s\n%s", seed, w.breach, strings.Join(w.log, "\n"))
			}
		}
		w.settles()
		for _, d := range w.m.Snapshot(w.now).Watchdogs {
			if d.Freshness != city.Fresh || d.Failed > 0 || d.Escalated != nil || d.Degraded != "" {
				t.Errorf("seed %d: %s\n%s", seed, strings.Join(w.showTiers(), "\n"),
					strings.Join(w.log, "\n"))
			}
		}
		if from := len(w.events); t.Failed() {
			t.FailNow()
		} else if w.well(time.Hour); len(w.events) > from { // a healthy city causes no events (L5)
			t.Fatalf("seed %d: a healthy city caused events: %+v", seed, w.events[from:])
		}
	}
}

func (w *world) toss(rnd *rand.Rand) (fresh bool) {
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	line := pick("heartbeat worker", "heartbeat worker", "heartbeat worker",
		"heartbeat worker gone", "heartbeat worker broken is empty", "heartbeat worker -2h",
		"heartbeat worker 1h",
		"exit worker 1", "exit worker 0", "signal scout SIGKILL", "exit scout 0", "exit scout 3",
		"beat care", "beat deep", "acknowledge care",
		"decide care nothing x", "decide care wake x", "decide care start x",
		"decide care nudge by=ann x", "decide care start beat=old x", "decide deep start x",
		"fail worker no", "fail worker", "fail scout no", "fail scout", "stick agent:scout",
		"stick heartbeat:care", "stick escalate:care", "unstick agent:scout",
		"unstick heartbeat:care",
		"unstick escalate:care", "suspend scout", "suspend worker", "resume scout", "resume worker",
		"successor", "stall", "unread worker 1", "unread worker 0", "kill scout", "kill worker",
		"works worker app-1", "works worker", "draft worker on", "draft worker off", "unposted no",
		"unposted", "release worker", "restart worker", "mute no", "mute",
		"other", "same", "none", "advance 1s", "advance 20s", "advance 1m", "advance 3m",
		"advance 3m", "advance 4m", "advance 16m")
	words := strings.Fields(line)
	if (words[0] == "draft" || words[0] == "kill") && w.alive[words[1]] == nil {
		return false
	}
	w.note("%s", line)
	switch line { // changes the declared watchdogs
	case "other", "same", "none":
		w.watchdogs.dogs["care"] = w.watchdogs.spare[line]
		if line == "none" {
			delete(w.watchdogs.dogs, "care")
		}
		w.declare("worker:stuck=7m", "scout", "else")
		return line != "same"
	}
	if err := w.tell(words); err != nil {
		w.breaks("%s: %v", line, err)
	}
	return words[0] == "successor"
}

func (w *world) settles() {
	w.watchdogs.dogs["care"] = w.watchdogs.spare["same"]
	w.declare("worker:stuck=7m", "scout", "else")
	for _, line := range []string{"fail worker", "fail scout", "unstick agent:scout",
		"unstick heartbeat:care", "unstick heartbeat:deep", "unstick escalate:care",
		"unstick escalate:deep", "unposted", "mute",
		"resume scout", "resume worker", "unread worker 0", "works worker", "release worker"} {
		if err := w.tell(strings.Fields(line)); err != nil {
			w.breaks("%s: %v", line, err)
		}
	}
	delete(w.delivery.drafts, "worker")
	w.well(3 * time.Hour)
}

func (w *world) well(d time.Duration) {
	for end := w.now.Add(d); w.now.Before(end); w.advance(30 * time.Second) {
		_ = w.beats("worker", nil)
		if b := w.m.watchdogs.Judging("care"); b != "" && w.alive["scout"] != nil {
			w.command(uint64(len(w.log)+1), city.Decide{Watchdog: "care",
				Decision: city.RemedyNothing, Reason: "well", Beat: b})
			w.die("scout", 0, "")
		}
	}
}

// A reason is shown on one line, regardless of how the triage agent formatted it.
func TestDecisionReasonIsOneLine(t *testing.T) {
	w := newWorld()
	if err := w.keep([]string{"care", "watches=worker", "triage=scout"}); err != nil {
		t.Fatal(err)
	}
	w.declare("worker", "scout")
	w.advance(4 * time.Minute)
	w.command(1, city.Decide{Watchdog: "care", Decision: city.RemedyNothing,
		Reason: " it compiles,\n\tthe screen\x1b[2J moves\n"})
	d, _ := w.m.Snapshot(w.now).Watchdog("care")
	if d.Last == nil || d.Last.Reason != "it compiles, the screen moves" {
		t.Errorf("%+v", d.Last)
	}
}
