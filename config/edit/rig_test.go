package edit

import (
	"errors"
	"gcity/config"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// AddRig uses the file's style and changes nothing else.
func TestAddRig(t *testing.T) {
	for name, tt := range map[string]struct {
		before string
		rig    NewRig
		after  string
	}{
		"the first": {"# mine\n[workspace]\nname = \"x\" # yes\n", NewRig{Name: "demo", Path: "d"},
			"# mine\n[workspace]\nname = \"x\" # yes\n\n[[rigs]]\nname = \"demo\"\npath = \"d\"\n"},
		"all of it": {"[workspace]\n", NewRig{Name: "demo", Path: `a "b"`, Prefix: "zz",
			Suspended: true},
			"[workspace]\n\n[[rigs]]\nname = \"demo\"\npath = \"a \\\"b\\\"\"\nprefix = \"zz\"\n" +
				"suspended = true\n"},
		"behind agents": {"[[rigs]]\nname = \"a\"\npath = \"/a\"\n[[agents]]\nname = \"a\" # last",
			NewRig{Name: "demo", Path: "d"},
			"[[rigs]]\nname = \"a\"\npath = \"/a\"\n[[agents]]\nname = \"a\" # last\n\n[[rigs]]\n" +
				"name = \"demo\"\npath = \"d\"\n"},
		"CRLF": {"[workspace]\r\n", NewRig{Name: "demo", Path: "d"},
			"[workspace]\r\n\r\n[[rigs]]\r\nname = \"demo\"\r\npath = \"d\"\r\n"},
		"in one line": {"rigs = [{ name = \"a\", path = \"/a\" }] # all\n",
			NewRig{Name: "demo", Path: "d"},
			"rigs = [{ name = \"a\", path = \"/a\" }, { name = \"demo\", path = \"d\" }] # all\n"},
		"on lines of their own": {"rigs = [\n  {name=\"a\", path=\"/a\"}, # one\n  # end\n]\n",
			NewRig{Name: "demo", Path: "d"},
			"rigs = [\n  {name=\"a\", path=\"/a\"}, # one\n" +
				"  { name = \"demo\", path = \"d\" },\n  # end\n]\n"},
		"without a last comma": {"rigs = [\r\n\t{name=\"a\", path=\"/a\"} # one\r\n]\r\n",
			NewRig{Name: "demo", Path: "d"},
			"rigs = [\r\n\t{name=\"a\", path=\"/a\"}, # one\r\n" +
				"\t{ name = \"demo\", path = \"d\" }\r\n]\r\n"},
		"before the bracket": {"rigs = [\n  {name=\"a\", path=\"/a\"}]\n",
			NewRig{Name: "demo", Path: "d"},
			"rigs = [\n  {name=\"a\", path=\"/a\"},\n  { name = \"demo\", path = \"d\" }]\n"},
		"an empty list": {"rigs = []\n[workspace]\n", NewRig{Name: "demo", Path: "d"},
			"rigs = [{ name = \"demo\", path = \"d\" }]\n[workspace]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := cityIn(t, tt.before)
			if err := os.Mkdir(filepath.Join(dir, tt.rig.Path), 0o755); err != nil {
				t.Fatal(err)
			}
			c, err := AddRig(config.Source{Dir: dir}, tt.rig)
			if err != nil {
				t.Fatal(err)
			}
			if got := textIn(t, dir); got != tt.after {
				t.Errorf("got\n%q\nwant\n%q", got, tt.after)
			}
			if r := c.Rig("demo"); r == nil || r.Path != filepath.Join(dir, tt.rig.Path) ||
				r.Suspended != tt.rig.Suspended {
				t.Errorf("rig in the configuration: got %+v", r)
			}
		})
	}
}

