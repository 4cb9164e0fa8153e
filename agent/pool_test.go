package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gcity/config"
	"gcity/pool"
	"gcity/restart"
	"gcity/session"
)

func planned(t *testing.T, c *config.City, h Host) map[string]Want {
	t.Helper()
	wants, all := Plan(c, h), map[string]Want{}
	for _, w := range wants {
		all[w.Name] = w
	}
	if len(all) != len(wants) || !slices.IsSortedFunc(wants, func(a, b Want) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("got %d names for %d wants, or unsorted names", len(all), len(wants))
	}
	return all
}

func value(w []string, name string) string {
	for _, kv := range w {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return "(not set)"
}

const pooled = `
[workspace]
name = "app"
start_command = "sh"
[[rigs]]
name = "demo"
path = "src/demo"
[[agents]]
name = "worker"
dir = "rooms/{{.Name}}"
description = "works"
env = { A = "$HOME" }
nudge = "go"
pre_start = ["echo {{.Agent}}"]
session_setup = ["echo {{.Session}}"]
restart = "on-failure"
idle_timeout = "5m"
depends_on = ["db"]
strategy = "rest_for_one"
pool = { min = 1, max = 12, check = "cat n", check_timeout = "3s", drain_timeout = "1m" }
[[agents]]
name = "worker"
dir = "demo"
pool = { max = 2 }
[[agents]]
name = "db"
dir = "data"
pool = { max = 1 }
[[agents]]
name = "off"
dir = "/usr"
pool = { max = 0 }
`

// Plan returns a want for every possible member. Each member has its own name, session and folder, and gets all other
// values from the pool.
func TestPlanOfPools(t *testing.T) {
	c := city(t, pooled)
	if err := os.MkdirAll(filepath.Join(c.Path, "src", "demo"), 0o755); err != nil {
		t.Fatal(err)
	}
	c = reload(t, c.Path)
	host := Host{Environ: []string{"HOME=/h", "GC_A=1", "PATH=/bin", "PWDX=1", "GC_DIRX=1"}, BinDir: "/c/bin"}
	all := planned(t, c, host)
	if len(all) != 12+2+1 {
		t.Errorf("%d wants", len(all))
	}
	if w := all["db"]; w.Pool != "db" || w.Index != 1 || w.Declared != "db" {
		t.Errorf("%+v", w)
	}
	dir := filepath.Join(c.Path, "rooms", "worker-12")
	got := all["worker-12"]
	want := Want{Name: "worker-12", Declared: "worker", Pool: "worker", Index: 12, Description: "works", Provider: "pty", Source: "city.toml:8:1", MakeDir: true,
		Policy: restart.Policy{Mode: restart.OnFailure, MinUptime: 10 * time.Second, MaxRestarts: 5, Window: time.Hour, Backoff: time.Second,
			MaxBackoff: 30 * time.Second},
		IdleTimeout: 5 * time.Minute, DependsOn: []string{"db"}, Strategy: restart.RestForOne,
		Spec: session.Spec{Name: "gc-app-worker-12", Agent: "worker-12", City: c.Path, Provider: "pty", Idle: true, Command: "sh", Dir: dir,
			Env: []string{"A=/h", "BEADS_DIR=" + c.Path + "/.beads", "GC_AGENT=worker-12", "GC_CITY=" + c.Path, "GC_CITY_NAME=app",
				"GC_CITY_PATH=" + c.Path, "GC_DIR=" + dir, "GC_PACK_DIR=" + c.Path, "GC_SESSION_NAME=gc-app-worker-12", "HOME=/h", "PATH=/c/bin:/bin",
				"PWD=" + dir, "PWDX=1", "TERM=xterm-256color"},
			PreStart: []string{"echo worker-12"}, Setup: []string{"echo gc-app-worker-12"}, Nudge: "go",
			Cols: 120, Rows: 40, Fingerprint: all["worker-1"].Spec.Fingerprint}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	sessions := map[string]bool{}
	for _, w := range all {
		if sessions[w.Spec.Name] = true; w.Spec.Agent != w.Name || value(w.Spec.Env, "GC_AGENT") != w.Name || value(w.Spec.Env, "GC_DIR") != w.Spec.Dir ||
			value(w.Spec.Env, "PWD") != w.Spec.Dir || value(w.Spec.Env, "GC_SESSION_NAME") != w.Spec.Name {
			t.Errorf("%+v", w.Spec)
		}
	}
	if len(sessions) != len(all) {
		t.Errorf("got %d sessions for %d agents", len(sessions), len(all))
	}
}

// A rig's agent works in the rig's folder, with the rig's store and name. It does not start while the folder is missing.
func TestPlanOfRigs(t *testing.T) {
	c := city(t, pooled)
	src := filepath.Join(c.Path, "src", "demo")
	w := planned(t, c, Host{})["demo/worker-2"]
	want := `the folder of rig "demo" (city.toml:5:1) cannot be used: ` + src + " does not exist; create it, or use a different path"
	if w.Problem != want {
		t.Errorf("%q", w.Problem)
	}
	if err := os.MkdirAll(src, 0o755); err != nil {
		t.Fatal(err)
	}
	w = planned(t, reload(t, c.Path), Host{})["demo/worker-2"]
	if w.Problem != "" || w.Rig != "demo" || w.Pool != "demo/worker" || w.Declared != "demo/worker" || w.Index != 2 || w.MakeDir ||
		w.Spec.Dir != src || w.Spec.Name != "gc-app-demo_sworker-2" {
		t.Errorf("%+v", w)
	}
	for name, want := range map[string]string{"GC_AGENT": "demo/worker-2", "GC_RIG": "demo", "GC_RIG_PATH": src, "GC_DIR": src, "PWD": src,
		"BEADS_DIR": src + "/.beads", "GC_CITY": c.Path} {
		if got := value(w.Spec.Env, name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
}

// A rig's folder, missing or not, does not affect the fingerprint.
func TestRigFolderIsNotDrift(t *testing.T) {
	c := city(t, pooled)
	before := planned(t, c, Host{})["demo/worker-1"].Spec.Fingerprint
	moved := strings.Replace(pooled, "src/demo", "/usr", 1)
	if err := os.WriteFile(filepath.Join(c.Path, config.FileName), []byte(moved), 0o644); err != nil {
		t.Fatal(err)
	}
	if d := before.Drift(planned(t, reload(t, c.Path), Host{})["demo/worker-1"].Spec.Fingerprint); len(d) > 0 {
		t.Errorf("%q", d)
	}
}

func TestPools(t *testing.T) {
	c := city(t, pooled)
	pools := Pools(c, Host{Environ: []string{"HOME=/h"}, BinDir: "/c/bin"})
	var names []string
	for _, p := range pools {
		names = append(names, p.Name+" in "+strings.Replace(p.Dir, c.Path, "CITY", 1))
		if value(p.Env, "GC_AGENT") != p.Name || value(p.Env, "GC_SESSION_NAME") != "(not set)" || value(p.Env, "PWD") != p.Dir {
			t.Errorf("%s: %q", p.Name, p.Env)
		}
	}
	if want := []string{"db in CITY/data", "demo/worker in CITY/src/demo", "off in /usr", "worker in CITY"}; !slices.Equal(names, want) {
		t.Errorf("got %q\nwant %q", names, want)
	}
	got := pools[3]
	got.Env = nil
	want := Pool{Spec: pool.Spec{Name: "worker", Min: 1, Max: 12}, Description: "works", Source: "city.toml:8:1", Check: "cat n",
		CheckTimeout: 3 * time.Second, DrainTimeout: time.Minute, Dir: c.Path}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !pools[0].MakeDir || pools[1].MakeDir || pools[2].MakeDir || value(pools[1].Env, "GC_RIG") != "demo" || value(pools[3].Env, "A") != "/h" {
		t.Errorf("%+v", pools)
	}
}

func TestRigs(t *testing.T) {
	c := city(t, "[[rigs]]\nname = \"two\"\npath = \"/usr\"\nsuspended = true\n[[rigs]]\nname = \"one\"\npath = \"none\"\n")
	want := []Rig{{Name: "one", Path: c.Path + "/none", Prefix: "one", Problem: c.Path + "/none does not exist; create it, or use a different path", Source: "city.toml:5:1"},
		{Name: "two", Path: "/usr", Prefix: "two", Suspended: true, Source: "city.toml:1:1"}}
	if diff := cmp.Diff(want, Rigs(c)); diff != "" {
		t.Error(diff)
	}
}

// Changes to a pool's size, checks, idle timeout or dependencies do not restart its members.
func TestPoolsDoNotDrift(t *testing.T) {
	c := city(t, pooled)
	was := planned(t, c, Host{})["worker-1"].Spec.Fingerprint
	edit := strings.NewReplacer("min = 1, max = 12", "min = 2, max = 3", `"cat n"`, `"echo"`, `"5m"`, `"6m"`, `["db"]`, `[]`, "rest_for_one", "one_for_all")
	if err := os.WriteFile(filepath.Join(c.Path, config.FileName), []byte(edit.Replace(pooled)), 0o644); err != nil {
		t.Fatal(err)
	}
	now := planned(t, reload(t, c.Path), Host{})
	if d := was.Drift(now["worker-1"].Spec.Fingerprint); len(d) > 0 {
		t.Errorf("%q", d)
	}
	if _, ok := now["worker-4"]; ok || len(now) != 3+2+1 {
		t.Errorf("%d wants", len(now))
	}
}

// A member's fingerprint covers its own script.
func TestFingerprintOfMembers(t *testing.T) {
	c := city(t, "[[agents]]\nname = \"w\"\nstart_command = \"sh\"\nsession_setup_script = \"{{.Name}}.sh\"\npool.max = 3\n")
	for name, text := range map[string]string{"w-1.sh": "true", "w-2.sh": "true", "w-3.sh": "false"} {
		if err := os.WriteFile(filepath.Join(c.Path, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	all := planned(t, reload(t, c.Path), Host{})
	one, two, three := all["w-1"].Spec.Fingerprint, all["w-2"].Spec.Fingerprint, all["w-3"].Spec.Fingerprint
	if d := one.Drift(two); len(d) > 0 {
		t.Errorf("%q", d)
	}
	if d := one.Drift(three); !slices.Equal(d, []string{"session_setup_script changed"}) {
		t.Errorf("%q", d)
	}
}

func BenchmarkPlanPool1000(b *testing.B) {
	c := city(b, "[[agents]]\nname = \"worker\"\nstart_command = \"sh\"\ndir = \"work/{{.Agent}}\"\nenv = { A = \"$HOME\" }\n"+
		"pre_start = [\"mkdir -p {{.WorkDir}}/tmp\"]\npool.max = 1000\n")
	h := Host{Environ: os.Environ(), BinDir: "/c/bin"}
	for b.Loop() {
		Plan(c, h)
	}
}
