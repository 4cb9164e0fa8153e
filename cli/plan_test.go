package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/config/files"
	"gcity/controller/effect"
	"gcity/pool"
	"gcity/restart"
	"gcity/session"
)

func TestChanges(t *testing.T) {
	old, fresh := session.NewFingerprint(map[string]string{"command": "a"}),
		session.NewFingerprint(map[string]string{"command": "b"})
	want := func(name string, f session.Fingerprint) agent.Want {
		return agent.Want{Name: name, Spec: session.Spec{Fingerprint: f}}
	}
	suspended, broken := want("s", old), want("p", old)
	suspended.Suspended = agent.Suspension{Level: agent.AgentLevel, Where: "in city.toml"}
	broken.Problem = "no such command"
	quarantined, ends := want("q", old), noon.Add(time.Hour)
	quarantined.Policy.Window = time.Hour
	alive := func(name string, f session.Fingerprint, attached int) session.Status {
		return session.Status{Name: name, Agent: name, Alive: true, Ready: true, Fingerprint: f, Attached: attached}
	}
	got := changes(planInput{now: noon,
		wants: []agent.Want{want("same", old), want("drift", fresh), want("held", fresh),
			want("new", old), want("unknown", old), suspended, broken, quarantined,
			want("edited", fresh), want("left", fresh), want("backoff", fresh)},
		sessions: []session.Status{
			alive("same", old, 0), alive("drift", old, 0), alive("held", old, 1),
			alive("s", old, 0), alive("gone", old, 0),
			alive("unknown", session.Fingerprint{}, 0), {Agent: "new", Fingerprint: old},
		},
		clock: func(t time.Time) string { return t.Format(time.TimeOnly) },
		running: &city.Snapshot{Agents: []city.Agent{
			{Name: "q", State: city.Quarantined, Reason: "crashed", Until: &ends,
				Declaration: city.Declaration{Declared: folder.Short(old.Sum)}},
			{Name: "edited", State: city.Quarantined, Reason: "crashed",
				Declaration: city.Declaration{Declared: folder.Short(old.Sum), Command: "another"}},
			{Name: "left", State: city.Exited, Reason: "exited 0", Declaration: city.Declaration{Declared: folder.Short(old.Sum)}},
			{Name: "backoff", State: city.Backoff, Reason: "exit 1",
				Declaration: city.Declaration{Declared: folder.Short(old.Sum)}, Until: &noon},
		}},
	})
	expect := []change{
		{Agent: "backoff", Change: "start", Reason: "configuration changed (was backoff)"},
		{Agent: "drift", Change: "restart", Reason: "command changed",
			Fields: []string{"command changed"}},
		{Agent: "edited", Change: "start", Reason: "command changed (was quarantined)"},
		{Agent: "gone", Change: "stop", Reason: "not in the configuration"},
		{Agent: "held", Change: "wait", Reason: "restart held back while a user is attached; " +
			"command changed", Fields: []string{"command changed"}},
		{Agent: "left", Change: "start", Reason: "configuration changed (was exited)"},
		{Agent: "new", Change: "start", Reason: "not running"},
		{Agent: "p", Change: "fail", Reason: "no such command"},
		{Agent: "q", Change: "wait", Reason: "quarantined: crashed, until " + ends.Format(time.TimeOnly)},
		{Agent: "s", Change: "stop", Reason: "suspended in city.toml"},
		{Agent: "same", Change: "none", Reason: "runs as configured"},
		{Agent: "unknown", Change: "none", Reason: "runs as configured"},
	}
	if diff := difference(expect, got); diff != "" {
		t.Error(diff)
	}
}

