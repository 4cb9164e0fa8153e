package controller

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/watchdog"
)

const chained = `
[daemon]
patrol_interval = "5m"
[[agents]]
name = "worker"
start_command = "run"
[[agents]]
name = "scout"
start_command = "judge"
[[watchdogs]]
name = "care"
watches = "worker"
triage = "scout"
[[watchdogs]]
name = "spare"
watches = "worker"
every = "10m"
`

// lives writes the heartbeats of an agent, and has its triage find that all is well, until it is told to end.
func (w *town) lives(ctx context.Context, agent, scout string) {
	path := filepath.Join(w.dir, config.HeartbeatFile(agent))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Error(err)
	}
	for ctx.Err() == nil {
		synctest.Wait()
		beat := fmt.Sprintf(`{"timestamp": %q}`, time.Now().UTC().Format(time.RFC3339Nano))
		if err := os.WriteFile(path, []byte(beat), 0o600); err != nil {
			w.t.Error(err)
		}
		s, _ := w.Snapshot(ctx)
		if d, ok := s.Watchdog("care"); ok && d.Triaged != nil {
			if a, _ := s.Agent(scout); a == nil || a.Session == nil {
				w.t.Errorf("a triage is at work, and has no session")
			}
			if _, err := w.Do(ctx, city.Decide{Watchdog: "care", Decision: city.RemedyNothing, Reason: "all is well", Beat: d.Triaged.Beat}); err != nil {
				w.t.Error(err)
			}
			w.fake.Crash(scout, 0, "")
		}
		select {
		case <-ctx.Done():
		case <-time.After(90 * time.Second):
		}
	}
}

// A week in which nothing happens writes nothing, and starts a triage for each beat and no more.
func TestAnIdleWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, chained)
		end := w.begin()
		synctest.Wait()
		ctx, cancel := context.WithCancel(context.Background())
		over := make(chan struct{})
		time.Sleep(30 * time.Second) // between the beats
		go func() { defer close(over); w.lives(ctx, "worker", "scout") }()
		const week = 7 * 24 * time.Hour
		time.Sleep(week + time.Minute)
		cancel()
		<-over
		if got, want := w.types(), "controller.started\nagent.started worker"; got != want {
			t.Errorf("the log says:\n%s", got)
		}
		if got, want := w.fake.Started("scout"), int(week/(3*time.Minute)); got != want {
			t.Errorf("%d beats, want %d", got, want)
		}
		s, _ := w.Snapshot(context.Background())
		for _, d := range s.Watchdogs {
			if d.Failed != 0 || d.Escalated != nil || d.Degraded != "" || d.Last == nil || d.Last.Decision != city.RemedyNothing || len(d.Recent) > 0 {
				t.Errorf("%+v", d)
			}
		}
		end()
	})
}

// What is found in a heartbeat's file is told in words, and never trusted further than that.
func TestHeartbeatFiles(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	r := &runner{c: &Controller{o: Options{Dir: dir}}, shop: newWorkshop(context.Background())}
	look := func(path string) effect.HeartbeatRead {
		return r.heartbeat(t.Context(), effect.ReadHeartbeat{Tier: "care", Path: path}).(effect.HeartbeatRead)
	}
	if in := look(put("good", `{"timestamp":"2026-01-02T18:30:00Z","healthy_agents":42}`)); in.Problem != "" || in.Stamp.Year() != 2026 || in.Agents.Healthy == nil || *in.Agents.Healthy != 42 {
		t.Errorf("%+v", in)
	}
	if in := look(filepath.Join(dir, "none")); in.Problem != "" || !in.Stamp.IsZero() {
		t.Errorf("%+v", in)
	}
	secret := put("secret", `{"timestamp":"2026-01-02T18:30:00Z"}`)
	if err := os.Chmod(secret, 0); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		put("torn", `{"timestamp":"2026-01-`):         "its heartbeat, torn, is not a JSON object",
		put("huge", strings.Repeat(" ", 1<<20)):       "its heartbeat, huge, is larger than 64 KiB",
		put("empty", ""):                              "its heartbeat, empty, is empty",
		put("hostile", "{\"timestamp\":\"\x1b[2J\"}"): "its heartbeat, hostile, is not a JSON object",
		dir:         "is not a regular file",
		"/dev/zero": "its heartbeat, /dev/zero, is not a regular file",
	} {
		if in := look(path); !strings.Contains(in.Problem, says) || !in.Stamp.IsZero() {
			t.Errorf("%s: %+v", path, in)
		}
	}
	if in := look(filepath.Join(dir, "torn")); in.Unread {
		t.Errorf("what makes no sense was seen: %+v", in)
	}
	if in := look(dir); !in.Unread {
		t.Errorf("what cannot be read was seen: %+v", in)
	}
	if in := look(secret); os.Geteuid() != 0 && !strings.Contains(in.Problem, "its heartbeat, secret, cannot be read: permission denied") {
		t.Errorf("%+v", in)
	}
}

