package edit

import (
	"errors"
	"fmt"
	"gcity/config"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func readAll(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Suspending and resuming change only the line with the flag.
func TestSetSuspendedInLongFile(t *testing.T) {
	long := readAll(t, "testdata/long.toml")
	if n := strings.Count(long, "\n"); n < 300 {
		t.Fatalf("%d lines", n)
	}
	for _, breaks := range []string{"\n", "\r\n"} {
		text := strings.ReplaceAll(long, "\n", breaks)
		for _, tt := range []struct {
			target config.Target
			is     bool
			// the changed line; old is "" for a new line
			old, new string
			below    string // the line above a new line
		}{
			{config.Target{Agent: "scribe-7"}, false, "", "suspended = true", `name = "scribe-7"`},
			{config.Target{Agent: "indented-3"}, false, "", "    suspended = true", `    name = "indented-3"   # number 3`},
			{config.Target{Agent: "spelled-5"}, false, "", "suspended = true", `name = 'spelled-5'`},
			{config.Target{Agent: "shop/clerk-8"}, false, "", "suspended = true", `name = "clerk-8"`},
			{config.Target{Agent: "clerk-8"}, false, "", "suspended = true", `name = "clerk-8"`},
			{config.Target{Agent: "shop/packer"}, false, "", "suspended = true", `name = "packer"`},
			{config.Target{Agent: "sweeper"}, false, "", "suspended = true", `name = "sweeper"`},
			{config.Target{Agent: "scribe-2"}, false, "suspended = false # tried it on Monday", "suspended = true # tried it on Monday", ""},
			{config.Target{Agent: "clerk-2"}, true, "suspended = true", "suspended = false", ""},
			{config.Target{Rig: "shop"}, false, "", "suspended = true", `name = "shop"`},
			{config.Target{Rig: "tools-go"}, false, "suspended = false # written out, once", "suspended = true # written out, once", ""},
			{config.Target{}, false, "", "suspended = true", `name = "long"`},
		} {
			t.Run(fmt.Sprintf("%s%s %d", tt.target.Agent, tt.target.Rig, len(breaks)), func(t *testing.T) {
				dir := folder(t, text)
				path := filepath.Join(dir, config.FileName)
				set := func(on bool) {
					t.Helper()
					if err := SetSuspended(config.Source{Dir: dir}, tt.target, on); err != nil {
						t.Fatal(err)
					}
					if c, err := config.Load(dir); err != nil || *flagOf(c, tt.target) != on {
						t.Errorf("not %t, %v", on, err)
					}
				}
				expect := func(want string) {
					t.Helper()
					if got := readAll(t, path); got != want {
						t.Errorf("kept %d of %d bytes around the edit; got\n%s",
							kept([]byte(text), []byte(got)), len(text), got)
					}
				}
				switched := edited(t, text, breaks, tt.old, tt.new, tt.below)
				set(!tt.is)
				expect(switched)
				set(!tt.is)
				expect(switched)
				set(tt.is)
				expect(text)
			})
		}
	}
}

func edited(t *testing.T, text, breaks, old, new, below string) string {
	t.Helper()
	at := breaks + old + breaks
	by := breaks + new + breaks
	if old == "" {
		at, by = breaks+below+breaks, breaks+below+breaks+new+breaks
	}
	if old != "suspended = true" && strings.Count(text, at) != 1 {
		t.Fatalf("%q occurs %d times", at, strings.Count(text, at))
	}
	last := strings.LastIndex(text, at)
	return text[:last] + by + text[last+len(at):]
}

// An agent from an included file is suspended from city.toml.
func TestSuspendIncludedAgent(t *testing.T) {
	const head = "include = [\"team.toml\"] # all of it\n"
	for _, tt := range []struct {
		name, before, agent string
		on                  bool
		after               string
	}{
		{"a new block", head, "one", true, head + "\n[[patches.agents]]\nname = \"one\"\nsuspended = true\n"},
		{"of a rig's pool", head, "demo/two", true, head + "\n[[patches.agents]]\ndir = \"demo\"\nname = \"two\"\nsuspended = true\n"},
		{"by its bare name", head, "two", true, head + "\n[[patches.agents]]\ndir = \"demo\"\nname = \"two\"\nsuspended = true\n"},
		{"no end of line, CRLF", strings.Replace(head, "\n", "\r\n", 1) + "[daemon]", "one", true,
			strings.Replace(head, "\n", "\r\n", 1) + "[daemon]\r\n\r\n[[patches.agents]]\r\nname = \"one\"\r\nsuspended = true\r\n"},
		{"a block with the flag", head + "[[patches.agents]]\nsuspended = true # for now\nname = \"one\"\n", "one", false,
			head + "[[patches.agents]]\nsuspended = false # for now\nname = \"one\"\n"},
		{"a block without", head + "[[patches.agents]]\n# later\nname = \"one\"\n[daemon]\n", "one", true,
			head + "[[patches.agents]]\n# later\nname = \"one\"\nsuspended = true\n[daemon]\n"},
		{"a block of another", head + "[[patches.agents]]\nname = \"one\"\nsuspended = true\n", "two", true,
			head + "[[patches.agents]]\nname = \"one\"\nsuspended = true\n\n[[patches.agents]]\ndir = \"demo\"\nname = \"two\"\nsuspended = true\n"},
		{"an empty table", head + "[patches] # none\n", "one", true, head + "[patches] # none\n\n[[patches.agents]]\nname = \"one\"\nsuspended = true\n"},
		{"inline", head + "patches = {}\n", "one", true, head + "patches = { agents = [{ name = \"one\", suspended = true }] }\n"},
		{"inline list", head + "patches = { agents = [{ name = \"one\" }] }\n", "two", true,
			head + "patches = { agents = [{ dir = \"demo\", name = \"two\", suspended = true }, { name = \"one\" }] }\n"},
		{"a list over lines", head + "[patches]\nagents = [ # all\n]\n", "one", true,
			head + "[patches]\nagents = [{ name = \"one\", suspended = true } # all\n]\n"},
		{"dotted", head + "patches.agents = [{ name = \"one\" }]\n", "one", true, head + "patches.agents = [{ name = \"one\", suspended = true }]\n"},
		{"said already", head, "one", false, head},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := folderOf(t, map[string]string{config.FileName: tt.before, "team.toml": teamOfTwo})
			if err := SetSuspended(config.Source{Dir: dir}, config.Target{Agent: tt.agent}, tt.on); err != nil {
				t.Fatal(err)
			}
			if got := readAll(t, filepath.Join(dir, config.FileName)); got != tt.after {
				t.Errorf("got:\n%q\nwant:\n%q", got, tt.after)
			}
			if got := readAll(t, filepath.Join(dir, "team.toml")); got != teamOfTwo {
				t.Errorf("team.toml was written:\n%q", got)
			}
			if c, err := config.Load(dir); err != nil || *flagOf(c, config.Target{Agent: tt.agent}) != tt.on {
				t.Errorf("not %t, %v", tt.on, err)
			}
		})
	}
}

