package config

import (
	"fmt"
	"strings"
	"testing"
)

// Providers from several files are merged key by key. A topology's provider is used only if the city does not define
// it.
func TestComposedProviders(t *testing.T) {
	dir := folderOf(t, map[string]string{
		FileName: `include = ["more.toml"]
[workspace]
topology = "p"
[providers.own]
command = "one"
[providers.own.env]
A = "1"
B = "1"
[[rigs]]
name = "r"
path = "/usr"
topology = "p"
[[rigs.overrides]]
name = "low"
provider = "own"
env_remove = ["X"]
[rigs.overrides.env]
Z = "3"
[rigs.overrides.pool]
max = 7
[[patches.agents]]
dir = "r"
name = "low"
args = ["--patched"]
[patches.agents.env]
Z = "2"
`,
		"more.toml": "[providers.own]\nargs = [\"-x\"]\ncommand = \"two\"\n[providers.own.env]\n" +
			"B = \"2\"\nC = \"2\"\n",
		"p/topology.toml": "[topology]\nname = \"p\"\nschema = 1\ncity_agents = [\"high\"]\n" +
			"[providers.theirs]\ncommand = \"they\"\n[providers.own]\ncommand = \"not me\"\n" +
			"[[agents]]\nname = \"high\"\nprovider = \"theirs\"\n[[agents]]\nname = \"low\"\nenv " +
			"= { X = \"1\", Y = \"1\" }\n[agents.pool]\nmin = 1\nmax = 2\n",
	})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range c.Providers {
		got = append(got, fmt.Sprintf("%s %s %v %v %s", p.Name, p.Command, p.Args, p.Env,
			p.Origins["command"]))
	}
	if want := "own two [-x] map[A:1 B:2 C:2] more.toml:3:11, theirs they [] map[] " +
		"p/topology.toml:6:11"; strings.Join(got, ", ") != want {
		t.Errorf("got %s\nwant %s", strings.Join(got, ", "), want)
	}
	got = nil
	for _, w := range c.Warnings {
		got = append(got, w.String())
	}
	if want := "more.toml:3:11: providers.own.command: is already set at city.toml:5:11; this " +
		"value takes effect\n" +
		"more.toml:5:5: providers.own.env.B: is already set at city.toml:8:5; this value " +
		"takes effect"; strings.Join(got, "\n") != want {
		t.Errorf("got %s\nwant %s", strings.Join(got, "\n"), want)
	}
	low := c.Agents[1]
	if low.Provider != "own" || fmt.Sprint(low.Env, low.Args) != "map[Y:1 Z:3] [--patched]" ||
		low.Pool.Max != 7 || low.Pool.Min != 1 || low.Origins["env.Z"].String() !=
		"city.toml:18:5" {
		t.Errorf("%+v %+v", low, low.Pool)
	}
	if _, err := (Source{Dir: dir, Strict: true}).Load(); err == nil ||
		!strings.Contains(err.Error(), "more.toml:5:5: providers.own.env.B: is already set at "+
			"city.toml:8:5; remove one of the two") {
		t.Errorf("%v", err)
	}
}

// The city's provider settings take precedence over those of its topology.
func TestProviderOfCityAndTopology(t *testing.T) {
	dir := folderOf(t, map[string]string{
		FileName: "[workspace]\ntopology = \"t\"\n[providers.own]\nprompt_mode = \"typed\"\nenv " +
			"= { A = \"city\" }\n",
		"t/topology.toml": "[topology]\nname = \"t\"\nschema = 1\n[providers.own]\ncommand = " +
			"\"cat\"\nprompt_flag = \"--p\"\n" +
			"env = { A = \"topology\", B = \"topology\" }\n[[agents]]\nname = \"a\"\nprovider " +
			"= \"own\"\n",
	})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := c.ProviderNamed("own")
	if p.Command != "cat" || p.PromptMode != "typed" || p.PromptFlag != "" ||
		p.Env["A"] != "city" || p.Env["B"] != "topology" {
		t.Errorf("%+v", p)
	}
	if _, err := Parse(dir, []byte(c.TOML())); err != nil {
		t.Errorf("the output of TOML cannot be loaded: %v\n%s", err, c.TOML())
	}
}
