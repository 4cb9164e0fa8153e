package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
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

// The output of config show and config explain is exactly that in testdata.
func TestShow(t *testing.T) {
	c, err := Parse("/srv/app", []byte(shownCity), "GC_SESSION=fake")
	if err != nil {
		t.Fatal(err)
	}
	explained := ""
	for _, name := range []string{"worker", "other", "packer", "my-project/packer-7", "sorter",
		"off", "my-project"} {
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
			t.Errorf("%s shows a secret", name)
		}
	}
	for name, want := range map[string]string{
		"wroker": `agent, pool or rig "wroker" not found; did you mean "worker"? ` +
			"Run `gcity status` to see all",
		"nothing": `agent, pool or rig "nothing" not found; ` +
			"run `gcity status` to see all",
		"my-projct": `agent, pool or rig "my-projct" not found; did you mean "my-project"? ` +
			"Run `gcity status` to see all",
		"packer-13": `agent, pool or rig "packer-13" not found; did you mean "packer"? ` +
			"Run `gcity status` to see all",
	} {
		if _, err := c.Explain(name); !errors.Is(err, ErrNoAgent) || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

// The output of config show is a configuration with the same values.
func TestShowCanBeLoaded(t *testing.T) {
	dir := folderOf(t, map[string]string{FileName: "include = [\"teams/one.toml\"]\n" +
		strings.ReplaceAll(shownCity, "hunter2", "x"), "teams/one.toml": teamFile})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.ReplaceAll(strings.ReplaceAll(c.TOML(), `"***"`, `"x"`), "{{.ConfigDir}}",
		dir+"/teams")
	again, err := Parse(dir, []byte(shown))
	if err != nil {
		t.Fatalf("%v\n%s", err, shown)
	}
	for i := range c.Agents {
		for m := range c.Agents[i].Spec().Max {
			was, is := c.Member(&c.Agents[i], m+1), again.Member(&again.Agents[i], m+1)
			a, _ := c.Expand(&was)
			b, _ := again.Expand(&is)
			if diff := cmp.Diff(a, b); diff != "" || was.SessionName != is.SessionName ||
				was.Suspended != is.Suspended || !slices.Equal(was.Needs, is.Needs) {
				t.Errorf("%s: %s\n%+v\n%+v", was.Qualified(), diff, was, is)
			}
		}
	}
	if len(again.Agents) != len(c.Agents) || len(again.Rigs) != 2 ||
		again.Rigs[0].Prefix != c.Rigs[0].Prefix {
		t.Errorf("%d agents, %+v", len(again.Agents), again.Rigs)
	}
}

// The Kubernetes table is shown with its origins and can be loaded again.
func TestShowKubernetes(t *testing.T) {
	dir := t.TempDir()
	c, err := Parse(dir, []byte("[workspace]\nname = \"app\"\n[session.k8s]\nimage = "+
		"\"agents:7\"\ncpu_limit = \"1500m\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := Kubernetes{Namespace: "gc", Image: "agents:7", CPURequest: "500m", MemRequest: "1Gi",
		CPULimit: "1500m", MemLimit: "4Gi"}
	if !reflect.DeepEqual(c.Session.Kubernetes, want) {
		t.Errorf("%+v", c.Session.Kubernetes)
	}
	text := c.TOML()
	_, table, found := strings.Cut(text, "\n[session.k8s]\n")
	if table, _, _ = strings.Cut(table, "\n\n"); !found ||
		!strings.Contains(table, "city.toml:4:9") || strings.Count(table, "\n")+1 != 6 {
		t.Errorf("it shows:\n%s", text)
	}
	again, err := Parse(dir, []byte(text))
	if err != nil || !reflect.DeepEqual(again.Session, c.Session) {
		t.Errorf("%+v, %v", again, err)
	}
	plain, err := Parse(dir, []byte("[workspace]\nname = \"app\"\n"))
	if err != nil || strings.Contains(plain.TOML(), "k8s") {
		t.Errorf("the k8s table is shown although it is not set: %v", err)
	}
}

// The printed configuration of a composed city produces the same agents.
func TestShowOfTopologiesCanBeLoaded(t *testing.T) {
	const pack = `[topology]
name = "team"
schema = 1
[[agents]]
name = "near"
prompt_template = "prompts/near.md.tmpl"
inject_fragments = ["manners"]
pre_start = ["test -d {{.ConfigDir}} # {{ .ConfigDir }}", "true {{if .ConfigDir}}x{{end}}"]
session_setup_script = "{{.ConfigDir}}/setup.sh"
[agents.env]
API_KEY = "x"
[[agents]]
name = "far"
prompt_template = "roles/far.md.tmpl"
inject_fragments = ["manners"]
[[agents]]
name = "moved"
prompt_template = "roles/far.md.tmpl"
`
	dir := folderOf(t, map[string]string{
		FileName: `[workspace]
name = "app"
start_command = "exec cat"
topology = "pack"
[[agents]]
name = "own"
prompt_template = "own.md"
[[rigs]]
name = "r"
path = "/usr"
topology = "pack"
[[patches.agents]]
dir = "r"
name = "moved"
prompt_template = "moved.md"
inject_fragments = ["manners"]
`,
		"pack/topology.toml": pack, "pack/prompts/near.md.tmpl": "You are near.",
		"pack/prompts/shared/manners.md.tmpl": "Be kind.",
		"pack/roles/far.md.tmpl":              `You are far. {{template "manners" .}}`,
		"pack/setup.sh":                       "true\n", "own.md": "You are mine.",
		"moved.md":                     "You have moved.",
		"pack/formulas/x.formula.toml": "",
	})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	shown := c.TOML()
	again, err := Parse(dir, []byte(shown))
	if err != nil {
		t.Fatalf("%v\n%s", err, shown)
	}
	if len(again.Agents) != len(c.Agents) || len(c.Agents) != 7 {
		t.Fatalf("%d agents, want %d", len(again.Agents), len(c.Agents))
	}
	told := 0
	for i := range c.Agents {
		was, is := &c.Agents[i], &again.Agents[i]
		a, _ := c.Expand(was)
		b, _ := again.Expand(is)
		if diff := cmp.Diff(a, b); diff != "" || was.SessionName != is.SessionName ||
			was.Qualified() != is.Qualified() || was.ScriptHash != is.ScriptHash {
			t.Errorf("%s: %s", was.Qualified(), diff)
		}
		if was.Name == "far" || was.Name == "moved" {
			if is.Prompt != nil {
				t.Errorf("prompt of %s has no origin", was.Qualified())
			}
			told++
		} else if is.Prompt == nil || was.Prompt.Hash() != is.Prompt.Hash() {
			t.Errorf("the prompt of %s differs", was.Qualified())
		}
	}
	for _, want := range []string{"# secrets are shown as ***", "# this file does not contain the formulas and automations from the " +
		"topology team",
		"# prompt_template = ", "# its prompt uses fragments that this file does not contain",
		"# in pre_start, {{.ConfigDir}} stands for a different folder in this file"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	if told != 4 {
		t.Errorf("%d prompts differ", told)
	}
}

// A realistic city is printed as one file with the same values.
func TestShowOfTownCanBeLoaded(t *testing.T) {
	dir := exampleTown(t)
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse(c.Path, []byte(c.TOML()))
	if err != nil {
		t.Fatalf("%v\n%s", err, c.TOML())
	}
	if len(again.Agents) != len(c.Agents) {
		t.Fatalf("%d agents, want %d", len(again.Agents), len(c.Agents))
	}
	for i := range c.Agents {
		was, is := &c.Agents[i], &again.Agents[i]
		if was.Qualified() != is.Qualified() || was.Prompt == nil != (is.Prompt == nil) ||
			was.Prompt != nil && was.Prompt.Hash() != is.Prompt.Hash() ||
			was.OverlayHash != is.OverlayHash {
			t.Errorf("%s differs after loading", was.Qualified())
		}
	}
}

// Secrets in command lines are hidden unless the owner requests them.
func TestCommandLinesShowNoSecrets(t *testing.T) {
	c, err := Parse("/srv/app", []byte(`[workspace]
name = "app"
[[agents]]
name = "a"
start_command = "API_KEY=hunter2 cmd --token hunter2 --model x"
pre_start = ["curl -H 'Authorization: Bearer hunter2' h"]
[agents.pool]
max = 2
check = "count https://me:hunter2@h/x"
[[agents]]
name = "b"
provider = "p"
[providers.p]
command = "cmd"
args = ["--api-key", "hunter2", "--model", "y"]
`))
	if err != nil {
		t.Fatal(err)
	}
	shows := func(c *City) string {
		a, err := c.Explain("a")
		b, err2 := c.Explain("b")
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		return c.TOML() + a + b
	}
	if got := shows(c); strings.Contains(got, "hunter2") || !strings.Contains(got, "--model x") ||
		!strings.Contains(got, `"--model", `+
			`"y"`) || !strings.Contains(got, "# secrets are shown as") {
		t.Errorf("shows\n%s", got)
	}
	if got := c.Revealed().TOML(); strings.Count(got, "hunter2") != 5 ||
		strings.Contains(got, "# secrets are shown as") {
		t.Errorf("output for the owner: got\n%s", got)
	}
}

// Explain shows which variables a patch or an override has removed, and where.
func TestExplainRemovedVariables(t *testing.T) {
	dir := folderOf(t, map[string]string{
		FileName: `[[rigs]]
name = "r"
path = "/usr"
topology = "t"
[[rigs.overrides]]
name = "a"
env_remove = ["B"]
[[patches.agents]]
dir = "r"
name = "a"
env_remove = ["A"]
`,
		"t/topology.toml": "[topology]\nname = \"t\"\nschema = 1\n[[agents]]\nname = \"a\"\n" +
			"env = { A = \"1\", B = \"2\", C = \"3\" }\n[[agents]]\nname = \"b\"\n",
	})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.Explain("r/a")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`env_remove = \["A"\] +# city.toml:11:14`,
		`env_remove = \["B"\] +# city.toml:7:14`} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if text, _ := c.Explain("r/b"); strings.Contains(text, "env_remove") {
		t.Errorf("an agent without removed variables:\n%s", text)
	}
}
