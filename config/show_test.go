package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const shownCity = `
[workspace]
name = "app"
start_command = "exec sh -i"
suspended = true

[[agents]]
name = "worker"
dir = "rooms/{{.Agent}}"
ready_delay_ms = 500
pre_start = ["mkdir -p \"{{.WorkDir}}/tmp\"", "true"]
session_setup_script = "setup.sh"
[agents.env]
PLAIN = "a\u001b[2Jb"
"odd name" = "x"
API_KEY = "hunter2"
db_password_file = "hunter2"
GITHUB_TOKEN = "$GITHUB_TOKEN"

[[agents]]
name = "other"
start_command = "top"

[[rigs]]
name = "my-project"
path = "/nowhere/at all"

[[agents]]
name = "packer"
dir = "my-project"
depends_on = ["other", "sorter"]
session_setup_script = "{{.Name}}.sh"
pool = { min = 1, max = 12, check = "cat n" }

[[agents]]
name = "sorter"
dir = "my-project"
strategy = "one_for_all"
pool.max = 1

[[agents]]
name = "off"
pool.max = 0

[[patches.agents]]
dir = "my-project"
name = "packer"
suspended = true

[daemon]
restart_window = "90m"

[formulas]
dir = "recipes"

[orders]
skip = ["weekly"]

[[orders.overrides]]
name = "nightly"
rig = "my-project"
enabled = true
interval = "90m"
pool = "packer"

[[orders.overrides]]
name = "hourly"
enabled = false
`

// TestShow keeps what config show and config explain print, word for word, in testdata.
func TestShow(t *testing.T) {
	c, err := Parse("/srv/app", []byte(shownCity), "GC_SESSION=fake")
	if err != nil {
		t.Fatal(err)
	}
	explained := ""
	for _, name := range []string{"worker", "other", "packer", "my-project/packer-7", "sorter", "off", "my-project"} {
		text, err := c.Explain(name)
		if err != nil {
			t.Fatal(err)
		}
		explained += "$ explain " + name + "\n" + text + "\n"
	}
	for name, got := range map[string]string{"show.toml": c.TOML(), "explain.txt": explained} {
		path := filepath.Join("testdata", name)
		if *update {
			put(t, path, got)
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s\n got:\n%s\nwant:\n%s", name, got, want)
		}
		if strings.Contains(got, "hunter2") || strings.Contains(got, "\x1b") {
			t.Errorf("%s shows what it must not", name)
		}
	}
	for name, want := range map[string]string{
		"wroker":    `no such agent as "wroker" in city.toml; did you mean "worker"?`,
		"nothing":   `no such agent as "nothing" in city.toml`,
		"my-projct": `no such agent as "my-projct" in city.toml; or did you mean the rig "my-project"?`,
		"packer-13": `no such agent as "packer-13" in city.toml; did you mean "packer"?`,
	} {
		if _, err := c.Explain(name); !errors.Is(err, ErrNoAgent) || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

// What config show prints is a configuration that means the same.
func TestShowCanBeLoaded(t *testing.T) {
	dir := folderOf(t, map[string]string{FileName: "include = [\"teams/one.toml\"]\n" + strings.ReplaceAll(shownCity, "hunter2", "x"), "teams/one.toml": teamFile})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.ReplaceAll(strings.ReplaceAll(c.TOML(), `"***"`, `"x"`), "{{.ConfigDir}}", dir+"/teams")
	again, err := Parse(dir, []byte(shown))
	if err != nil {
		t.Fatalf("%v\n%s", err, shown)
	}
	for i := range c.Agents {
		for m := range c.Agents[i].Spec().Max {
			was, is := c.Member(&c.Agents[i], m+1), again.Member(&again.Agents[i], m+1)
			a, _ := c.Expand(&was)
			b, _ := again.Expand(&is)
			if diff := cmp.Diff(a, b); diff != "" || was.SessionName != is.SessionName || was.Suspended != is.Suspended || !slices.Equal(was.Needs, is.Needs) {
				t.Errorf("%s: %s\n%+v\n%+v", was.Qualified(), diff, was, is)
			}
		}
	}
	if len(again.Agents) != len(c.Agents) || len(again.Rigs) != 2 || again.Rigs[0].Prefix != c.Rigs[0].Prefix {
		t.Errorf("%d agents, %+v", len(again.Agents), again.Rigs)
	}
}

// The table of Kubernetes is shown where it was written, with what it leaves out, and says the same when it is read again.
func TestShowKubernetes(t *testing.T) {
	dir := t.TempDir()
	c, err := Parse(dir, []byte("[workspace]\nname = \"app\"\n[session.k8s]\nimage = \"agents:7\"\ncpu_limit = \"1500m\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := Kubernetes{Namespace: "gc", Image: "agents:7", CPURequest: "500m", MemRequest: "1Gi", CPULimit: "1500m", MemLimit: "4Gi"}
	if c.Session.Kubernetes != want {
		t.Errorf("%+v", c.Session.Kubernetes)
	}
	text := c.TOML()
	_, table, found := strings.Cut(text, "\n[session.k8s]\n")
	if table, _, _ = strings.Cut(table, "\n\n"); !found || !strings.Contains(table, "city.toml:4:9") || strings.Count(table, "\n")+1 != 6 {
		t.Errorf("it shows:\n%s", text)
	}
	again, err := Parse(dir, []byte(text))
	if err != nil || again.Session != c.Session {
		t.Errorf("%+v, %v", again, err)
	}
	plain, err := Parse(dir, []byte("[workspace]\nname = \"app\"\n"))
	if err != nil || strings.Contains(plain.TOML(), "k8s") {
		t.Errorf("a city without it shows it, %v", err)
	}
}