// A rig's flag is set where the rig is declared, unless that is outside the city.
func TestSuspendIncludedRig(t *testing.T) {
	const root = "include = [\"team.toml\"]\n"
	dir := folderOf(t, map[string]string{config.FileName: root, "team.toml": teamOfTwo})
	for _, on := range []bool{true, false} {
		if err := SetSuspended(config.Source{Dir: dir}, config.Target{Rig: "demo"}, on); err != nil {
			t.Fatal(err)
		}
		want := teamOfTwo
		if on {
			want = strings.Replace(teamOfTwo, "name = \"demo\"\n", "name = \"demo\"\nsuspended = true\n", 1)
		}
		if got := readAll(t, filepath.Join(dir, "team.toml")); got != want {
			t.Errorf("got\n%q\nwant\n%q", got, want)
		}
	}
	if got := readAll(t, filepath.Join(dir, config.FileName)); got != root {
		t.Errorf("city.toml was changed: %q", got)
	}

	team := filepath.Join(folderOf(t, map[string]string{"team.toml": teamOfTwo}), "team.toml")
	put(t, filepath.Join(dir, config.FileName), "include = [\""+team+"\"]\n")
	err := SetSuspended(config.Source{Dir: dir}, config.Target{Rig: "demo"}, true)
	if want := `the rig "demo" is declared in ` + team + `, which other cities may use, so gcity does not edit it; set suspended = true there by hand`; err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if got := readAll(t, team); got != teamOfTwo {
		t.Errorf("the included file was changed: %q", got)
	}
}

