package config

import (
	"errors"
	"fmt"
	"gcity/config/files"
	"gcity/config/keys"
	"gcity/config/placeholder"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"gcity/restart"
)

// No test leaks a goroutine (L10).
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func load(t *testing.T, text string, environ ...string) *City {
	t.Helper()
	c, err := Load(folder(t, text), environ...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	c := load(t, "[workspace]\nname = \"app\"\n[[agents]]\nname = \"a.b\"\n")
	if want := (Workspace{Name: "app", SessionTemplate: "gc-{{.City}}-{{.Agent}}"}); !reflect.DeepEqual(c.Workspace, want) {
		t.Errorf("workspace %+v", c.Workspace)
	}
	if want := (Daemon{30 * time.Second, 5, time.Hour, 5 * time.Second, time.Second, "memory", 0,
		0}); c.Daemon != want {
		t.Errorf("daemon %+v", c.Daemon)
	}
	if want := (Session{Provider: "pty", Cols: 120, Rows: 40,
		Kubernetes: Kubernetes{Namespace: "gc", CPURequest: "500m", MemRequest: "1Gi",
			CPULimit: "2", MemLimit: "4Gi"}}); !reflect.DeepEqual(c.Session, want) {
		t.Errorf("session %+v", c.Session)
	}
	if want := (API{Bind: "127.0.0.1", Token: true}); !reflect.DeepEqual(c.API, want) {
		t.Errorf("api %+v", c.API)
	}
	want := Agent{Name: "a.b", Restart: restart.Always, MinUptime: 10 * time.Second,
		Strategy: restart.OneForOne, Derived: Derived{SessionName: "gc-app-a_db"},
		Origin:  Origin{File: FileName, Line: 3, Column: 1},
		Origins: map[string]Origin{"name": {File: FileName, Line: 4, Column: 8}}}
	if diff := cmp.Diff(want, c.Agents[0]); diff != "" {
		t.Error(diff)
	}
}

func TestEveryKey(t *testing.T) {
	c, err := Load(folderOf(t, map[string]string{"p.md.tmpl": "p", "shared/f.md.tmpl": "f",
		"prompts/shared/g.md.tmpl": "g", "o/x": "x", "more.toml": `[[agents]]
name = "b"
prompt_template = "p.md.tmpl"
inject_fragments = ["f"]
overlay_dir = "o"
install_agent_hooks = ["claude"]
hooks_installed = true
[[agents]]
name = "judge"
`, FileName: `include = ["more.toml"]
[workspace]
name = "app"
suspended = true
session_template = "{{.Agent}}"
start_command = "sh"
global_fragments = ["g"]
install_agent_hooks = ["gemini"]

[[agents]]
name = "a"
dir = "//rooms/{{.Name}}"
description = "does things"
suspended = true
start_command = "sh -i"
nudge = "go"
ready_delay_ms = 1_500
ready_prompt_prefix = "> "
pre_start = ["one", "two"]
session_setup = ["three {{.WorkDir}}"]
session_setup_script = "/x/{{.City}}.sh"
restart = "on-failure"
stop_signal = "term"
min_uptime = "1m"
idle_timeout = "15m"
stuck_after = "20m"
strategy = "rest_for_one"
work_query = "mine"
sling_query = "give {}"
default_sling_formula = "polish"
depends_on = ["b"]
session = "exec:x"
[agents.env]
A = "1"
B = "$HOME"
[agents.pool]
min = 1
max = 2
check = "echo 2"
check_timeout = "3s"
drain_timeout = "0s"

[[rigs]]
name = "demo"
path = "/usr"
prefix = "Dm"
suspended = true
formulas_dir = "//demo/recipes"
default_sling_target = "a"

[[patches.agents]]
dir = "//rooms/{{.Name}}"
name = "a"
suspended = true
session = "tmux"

[daemon]
patrol_interval = "100ms"
max_restarts = 0
restart_window = "1m30s"
shutdown_timeout = "0s"
restart_backoff = "250ms"
crash_history = "disk"
wisp_gc_interval = "10m"
wisp_ttl = "24h"

[session]
provider = "fail"
cols = 80
rows = 24
passthrough = ["clipboard", "title-report"]
k8s = { namespace = "n", image = "i", context = "c", cpu_request = "1", mem_request = "2Gi", cpu_limit = "3", mem_limit = "4Gi", kubeconfig = "/k", tools_image = "t", image_pull_policy = "Always", service_account = "s", node_selector = { a = "b" }, pod = "/p" }
[events]
provider = ""

[beads]
provider = "file"

[dolt]
host = "db.example"
port = 3307
managed = true

[console]
theme = "dark"
colour = "bright-red"

[api]
port = 8372
bind = "0.0.0.0"
hosts = ["city.example.org", "fd00::7"]
token = true
token_file = "//keys/api"
read_token_file = "keys/read"

[formulas]
dir = "//recipes"

[orders]
skip = ["old", "old:rig:demo"]
max_timeout = "1h"

[[orders.overrides]]
name = "nightly"
rig = "demo"
enabled = false
gate = "cron"
interval = "1h"
schedule = "0 3 * * 1-5"
check = "test -e go"
on = "bead.*"
pool = "a"
timeout = "90s"

[[watchdogs]]
name = "care"
rig = "demo"
watches = "b"
triage = "judge"
every = "100ms"
heartbeat = "//beats/b"
fresh = "1m"
very_stale = "61s"
nudge = "mail"
wake = "up"
triage_ttl = "2m"
overrule_after = 2
escalate_to = "pool:a"
escalate_command = "page me"
escalate_after = 1000
`}))
	if err != nil {
		t.Fatal(err)
	}
	if want := (Workspace{Name: "app", Suspended: true, SessionTemplate: "{{.Agent}}",
		StartCommand:    "sh",
		GlobalFragments: []string{"g"}, InstallAgentHooks: []string{"gemini"}}); !reflect.DeepEqual(
		c.Workspace, want) {
		t.Errorf("workspace %+v", c.Workspace)
	}
	if want := (Daemon{100 * time.Millisecond, 0, 90 * time.Second, 0, 250 * time.Millisecond,
		"disk", 10 * time.Minute, 24 * time.Hour}); c.Daemon != want {
		t.Errorf("daemon %+v", c.Daemon)
	}
	if want := (Session{Provider: "fail", Cols: 80, Rows: 24,
		Passthrough: []string{"clipboard", "title-report"},
		Kubernetes: Kubernetes{Namespace: "n", Image: "i", Context: "c",
			CPURequest: "1", MemRequest: "2Gi", CPULimit: "3", MemLimit: "4Gi",
			Kubeconfig: "/k", ToolsImage: "t", ImagePullPolicy: "Always", ServiceAccount: "s",
			NodeSelector: map[string]string{"a": "b"}, Pod: "/p"}}); !reflect.DeepEqual(
		c.Session, want) {
		t.Errorf("session %+v", c.Session)
	}
	if want := (API{8372, "0.0.0.0", []string{"city.example.org", "fd00::7"}, true,
		filepath.Join(c.Path, "keys/api"), filepath.Join(c.Path, "keys/read")}); !reflect.DeepEqual(
		c.API, want) {
		t.Errorf("api %+v", c.API)
	}
	if want := (Console{"dark", "bright-red"}); c.Console != want {
		t.Errorf("console %+v", c.Console)
	}
	a := c.Agents[0]
	want := Agent{Name: "a", Dir: "//rooms/{{.Name}}", Description: "does things", Suspended: true,
		StartCommand: "sh -i", Nudge: "go",
		Startup: Startup{Env: map[string]string{"A": "1", "B": "$HOME"},
			ReadyDelay: 1500 * time.Millisecond, ReadyPromptPrefix: "> "},
		PreStart: []string{"one", "two"}, SessionSetup: []string{"three {{.WorkDir}}"},
		SessionSetupScript: "/x/{{.City}}.sh",
		Restart:            restart.OnFailure,
		Pool:               &Pool{Min: 1, Max: 2, Check: "echo 2", CheckTimeout: 3 * time.Second},
		StopSignal:         "term", MinUptime: time.Minute,
		IdleTimeout: 15 * time.Minute, StuckAfter: 20 * time.Minute,
		Strategy: restart.RestForOne, DependsOn: []string{"b"},
		Derived: Derived{Needs: []string{"b"}},
		Session: "tmux", Routing: Routing{WorkQuery: "mine", SlingQuery: "give {}",
			DefaultSlingFormula: "polish"}, Origin: a.Origin, Origins: a.Origins,
		Patches: a.Patches}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
	if a.Origins["env.B"].String() != "city.toml:35:5" || c.Origins["session.cols"].String() !=
		"city.toml:69:8" {
		t.Errorf("origins %v %v", a.Origins["env.B"], c.Origins["session.cols"])
	}
	for path, k := range keys.City().ByPath {
		if _, elsewhere := ofPrograms(path); elsewhere {
			continue
		}
		_, here := c.Origins[path]
		_, name := place{&a}.origins(k)
		_, there := a.Origins[name]
		if _, other := c.Agents[1].Origins[name]; other && strings.HasPrefix(path, "agents.") {
			there = true
		}
		if strings.HasPrefix(path, "rigs.") {
			_, there = c.Rigs[0].Origins[k.Name()]
		}
		if strings.HasPrefix(path, "patches.") {
			_, there = c.patches.agents[0].Origins[k.Name()]
		}
		if strings.HasPrefix(path, "automations.overrides.") {
			_, there = c.overrides[0].origins[k.Name()]
		}
		if strings.HasPrefix(path, "patches.watchdogs.") {
			there = true // covered by TestWatchdogsOfTopologies
		}
		if strings.HasPrefix(path, "watchdogs.") {
			_, there = c.Watchdogs[0].Origins[k.Name()]
		}
		if k.HasValue() && !here && !there && !composes(path) {
			t.Errorf("%s is missing in this test", path)
		}
	}
	wantR := []Rig{{Name: "demo", Path: "/usr", Prefix: "Dm", Suspended: true,
		FormulasDir: filepath.Join(c.Path, "demo", "recipes"), DefaultSlingTarget: "a",
		Origin: Origin{File: FileName, Line: 43, Column: 1}, Origins: c.Rigs[0].Origins}}
	if diff := cmp.Diff(wantR, c.Rigs, cmpopts.IgnoreUnexported(Rig{})); diff != "" {
		t.Error(diff)
	}
	wantW := []Watchdog{{Name: "care", Rig: "demo", Watches: "b", Triage: "judge",
		Every: 100 * time.Millisecond, Heartbeat: filepath.Join(c.Path, "beats", "b"),
		Fresh: time.Minute, VeryStale: 61 * time.Second, Nudge: "mail", Wake: "up",
		TriageTTL: 2 * time.Minute, OverruleAfter: 2, EscalateTo: "pool:a",
		EscalateCommand: "page me", EscalateAfter: 1000, Origin: c.Watchdogs[0].Origin,
		Origins: c.Watchdogs[0].Origins}}
	if diff := cmp.Diff(wantW, c.Watchdogs); diff != "" {
		t.Error(diff)
	}
	e, problems := c.Expand(&a)
	wantE := Expanded{Dir: filepath.Join(c.Path, "rooms", "a"), MakeDir: true,
		PreStart:     []string{"one", "two"},
		SessionSetup: []string{"three " + filepath.Join(c.Path, "rooms", "a")}, Script: "/x/app.sh"}
	if diff := cmp.Diff(wantE, e); diff != "" || len(problems) > 0 {
		t.Error(diff, problems)
	}
	wantP := restart.Policy{Mode: restart.OnFailure, MinUptime: time.Minute,
		Window: 90 * time.Second, Backoff: 250 * time.Millisecond,
		MaxBackoff: 100 * time.Millisecond}
	if p := c.Policy(&a); p != wantP {
		t.Errorf("policy %+v", p)
	}
}

func TestFind(t *testing.T) {
	dir := folder(t, "[workspace]\n")
	deep := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(deep, link); err != nil {
		t.Fatal(err)
	}
	for _, start := range []string{dir, deep, link} {
		if got, err := Find(start); err != nil || got != dir {
			t.Errorf("Find(%s) = %s, %v", start, got, err)
		}
	}
	if _, err := Find("/proc/self/fd"); err == nil || !strings.Contains(err.Error(), "gcity init") {
		t.Errorf("the error does not name the next step: %v", err)
	}
	if _, err := Find(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("Find succeeded from a missing folder")
	}
}

// A city without a name gets the name of its folder if that is a valid name.
func TestDefaultCityName(t *testing.T) {
	if c, err := Parse("/srv/app.1", []byte("[workspace]\n")); err != nil ||
		c.Workspace.Name != "app.1" {
		t.Errorf("%v, %v", c, err)
	}
	_, err := Parse("/srv/my city", []byte("[workspace]\n"))
	if want := `city.toml: workspace.name: is missing, and the folder's name cannot be used ` +
		`instead: invalid name "my city": use letters, digits, ".", "_" and "-", and begin ` +
		`with a letter or digit; "my-city" would be valid`; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// A city loaded through a symbolic link has the same path: its real folder (L3).
func TestLoadResolvesLinks(t *testing.T) {
	dir := folder(t, "[workspace]\nname = \"app\"\n")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	c, err := Load(link)
	if err != nil || c.Path != dir {
		t.Errorf("%v, %v", c, err)
	}
}

// Missing, oversized and wrong files have their own errors.
func TestLoadErrors(t *testing.T) {
	gone, other := folder(t, ""), folder(t, "")
	path := filepath.Join(gone, FileName)
	var e *Error
	check := func(dir, want string) {
		t.Helper()
		if _, err := Load(dir); !errors.As(err, &e) || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	check(gone, `city.toml: the file is missing; restore it, or create a new one with "gcity init"`)
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	check(gone, `city.toml: it is not a regular file`)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	check(gone, `city.toml: it is not a regular file`)
	put(t, filepath.Join(other, FileName), strings.Repeat("#\n", files.MaxSize/2+1))
	check(other, `city.toml: the file is larger than 10 MB; is it the right one?`)
	if _, err := Load(filepath.Join(other, "nowhere")); err == nil ||
		errors.As(err, &e) && e.Path == "" {
		t.Errorf("a folder that does not exist: got %v", err)
	}
	if _, err := Parse("/srv/\xff", []byte("[workspace]\n")); err == nil ||
		!strings.Contains(err.Error(), `city.toml: the path of the city's folder, "/srv/\xff", is not valid UTF-8`) {
		t.Errorf("a folder that is not UTF-8: got %v", err)
	}
}

// Input that exceeds a limit is rejected early.
func TestLimits(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range keys.MaxAgents + 1 {
		fmt.Fprintf(&many, "[[agents]]\nname = \"a%d\"\n", i)
	}
	const deep, full = "nested deeper than 32 levels", "too many keys and values; the limit is 200000"
	tests := []struct{ name, text, want string }{
		{"agents", many.String(), "there are 10001 agents; a city can have at most 10000"},
		{"rigs", strings.Repeat("[[rigs]]\nname=\"r\"\npath=\"/r\"\n", maxRigs+1),
			"there are 1001 rigs; a city can have at most 1000"},
		{"patches", strings.Repeat("[[patches.agents]]\nname=\"r\"\n", 20_000),
			"not found"},
		{"dependencies", "[[agents]]\nname=\"a\"\ndepends_on=[" +
			strings.Repeat("\"b\",", 100_000) + "]", "neither an agent nor a pool"},
		{"keys", strings.Repeat("a=1\n", 300_000), full},
		{"tables", strings.Repeat("[[agents]]\n", 300_000), full},
		{"values", "a=[" + strings.Repeat("1,", 300_000) + "]", full},
		{"lists", "a=" + strings.Repeat("[", 1<<20), deep},
		{"inline tables", strings.Repeat("a={", 1<<20), deep},
		{"brackets", strings.Repeat("[", 1<<20), deep},
		{"dots", "a" + strings.Repeat(".a", 1<<20) + "=1", deep},
		{"dots in a header", "[a" + strings.Repeat(".a", 1<<20) + "]", deep},
		{"size", strings.Repeat("#", files.MaxSize+1), "larger than 10 MB"},
		{"not UTF-8", "[workspace]\nname = \"\xff\"", "save the file in UTF-8"},
		{"UTF-16", "\xff\xfe[\x00w\x00", "is in UTF-16; save it in UTF-8"},
		{"a template", "[[agents]]\nname=\"a\"\npre_start=['{{print \"" +
			strings.Repeat("x", placeholder.Max) + "\"}}']", "at most 65536"},
		{"an expansion", "[[agents]]\nname=\"a\"\npre_start=['" +
			strings.Repeat("{{js `'''`}}", placeholder.Max/12) + "']", "too long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e *Error
			text := strings.ReplaceAll(tt.text, "'''", "<<<")
			c, err := Parse("/srv/app", []byte(text))
			if err == nil && strings.Contains(c.Agents[0].Fault, tt.want) {
				return
			}
			if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%.300v", err)
			}
		})
	}
}

func TestMaxProblems(t *testing.T) {
	var b strings.Builder
	for i := range 3 * maxProblems {
		fmt.Fprintf(&b, "k%d = 1\n", i)
	}
	_, err := Parse("/srv/app", []byte(b.String()))
	var e *Error
	if !errors.As(err, &e) || len(e.Problems) != maxProblems+1 ||
		!strings.HasPrefix(e.Problems[maxProblems].Message, "… and more") {
		t.Errorf("%v", err)
	}
}

func TestEnvironmentOverridesFile(t *testing.T) {
	const text = "[session]\nprovider = \"pty\"\n"
	if b := load(t, text, "GC_BEADS=file"); b.Beads.Provider != "file" ||
		b.Origins["beads.provider"].String() != "environment GC_BEADS" {
		t.Errorf("%q from %s", b.Beads.Provider, b.Origins["beads.provider"])
	}
	c := load(t, text, "HOME=/x", "GC_SESSION=fake")
	if c.Session.Provider != "fake" || c.Origins["session.provider"].String() !=
		"environment GC_SESSION" {
		t.Errorf("%q from %s", c.Session.Provider, c.Origins["session.provider"])
	}
	if c := load(t, text, "GC_SESSION="); c.Session.Provider != "pty" {
		t.Errorf("%q", c.Session.Provider)
	}
	_, err := Load(folder(t, text), "GC_SESSION=tmix")
	if want := `environment GC_SESSION: unknown session provider "tmix"; did you mean ` +
		`"tmux"?`; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// An agent's session provider comes from a patch, the agent, the environment or the city, in that order. The name ""
// means the built-in provider.
func TestProviderOf(t *testing.T) {
	const text = `
[session]
provider = "subprocess"
[[agents]]
name = "a"
[[agents]]
name = "b"
session = "tmux"
[[agents]]
name = "c"
session = ""
[[agents]]
name = "d"
session = "fake"
[[patches.agents]]
name = "d"
session = "exec:bin/screen"
`
	for environ, city := range map[string]string{"X=": "subprocess", "GC_SESSION=fail": "fail"} {
		c := load(t, text, environ)
		for i, want := range []string{city, "tmux", "pty", "exec:bin/screen"} {
			if got := c.ProviderOf(&c.Agents[i]); got != want {
				t.Errorf("%s: the provider of %s is %q, want %q", environ, c.Agents[i].Name, got, want)
			}
		}
	}
	if c := load(t, "[[agents]]\nname = \"a\"\n"); c.ProviderOf(&c.Agents[0]) != "pty" {
		t.Error("default provider: want the built-in terminals")
	}
}

// Only changed content changes the revision.
func TestRevision(t *testing.T) {
	dir := folder(t, "")
	path, script := filepath.Join(dir, FileName), filepath.Join(dir, "s.sh")
	const text = "[[agents]]\nname = \"a\"\nsession_setup_script = \"s.sh\"\n"
	seen := map[string]string{}
	step := func(name string) {
		t.Helper()
		rev, err := Source{Dir: dir}.Revision()
		if err != nil {
			t.Fatal(err)
		}
		if c, err := Load(dir); err == nil && c.Revision != rev {
			t.Errorf("%s: Load returned the revision %s, Revision %s", name, c.Revision, rev)
		}
		if seen[rev] != "" {
			t.Errorf("%s has the same revision as %s", name, seen[rev])
		}
		seen[rev] = name
	}
	put(t, path, text)
	step("no script")
	put(t, script, "true\n")
	step("a script")
	put(t, script, "false\n")
	step("another script")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	step("an executable script")
	if err := os.Chmod(script, 0o644); err != nil {
		t.Fatal(err)
	}
	put(t, path, text+"# a word\n")
	step("a comment")
	put(t, path, "[broken\nsession_setup_script")
	step("broken")
	put(t, filepath.Join(dir, "else"), "x")
	put(t, path, text)
	put(t, script, "true\n")
	if rev, err := (Source{Dir: dir}).Revision(); err != nil || seen[rev] != "a script" {
		t.Errorf("revision after undoing the changes: got that of %q, %v", seen[rev], err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := (Source{Dir: dir}).Revision(); err == nil {
		t.Error("got a revision for a missing file")
	}
}

// A city with errors that includes a pack in the pack format is recognized by that pack. A pack that is not a regular
// file does not block the check.
func TestPackModelOfIncludedPacks(t *testing.T) {
	dir := folder(t, "[workspace]\nname = \"x\"\nincludes = [\"p\"]\nbad = 1\n")
	file := filepath.Join(dir, "p", PackFile)
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "workspace.bad") {
		t.Errorf("with a named pipe: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("[pack]\nname = \"p\"\nschema = 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "pack format (p/pack.toml)") {
		t.Errorf("with a pack in the pack format: %v", err)
	}
}