// A plan shows what an agent waits for: its dependencies, a drain, or a session that does not respond.
func TestPlannedWaits(t *testing.T) {
	broken, first, last := agent.Want{Name: "broken", Problem: "no such command"},
		agent.Want{Name: "first", DependsOn: []string{"broken"}}, agent.Want{Name: "last", DependsOn: []string{"w"}}
	member := agent.Want{Name: "w-1", Pool: "w", Index: 1, DependsOn: []string{"first"}}
	alive := func(name string) session.Status {
		return session.Status{Name: name, Agent: name, Alive: true, Ready: true}
	}
	silent, draining := alive("silent"), alive("draining")
	silent.Silent, silent.Reason = noon, "its host does not respond"
	draining.Drain = session.Drain{Since: noon, By: "operator"}
	got := changes(planInput{now: noon, wants: []agent.Want{broken, first, last, member, {Name: "draining"}, {Name: "silent"},
		{Name: "unfit"}, {Name: "until", DependsOn: []string{"unfit"}}},
		unfit:    func(w *agent.Want) string { return map[string]string{"unfit": "the folder is missing"}[w.Name] },
		pools:    []agent.Pool{{Spec: pool.Spec{Name: "w", Min: 1, Max: 1}}},
		sessions: []session.Status{silent, draining}})
	expect := []change{
		{Agent: "broken", Change: "fail", Reason: "no such command"},
		{Agent: "draining", Change: "wait", Reason: "draining: asked by operator to finish"},
		{Agent: "first", Change: "wait", Reason: "waits for broken (failed)"},
		{Agent: "last", Change: "wait", Reason: "waits for pool w (no member is running)"},
		{Agent: "silent", Change: "wait", Reason: "unknown: its host does not respond"},
		{Agent: "unfit", Change: "fail", Reason: "the folder is missing"},
		{Agent: "until", Change: "wait", Reason: "waits for unfit (failed)"},
		{Agent: "w-1", Pool: "w", Change: "wait", Reason: "waits for first (waiting)"},
	}
	if diff := difference(expect, got); diff != "" {
		t.Error(diff)
	}
}

// A pool's planned size is the one that a user has set, the controller's, or the number of running members.
func TestPlannedPools(t *testing.T) {
	w, until := agent.Pool{Spec: pool.Spec{Name: "w", Min: 1, Max: 4}}, noon.Add(time.Minute)
	var wants []agent.Want
	for i := 1; i <= w.Max; i++ {
		wants = append(wants, agent.Want{Name: w.Member(i), Pool: "w", Index: i, Policy: restart.Policy{Window: time.Hour}})
	}
	lives := func(names ...string) (out []session.Status) {
		for _, n := range names {
			out = append(out, session.Status{Name: n, Agent: n, Alive: true, Ready: true})
		}
		return out
	}
	draining := lives("w-1", "w-2")
	draining[1].Drain = session.Drain{Since: noon, By: "pool"}
	for _, c := range []struct {
		name string
		v    planInput
		want string
	}{
		{"fresh", planInput{}, "start w-1"},
		{"as they live", planInput{sessions: lives("w-1", "w-2")}, "none w-1, none w-2"},
		{"one is leaving", planInput{sessions: draining}, "none w-1, drain w-2"},
		{"its pool was removed", planInput{sessions: lives("v-1"), saved: effect.Histories{
			Agents: map[string]effect.SavedAgent{"v-1": {Member: effect.SavedMember{Pool: "v"}}}}},
			"drain v-1, start w-1"},
		{"by hand", planInput{sessions: lives("w-1"), overrides: map[string]int{"w": 3}},
			"none w-1, start w-2, start w-3"},
		{"by the controller", planInput{sessions: lives("w-1", "w-2"),
			running: &city.Snapshot{Pools: []city.Pool{{Name: "w", Desired: 1}}}},
			"none w-1, drain w-2"},
		{"a busy member stays", planInput{sessions: lives("w-1", "w-2"), running: &city.Snapshot{
			Pools: []city.Pool{{Name: "w", Desired: 1}},
			Agents: []city.Agent{{Name: "w-1", Pool: "w"},
				{Name: "w-2", Pool: "w", Workload: city.Workload{Task: "w-7 paint"}}}}},
			"drain w-1, none w-2"},
		{"a hole", planInput{sessions: lives("w-3"), running: &city.Snapshot{
			Pools:  []city.Pool{{Name: "w", Desired: 1}},
			Agents: []city.Agent{{Name: "w-3", Pool: "w"}}}}, "none w-3"},
		{"a hole in quarantine", planInput{running: &city.Snapshot{
			Pools:  []city.Pool{{Name: "w", Desired: 1}},
			Agents: []city.Agent{{Name: "w-3", Pool: "w", State: city.Quarantined, Until: &until}}}}, "wait w-3"},
		{"a hole without a controller", planInput{sessions: lives("w-3")}, "none w-3"},
		{"beyond the maximum", planInput{sessions: lives("w-1", "w-12", "other"),
			running: &city.Snapshot{Pools: []city.Pool{{Name: "w", Desired: 9}}}},
			"stop other, none w-1, start w-2, start w-3, start w-4, drain w-12"},
		{"a member of a removed pool", planInput{sessions: lives("gone-1"),
			running: &city.Snapshot{Agents: []city.Agent{{Name: "gone-1", Pool: "gone"}}}},
			"drain gone-1, start w-1"},
	} {
		c.v.clock = func(t time.Time) string { return t.Format(time.TimeOnly) }
		c.v.now, c.v.wants, c.v.pools = noon, wants, []agent.Pool{w}
		var got []string
		for _, x := range changes(c.v) {
			got = append(got, x.Change+" "+x.Agent)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: got %s, want %s", c.name, text, c.want)
		}
	}
}

