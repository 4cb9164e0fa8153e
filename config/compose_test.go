package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// composes reports whether the tests in this file, and not TestEveryKey, cover a key.
func composes(path string) bool {
	for _, table := range []string{"topologies.", "patches.rigs.", "rigs.overrides."} {
		if strings.HasPrefix(path, table) {
			return true
		}
	}
	name := path[strings.LastIndexByte(path, '.')+1:]
	return slices.Contains([]string{"topology", "topologies", "includes", "scope"}, name)
}

const basePack = `[topology]
name = "base"
schema = 1
version = "1.2.0"
requires_gc = ">=0.13"
city_agents = ["chief"]

[[agents]]
name = "chief"
dir = "desks/{{.Name}}"
description = "looks at all"
session_setup_script = "scripts/setup.sh"
pre_start = ["echo {{.ConfigDir}}"]

[[agents]]
name = "db"
start_command = "exec db"

[[agents]]
name = "worker"
depends_on = ["db"]
start_command = "exec work"
[agents.env]
A = "1"
[agents.pool]
min = 1
max = 2
`

func agentsOf(c *City) []string {
	var out []string
	for i := range c.Agents {
		a := &c.Agents[i]
		out = append(out, fmt.Sprintf("%s %s needs %v", a.Qualified(), a.Origins["name"], a.Needs))
	}
	return out
}

// One topology supplies agents to the city and to each rig. The city's agents come first. A rig's agents depend on each
// other within the rig.
func TestTopology(t *testing.T) {
	dir := folderOf(t, map[string]string{
		FileName: `[workspace]
name = "app"
topology = "packs/base"
[[agents]]
name = "own"
[[rigs]]
name = "one"
path = "/usr"
topology = "packs/base"
[[rigs]]
name = "two"
path = "/tmp"
pack = "//packs/base"
[[patches.agents]]
dir = "two"
name = "worker"
suspended = true
`,
		"packs/base/topology.toml": basePack, "packs/base/scripts/setup.sh": "true\n",
		"packs/base/formulas/a.formula.toml": "", ".gc/formulas/x": "",
	})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"chief packs/base/topology.toml:9:8 needs []", "own city.toml:5:8 needs []",
		"one/db packs/base/topology.toml:16:8 needs []",
		"one/worker packs/base/topology.toml:20:8 needs [one/db]",
		"two/db packs/base/topology.toml:16:8 needs []",
		"two/worker packs/base/topology.toml:20:8 needs [two/db]"}
	if got := agentsOf(c); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	base := filepath.Join(dir, "packs", "base")
	chief, worker := &c.Agents[0], &c.Agents[5]
	e, problems := c.Expand(chief)
	if e.Dir != dir+"/desks/chief" || e.Script != base+"/scripts/setup.sh" ||
		e.PreStart[0] != "echo "+base || len(problems) > 0 || chief.Topology != base {
		t.Errorf("%+v %v", e, problems)
	}
	if !worker.Suspended || c.Agents[3].Suspended || worker.Origins["suspended"].String() !=
		"city.toml:17:13" || worker.Origins["dir"].String() != "city.toml:13:8" {
		t.Errorf("%+v", worker)
	}
	var layers []string
	for _, l := range c.Layers() {
		rel, _ := filepath.Rel(dir, l.Dir)
		layers = append(layers, fmt.Sprintf("%s|%s|%s|%t", l.Title, l.Rig, rel, l.Root == base))
	}
	if want := []string{"topology base||packs/base/formulas|true", "city||.gc/formulas|false",
		"topology base|one|packs/base/formulas|true",
		"topology base|two|packs/base/formulas|true"}; !slices.Equal(layers, want) {
		t.Errorf("%q", layers)
	}
	again, err := Parse(dir, []byte(strings.ReplaceAll(c.TOML(), "{{.ConfigDir}}", base)))
	if err != nil {
		t.Fatalf("%v\n%s", err, c.TOML())
	}
	for i := range again.Agents {
		again.Agents[i].PreStart, c.Agents[i].PreStart, again.Agents[i].SessionSetupScript,
			c.Agents[i].SessionSetupScript = nil, nil, "", ""
	}
	if was, is := values(c), values(again); was != is {
		t.Errorf("the output of TOML has the values\n%s\nwant\n%s", is, was)
	}
}

