package config

import (
	"fmt"
	"gcity/config/files"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/topology"
)

// Lists from all files are joined. For other values the last file takes precedence, key by key.
func TestMerge(t *testing.T) {
	dir := folderOf(t, map[string]string{
		FileName: `include = ["more/one.toml"]
[workspace]
name = "app"
[daemon]
max_restarts = 1
restart_window = "1m"
[[agents]]
name = "a"
[[patches.agents]]
name = "b"
suspended = true
[topologies.x]
source = "repo"
ref = "main"
[automations]
skip = ["x"]
`,
		"more/one.toml": `[daemon]
max_restarts = 2
shutdown_timeout = "1s"
[[agents]]
name = "b"
[[rigs]]
name = "r"
path = "src"
[formulas]
dir = "recipes"
[topologies.x]
path = "deep"
[topologies.y]
source = "../repo"
[patches]
agents = [{ name = "a", suspended = true }]
`,
		"last/two.toml": `[workspace]
suspended = true
[daemon]
max_restarts = 3
[[agents]]
name = "c"
[[patches.agents]]
name = "b"
suspended = false
[[patches.rigs]]
name = "r"
path = "elsewhere"
prefix = "zz"
`,
	})
	c, err := Source{Dir: dir, Files: []string{filepath.Join(dir, "last", "two.toml")}}.Load()
	if err != nil {
		t.Fatal(err)
	}
	if want := (Daemon{PatrolInterval: 30 * time.Second, MaxRestarts: 3, RestartWindow: time.Minute,
		ShutdownTimeout: time.Second, RestartBackoff: time.Second,
		CrashHistory: "memory"}); c.Daemon != want || c.Origins["daemon.max_restarts"].String() !=
		"last/two.toml:4:16" || c.Origins["daemon.restart_window"].String() != "city.toml:6:18" {
		t.Errorf("%+v %v", c.Daemon, c.Origins)
	}
	names := fmt.Sprint(agentsOf(c))
	if want := "[a city.toml:8:8 needs [] b more/one.toml:5:8 needs [] c " +
		"last/two.toml:6:8 needs []]"; names != want || !c.Workspace.Suspended ||
		c.Workspace.Name != "app" {
		t.Errorf("%s, %+v", names, c.Workspace)
	}
	a, b := c.Agents[0], c.Agents[1]
	if !a.Suspended || b.Suspended || b.Origins["suspended"].String() != "last/two.toml:9:13" ||
		a.Origins["suspended"].File != "more/one.toml" {
		t.Errorf("%+v\n%+v", a, b)
	}
	r := c.Rigs[0]
	if r.Path != dir+"/last/elsewhere" || r.Prefix != "zz" ||
		r.Origins["path"].String() != "last/two.toml:12:8" {
		t.Errorf("%+v", r)
	}
	if want := dir + "/more/recipes"; c.Layers()[0].Dir != want {
		t.Errorf("%+v", c.Layers())
	}
	x, y := c.remoteTopology(&c.Remotes[0]), c.remoteTopology(&c.Remotes[1])
	if x != (topology.Remote{Name: "x", Source: "repo", From: dir + "/repo", Ref: "main",
		Path: "deep"}) || y.From != dir+"/repo" {
		t.Errorf("%+v %+v", x, y)
	}
	if len(c.Warnings) > 0 {
		t.Error(c.Warnings)
	}
	text, err := c.Explain("b")
	if err != nil || !strings.Contains(text, "suspended = false  # last/two.toml:9:13") &&
		!strings.Contains(text, "# last/two.toml:9:13") {
		t.Errorf("%s, %v", text, err)
	}
}

// Agents of included topologies come first. A rig's overrides take precedence over everything.
func TestIncludedTopologies(t *testing.T) {
	outside := folderOf(t, map[string]string{
		"base/pack.toml": "[pack]\nname = \"base\"\nschema = 1\n[[agent]]\nname = \"low\"\n" +
			"session_setup_script = \"up.sh\"\n[formulas]\ndir = \"recipes\"\n",
		"base/up.sh": "", "top/formulas/x": "",
		"top/topology.toml": "[topology]\nname = \"top\"\nschema = 1\nincludes = [\"../base\"]\n" +
			"city_agents = [\"high\"]\n[[agents]]\nname = \"high\"\n[[agents]]\nname = \"mid\"\n" +
			"suspended = true\n",
	})
	dir := folderOf(t, map[string]string{FileName: `[workspace]
includes = ["` + outside + `/top"]
[[rigs]]
name = "r"
path = "/usr"
formulas_dir = "own"
includes = ["` + outside + `/top"]
[[rigs.overrides]]
agent = "mid"
suspended = false
[[rigs.overrides]]
name = "low"
session = "tmux"
[[patches.agents]]
dir = "r"
name = "mid"
suspended = true
session = "fake"
`})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range c.Agents {
		a := &c.Agents[i]
		e, _ := c.Expand(a)
		got = append(got, strings.ReplaceAll(fmt.Sprintf("%s %t %s %s %s", a.Qualified(),
			a.Suspended, a.Session, a.Topology, e.Script), outside, "OUT"))
	}
	want := []string{"high false  OUT/top ", "r/low false tmux OUT/base OUT/base/up.sh",
		"r/mid false fake OUT/top "}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if at := c.Agents[2].Origins["suspended"]; at.String() != "city.toml:10:13" {
		t.Errorf("%s", at)
	}
	var layers []string
	for _, l := range c.Layers() {
		layers = append(layers, strings.NewReplacer(outside, "OUT", dir,
			"DIR").Replace(l.Title+" "+l.Dir+" "+l.Root))
	}
	if want := []string{"topology base OUT/base/recipes OUT/base",
		"topology top OUT/top/formulas OUT/top", "city DIR/.gc/formulas ",
		"topology base OUT/base/recipes OUT/base", "topology top OUT/top/formulas OUT/top",
		"rig r DIR/own "}; !slices.Equal(layers, want) {
		t.Errorf("%q", layers)
	}
}