// A configuration that removes more than half of the running agents is held.
func TestPlannedHold(t *testing.T) {
	running := &city.Snapshot{Agents: []city.Agent{
		{Name: "a", Running: true, Declaration: city.Declaration{Source: "city.toml:3:1"}},
		{Name: "b", Running: true, Declaration: city.Declaration{Source: "city.toml:6:1"}},
		{Name: "c", Declaration: city.Declaration{Source: "city.toml:9:1"}}, {Name: "stranger", Running: true},
		{Name: "d", State: city.Starting, Running: true, Declaration: city.Declaration{Source: "city.toml:12:1"}},
	}}
	if h := (planInput{wants: []agent.Want{{Name: "a"}}, running: running}).held("1"); h != nil {
		t.Errorf("half of them: got %+v", h)
	}
	v := planInput{wants: []agent.Want{{Name: "c"}}, running: running}
	want := &heldShape{Removes: []string{"a", "b"}, Running: 2}
	if diff := difference(want, v.held("1")); diff != "" {
		t.Error(diff)
	}
	since := noon
	running.Config.Held = &city.Held{Revision: "1", Since: since}
	want.Since = &since
	if diff := difference(want, v.held("1")); diff != "" {
		t.Error(diff)
	}
	if h := v.held("2"); h == nil || h.Since != nil {
		t.Errorf("a different configuration is held: %+v", h)
	}
}