// A triage finds its facts in a file and in its environment; who is no triage has none of that.
func TestBriefing(t *testing.T) {
	w := newWorld()
	if err := w.keep([]string{"care", "watches=worker", "triage=scout"}); err != nil {
		t.Fatal(err)
	}
	w.declare("worker", "scout")
	w.stuck["agent:scout"] = true
	ill := 2
	w.kennel.files["/app/"+config.HeartbeatFile("worker")] = effect.HeartbeatRead{Stamp: w.now, Agents: watchdog.Agents{Unhealthy: &ill}}
	w.advance(4 * time.Minute)
	if d, _ := w.m.snapshot(w.now).Watchdog("care"); d.HealthyAgents != nil || d.UnhealthyAgents == nil || *d.UnhealthyAgents != ill {
		t.Errorf("the heartbeat reports %q", d.Reports())
	}
	at := slices.IndexFunc(w.pending, func(f effect.Effect) bool { return f.Key() == "agent:scout" })
	if at < 0 {
		t.Fatal("no triage is started")
	}
	f := w.pending[at].(effect.Start)
	env := strings.Join(f.Want.Spec.Env, "\n")
	for _, line := range []string{"GC_WATCHDOG=care", "GC_WATCHDOG_BEAT=care-20260301T120300.000", "GC_WATCHDOG_WATCHES=worker", "GC_WATCHDOG_FACTS=/app/.gc/watchdogs/care.json",
		"GC_WATCHDOG_SESSION=alive", "GC_WATCHDOG_AGE=180", "GC_WATCHDOG_FRESHNESS=fresh", "GC_WATCHDOG_MAIL=0", "GC_WATCHDOG_FROZEN=false", "GC_WATCHDOG_HEALTHY_AGENTS=", "GC_WATCHDOG_UNHEALTHY_AGENTS=2", "GC_WATCHDOG_ADVICE=nothing"} {
		if !strings.Contains(env+"\n", line+"\n") {
			t.Errorf("no %s in\n%s", line, env)
		}
	}
	for _, part := range []string{`"watchdog": "care"`, `"watches": "worker"`, `"session": "alive"`, `"age": 180`, `"unhealthy_agents": 2`, `"until": "2026-03-01T12:08:00Z"`} {
		if f.Brief == nil || !strings.Contains(string(f.Brief.Data), part) {
			t.Errorf("no %s in the file: %+v", part, f.Brief)
		}
	}
	if own := w.m.agents["scout"].want.Spec.Env; len(own) > 0 {
		t.Errorf("what is declared has it too: %q", own)
	}
	if w.m.agents["worker"].outfit().Brief != nil {
		t.Error("a worker has a brief")
	}
}

// A text that is too long to be typed is a wake that failed, and nothing worse.
func TestEndlessWake(t *testing.T) {
	w := newWorld()
	if err := w.keep([]string{"care", "watches=worker"}); err != nil {
		t.Fatal(err)
	}
	d := w.kennel.dogs["care"]
	d.Wake = strings.Repeat("up ", city.MaxSend)
	w.kennel.dogs["care"] = d
	w.declare("worker")
	w.advance(20 * time.Minute)
	last := w.m.snapshot(w.now).Watchdogs[0].Last
	if last == nil || last.Decision != city.RemedyWake || !strings.HasPrefix(last.Result, "failed: the text has ") {
		t.Errorf("%+v", last)
	}
}

// Whatever happens, the laws hold, a tier calls a person once for one trouble, and when all is well again it comes to rest (L7).
func TestWatchdogLaws(t *testing.T) {
	for seed := range uint64(60) {
		w := newWorld()
		for _, dog := range []string{"care watches=worker triage=scout ttl=4m command=page", "deep watches=scout every=5m after=1"} {
			if err := w.keep(strings.Fields(dog)); err != nil {
				t.Fatal(err)
			}
		}
		same := w.kennel.dogs["care"]
		other := same
		other.Watches, other.Heartbeat = "else", "/app/"+config.HeartbeatFile("else")
		w.kennel.spare = map[string]config.Watchdog{"same": same, "other": other}
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
						t.Fatalf("seed %d: a person is called twice\n%s", seed, strings.Join(w.log, "\n"))
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
		for _, d := range w.m.snapshot(w.now).Watchdogs {
			if d.Freshness != city.Fresh || d.Failed > 0 || d.Escalated != nil || d.Degraded != "" {
				t.Errorf("seed %d: %s\n%s", seed, strings.Join(w.showTiers(), "\n"), strings.Join(w.log, "\n"))
			}
		}
		if from := len(w.events); t.Failed() {
			t.FailNow()
		} else if w.well(time.Hour); len(w.events) > from { // L5
			t.Fatalf("seed %d: all is well, and still: %+v", seed, w.events[from:])
		}
	}
}