// AddRig refuses a rig that would make the configuration invalid, and leaves the file unchanged.
func TestAddRigErrors(t *testing.T) {
	const before = "[workspace]\nname = \"town\"\n[[rigs]]\nname = \"demo\"\npath = \"/p/demo\"\n"
	for want, rig := range map[string]NewRig{
		`another rig already has the name "demo", at city.toml:4:8`: {Name: "demo",
			Path: "/p/other"},
		`cannot add the rig "other": its folder is already the folder of the rig "demo"`: {Name: "other",
			Path: "/p/demo"},
		`cannot add the rig "demo": its folder is already the folder of the rig "demo"`: {Name: "demo",
			Path: "/p/demo"},
		`is the prefix of the rig "demo" at city.toml:3:1; use a different one, such as`: {Name: "deer",
			Path: "/p/deer"},
		`is the prefix of the city's own work`: {Name: "x", Path: "/p/x", Prefix: "to"},
		`invalid name "a b"`:                   {Name: "a b", Path: "/p/x"},
		"rigs.topology": {Name: "x", Path: "/p/x",
			Topology: "/there/is/none"},
	} {
		dir := cityIn(t, before)
		_, err := AddRig(config.Source{Dir: dir}, rig)
		unfit, ok := errors.AsType[*InvalidRig](err)
		if !ok || !strings.Contains(unfit.Error(), want) ||
			!strings.Contains(unfit.Error(), "nothing was written") {
			t.Errorf("%+v: %v\nwant %s", rig, err, want)
		}
		if got := textIn(t, dir); got != before {
			t.Errorf("%+v: file changed to %q", rig, got)
		}
	}
	for want, path := range map[string]string{"/there/is/no/such": "/there/is/no/such",
		"is the city's own folder": "//", `"/p/\xff" is not valid UTF-8`: "/p/\xff"} {
		dir := cityIn(t, before)
		if _, err := AddRig(config.Source{Dir: dir},
			NewRig{Name: "x", Path: path, Prefix: "xx"}); err == nil ||
			!strings.Contains(err.Error(), want) || textIn(t, dir) != before {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
	dir := cityIn(t, "[workspace]\nnme = 1\n")
	if _, err := AddRig(config.Source{Dir: dir}, NewRig{Name: "x", Path: "/x"}); !isConfigError(
		err) {
		t.Errorf("the error for an invalid configuration: got %v", err)
	}
}

func isConfigError(err error) bool {
	_, ok := errors.AsType[*config.Error](err)
	return ok
}

// RemoveRig removes everything that affects only the rig. Comments and other text stay.
func TestRemoveRig(t *testing.T) {
	const rig = "[[rigs]]\nname = \"demo\"\npath = \"/d\"\n"
	for name, tt := range map[string]struct{ before, after string }{
		"the last": {"[workspace]\n\n" + rig, "[workspace]\n"},
		"between": {"[workspace]\n\n# the project\n" + rig + "\n# more\n[daemon]\n",
			"[workspace]\n\n# the project\n\n# more\n[daemon]\n"},
		"without gaps": {"[workspace]\n" + rig + "[daemon]\n", "[workspace]\n[daemon]\n"},
		"with gaps": {"[workspace]\n\n" + rig + "\n[daemon]\n",
			"[workspace]\n\n[daemon]\n"},
		"no newline at the end": {"[workspace]\n[[rigs]]\nname = \"demo\"\npath = \"/d\"",
			"[workspace]\n"},
		"comments behind": {"[workspace]\n" + rig + "# prefix = \"d\"\n",
			"[workspace]\n# prefix = \"d\"\n"},
		"one of two": {"[[rigs]]\nname = \"a\"\npath = \"/a\"\n" + rig,
			"[[rigs]]\nname = \"a\"\npath = \"/a\"\n"},
		"its agent": {"[workspace]\n" + rig + "[[agents]]\nname = \"a\"\ndir = " +
			"\"demo\"\n[agents.env]\nX = \"1\" # x\n[[agents]]\nname = \"b\"\n",
			"[workspace]\n[[agents]]\nname = \"b\"\n"},
		"a pool, spelt so": {"[[agent]]\nname = \"a\"\ndir = \"demo\"\n\n[agent.pool]\n" +
			"max = 2\n\n" + rig + "\n[[agent]]\nname = \"b\"\n", "\n[[agent]]\nname = \"b\"\n"},
		"its patch": {rig + "[[agents]]\nname = \"a\"\ndir = \"demo\"\n" +
			"[[patches.agents]]\ndir = \"demo\"\nname = \"a\"\nsuspended = true\n[daemon]\n",
			"[daemon]\n"},
		"its automation": {rig + "[[automations.overrides]]\nname = \"x\"\nrig = \"demo\"\n" +
			"enabled = false\n[[automations.overrides]]\nname = \"x\"\nenabled = false\n",
			"[[automations.overrides]]\nname = \"x\"\nenabled = false\n"},
		"text of three lines": {"[workspace]\n[[rigs]]\nname = \"demo\"\npath = \"\"\"\\\n  " +
			"/d\\\n  \"\"\" # there\n[daemon]\n", "[workspace]\n[daemon]\n"},
		"CRLF": {strings.ReplaceAll("[workspace]\n\n"+rig+"\n[daemon]\n", "\n", "\r\n"),
			"[workspace]\r\n\r\n[daemon]\r\n"},
		"the only one in brackets": {"rigs = [{ name = \"demo\", path = \"/d\" }] # all\n[workspace]\n",
			"rigs = [] # all\n[workspace]\n"},
		"the first in brackets": {"rigs = [ {name=\"demo\", path=\"/d\"} , {name=\"a\", path=\"/a\"} ]\n",
			"rigs = [ {name=\"a\", path=\"/a\"} ]\n"},
		"the last in brackets": {"rigs = [{name=\"a\", path=\"/a\"}, {name=\"demo\", path=\"/{}d\"}]\n",
			"rigs = [{name=\"a\", path=\"/a\"}]\n"},
		"on a line of its own": {"rigs = [\n  # x\n  {name=\"demo\", path=\"/d\"}, # one\n" +
			"  {name=\"a\", path=\"/a\"} # two\n]\n", "rigs = [\n  # x\n  {name=\"a\", path=\"/a\"} # two\n]\n"},
		"the last line in brackets": {"rigs = [\n  {name=\"a\", path=\"/a\"},\n  {name=\"demo\", path=\"/d\"}\n]\n",
			"rigs = [\n  {name=\"a\", path=\"/a\"},\n]\n"},
		"between on the first line": {"rigs = [{name=\"a\", path=\"/a\"}, {name=\"demo\", path=\"/d\"}, # x\n" +
			"  {name=\"b\", path=\"/b\"}]\n", "rigs = [{name=\"a\", path=\"/a\"},  # x\n  {name=\"b\", path=\"/b\"}]\n"},
		"over several lines in brackets": {"rigs = [\n  {\n    name = \"demo\", # }\n    path = \"/d\", # {}\n  }, # x\n" +
			"  {name=\"a\", path=\"/a\"},\n]\n", "rigs = [\n  {name=\"a\", path=\"/a\"},\n]\n"},
		"a dotted key in brackets": {"agents = [{name=\"a\", dir=\"demo\", env.A=\"}\"}]\n" + rig, "agents = []\n"},
		"two agents in brackets": {"agents = [{name=\"c\"}, {name=\"a\", dir=\"demo\", env={A=\"}\"}}, " +
			"{name=\"b\", dir=\"demo\"}]\n" + rig, "agents = [{name=\"c\"}]\n"},
		"its patch in brackets": {"patches = { agents = [{ dir = \"demo\", name = \"a\", suspended = true }] }\n" +
			rig + "[[agents]]\nname = \"a\"\ndir = \"demo\"\n[daemon]\n", "patches = { agents = [] }\n[daemon]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := cityIn(t, tt.before)
			c, err := RemoveRig(config.Source{Dir: dir}, "demo", true)
			if err != nil {
				t.Fatal(err)
			}
			if got := textIn(t, dir); got != tt.after {
				t.Errorf("got\n%q\nwant\n%q", got, tt.after)
			}
			if c.Rig("demo") != nil || len(c.RigAgents("demo")) > 0 {
				t.Error("the configuration still contains the rig")
			}
		})
	}
}

// RemoveRig fails if the rig is in use or partly in another file.
func TestRemoveRigErrors(t *testing.T) {
	const rig = "[[rigs]]\nname = \"demo\"\npath = \"/d\"\n"
	const agent = "[[agents]]\nname = \"a\"\ndir = \"demo\"\n"
	for name, tt := range map[string]struct {
		before, part string
		agents       bool
		want         string
	}{
		"in use": {rig + agent, "", false, "this rig has agents: demo/a"},
		"needed elsewhere": {rig + agent + "[[agents]]\nname = \"b\"\ndepends_on = [\"demo/a\"]\n",
			"", true, "agents.depends_on"},
		"none such": {rig, "", true, `rig "dmo" not found`},
		"included": {"include = [\"part.toml\"]\n", rig, true,
			"it is declared at part.toml:1:1"},
		"an agent of it": {"include = [\"part.toml\"]\n" + rig, agent, true,
			"its agent demo/a is declared at part.toml:1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, which := cityIn(t, tt.before), "demo"
			if tt.part != "" {
				if err := os.WriteFile(filepath.Join(dir, "part.toml"), []byte(tt.part),
					0o644); err != nil {
					t.Fatal(err)
				}
			}
			if name == "none such" {
				which = "dmo"
			}
			_, err := RemoveRig(config.Source{Dir: dir}, which, tt.agents)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v\nwant %s", err, tt.want)
			}
			if got := textIn(t, dir); got != tt.before {
				t.Errorf("file after the edit: got %q", got)
			}
		})
	}
}

