package config

import (
	"fmt"
	"gcity/config/files"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const teamFile = `# the team
[[agents]]
name = "b"
dir = "rooms/{{.Name}}"
session_setup_script = "b.sh"
pre_start = ["echo {{.ConfigDir}} {{.CityRoot}}"]
[[rigs]]
name = "demo"
path = "src"
[[agent]]
name = "a"
dir = "demo"
`

// Agents and rigs from all files are joined, with city.toml first. Paths are relative to their file.
func TestInclude(t *testing.T) {
	dir := folderOf(t, map[string]string{
		FileName: "include = [\"teams/one.toml\", '//two.toml']\n[workspace]\nname = " +
			"\"app\"\n[[agents]]\nname = \"z\"\n",
		"teams/one.toml": teamFile, "teams/b.sh": "true\n",
		"two.toml": "[[agents]]\nname = \"c\"\n",
	})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range c.Agents {
		e, problems := c.Expand(&c.Agents[i])
		got = append(got, fmt.Sprintf("%s %s %s %s %v", c.Agents[i].Qualified(),
			c.Agents[i].Origins["name"], e.Dir, e.Script, problems))
	}
	want := []string{"z city.toml:5:8 " + dir + "  []", "b teams/one.toml:3:8 " + dir +
		"/rooms/b " + dir + "/teams/b.sh []",
		"demo/a teams/one.toml:11:8 " + dir + "/teams/src  []", "c two.toml:2:8 " + dir + "  []"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	sources := []string{dir + "/city.toml", dir + "/teams/one.toml", dir + "/two.toml",
		dir + "/teams/b.sh"}
	if !slices.Equal(c.Sources, sources) {
		t.Errorf("sources %q, want %q", c.Sources, sources)
	}
	if e, _ := c.Expand(&c.Agents[1]); e.PreStart[0] != "echo "+dir+"/teams "+dir {
		t.Errorf("%q", e.PreStart)
	}
	flat := folderOf(t, map[string]string{FileName: strings.ReplaceAll(c.TOML(), "{{.ConfigDir}}",
		"{{.CityRoot}}/teams"), "teams/b.sh": "true\n"})
	again, err := Load(flat)
	if err != nil {
		t.Fatalf("%v\n%s", err, c.TOML())
	}
	if e, _ := again.Expand(&again.Agents[1]); e.Script != flat+"/teams/b.sh" ||
		again.Rigs[0].Path != dir+"/teams/src" {
		t.Errorf("values in the output of TOML: got %q, %q", e.Script, again.Rigs[0].Path)
	}
}

func TestIncludeFromOutside(t *testing.T) {
	elsewhere := folderOf(t, map[string]string{"shared.toml": "[[agents]]\nname = \"a\"\n" +
		"session_setup_script = \"x.sh\"\nnam = 1\n"})
	path := filepath.Join(elsewhere, "shared.toml")
	dir := folderOf(t, map[string]string{FileName: "include = [\"" + path + "\"]\n"})
	if _, err := Load(dir); err == nil || err.Error() != path+
		`:4:1: agents.nam: unknown key; did you mean "name"?` {
		t.Errorf("%v", err)
	}
	put(t, path, "[[agents]]\nname = \"a\"\nsession_setup_script = \"x.sh\"\n")
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if e, _ := c.Expand(&c.Agents[0]); e.Script != filepath.Join(elsewhere, "x.sh") ||
		e.Dir != dir {
		t.Errorf("%+v", e)
	}
	if want := `session_setup_script = "` + elsewhere + `/x.sh"`; !strings.Contains(c.TOML(),
		want) {
		t.Errorf("no %s in\n%s", want, c.TOML())
	}
}

// All failed includes are reported together.
func TestIncludeErrors(t *testing.T) {
	dir := folderOf(t, map[string]string{
		FileName: `include = [
	"none.toml", "../up.toml", "city.toml", "good.toml", "./good.toml", "rooms",
	"blank.toml", "broken.toml", "other.toml", "wrong.toml", "twice.toml"]
[[agents]]
name = "a"
nam = "x"
`,
		"good.toml": "[[agents]]\nname = \"good\"\n", "rooms/x": "", "blank.toml": "# soon\n",
		"broken.toml": "[[agents]\n",
		"other.toml": "include = []\nname = \"x\"\n[agnts]\n[daemon]\nmax_restarts = 1\n" +
			"[[automations]]\n[[agents]]\nname = \"o\"\n",
		"wrong.toml": "[[agents]]\nname = \"w\"\nmin_uptime = \"soon\"\n[rigs]\n",
		"twice.toml": "[[agents]]\nname = \"a\"\n",
	})
	_, err := Load(dir)
	if err == nil {
		t.Fatal("loaded")
	}
	want := strings.ReplaceAll(
		`city.toml:2:2: include: "none.toml" cannot be included, because the file DIR/none.toml was not found; create it or remove this entry
city.toml:2:15: include: "../up.toml" is outside the city's folder; use an absolute path if this is intended
city.toml:2:70: include: "rooms" cannot be included: it is not a regular file
blank.toml: the file contains only comments; an included file needs at least one key or table
broken.toml:1:9: expected end of table array name delimiter ']', but the line ends
city.toml:2:29: include: "city.toml" is this file itself; remove it
city.toml:2:55: include: "./good.toml" is included twice; remove one of them
city.toml:6:1: agents.nam: unknown key; did you mean "name"?
other.toml:1:1: include: an included file cannot include other files; list them in city.toml
other.toml:2:1: name: unknown key; it belongs to [workspace] or [[agents]]. A key belongs to the [header] above it
other.toml:3:1: agnts: unknown table; did you mean "agents"?
other.toml:6:1: automations: is a list of tables; it must be a table: put [automations] on a line of its own
wrong.toml:3:14: agents.min_uptime: "soon" is not a duration; use a value such as "500ms", "30s", "5m" or "1h30m"
wrong.toml:4:1: rigs: is a table; each rig is a separate table: put [[rigs]] on a line of its own
twice.toml:2:8: agents.name: another agent already has the name "a", at city.toml:5:8; choose a different name`, "DIR", dir)
	if err.Error() != want {
		t.Errorf("got\n%s\nwant\n%s", err, want)
	}
	for text, want := range map[string]string{
		"include = \"x.toml\"\n": `city.toml:1:11: include: is a string; it must be a list: ` +
			`put it in brackets, ["…"]`,
		"include = [\"\"]\n": `city.toml:1:11: include: item 1 is empty; remove it`,
		"include = [" + strings.Repeat("'x',", 101) +
			"]\n": `city.toml:1:1: include: has 101 files; at most 100 are allowed`,
	} {
		if _, err := Parse(dir, []byte(text)); err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

// The size limit applies to the total of all files.
func TestIncludesTogetherAreLimited(t *testing.T) {
	big := "[[agents]]\nname = \"a\"\n" + "#" + strings.Repeat("x", files.MaxSize/2)
	dir := folderOf(t, map[string]string{FileName: "include = [\"one.toml\", \"two.toml\"]\n",
		"one.toml": big, "two.toml": big})
	want := `city.toml:1:24: include: "two.toml" cannot be included: the files are larger ` +
		`than 10 MB in total`
	if _, err := Load(dir); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// Source.Contents replaces a file without writing it.
func TestSourceContents(t *testing.T) {
	was := map[string]string{
		FileName: "include = [\"team.toml\"]\n[workspace]\nname = \"app\"\n" +
			"topology = \"crew\"\n",
		"team.toml": "[[agents]]\nname = \"a\"\n",
		"crew/" + TopologyFile: "[topology]\nname = \"crew\"\nschema = 1\n[[agents]]\n" +
			"name = \"b\"\n",
	}
	dir := folderOf(t, was)
	before, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"team.toml": "c2 b", "crew/" + TopologyFile: "a c2"} {
		src := Source{Dir: dir, Contents: map[string][]byte{filepath.Join(dir,
			file): []byte(strings.NewReplacer("\"a\"", "\"c2\"", "\"b\"",
			"\"c2\"").Replace(was[file]))}}
		c, err := src.Load()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for i := range c.Agents {
			names = append(names, c.Agents[i].Name)
		}
		slices.Sort(names)
		wanted := strings.Fields(want)
		slices.Sort(wanted)
		if !slices.Equal(names, wanted) || c.Revision == before.Revision {
			t.Errorf("%s: got %q, want %q; the revision is %s", file, names, wanted, c.Revision)
		}
		src.Contents[filepath.Join(dir, file)] = []byte(was[file] + "naem = \"c\"\n")
		if _, err := src.Load(); err == nil || !strings.Contains(err.Error(), file+":") {
			t.Errorf("%s: %v", file, err)
		}
	}
	if again, err := Load(dir); err != nil || again.Revision != before.Revision {
		t.Errorf("%v, %v", again, err)
	}
}

// An agent lists the positions of its patches and overrides, in order.
func TestPatchOrigins(t *testing.T) {
	dir := folderOf(t, map[string]string{
		FileName: "include = [\"team.toml\", \"more.toml\"]\n[workspace]\nname = \"app\"\n" +
			"[[rigs]]\nname = \"demo\"\npath = \"src\"\ntopology = \"crew\"\n" +
			"[[rigs.overrides]]\nagent = \"b\"\nnudge = \"go\"\n[[patches.agents]]\nname = " +
			"\"a\"\nnudge = \"go\"\n",
		"team.toml": "[[agents]]\nname = \"a\"\n[[agents]]\nname = \"c\"\n",
		"more.toml": "[[patches.agents]]\nname = \"a\"\nnudge = \"stop\"\n" +
			"[[patches.agents]]\nname = \"b\"\ndir = \"demo\"\nnudge = \"stop\"\n",
		"crew/" + TopologyFile: "[topology]\nname = \"crew\"\nschema = 1\n[[agents]]\n" +
			"name = \"b\"\n",
	})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range c.Agents {
		a := &c.Agents[i]
		got = append(got, fmt.Sprint(a.Qualified(), " ", a.Origin, " ", a.Patches))
	}
	slices.Sort(got)
	want := []string{"a team.toml:1:1 [city.toml:11:1 more.toml:1:1]", "c team.toml:3:1 []",
		"demo/b crew/topology.toml:4:1 [more.toml:4:1 city.toml:8:1]"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
