package config

import (
	"fmt"
	"gcity/config/keys"
	"gcity/internal/toml"
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// docs/config.md is up to date with the table of keys.
func TestReferenceIsCurrent(t *testing.T) {
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

// Every supported key has documentation, a field and a default of its own kind. Unsupported keys have none of these.
func TestSchemaIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for path, k := range keys.City().ByPath {
		if seen[path] {
			t.Errorf("%s occurs twice", path)
		}
		seen[path] = true
		table := k.Kind == keys.Table || k.Kind == keys.Tables || k.Kind == keys.Named
		switch {
		case k.Status != keys.Supported && (k.HasValue() || k.Doc != ""):
			t.Errorf("%s is not supported, but has a default, a field or documentation", path)
		case k.Status == keys.Supported && k.Doc == "":
			t.Errorf("%s has no documentation", path)
		case k.Status == keys.Supported && !table && !k.HasValue():
			t.Errorf("%s has no field", path)
		case k.Def != "" && k.Kind == keys.String != strings.HasPrefix(k.Def, `"`) &&
			k.Kind != keys.Duration:
			t.Errorf("%s: the default %s has the wrong kind", path, k.Def)
		}
		if k.Status == keys.Supported && k.Def != "" && k.Check != nil {
			p := placeFor(k.Table())
			d := decoder{&loading{schema: keys.City(), city: &City{}}}
			d.defaults(k.Table(), p)
			if s := (printer{City: &City{}}).shown(p.field(k)); s == "" {
				t.Errorf("default of %s is not shown", path)
			}
		}
	}
}

func reference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	s := keys.City()
	b.WriteString("## At the top\n\nThese keys come before the first table.\n\n")
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
	return wrapped(b.String())
}

func wrapped(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if len(line) > 120 && !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, " ") {
			lines[i] = ansi.Wordwrap(line, 120, "")
		}
	}
	return strings.Join(lines, "\n")
}

func table(s keys.Schema, t *keys.Key) string {
	var b strings.Builder
	writeTable(&b, s, t)
	return b.String()
}

const referenceTopology = `## topology.toml

A topology's folder contains a ` + "`topology.toml`, or a `pack.toml`, which means the same; see [topologies.md](topologies.md). In addition to the tables below, the file can contain " +
	"`[[agents]]`, `[[watchdogs]]` and `[providers.NAME]`" +
	`, with the keys described above. Paths are relative to the topology's folder, and the value of ` +
	"`{{.ConfigDir}}`" + ` is this folder.

`

func heading(k *keys.Key) string {
	path := strings.ReplaceAll(k.Path, "*", "NAME")
	return (&keys.Key{Path: path, Kind: k.Kind}).Header()
}

func writeTable(b *strings.Builder, s keys.Schema, t *keys.Key) {
	fmt.Fprintf(b, "## `%s`\n\n%s\n\n", heading(t), t.Doc)
	writeRowsOf(b, s, t.Path)
	for _, k := range s.Tables[t.Path] {
		if k.Status == keys.Supported && !k.HasValue() {
			writeTable(b, s, k)
		}
	}
}