// Adding and removing a rig restores the file, apart from trailing white space.
func FuzzRigs(f *testing.F) {
	for _, seed := range []string{"[workspace]\n", "# x", "[[agents]]\nname = \"a\"\n\n\n",
		"[workspace]\r\nname = \"x\"\r\n\r\n", "rigs = []\n",
		"[[rigs]]\nname = \"a\"\npath = \"/a\" # b\n# c\n", "\ufeff[workspace]",
		readAll(f, "testdata/long.toml")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, before string) {
		dir := cityIn(t, before)
		if _, err := AddRig(config.Source{Dir: dir},
			NewRig{Name: "fuzz-rig", Path: "/tmp", Prefix: "fuzzy"}); err != nil {
			if got := textIn(t, dir); got != before {
				t.Fatalf("the edit failed, but changed the file: %q", got)
			}
			return
		}
		if _, err := RemoveRig(config.Source{Dir: dir}, "fuzz-rig", false); err != nil {
			t.Fatal(err)
		}
		end := func(s string) string { return strings.TrimRight(s, " \t\r\n") }
		if got := textIn(t, dir); end(got) != end(before) {
			t.Fatalf("got %q, want %q", got, before)
		}
	})
}

func cityIn(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, config.FileName), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func textIn(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, config.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Edits to city.toml take the other files of the configuration into account.
func TestEditRigWithOtherFiles(t *testing.T) {
	const before = "[workspace]\n[[agents]]\nname = \"a\"\nprovider = \"own\"\n[[rigs]]\nname = " +
		"\"demo\"\npath = \"/d\"\n"
	dir, other := cityIn(t, before), filepath.Join(t.TempDir(), "night.toml")
	if err := os.WriteFile(other, []byte("[providers.own]\ncommand = \"cat\"\n[[agents]]\nname = "+
		"\"n\"\ndir = \"demo\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	src := config.Source{Dir: dir, Files: []string{other}}
	if _, err := RemoveRig(src, "demo", false); !errors.Is(err, ErrInUse) {
		t.Errorf("a rig with an agent in another file: got %v", err)
	}
	if _, err := RemoveRig(src, "demo", true); err == nil ||
		!strings.Contains(err.Error(), "its agent demo/n is declared at "+other) {
		t.Errorf("a rig's agent in another file: got %v", err)
	}
	if got := textIn(t, dir); got != before {
		t.Errorf("file after the edit: got %q", got)
	}
	c, err := AddRig(src, NewRig{Name: "more", Path: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if is, err := src.Load(); err != nil || is.Revision != c.Revision {
		t.Errorf("the revision changed: %v", err)
	}
}