// An agent that may be running is neither started again nor reported as stopped.
func TestPlannedWithUnknownSessions(t *testing.T) {
	old, fresh := session.NewFingerprint(map[string]string{"command": "a"}),
		session.NewFingerprint(map[string]string{"command": "b"})
	want := func(name, provider string, f session.Fingerprint) agent.Want {
		return agent.Want{Name: name, Spec: session.Spec{Provider: provider, Fingerprint: f}}
	}
	broken := want("broken", "pty", fresh)
	broken.Problem = "no such command"
	v := planInput{now: noon,
		wants: []agent.Want{want("seen", "pty", old), want("dark", "tmux", old),
			want("new", "pty", old), want("swap", "exec:x", old), want("moved", "tmux", old),
			broken},
		sessions: []session.Status{
			{Name: "seen", Agent: "seen", Alive: true, Ready: true, Provider: "pty", Fingerprint: old},
			{Name: "swap", Agent: "swap", Alive: true, Ready: true, Provider: "pty", Fingerprint: old},
			{Name: "moved", Agent: "moved", Alive: true, Ready: true, Provider: "pty", Fingerprint: old},
			{Name: "broken", Agent: "broken", Alive: true, Ready: true, Provider: "pty", Fingerprint: old},
		},
		unknown: map[string]error{"tmux": errors.New("no server")},
		unable: func(provider string) string {
			return map[string]string{"exec:x": "there is no script x"}[provider]
		},
	}
	held := "restart held back because a restart would fail: there is no script x; provider changed"
	expect := []change{
		{Agent: "broken", Change: "wait", Reason: "restart held back because a restart " +
			"would fail: no such command; command changed", Fields: []string{"command changed"}},
		{Agent: "dark", Change: "wait", Reason: "waits until the sessions of tmux can be listed, " +
			"because the agent might be running there"},
		{Agent: "moved", Change: "restart", Reason: "provider changed",
			Fields: []string{"provider changed"}},
		{Agent: "new", Change: "wait", Reason: "waits until the sessions of tmux can be listed, " +
			"because the agent might be running there"},
		{Agent: "seen", Change: "none", Reason: "runs as configured"},
		{Agent: "swap", Change: "wait", Reason: held, Fields: []string{"provider changed"}},
	}
	if diff := difference(expect, changes(v)); diff != "" {
		t.Error("without a controller: " + diff)
	}
	v.running = &city.Snapshot{Agents: []city.Agent{
		{Name: "dark", State: city.Running, Running: true, Provider: "tmux"},
		{Name: "new", State: city.Waiting, Reason: "waits for a list"},
	}}
	expect[1].Reason, expect[3].Reason = "unknown: the sessions of tmux cannot be listed",
		"waits for a list"
	if diff := difference(expect, changes(v)); diff != "" {
		t.Error("with a controller: " + diff)
	}
	v.running.Agents = nil // the controller has listed the sessions, and the agent has none
	expect[1], expect[3] = change{Agent: "dark", Change: "start", Reason: "not running"},
		change{Agent: "new", Change: "start", Reason: "not running"}
	if diff := difference(expect, changes(v)); diff != "" {
		t.Error("with a controller that has listed all sessions: " + diff)
	}
}

// A plan reads standard input with the same size limit as a file.
func TestPlanLimitsTheStandardInput(t *testing.T) {
	in, err := os.Create(filepath.Join(t.TempDir(), "in"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := in.Truncate(3 * files.MaxSize); err != nil {
		t.Fatal(err)
	}
	_, err = plannedConfig(&env.Env{In: in}, t.TempDir(), "-", nil)
	at, _ := in.Seek(0, io.SeekCurrent)
	if err == nil || !strings.Contains(err.Error(), "larger than 10 MB") || at > 2*files.MaxSize {
		t.Errorf("got %v after %d bytes", err, at)
	}
}

// An error in an edited copy names the copy. The live city.toml may be valid.
func TestPlanNamesTheEditedCopy(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "next.toml")
	text := "[workspace]\nname = \"town\"\n[daemon]\npatrol_interval = \"5 sec\"\n" +
		"[[agents]]\nname = \"a\"\nstart_command = \"x\"\n[[agents]]\nname = \"a\"\nstart_command = \"x\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{file: file, "-": "standard input"} {
		in, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		_, err = plannedConfig(&env.Env{In: in}, dir, name, nil)
		code, message := exit.Verdict(err)
		if code != exit.CodeConfig || !strings.HasPrefix(message,
			"the configuration with "+want+" as city.toml is invalid (2 errors):\n"+want+":4:19: daemon.patrol_interval") ||
			strings.Contains(message, " city.toml:") || !strings.Contains(message, "at "+want+":6:8") {
			t.Errorf("%s: exit code %d, %s", name, code, message)
		}
	}
}