// toss does something at random. It reports whether another controller is there now.
func (w *world) toss(rnd *rand.Rand) (fresh bool) {
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	line := pick("heartbeat worker", "heartbeat worker", "heartbeat worker", "heartbeat worker gone", "heartbeat worker broken is empty", "heartbeat worker -2h", "heartbeat worker 1h",
		"exit worker 1", "exit worker 0", "signal scout SIGKILL", "exit scout 0", "exit scout 3", "beat care", "beat deep", "acknowledge care",
		"decide care nothing x", "decide care wake x", "decide care start x", "decide care nudge by=ann x", "decide care start beat=old x", "decide deep start x",
		"fail worker no", "fail worker", "fail scout no", "fail scout", "stick agent:scout", "stick heartbeat:care", "stick escalate:care", "unstick agent:scout", "unstick heartbeat:care",
		"unstick escalate:care", "suspend scout", "suspend worker", "resume scout", "resume worker", "successor", "stall", "unread worker 1", "unread worker 0", "kill scout", "kill worker",
		"works worker app-1", "works worker", "draft worker on", "draft worker off", "unposted no", "unposted", "release worker", "restart worker", "mute no", "mute",
		"other", "same", "none", "advance 1s", "advance 20s", "advance 1m", "advance 3m", "advance 3m", "advance 4m", "advance 16m")
	words := strings.Fields(line)
	if (words[0] == "draft" || words[0] == "kill") && w.alive[words[1]] == nil {
		return false
	}
	w.note("%s", line)
	switch line { // what is declared changes
	case "other", "same", "none":
		w.kennel.dogs["care"] = w.kennel.spare[line]
		if line == "none" {
			delete(w.kennel.dogs, "care")
		}
		w.declare("worker:stuck=7m", "scout", "else")
		return line != "same"
	}
	if err := w.tell(words); err != nil {
		w.breaks("%s: %v", line, err)
	}
	return words[0] == "successor"
}

// settles ends all faults, and lets the agents do as they should until that has come to bear.
func (w *world) settles() {
	w.kennel.dogs["care"] = w.kennel.spare["same"]
	w.declare("worker:stuck=7m", "scout", "else")
	for _, line := range []string{"fail worker", "fail scout", "unstick agent:scout", "unstick heartbeat:care", "unstick heartbeat:deep", "unstick escalate:care", "unstick escalate:deep", "unposted", "mute",
		"resume scout", "resume worker", "unread worker 0", "works worker", "release worker"} {
		if err := w.tell(strings.Fields(line)); err != nil {
			w.breaks("%s: %v", line, err)
		}
	}
	delete(w.desk.drafts, "worker")
	w.well(3 * time.Hour)
}

// well is a time in which the agents of a tier do as they should.
func (w *world) well(d time.Duration) {
	for end := w.now.Add(d); w.now.Before(end); w.advance(30 * time.Second) {
		_ = w.beats("worker", nil)
		if c := w.m.tier("care"); c != nil && c.beat != nil && w.alive["scout"] != nil {
			w.command(uint64(len(w.log)+1), city.Decide{Watchdog: "care", Decision: city.RemedyNothing, Reason: "well", Beat: c.beat.id})
			w.die("scout", 0, "")
		}
	}
}

// A reason is one line wherever it is shown, however the triage has written it.
func TestDecisionReasonIsOneLine(t *testing.T) {
	w := newWorld()
	if err := w.keep([]string{"care", "watches=worker", "triage=scout"}); err != nil {
		t.Fatal(err)
	}
	w.declare("worker", "scout")
	w.advance(4 * time.Minute)
	w.command(1, city.Decide{Watchdog: "care", Decision: city.RemedyNothing, Reason: " it compiles,\n\tthe screen\x1b[2J moves\n"})
	d, _ := w.m.snapshot(w.now).Watchdog("care")
	if d.Last == nil || d.Last.Reason != "it compiles, the screen moves" {
		t.Errorf("%+v", d.Last)
	}
}
