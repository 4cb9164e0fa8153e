package agent

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gcity/config"
	"gcity/restart"
	"gcity/session"
)

func city(t testing.TB, text string) *config.City {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, config.FileName), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return reload(t, dir)
}

func reload(t testing.TB, dir string) *config.City {
	t.Helper()
	c, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPlan(t *testing.T) {
	c := city(t, `
[workspace]
name = "app"
start_command = "sh"
[[agents]]
name = "b.2"
description = "the second"
dir = "work/{{.Name}}"
start_command = "exec sh -i"
env = { A = "1" }
nudge = "hello"
ready_delay_ms = 250
ready_prompt_prefix = "$ "
pre_start = ["mkdir -p '{{.WorkDir}}'"]
session_setup = ["echo {{.Session}}"]
restart = "never"
min_uptime = "3s"
[[agents]]
name = "a"
dir = "/usr"
[daemon]
max_restarts = 2
[session]
cols = 80
`)
	wants := Plan(c, Host{Environ: []string{"HOME=/h"}, BinDir: "/c/bin"})
	if len(wants) != 2 || wants[0].Name != "a" || wants[1].Name != "b.2" {
		t.Fatalf("not sorted by name: %+v", wants)
	}
	work := filepath.Join(c.Path, "work", "b.2")
	got := wants[1]
	want := Want{Name: "b.2", Declared: "b.2", Strategy: restart.OneForOne, Description: "the second", Provider: "pty", Source: "city.toml:5:1", MakeDir: true,
		Policy: restart.Policy{Mode: restart.Never, MinUptime: 3 * time.Second, MaxRestarts: 2, Window: time.Hour, Backoff: time.Second,
			MaxBackoff: 30 * time.Second},
		Spec: session.Spec{Name: "gc-app-b_d2", Agent: "b.2", City: c.Path, Provider: "pty", Command: "exec sh -i", Dir: work,
			Env: []string{"A=1", "BEADS_DIR=" + c.Path + "/.beads", "GC_AGENT=b.2", "GC_CITY=" + c.Path, "GC_CITY_NAME=app",
				"GC_CITY_PATH=" + c.Path, "GC_DIR=" + work, "GC_PACK_DIR=" + c.Path, "GC_SESSION_NAME=gc-app-b_d2", "HOME=/h", "PATH=/c/bin:" + defaultPath,
				"PWD=" + work, "TERM=xterm-256color"},
			PreStart: []string{"mkdir -p '" + work + "'"}, Setup: []string{"echo gc-app-b_d2"}, Nudge: "hello",
			Ready: session.Ready{Prefix: "$ ", Delay: 250 * time.Millisecond}, Cols: 80, Rows: 40, Fingerprint: got.Spec.Fingerprint}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if a := wants[0]; a.Spec.Command != "sh" || a.Spec.Dir != "/usr" || a.MakeDir || a.Problem != "" {
		t.Errorf("%+v", a)
	}
}

func TestPlanSaysWhatCannotStart(t *testing.T) {
	c := city(t, `
[[agents]]
name = "mute"
[[agents]]
name = "scripted"
start_command = "sh"
session_setup_script = "nowhere.sh"
[[agents]]
name = "well"
start_command = "sh"
`)
	wants := Plan(c, Host{})
	for i, want := range []string{
		"no command: neither the agent (city.toml:2:1) nor [workspace] has a start_command or a provider, and none of claude, codex, gemini, cursor-agent, copilot, " +
			"opencode, amp, aider is on the agent's PATH (" + folders(defaultPath) + "); set start_command or provider, or install one of them",
		"cannot read session_setup_script: open " + c.Path + "/nowhere.sh: no such file or directory",
		"",
	} {
		if wants[i].Problem != want {
			t.Errorf("%s: got %q, want %q", wants[i].Name, wants[i].Problem, want)
		}
	}
}

func TestPlanNamesTheNarrowestSuspension(t *testing.T) {
	const text = "%s[[rigs]]\nname = \"demo\"\npath = \"/usr\"\n%s[[agents]]\nname = \"a\"\nsuspended = true\ndir = \"demo\"\n" +
		"[[agents]]\nname = \"b\"\ndir = \"demo\"\npool.max = 2\n[[agents]]\nname = \"c\"\n"
	none, own := Suspension{}, Suspension{Level: AgentLevel, Where: "in city.toml"}
	rig, whole := Suspension{Level: RigLevel, Where: "with rig demo"}, Suspension{Level: CityLevel, Where: "with the city"}
	for _, tt := range []struct {
		city, rig string
		want      []Suspension // for demo/a, demo/b-1, demo/b-2, c
	}{
		{"", "", []Suspension{own, none, none, none}},
		{"", "suspended = true\n", []Suspension{own, rig, rig, none}},
		{"[workspace]\nsuspended = true\n", "", []Suspension{own, whole, whole, whole}},
		{"[workspace]\nsuspended = true\n", "suspended = true\n", []Suspension{own, rig, rig, whole}},
	} {
		c := city(t, fmt.Sprintf(text, tt.city, tt.rig))
		all := planned(t, c, Host{})
		got := []Suspension{all["demo/a"].Suspended, all["demo/b-1"].Suspended, all["demo/b-2"].Suspended, all["c"].Suspended}
		if !slices.Equal(got, tt.want) || Pools(c, Host{})[0].Suspended != tt.want[1] {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestSuspensionNamesTheFileThatSetsIt(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"city.toml": "include = [\"more.toml\"]\n[[agents]]\nname = \"a\"\n[[agents]]\nname = \"b\"\nsuspended = true\n",
		"more.toml": "[[agents]]\nname = \"c\"\nsuspended = true\n[[patches.agents]]\nname = \"a\"\nsuspended = true\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := planned(t, reload(t, dir), Host{})
	for name, want := range map[string]string{"a": "suspended in more.toml", "b": "suspended in city.toml", "c": "suspended in more.toml"} {
		if got := all[name].Suspended.String(); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestReadyDeadlineLeavesRoomForTheDelay(t *testing.T) {
	c := city(t, "[[agents]]\nname = \"a\"\nready_delay_ms = 120000\n")
	if r := Plan(c, Host{})[0].Spec.Ready; r.Deadline != 3*time.Minute {
		t.Errorf("%+v", r)
	}
}

func TestSpawn(t *testing.T) {
	w := Plan(city(t, "[[agents]]\nname = \"a\"\nstart_command = \"sh\"\n"), Host{Environ: []string{"Z=1"}})[0]
	before := slices.Clone(w.Spec.Env)
	one, two := w.Spawn("id-1"), w.Spawn("id-2")
	for _, s := range []session.Spec{one, two} {
		if s.ID == "" || !slices.Contains(s.Env, "GC_SESSION_ID="+s.ID) {
			t.Errorf("%+v", s)
		}
	}
	if !slices.Equal(w.Spec.Env, before) || w.Spec.ID != "" {
		t.Error("Spawn changed its argument")
	}
	if one.Fingerprint.Sum != two.Fingerprint.Sum {
		t.Error("the session ID is part of the fingerprint, so every start would cause drift")
	}
}

// Only changes in the configuration count as drift. Each is reported by name.
func TestFingerprint(t *testing.T) {
	const base = `
[[agents]]
name = "a"
start_command = "sh"
env = { A = "$HOME", B = "2" }
pre_start = ["one", "two"]
session_setup = ["three"]
session_setup_script = "s.sh"
nudge = "hello"
dir = "x"
`
	c := city(t, base)
	script := filepath.Join(c.Path, "s.sh")
	if err := os.WriteFile(script, []byte("true"), 0o755); err != nil {
		t.Fatal(err)
	}
	host := Host{Environ: []string{"HOME=/h", "PATH=/bin"}, BinDir: "/c/bin"}
	was := Plan(reload(t, c.Path), host)[0].Spec.Fingerprint
	for _, tt := range []struct{ name, old, new, drift string }{
		{"command", `"sh"`, `"bash"`, "command changed"},
		{"variable", `B = "2"`, `B = "3"`, "env B changed"},
		{"variable gone", `, B = "2"`, ``, "env B removed"},
		{"variable new", `B = "2"`, `B = "2", C = ""`, "env C added"},
		{"pre_start", `"one", "two"`, `"onetwo"`, "pre_start changed"},
		{"session_setup", `["three"]`, `["four"]`, "session_setup changed"},
		{"session_setup gone", "session_setup = [\"three\"]\n", ``, "session_setup removed"},
		{"script", `"s.sh"`, `"//s.sh"`, "session_setup_script changed"},
		{"nudge", `"hello"`, `"bye"`, ""},
		{"dir", `dir = "x"`, `dir = "y"`, ""},
		{"restart", `dir = "x"`, "dir = \"x\"\nrestart = \"never\"\nmin_uptime = \"1s\"\nready_delay_ms = 5\ndescription = \"x\"", ""},
		{"size", `dir = "x"`, "[session]\ncols = 80", ""},
	} {
		text := strings.Replace(base, tt.old, tt.new, 1)
		if text == base {
			t.Fatalf("%s changes nothing", tt.name)
		}
		if err := os.WriteFile(filepath.Join(c.Path, config.FileName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(was.Drift(Plan(reload(t, c.Path), host)[0].Spec.Fingerprint), ", "); got != tt.drift {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.drift)
		}
	}
	if err := os.WriteFile(filepath.Join(c.Path, config.FileName), []byte(base), 0o644); err != nil {
		t.Fatal(err)
	}
	other := Plan(reload(t, c.Path), Host{Environ: []string{"HOME=/other", "PATH=/usr/bin:/bin", "X=1"}, BinDir: "/d/bin"})[0]
	if d := was.Drift(other.Spec.Fingerprint); len(d) > 0 {
		t.Errorf("drift with a different SHELL: got %q", d)
	}
	if err := os.WriteFile(script, []byte("false"), 0o755); err != nil {
		t.Fatal(err)
	}
	if d := was.Drift(Plan(reload(t, c.Path), host)[0].Spec.Fingerprint); !slices.Equal(d, []string{"session_setup_script changed"}) {
		t.Errorf("drift of a script with different content: got %q", d)
	}
}

// An agent's command sees the expected environment in a real shell.
func TestEnvironmentInARealShell(t *testing.T) {
	c := city(t, `
[workspace]
name = "app"
[[agents]]
name = "a"
start_command = 'printf "%s|" "$WHO" "$GC_AGENT" "$GC_CITY_NAME" "$GC_SESSION_ID" "$PWD" "$TERM" "$TMUX$NOTIFY_SOCKET$COLUMNS"; command -v gc'
env = { WHO = "${USER}@$HOST" }
`)
	bin := filepath.Join(c.Path, ".gc", "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/bin/true", filepath.Join(bin, "gc")); err != nil {
		t.Fatal(err)
	}
	s := Plan(c, Host{Environ: []string{"USER=ann", "HOST=box", "TMUX=/t", "NOTIFY_SOCKET=/n", "COLUMNS=9", "PATH=/usr/bin:/bin"}, BinDir: bin})[0].
		Spawn("id-1")
	cmd := exec.Command("/bin/sh", "-c", s.Command)
	cmd.Dir, cmd.Env = s.Dir, s.Env
	out, err := cmd.CombinedOutput()
	if want := "ann@box|a|app|id-1|" + c.Path + "|xterm-256color||" + bin + "/gc\n"; err != nil || string(out) != want {
		t.Errorf("%v\n got %q\nwant %q", err, out, want)
	}
}

func BenchmarkPlan500(b *testing.B) {
	var text strings.Builder
	for i := range 500 {
		text.WriteString("[[agents]]\nname = \"a" + strings.Repeat("x", i%40) + "-" + string(rune('a'+i%26)) + "-" + strings.Repeat("y", i/40) +
			"\"\nstart_command = \"sh\"\ndir = \"work/{{.Agent}}\"\nenv = { A = \"$HOME\" }\n")
	}
	c := city(b, text.String())
	h := Host{Environ: os.Environ(), BinDir: "/c/bin"}
	for b.Loop() {
		Plan(c, h)
	}
}

// The session provider is part of an agent's spec but not of its fingerprint. The controller compares providers
// separately.
func TestProviderOfAnAgent(t *testing.T) {
	c, err := config.Parse(t.TempDir(), []byte(`
[workspace]
start_command = "sh"
[[agents]]
name = "a"
[[agents]]
name = "b"
session = "subprocess"
[[agents]]
name = "c"
session = "k8s"
`))
	if err != nil {
		t.Fatal(err)
	}
	wants := Plan(c, Host{})
	for i, want := range []string{"pty", "subprocess", "k8s"} {
		if w := wants[i]; w.Provider != want || w.Spec.Provider != want || w.Spec.Fingerprint.Sum != wants[0].Spec.Fingerprint.Sum {
			t.Errorf("%s: got providers %q and %q", w.Name, w.Provider, w.Spec.Provider)
		}
	}
	if wants[1].Problem != "" || wants[2].Problem != "" {
		t.Errorf("%q, %q", wants[1].Problem, wants[2].Problem)
	}
}

// Only a triage agent is marked with its watchdog. Providers report activity only for agents with stuck_after.
func TestPlanMarksTriageAgents(t *testing.T) {
	c, err := config.Parse("/srv/app", []byte(`
[workspace]
start_command = "sh"
[[rigs]]
name = "demo"
path = "/usr"
[[agents]]
name = "scout"
dir = "demo"
[[agents]]
name = "scout"
[[agents]]
name = "worker"
stuck_after = "5m"
[[watchdogs]]
name = "care"
watches = "worker"
triage = "demo/scout"
`))
	if err != nil {
		t.Fatal(err)
	}
	all := planned(t, c, Host{})
	for name, want := range map[string]string{"demo/scout": "care", "scout": "", "worker": ""} {
		if got := all[name].TriageOf; got != want {
			t.Errorf("triage of %s: got %q, want %q", name, got, want)
		}
	}
	if w := all["worker"]; w.StuckAfter != 5*time.Minute || !w.Spec.Idle || all["scout"].Spec.Idle {
		t.Errorf("StuckAfter = %s, Idle = %t; Idle of another agent = %t",
			w.StuckAfter, w.Spec.Idle, all["scout"].Spec.Idle)
	}
}

// Agents and checks find the files of their topology in GC_PACK_DIR.
func TestPackDir(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	pack, base := filepath.Join(dir, "packs", "p"), filepath.Join(dir, "packs", "base")
	for _, folder := range []string{pack, base} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		filepath.Join(dir, config.FileName): `workspace = { topology = "packs/p" }
[[agents]]
name = "own"
start_command = "cat"
env = { GC_PACK_DIR = "/elsewhere" }
`,
		filepath.Join(pack, config.TopologyFile): `[topology]
name = "p"
schema = 1
includes = ["../base"]
[[agents]]
name = "a"
start_command = 'exec "$GC_PACK_DIR"/run'
pool = { max = 2, check = 'exec "$GC_PACK_DIR"/check' }
[[agents]]
name = "b"
provider = "p"
`,
		filepath.Join(base, config.TopologyFile): `[topology]
name = "base"
schema = 1
[providers.p]
command = 'exec "$GC_PACK_DIR"/run'
`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := reload(t, dir)
	all := planned(t, c, Host{})
	if got := value(all["a-2"].Spec.Env, "GC_PACK_DIR"); got != pack {
		t.Errorf("agent: got %s, want %s", got, pack)
	}
	if b := all["b"].Spec; value(b.Env, "GC_PACK_DIR") != pack ||
		b.Command != "GC_PACK_DIR="+base+`; exec "$GC_PACK_DIR"/run` {
		t.Errorf("agent with the provider of another topology: %s", b.Command)
	}
	if got := value(all["own"].Spec.Env, "GC_PACK_DIR"); got != "/elsewhere" {
		t.Errorf("agent that sets the variable: got %s", got)
	}
	if got := value(Pools(c, Host{})[0].Env, "GC_PACK_DIR"); got != pack {
		t.Errorf("check: got %s, want %s", got, pack)
	}
	if _, env, err := CommandEnvironment(c, "", Host{}); err != nil ||
		value(env, "GC_PACK_DIR") != "(not set)" {
		t.Errorf("command of the city: %v %v", env, err)
	}
}