// A topology's agent replaces an included agent with the same name.
func TestAgentReplacesIncluded(t *testing.T) {
	const head = "[topology]\nname = \"p\"\nschema = 1\n"
	dir := folderOf(t, map[string]string{
		FileName: "[workspace]\ntopology = \"a\"\n[[rigs]]\nname = \"r\"\npath = \"/usr\"\n" +
			"topology = \"base\"\n",
		"a/topology.toml": head + "includes = [\"../b\", \"../base\"]\n" +
			"[[agents]]\nname = \"y\"\nstart_command = \"a\"\n",
		"b/topology.toml": head + "includes = [\"../base\"]\n" +
			"[[agents]]\nname = \"x\"\nstart_command = \"b\"\n",
		"base/topology.toml": head + "[[agents]]\nname = \"x\"\nstart_command = \"base\"\n" +
			"env = { A = \"1\" }\n[[agents]]\nname = \"y\"\nstart_command = \"base\"\n" +
			"depends_on = [\"x\"]\n[[watchdogs]]\nname = \"eye\"\nwatches = \"x\"\nheartbeat = \"h\"\n",
	})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range c.Agents {
		a := &c.Agents[i]
		got = append(got, fmt.Sprint(a.Qualified(), " ", a.StartCommand, " ", a.Env, a.Needs))
	}
	if want := "x b map[] [], y a map[] [], r/x base map[A:1] [], r/y base map[] [r/x]"; strings.Join(got,
		", ") != want {
		t.Errorf("got %s\nwant %s", strings.Join(got, ", "), want)
	}
}

// A city's agent does not replace an included agent of rigs. Each has the watchdog.
func TestIncludedAgentWithOtherScope(t *testing.T) {
	const head = "[topology]\nname = \"p\"\nschema = 1\n"
	dir := folderOf(t, map[string]string{
		FileName: "[workspace]\ntopology = \"a\"\n[[rigs]]\nname = \"r\"\npath = \"/usr\"\n" +
			"topology = \"a\"\n",
		"a/topology.toml": head + "includes = [\"../base\"]\ncity_agents = [\"x\"]\n" +
			"[[agents]]\nname = \"x\"\n",
		"base/topology.toml": head + "[[agents]]\nname = \"x\"\nscope = \"rig\"\n[[agents]]\n" +
			"name = \"y\"\n[[watchdogs]]\nname = \"eye\"\nwatches = \"x\"\nheartbeat = \"h\"\n",
	})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range c.Agents {
		got = append(got, c.Agents[i].Qualified())
	}
	for i := range c.Watchdogs {
		got = append(got, c.Watchdogs[i].Qualified())
	}
	if want := "x r/x r/y eye r/eye"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The order of topologies that share an included one does not matter for the agent that replaces the included agent.
func TestAgentReplacesSharedIncluded(t *testing.T) {
	const head = "[topology]\nname = \"p\"\nschema = 1\n"
	for _, order := range []string{`"a", "b"`, `"b", "a"`, `"base", "a", "b"`} {
		c, err := Load(folderOf(t, map[string]string{
			FileName: "[workspace]\ntopologies = [" + order + "]\n",
			"a/topology.toml": head + "includes = [\"../base\"]\n[[agents]]\nname = \"x\"\n" +
				"start_command = \"a\"\n",
			"b/topology.toml": head + "includes = [\"../base\"]\n",
			"base/topology.toml": head + "[[agents]]\nname = \"x\"\nstart_command = \"base\"\n" +
				"[[watchdogs]]\nname = \"eye\"\nwatches = \"x\"\nheartbeat = \"h\"\n",
		}))
		if err != nil {
			t.Errorf("%s: %v", order, err)
			continue
		}
		if len(c.Agents) != 1 || c.Agents[0].StartCommand != "a" || len(c.Watchdogs) != 1 {
			t.Errorf("%s: got %d agents and %d watchdogs: %+v", order, len(c.Agents),
				len(c.Watchdogs), c.Agents)
		}
		if len(c.Warnings) > 0 {
			t.Errorf("%s: %v", order, c.Warnings)
		}
	}
}