// The revision covers every file of a topology, except files that running agents and git write there.
func TestTopologyRevision(t *testing.T) {
	if testing.Short() {
		t.Skip("runs git dozens of times")
	}
	dir := folderOf(t, map[string]string{
		FileName: "[workspace]\ntopology = \"p\"\n", "more.toml": "[daemon]\nmax_restarts = 1\n",
		"p/scripts/deep/x.sh": "1",
		"p/topology.toml":     "[topology]\nname = \"p\"\nschema = 1\n[[agents]]\nname = \"one\"\n",
	})
	src := Source{Dir: dir, Files: []string{filepath.Join(dir, "more.toml")}}
	last := ""
	turned := func(what string, want bool) {
		t.Helper()
		r, err := src.Revision()
		if err != nil {
			t.Fatal(err)
		}
		if c, err := src.Load(); err != nil || c.Revision != r {
			t.Errorf("%s: Load: %v, but the revision is %s", what, err, r)
		}
		if (r != last) != want {
			t.Errorf("%s: revision changed: %t", what, r != last)
		}
		last = r
	}
	turned("the first", true)
	for _, file := range []string{"p/scripts/deep/x.sh", "p/prompts/new.md", "p/prompts/other.md",
		"p/topology.toml", "more.toml"} {
		text, _ := os.ReadFile(filepath.Join(dir, file))
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, file), string(text)+"# more\n")
		turned(file, true)
	}
	for _, file := range []string{"p/.git/index", "p/.beads/x", "p/.gc/events.jsonl", ".gc/x",
		"other/topology.toml"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, file), "x")
		turned(file, false)
	}
	if err := os.Chmod(filepath.Join(dir, "p/scripts/deep/x.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	turned("may be run", true)
	if err := os.RemoveAll(filepath.Join(dir, "p/scripts")); err != nil {
		t.Fatal(err)
	}
	turned("gone", true)
	for i := range files.MaxTreeFiles {
		put(t, filepath.Join(dir, "p", fmt.Sprint(i)), "")
	}
	want := "p: the topology's folder has more than 5000 files or 64 MB; changes to the remaining files are not " +
		"detected"
	if c, err := src.Load(); err != nil || len(c.Warnings) != 1 || c.Warnings[0].String() != want {
		t.Errorf("%v, %v", c, err)
	}
}

// A topology from a repository is read from its local copy.
func TestRemoteTopology(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	repo := folderOf(t, map[string]string{"deep/topology.toml": "[topology]\nname = \"far\"\n" +
		"schema = 1\nincludes = [\"../low\"]\n[[agents]]\nname = \"one\"\n",
		"low/topology.toml": "[topology]\nname = \"low\"\nschema = 1\n[[agents]]\nname " +
			"= \"zero\"\n"})
	for _, args := range [][]string{{"init", "-q"}, {"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "x"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = repo
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	dir := folderOf(t, map[string]string{FileName: "[workspace]\ntopology = \"far\"\n" +
		"[topologies.far]\nsource = \"" + repo + "\"\npath = \"deep\"\n"})
	before, err := Source{Dir: dir}.Revision()
	if err != nil {
		t.Fatal(err)
	}
	got, wants, err := Source{Dir: dir}.Remotes()
	if err != nil || got != dir || len(wants) != 1 {
		t.Fatalf("%s %v %v", got, wants, err)
	}
	if _, err := topology.Fetch(t.Context(), dir, wants[0], false, os.Environ()); err != nil {
		t.Fatal(err)
	}
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := "[zero .gc/topologies/far/low/topology.toml:5:8 needs [] one " +
		".gc/topologies/far/deep/topology.toml:6:8 needs []]"
	if got := fmt.Sprint(agentsOf(c)); got != want || c.Revision == before ||
		!slices.Contains(c.Sources, filepath.Join(dir, topology.LockFile)) {
		t.Errorf("%s, %q", got, c.Sources)
	}
	put(t, filepath.Join(dir, topology.LockFile), "[topologies.far]\nsource = 1\n")
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(),
		"topologies.lock:2:10: topologies.far.source: is a whole number; it must be a string") {
		t.Errorf("%v", err)
	}
}
