package config

import (
	"fmt"
	"gcity/config/keys"
	"gcity/internal/toml"
	"os"
	"strings"
	"testing"
)

// The page in docs is what the table of keys says now.
func TestReferenceIsFresh(t *testing.T) {
	const path = "../docs/config.md"
	if *update {
		if err := os.WriteFile(path, []byte(reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != reference() {
		t.Errorf("%s is stale; run: go test ./config -update", path)
	}
}

// Every key that is supported goes somewhere, means something and has a default of its own kind; no other pretends to.
func TestSchemaIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for path, k := range keys.City().ByPath {
		if seen[path] {
			t.Errorf("%s is there twice", path)
		}
		seen[path] = true
		table := k.Kind == keys.Table || k.Kind == keys.Tables || k.Kind == keys.Named
		switch {
		case k.Status != keys.Supported && (k.Valued() || k.Doc != ""):
			t.Errorf("%s is not supported and pretends to be", path)
		case k.Status == keys.Supported && k.Doc == "":
			t.Errorf("%s has no doc", path)
		case k.Status == keys.Supported && !table && !k.Valued():
			t.Errorf("%s goes nowhere", path)
		case k.Def != "" && k.Kind == keys.String != strings.HasPrefix(k.Def, `"`) &&
			k.Kind != keys.Duration:
			t.Errorf("%s: default %s is of another kind", path, k.Def)
		}
		if k.Status == keys.Supported && k.Def != "" && k.Check != nil {
			p := placeFor(k.Table())
			d := decoder{&loading{schema: keys.City(), city: p.city}}
			d.defaults(k.Table(), p)
			if s := (printer{&City{}}).shown(p.field(k)); s == "" {
				t.Errorf("%s: default does not show", path)
			}
		}
	}
}

// reference is the page on city.toml, in Markdown: every key, its type, its default, what it means.
func reference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	s := keys.City()
	b.WriteString("## At the top\n\nBefore the first table.\n\n")
	writeRowsOf(&b, s, "")
	for _, t := range s.Tables[""] {
		if t.Status == keys.Supported && t.Kind != keys.Strings {
			writeTable(&b, s, t)
		}
	}
	fmt.Fprintf(&b, referenceExample, example)
	b.WriteString(referenceTopology)
	own := keys.Topology(s)
	for _, t := range own.Tables[""] {
		if k := t.Path; k == "topology" || k == "formulas" {
			b.WriteString(strings.Replace(table(own, t), "## ", "### ", 1))
		}
	}
	writeLater(&b, s)
	b.WriteString(referenceTail)
	return b.String()
}

func table(s keys.Schema, t *keys.Key) string {
	var b strings.Builder
	writeTable(&b, s, t)
	return b.String()
}

const referenceTopology = `## topology.toml

A topology's folder has a ` + "`topology.toml`, or a `pack.toml`, which is the same: [topologies.md](topologies.md) tells what it is for. Besides these tables it has " +
	"`[[agents]]`, `[[watchdogs]]` and `[providers.NAME]`" +
	`, with the keys that they have here. Paths are relative to the topology's folder, and ` +
	"`{{.ConfigDir}}`" + ` is that folder.

`

func heading(k *keys.Key) string {
	path := strings.ReplaceAll(k.Path, "*", "NAME")
	return (&keys.Key{Path: path, Kind: k.Kind}).Header()
}

// writeTable writes a table, and those within it.
func writeTable(b *strings.Builder, s keys.Schema, t *keys.Key) {
	fmt.Fprintf(b, "## `%s`\n\n%s\n\n", heading(t), t.Doc)
	writeRowsOf(b, s, t.Path)
	for _, k := range s.Tables[t.Path] {
		if k.Status == keys.Supported && !k.Valued() {
			writeTable(b, s, k)
		}
	}
}

// writeRowsOf writes the keys of a table.
func writeRowsOf(b *strings.Builder, s keys.Schema, table string) {
	var missing []string
	head := "| key | type | default | meaning |\n|---|---|---|---|\n"
	for _, k := range s.Tables[table] {
		switch {
		case k.Status == keys.Later && table != "":
			missing = append(missing, "`"+k.Name()+"`")
		case k.Status == keys.Supported && k.Valued():
			def := "–"
			if k.Def != "" {
				def = "`" + k.Def + "`"
			}
			if k.Require {
				def = "required"
			}
			fmt.Fprintf(b, "%s| `%s` | %s | %s | %s |\n", head, k.Name(), k.Kind, def,
				strings.ReplaceAll(k.Doc, "|", `\|`))
			head = ""
		}
	}
	if len(missing) > 0 {
		if head == "" {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "Not supported yet: %s.\n", toml.List(missing))
	}
	b.WriteString("\n")
}

// writeLater lists the tables that are refused, and the keys that do nothing.
func writeLater(b *strings.Builder, s keys.Schema) {
	b.WriteString("## Not supported yet\n\nThese are known and refused, with their place, until " +
		"what they ask for is built. Nothing is read over in silence.\n\n" +
		"| table | keys |\n|---|---|\n")
	var gone []string
	for _, k := range keys.LaterKeys() {
		switch {
		case k.Status == keys.Dropped:
			gone = append(gone, "`"+k.Path+"`")
		case k.Status != keys.Later:
		case k.Kind == keys.Table || k.Kind == keys.Tables:
			var names []string
			for _, kid := range s.Tables[k.Path] {
				if kid.Kind == keys.Any && kid.Status == keys.Later {
					names = append(names, "`"+kid.Name()+"`")
				}
			}
			head := "`" + heading(&k) + "`"
			if k.Alias != "" {
				head += ", `[" + k.Alias + "]`"
			}
			fmt.Fprintf(b, "| %s | %s |\n", head, strings.Join(names, " "))
		}
	}
	fmt.Fprintf(b, "\nWithout effect, accepted with a warning: %s.\n\n", toml.List(gone))
}

// TestReferenceExample: the page shows a configuration that loads, and says what becomes of it.
func TestReferenceExample(t *testing.T) {
	c, err := Parse("/srv/app", []byte(example))
	if err != nil || len(c.Warnings) > 0 {
		t.Fatal(err, c)
	}
	var got []string
	for i := range c.Agents {
		a := &c.Agents[i]
		got = append(got, a.Spec().Member(1)+" needs "+toml.List(a.Needs))
	}
	if want := "shop/db needs nothing, shop/worker-1 needs shop/db, notes " +
		"needs nothing"; strings.Join(got, ", ") != want {
		t.Errorf("got %s\nwant %s", strings.Join(got, ", "), want)
	}
	for _, name := range []string{"`shop/db`", "`shop/worker-1` to `shop/worker-5`", "`notes`"} {
		if !strings.Contains(referenceExample, name) {
			t.Errorf("the page does not speak of %s", name)
		}
	}
}

const example = `[workspace]
start_command = "exec sh -i"

[[rigs]]
name = "shop"
path = "/home/me/src/shop"

[[agents]]
name = "db"
dir = "shop"                       # belongs to the rig, and works in its folder
start_command = "exec ./run-db"

[[agents]]
name = "worker"
dir = "shop"
depends_on = ["db"]                # the rig's, since there is one
idle_timeout = "30m"
[agents.pool]
min = 1
max = 5
check = "ls orders | wc -l"        # run in /home/me/src/shop

[[agents]]
name = "notes"
dir = "desks/{{.Name}}"            # a folder of the city
`

const referenceExample = `## An example

` + "```toml\n%s```" + `

That makes the agents ` + "`shop/db`" + `, ` + "`shop/worker-1` to `shop/worker-5`" + `, of which one to five run, and ` + "`notes`" + `.

`

const referenceHead = `# city.toml

A folder with a ` + "`city.toml`" + ` is a city. This page is made from the same table that reads the file; do not edit it, run
` + "`go test ./config -update`" + `.

- Everything that is wrong with a file is told at once, each with file, line and column. While a file is wrong, a running
  city keeps the configuration that it has.
- A duration is a string in Go's syntax: ` + "`\"500ms\"`, `\"30s\"`, `\"1h30m\"`" + `; at most a year.
- A name is made of letters, digits, ` + "`.`, `_` and `-`" + `; the first is a letter or digit; at most 64.
- A path is relative to the folder of the file that says it, with ` + "`//`" + ` before it to the city's, and may not leave the city by ` + "`..`" + `; an
  absolute path may lead anywhere. ` + "`dir`" + ` is always relative to the city's folder. Symbolic links are followed. ` + "`~`" + ` is not expanded.
- All files together have at most 10 MB, a city at most 10,000 agents; a file has at most 200,000 keys and 32 levels. It is UTF-8, with or without a byte order mark, and lines may end in CRLF.

`

const referenceTail = `## Templates

` + "`dir`, `pre_start`, `session_setup`, `session_setup_script` and `session_template`" + ` are templates:

| field | is | not in |
|---|---|---|
| ` + "`{{.Agent}}`" + ` | the name that the agent goes by: ` + "`RIG/NAME`" + ` in a rig, else its name | |
| ` + "`{{.Name}}`" + ` | its name without the rig; both of a pool's member are its own | |
| ` + "`{{.City}}`, `{{.CityName}}`" + ` | the city's name | |
| ` + "`{{.CityRoot}}`" + ` | the city's folder, absolute | |
| ` + "`{{.ConfigDir}}`" + ` | the folder of the file that declares the agent, absolute | |
| ` + "`{{.Rig}}`" + ` | the name of its rig, empty without one | |
| ` + "`{{.Session}}`" + ` | the name of the agent's sessions | ` + "`session_template`" + ` |
| ` + "`{{.Dir}}`" + ` | the working folder as ` + "`dir`" + ` says it | ` + "`session_template`, `dir`" + ` |
| ` + "`{{.WorkDir}}`" + ` | the working folder, absolute | ` + "`session_template`, `dir`" + ` |

The language is a part of Go's text/template: fields, ` + "`if`, `with`, `else`, `and`, `or`, `not`, `eq`, `ne`, `lt`, `le`, `gt`, `ge`, `len`, `index`, `slice`, `print`, " +
	"`html`, `js`, `urlquery`" + `. Loops, variables and definitions
are refused, and an expansion has at most 64 KiB. In a shell line put a field in quotes: a folder may have spaces in its name. In
` + "`session_template`" + ` the values are written for a file name: ` + "`_` as `__`, `/` as `_s`, `.` as `_d`" + `.

## What an agent is started with

The command is ` + "`agents.start_command`, else that of `agents.provider`, else of `workspace.provider`, else `workspace.start_command`" + `, else that
of the first program on the agent's ` + "`PATH`" + ` among those that gcity knows. Where there is nothing, or the provider's program is not there, the agent
is not started and says what was looked for; the others are. A ` + "`start_command`" + ` is run as it stands. What a provider says of its program, the agent
can say otherwise, key by key; its arguments are each one word to the shell, whatever is in them.
The environment, later wins:

1. what the controller was started with, less ` + "`GC_*`, `TMUX*`, `COLUMNS`, `LINES`, `OLDPWD`" + ` and what systemd
   tells a service of itself (` + "`NOTIFY_SOCKET`, `WATCHDOG_*`, `LISTEN_*`, `INVOCATION_ID`, `JOURNAL_STREAM`, `SYSTEMD_EXEC_PID`, `MANAGERPID`, `MANAGERPIDFDID`, `MEMORY_PRESSURE_*`" + `);
   ` + "`TERM` is `xterm-256color`" + `;
2. the provider's ` + "`env`, then `agents.env`" + `, with ` + "`$NAME` and `${NAME}`" + ` replaced by the controller's variables (empty if it has none);
3. ` + "`GC_AGENT`, `GC_CITY` and `GC_CITY_PATH`" + ` (the city's folder), ` + "`GC_CITY_NAME`, `GC_SESSION_NAME`, `GC_SESSION_ID`, `GC_DIR` and `PWD`" + ` (the working
   folder), ` + "`BEADS_DIR`, in a rig `GC_RIG` and `GC_RIG_PATH`" + `; and ` + "`.gc/bin`" + ` stands first on ` + "`PATH`" + `.

A pool's check has the same, with the pool's name as ` + "`GC_AGENT`" + ` and without a session's variables.

An agent is restarted when what it was started with changes here: the command and its arguments, its own ` + "`env`" + ` and its provider's (as written, so the controller's
environment does not matter), ` + "`pre_start`, `session_setup`, `session_setup_script`" + ` and the content of that script. Nothing else restarts one:
not how it is told to be ready, and not that another program is found first, where nothing says which it is.
` + "`GC_SESSION`" + ` in the environment of the controller beats ` + "`session.provider`" + `.
`