func writeRowsOf(b *strings.Builder, s keys.Schema, table string) {
	var missing []string
	head := "| key | type | default | meaning |\n|---|---|---|---|\n"
	for _, k := range s.Tables[table] {
		switch {
		case k.Status == keys.Later && table != "":
			missing = append(missing, "`"+k.Name()+"`")
		case k.Status == keys.Supported && k.HasValue():
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

func writeLater(b *strings.Builder, s keys.Schema) {
	b.WriteString("## Not supported yet\n\ngcity knows these keys but does not support them yet, " +
		"and rejects them with an error.\n\n" +
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
	fmt.Fprintf(b, "\ngcity accepts these keys with a warning, but they have no effect: %s.\n\n", toml.List(gone))
}

// The example on the page is valid.
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
			t.Errorf("%s is missing from the page", name)
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
dir = "shop"                       # belongs to the rig and works in its folder
start_command = "exec ./run-db"

[[agents]]
name = "worker"
dir = "shop"
depends_on = ["db"]                # shop/db, the rig's agent
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

This creates the agents ` + "`shop/db`" + ` and ` + "`notes`" + `, and the pool ` + "`shop/worker`" + ` with one to five members, ` + "`shop/worker-1` to `shop/worker-5`" + `.

`

const referenceHead = `# city.toml

This page describes every key of ` + "`city.toml` and `topology.toml`" + `. It is generated from the table of keys that gcity uses
to read these files. Do not edit the page: change the table and run ` + "`go test ./config -update`" + `.

- If a file is invalid, gcity reports all of its errors at once, each with file, line and column. A running city keeps
  its last valid configuration.
- A duration is a string in Go's syntax: ` + "`\"500ms\"`, `\"30s\"`, `\"1h30m\"`" + `; at most one year.
- A name consists of letters, digits, ` + "`.`, `_` and `-`" + `, starts with a letter or digit, and has at most 64 characters.
- A relative path is relative to the folder of the file that contains the key. If the path begins with ` + "`//`" + `, it is
  relative to the city's folder. A relative path must not leave the city's folder with ` + "`..`" + `. An absolute path can point
  anywhere. A relative ` + "`dir`" + ` is always relative to the city's folder. gcity follows symbolic links and does not
  expand ` + "`~`" + `.
- A city can have at most 10,000 agents. Its configuration files together can be at most 10 MB in size. Each file can
  have at most 200,000 keys and 32 levels of tables, and must be in UTF-8, with or without a byte order mark. Lines can
  end in CRLF.

`

const referenceTail = `## Templates

` + "`dir`, `pre_start`, `session_setup`, `session_setup_script` and `session_template`" + ` are templates:

| field | value | not available in |
|---|---|---|
| ` + "`{{.Agent}}`" + ` | the agent's full name: ` + "`RIG/NAME`" + ` in a rig, otherwise ` + "`NAME`" + ` | |
| ` + "`{{.Name}}`" + ` | the agent's name without the rig; for a member of a pool, the member's name | |
| ` + "`{{.City}}`, `{{.CityName}}`" + ` | the city's name | |
| ` + "`{{.CityRoot}}`" + ` | the city's folder, as an absolute path | |
| ` + "`{{.ConfigDir}}`" + ` | the folder of the file that declares the agent, as an absolute path | |
| ` + "`{{.Rig}}`" + ` | the name of the agent's rig; empty if the agent has no rig | |
| ` + "`{{.Session}}`" + ` | the name that all sessions of the agent have | ` + "`session_template`" + ` |
| ` + "`{{.Dir}}`" + ` | the working folder as written in ` + "`dir`" + ` | ` + "`session_template`, `dir`" + ` |
| ` + "`{{.WorkDir}}`" + ` | the working folder, as an absolute path | ` + "`session_template`, `dir`" + ` |

Templates support a subset of Go's text/template: fields, ` + "`if`, `with`, `else`, `and`, `or`, `not`, `eq`, `ne`, `lt`" + `,
` + "`le`, `gt`, `ge`, `len`, `index`, `slice`, `print`, `html`, `js`, `urlquery`" + `. Loops, variables and definitions are
rejected, and the expanded text can be at most 64 KiB long. In a shell command, put fields in quotes, because the name
of a folder can contain spaces. In ` + "`session_template`" + `, gcity escapes values for file names: ` + "`_`" + ` as ` + "`__`, `/`" + ` as ` + "`_s`" + `,
` + "`.`" + ` as ` + "`_d`" + `.

` + "`start_command`, `pool.check`, `work_query`, `sling_query`" + ` and a provider's ` + "`command`" + ` are not templates. They can use
the variables below instead, for example ` + "`exec \"$GC_PACK_DIR\"/run.sh`" + `.

## Command and environment of an agent

An agent's command is the first of these that is set: ` + "`agents.start_command`" + `, the command of ` + "`agents.provider`" + `, the
command of ` + "`workspace.provider`" + `, ` + "`workspace.start_command`" + `. If none of them is set, gcity uses the first preset whose
program is on the agent's ` + "`PATH`" + `. If there is no command, or if gcity does not find the program, the agent does not
start, and gcity shows what it has looked for. gcity runs a ` + "`start_command`" + ` unchanged. Each key that an agent sets
overrides the same key of its provider. gcity passes each argument of a provider to the program as one word, whatever
the argument contains.

An agent's environment consists of these variables. Later ones override earlier ones:

1. The environment of the controller, without ` + "`GC_*`, `TMUX*`, `COLUMNS`, `LINES`, `OLDPWD`" + ` and the variables that
   systemd passes to services (` + "`NOTIFY_SOCKET`, `WATCHDOG_*`, `LISTEN_*`, `INVOCATION_ID`, `JOURNAL_STREAM`" + `,
   ` + "`SYSTEMD_EXEC_PID`, `MANAGERPID`, `MANAGERPIDFDID`, `MEMORY_PRESSURE_*`" + `). ` + "`TERM`" + ` is ` + "`xterm-256color`" + `.
2. The provider's ` + "`env`" + `, then ` + "`agents.env`" + `. gcity replaces ` + "`$NAME` and `${NAME}`" + ` in them with the controller's
   variables, or with nothing if a variable is not set. If they do not set ` + "`GC_PACK_DIR`" + `, it is the folder of the
   file that declares the agent, for example the topology's folder.
3. ` + "`GC_AGENT`, `GC_CITY` and `GC_CITY_PATH`" + ` (the city's folder), ` + "`GC_CITY_NAME`, `GC_SESSION_NAME`, `GC_SESSION_ID`" + `,
   ` + "`GC_DIR` and `PWD`" + ` (the working folder), ` + "`BEADS_DIR`" + `, and in a rig ` + "`GC_RIG` and `GC_RIG_PATH`" + `. ` + "`.gc/bin`" + ` is the first
   folder on ` + "`PATH`" + `.

Agents, checks and automations do not inherit open files of the shell that started the controller.

A pool's check has the same environment, except that ` + "`GC_AGENT`" + ` is the pool's name, and the variables for a session are
not set.

gcity restarts an agent when one of these changes: the session provider; the command and its arguments; the ` + "`env`" + ` of
the agent or its provider (as written, before gcity replaces variables); ` + "`pre_start`" + `, ` + "`session_setup`" + ` and
` + "`session_setup_script`" + `, including the content of that script; the prompt; the content of the overlay. At its next
start, the controller also restarts the agents in pods if ` + "`image`" + ` in ` + "`[session.k8s]`" + ` has changed. Other changes do not
restart the agent; a change to ` + "`dir`" + ` or ` + "`ready_delay_ms`" + `, for example, takes effect at its next start. Installing the
program of a different preset does not restart running agents either. ` + "`GC_SESSION`" + ` in the controller's environment
takes precedence over ` + "`session.provider`" + `.
`