func TestSuspendByName(t *testing.T) {
	const text = `[[rigs]]
name = "demo"
path = "/usr"
[[rigs]]
name = "other"
path = "/bin"
prefix = "x"
[[agents]]
name = "a"
dir = "demo"
[[agents]]
name = "a"
dir = "other"
[[agents]]
name = "worker"
dir = "demo"
pool.max = 3
[[agents]]
name = "worker-9"
[[agents]]
name = "b"
dir = "other"
[[agents]]
name = "b"
`
	dir := folder(t, text)
	for _, tt := range []struct {
		target config.Target
		is     error
		want   string
	}{
		{config.Target{Agent: "a"}, config.ErrAmbiguous, `the name is ambiguous; use one of demo/a and other/a instead of "a"`},
		{config.Target{Agent: "other/worker"}, config.ErrNoAgent, "agent \"other/worker\" not found; run `gcity agent list` to see all"},
		{config.Target{Agent: "demo/wroker"}, config.ErrNoAgent, "agent \"demo/wroker\" not found; did you mean \"demo/worker\"? Run `gcity agent list` to see all"},
		{config.Target{Agent: "demo/worker-2"}, config.ErrMember, `"demo/worker-2" is a member of a pool; only the whole pool "demo/worker" can be suspended and resumed`},
		{config.Target{Agent: "worker-3"}, config.ErrMember, `"demo/worker-3" is a member of a pool; only the whole pool "demo/worker" can be suspended and resumed`},
		{config.Target{Agent: "worker-4"}, config.ErrNoAgent, "agent \"worker-4\" not found; did you mean \"worker-9\"? Run `gcity agent list` to see all"},
		{config.Target{Rig: "dmeo"}, config.ErrNoRig, "rig \"dmeo\" not found; did you mean \"demo\"? Run `gcity rig list` to see all"},
		{config.Target{Rig: "worker"}, config.ErrNoRig, "rig \"worker\" not found; run `gcity rig list` to see all"},
	} {
		err := SetSuspended(config.Source{Dir: dir}, tt.target, true)
		if !errors.Is(err, tt.is) || err.Error() != tt.want {
			t.Errorf("%+v: got %v\nwant %s", tt.target, err, tt.want)
		}
	}
	if got := readAll(t, filepath.Join(dir, config.FileName)); got != text {
		t.Errorf("the file was changed: %q", got)
	}
	for _, name := range []string{"worker", "demo/worker", "worker-9", "b", "other/b"} {
		if err := SetSuspended(config.Source{Dir: dir}, config.Target{Agent: name}, true); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range c.Agents {
		got = append(got, fmt.Sprintf("%s %t", a.Qualified(), a.Suspended))
	}
	if want := "demo/a false, other/a false, demo/worker true, worker-9 true, other/b true, b true"; strings.Join(got, ", ") != want {
		t.Errorf("got %s\nwant %s", strings.Join(got, ", "), want)
	}
}

// Suspending leaves topologies unchanged and can be undone.
func TestSuspendComposed(t *testing.T) {
	files := map[string]string{
		config.FileName: "include = [\"more.toml\"]\n[[rigs]]\nname = \"r\"\npath = \"/usr\"\ntopology = \"p\"\n" +
			"[[rigs.overrides]]\nagent = \"four\" # last\nsuspended = false\n[workspace]\ntopology = \"p\"\n",
		"more.toml":           "[workspace]\nsuspended = false # here\n[[patches.agents]]\ndir = \"r\"\nname = \"two\"\nsuspended = false\n[[patches.rigs]]\nname = \"r\"\nsuspended = false\n",
		"p/topology.toml":     "[topology]\nname = \"p\"\nschema = 1\ncity_agents = [\"one\"]\n[[agents]]\nname = \"one\"\n[[agents]]\nname = \"two\"\n[[agents]]\nname = \"three\"\n[[agents]]\nname = \"four\"\n",
		"p/prompts/worker.md": "",
	}
	dir := folderOf(t, files)
	for _, c := range []struct {
		target     config.Target
		file, line string
	}{
		{config.Target{Agent: "one"}, config.FileName, "\n[[patches.agents]]\nname = \"one\"\nsuspended = true\n"},
		{config.Target{Agent: "r/three"}, config.FileName, "\n[[patches.agents]]\ndir = \"r\"\nname = \"three\"\nsuspended = true\n"},
		{config.Target{Agent: "two"}, "more.toml", "name = \"two\"\nsuspended = true\n"},
		{config.Target{Agent: "four"}, config.FileName, "agent = \"four\" # last\nsuspended = true\n"},
		{config.Target{Rig: "r"}, "more.toml", "name = \"r\"\nsuspended = true\n"},
		{config.Target{}, "more.toml", "suspended = true # here\n"},
	} {
		if err := SetSuspended(config.Source{Dir: dir}, c.target, true); err != nil {
			t.Errorf("%+v: %v", c.target, err)
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, c.file))
		if err != nil || !strings.Contains(string(text), c.line) {
			t.Errorf("%+v: %s: got\n%s", c.target, c.file, text)
		}
		now, err := config.Load(dir)
		if err != nil || !*flagOf(now, c.target) {
			t.Errorf("%+v: not suspended, %v", c.target, err)
		}
		if err := SetSuspended(config.Source{Dir: dir}, c.target, false); err != nil {
			t.Errorf("%+v: %v", c.target, err)
		}
	}
	for name, was := range files {
		if is, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(is) != was {
			t.Errorf("%s has become\n%s", name, is)
		}
	}
}
