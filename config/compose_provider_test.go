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
	for _, name := range c.declaredProviders(nil) {
		p, _ := c.ProviderFor(&Agent{}, name)
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
	p, _ := c.ProviderFor(&Agent{}, "own")
	if p.Command != "cat" || p.PromptMode != "typed" || p.PromptFlag != "" ||
		p.Env["A"] != "city" || p.Env["B"] != "topology" {
		t.Errorf("%+v", p)
	}
	if _, err := Parse(dir, []byte(c.TOML())); err != nil {
		t.Errorf("the output of TOML cannot be loaded: %v\n%s", err, c.TOML())
	}
}

func providersOf(t *testing.T, c *City) string {
	t.Helper()
	var out []string
	for i := range c.Agents {
		p := c.ProgramOf(&c.Agents[i], noPreset)
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s: %s %s", c.Agents[i].Qualified(),
			p.CommandLine(), p.Env["V"])))
	}
	return strings.Join(out, "\n")
}

// A topology's provider applies to that topology's agents, so rigs can use different versions of a topology.
func TestProvidersOfRigs(t *testing.T) {
	version := func(n string) string {
		return "[topology]\nname = \"pv\"\nschema = 1\n[providers.coder]\ncommand = \"echo\"\n" +
			"args = [\"" + n + "\"]\n[providers.claude]\nargs = [\"-" + n + "\"]\nenv = { V = \"" + n +
			"\" }\n[[agents]]\nname = \"w\"\nprovider = \"coder\"\n[[agents]]\nname = \"x\"\n"
	}
	dir := folderOf(t, map[string]string{
		FileName: `[workspace]
provider = "claude"
[[agents]]
name = "mayor"
[[agents]]
name = "guest"
dir = "new"
provider = "coder"
[[rigs]]
name = "old"
path = "/usr"
topology = "one"
[[rigs]]
name = "new"
path = "/etc"
topology = "two"
[[rigs]]
name = "plain"
path = "/opt"
topology = "three"
`,
		"one/topology.toml": version("one"),
		"two/topology.toml": version("two"),
		"three/topology.toml": "[topology]\nname = \"t\"\nschema = 1\n[[agents]]\nname = \"y\"\n" +
			"provider = \"coder\"\n[providers.coder]\ncommand = \"cat\"\n",
	})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := providersOf(t, c), `mayor: claude --dangerously-skip-permissions
new/guest: echo two
old/w: echo one
old/x: claude -one one
new/w: echo two
new/x: claude -two two
plain/y: cat`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	text := c.TOML()
	for _, want := range []string{
		"# its provider coder has other values than in this file; `gcity config explain old/w`",
		"# its provider coder has other values than in this file; `gcity config explain plain/y`",
		"# its provider claude has other values than in this file; `gcity config explain new/x`",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "explain new/guest") || strings.Contains(text, "explain new/w") {
		t.Errorf("a comment about a provider that the file contains:\n%s", text)
	}
}

// A topology's own provider takes precedence over the one that it includes, and the city's table over both. A provider
// of a topology that is not related is used whole, and only if no other is found.
func TestProviderPrecedence(t *testing.T) {
	const head = "[topology]\nname = \"p\"\nschema = 1\n"
	agent := func(name, provider string) string {
		return "[[agents]]\nname = \"" + name + "\"\nprovider = \"" + provider + "\"\n"
	}
	files := map[string]string{
		FileName: "[workspace]\ntopologies = [\"a\", \"b\"]\n[providers.pp.env]\nV = \"city\"\n" +
			agent("own", "pp") + agent("far", "only-rig") +
			"[[rigs]]\nname = \"r\"\npath = \"/usr\"\ntopologies = [\"d\", \"c\"]\n",
		"a/topology.toml": head + "includes = [\"../c\"]\n[providers.pp]\nargs = [\"a\"]\n" +
			agent("a", "pp") + agent("sibling", "only-b"),
		"b/topology.toml": head + "[providers.pp]\ncommand = \"b\"\nenv = { V = \"b\" }\n" +
			"[providers.only-b]\ncommand = \"only-b\"\n" + agent("b", "pp"),
		"c/topology.toml": head + "[providers.pp]\ncommand = \"c\"\nargs = [\"c\"]\n" +
			"env = { V = \"c\" }\n" + agent("c", "pp"),
		"d/topology.toml": head + "[providers.only-rig]\ncommand = \"d\"\n" + agent("d", "pp"),
	}
	c, err := Load(folderOf(t, files))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := providersOf(t, c), `c: c a city
a: c a city
sibling: only-b
b: b city
own: c a city
far: d
r/d: c c city
r/c: c c city`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	files[FileName] += "[[patches.providers]]\nname = \"pp\"\n_replace = true\ncommand = \"new\"\n"
	if c, err = Load(folderOf(t, files)); err != nil {
		t.Fatal(err)
	}
	if got := providersOf(t, c); !strings.Contains(got, "a: new\n") ||
		!strings.Contains(got, "r/c: new") {
		t.Errorf("a replaced provider has other values:\n%s", got)
	}
	files["a/topology.toml"] = head + "[providers.pp]\nargs = [\"a\"]\n" + agent("a", "pp")
	files["b/topology.toml"] = head + agent("b", "pp")
	files["d/topology.toml"] = head + "[providers.lone]\nargs = [\"x\"]\n" + agent("d", "lone")
	_, err = Load(folderOf(t, files))
	if want := "d/topology.toml:4:1: providers.lone: has no command"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A topology that adds keys to the provider of a topology that it does not include works in either order. An agent of
// the city uses the first table, as in earlier versions.
func TestProviderTableWithoutCommand(t *testing.T) {
	const head = "[topology]\nname = \"p\"\nschema = 1\n"
	for _, order := range []string{`"base", "more"`, `"base", "more", "last"`,
		`"more", "base", "last"`} {
		c, err := Load(folderOf(t, map[string]string{
			FileName: "[workspace]\ntopologies = [" + order + "]\n" +
				"[[agents]]\nname = \"own\"\nprovider = \"pp\"\n",
			"base/topology.toml": head + "[providers.pp]\ncommand = \"base\"\nargs = [\"x\"]\n",
			"more/topology.toml": head + "[providers.pp]\nargs = [\"more\"]\n" +
				"[[agents]]\nname = \"m\"\nprovider = \"pp\"\n",
			"last/topology.toml": head + "[providers.pp]\ncommand = \"last\"\n",
		}))
		if err != nil {
			t.Errorf("%s: %v", order, err)
			continue
		}
		if got, want := providersOf(t, c), "m: base more\nown: base x"; got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", order, got, want)
		}
	}
}
