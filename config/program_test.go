package config

import (
	"errors"
	"fmt"
	"gcity/config/keys"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func ofPrograms(path string) (k keys.Key, ok bool) {
	all := append(keys.ProgramKeys(), keys.NamedProviderKeys()...)
	all = append(all, keys.ChangeKeys("patches.agents",
		slices.Collect(maps.Values(deref(keys.City().ByPath))))...)
	for _, k := range append(all, keys.PatchKeys()...) {
		if k.Path == path && path != "patches.agents.name" && path != "patches.agents.dir" {
			return k, true
		}
	}
	return keys.Key{}, false
}

func deref(all map[string]*keys.Key) map[string]keys.Key {
	out := map[string]keys.Key{}
	for path, k := range all {
		if strings.HasPrefix(path, "agents.") {
			out[path] = *k
		}
	}
	return out
}

const everyProgram = `[workspace]
name = "app"
provider = "mine"

[[agents]]
name = "a"
provider = "claude"
args = ["--model", "big one"]
prompt_mode = "flag"
prompt_flag = "--say"
process_names = ["node"]
emits_permission_warning = true

[providers.mine]
display_name = "Mine"
command = "mine"
args = ["-x"]
prompt_mode = "flag"
prompt_flag = "-p"
ready_delay_ms = 1_500
ready_prompt_prefix = "> "
process_names = ["mine", "helper"]
emits_permission_warning = true
env = { A = "1", B = "$HOME" }

[[patches.providers]]
name = "mine"
_replace = false
display_name = "Ours"
command = "ours"
args = []
prompt_mode = "typed"
prompt_flag = "-q"
ready_delay_ms = 2_000
ready_prompt_prefix = "$ "
process_names = ["ours"]
emits_permission_warning = false
env = { B = "2", C = "3" }
`

func TestEveryKeyOfPrograms(t *testing.T) {
	c := load(t, everyProgram)
	a := c.Agents[0]
	want := Agent{Name: "a", Provider: "claude",
		Startup: Startup{Args: []string{"--model", "big one"},
			PromptMode: "flag", PromptFlag: "--say", ProcessNames: []string{"node"},
			EmitsPermissionWarning: true}, Restart: a.Restart, MinUptime: a.MinUptime,
		Strategy: a.Strategy, Derived: Derived{SessionName: a.SessionName}, Origin: a.Origin,
		Origins: a.Origins}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
	p := c.Providers[0]
	wantP := Provider{Name: "mine", DisplayName: "Ours", Command: "ours",
		Startup: Startup{PromptMode: "typed",
			PromptFlag: "-q", ReadyDelay: 2 * time.Second,
			ReadyPromptPrefix: "$ ", ProcessNames: []string{"ours"},
			Env: map[string]string{"A": "1", "B": "2", "C": "3"}},
		Origin: Origin{File: FileName, Line: 14, Column: 1}, Origins: p.Origins}
	if diff := cmp.Diff(wantP, p, cmp.AllowUnexported(Provider{})); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{"command": "city.toml:30:11",
		"env.A": "city.toml:24:13", "env.B": "city.toml:38:13"} {
		if got := p.Origins[name].String(); got != want {
			t.Errorf("%s is from %s, want %s", name, got, want)
		}
	}
	for _, k := range append(keys.ProgramKeys(), keys.NamedProviderKeys()...) {
		_, agents := a.Origins[k.Name()]
		_, city := c.Origins[k.Path]
		_, provider := p.Origins[k.Name()]
		if k.HasValue() && !agents && !city && !provider {
			t.Errorf("%s is missing in this test", k.Path)
		}
	}
	again, err := Parse(c.Path, []byte(c.TOML()))
	if err != nil || values(c) != values(again) {
		t.Errorf("the output of TOML (error %v) has the values\n%s\nwant\n%s", err, values(again),
			values(c))
	}
}

// A patch can change every key of an agent except its name and folder.
func TestEveryChange(t *testing.T) {
	s, n := keys.City(), 0
	for _, table := range []string{"agents", "agents.pool"} {
		for _, k := range s.Tables[table] {
			if k.Status != keys.Supported || !k.HasValue() || !k.Changeable() {
				continue
			}
			n++
			a := Agent{Name: "a", Origins: map[string]Origin{}}
			p := patch{table: "patches.agents", Agent: Agent{Name: "a", Pool: &Pool{},
				Origin: Origin{File: FileName, Line: 1, Column: 1}, Origins: map[string]Origin{}}}
			pk := s.ByPath[strings.Replace(k.Path, "agents", "patches.agents", 1)]
			if pk == nil || pk.Status != keys.Supported || pk.Kind != k.Kind || pk.Doc == "" {
				t.Errorf("%s cannot be changed by a patch", k.Path)
				continue
			}
			value := reflect.ValueOf(place{&p}.field(pk)).Elem()
			fill(value)
			origins, name := place{&p}.origins(pk)
			origins[name] = Origin{File: FileName, Line: 7, Column: 7}
			for v := range p.Agent.Env {
				origins["env."+v] = Origin{File: FileName, Line: 7, Column: 8}
			}
			d := patcher{&loading{schema: s, city: &City{}}}
			d.change(&p, &a)
			got := reflect.ValueOf(place{&a}.field(k)).Elem()
			if !reflect.DeepEqual(got.Interface(), value.Interface()) || got.IsZero() ||
				a.Origins[name].Line != 7 || len(d.city.Warnings) > 0 {
				t.Errorf("%s: got %v from %s, %v", k.Path, got, a.Origins[name], d.city.Warnings)
			}
		}
	}
	if n < 20 {
		t.Errorf("%d keys", n)
	}
}

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.ValueOf([]string{"x"}))
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"X": "1"}))
	default:
		v.SetInt(7)
	}
}

// An agent's program is merged key by key: first the agent, then [providers], then the preset.
func TestMergedProgram(t *testing.T) {
	c := load(t, `
[workspace]
provider = "claude"
[[agents]]
name = "plain"
[[agents]]
name = "own"
args = ["--model", "it's"]
ready_delay_ms = 0
prompt_mode = "none"
env = { MODEL = "big" }
[[agents]]
name = "open"
provider = "opencode"
env = { OPENCODE_PERMISSION = "{}", MORE = "1" }
[providers.claude]
command = "/opt/claude"
env = { MODEL = "small", REGION = "eu" }
`)
	none := func([]Preset) string {
		t.Error("gcity searched for a configured program")
		return ""
	}
	show := func(i int) string {
		p := c.ProgramOf(&c.Agents[i], none)
		var env []string
		for _, name := range slices.Sorted(maps.Keys(p.Env)) {
			env = append(env, name+"="+p.Env[name]+" "+p.Origins["env."+name].String())
		}
		return fmt.Sprintf("%s|%s|%s|%s %s|%s %q|%s %s|%s|%s", p.SelectedBy, p.CommandLine(),
			p.PromptMode, p.Origins["args"], p.Origins["command"],
			p.ReadyDelay, p.ReadyPromptPrefix, p.Origins["ready_delay_ms"],
			p.Origins["ready_prompt_prefix"], p.ProcessNames, env)
	}
	for i, want := range []string{
		`workspace.provider|/opt/claude --dangerously-skip-permissions|arg|preset claude ` +
			`city.toml:17:11|30s "❯ "|preset claude preset claude|[claude node]|[MODEL=small ` +
			`city.toml:18:17 REGION=eu city.toml:18:35]`,
		`workspace.provider|/opt/claude --model 'it'\''s'|none|city.toml:8:8 ` +
			`city.toml:17:11|0s "❯ "|city.toml:9:18 preset claude|[claude node]|[MODEL=big ` +
			`city.toml:11:17 REGION=eu city.toml:18:35]`,
		`agents.provider|opencode|flag|default preset opencode|30s "▣ "|preset ` +
			`opencode preset opencode|[opencode node bun]|[MORE=1 city.toml:15:44 ` +
			`OPENCODE_PERMISSION={} city.toml:15:31]`,
	} {
		if got := show(i); got != want {
			t.Errorf("%s\n got %s\nwant %s", c.Agents[i].Name, got, want)
		}
	}
}

// A start_command is run unchanged, by default without a prompt.
func TestStartCommandIsUnchanged(t *testing.T) {
	for own, want := range map[string]string{
		`start_command = "sh -i"`:                          "agents.start_command|sh -i|none|",
		"start_command = \"sh -i\"\nargs = [\"x\"]":        "agents.start_command|sh -i|none|",
		"start_command = \"sh -i\"\nprovider = \"claude\"": "agents.start_command|sh -i|none|",
		"start_command = \"sh -i\"\nprompt_mode = \"arg\"": "agents.start_command|sh -i|arg|",
		"start_command = \"sh -i\"\nprompt_flag " +
			"= \"--say\"": "agents.start_command|sh -i|flag|--say",
		"provider = \"gemini\"": "agents.provider|gemini " +
			"--approval-mode yolo|flag|-i",
		"provider = \"gemini\"\nprompt_mode = \"typed\"": "agents.provider|gemini " +
			"--approval-mode yolo|typed|",
		"provider = \"aider\"\nargs = []": "agents.provider|aider|typed|",
		"provider = \"amp\"\nprompt_flag = \"-p\"": "agents.provider|amp --dangerously-allow-all " +
			"--no-ide|flag|-p",
		"": "workspace.start_command|top|none|",
		"start_command = \"exec a\"\nready_prompt_prefix " +
			"= \"claude\"": "agents.start_command|exec a|none|",
	} {
		c := load(t, "[workspace]\nstart_command = \"top\"\n[[agents]]\nname = \"a\"\n"+own+"\n")
		p := c.ProgramOf(&c.Agents[0], nil)
		if got := strings.Join([]string{p.SelectedBy, p.CommandLine(), p.PromptMode, p.PromptFlag},
			"|"); got != want {
			t.Errorf("%s\n got %s\nwant %s", own, got, want)
		}
	}
}

// A replaced provider keeps no values of its table or preset.
func TestProviderReplaced(t *testing.T) {
	c := load(t, `
[[agents]]
name = "a"
provider = "claude"
[[agents]]
name = "b"
provider = "mine"
[providers.mine]
command = "mine"
env = { A = "1" }
[[patches.providers]]
name = "claude"
_replace = true
command = "other"
[[patches.providers]]
name = "mine"
_replace = true
command = "new"
`)
	for range 2 {
		for i, want := range []string{"other [] 0s  map[]", "new [] 0s  map[]"} {
			p := c.ProgramOf(&c.Agents[i], nil)
			if got := fmt.Sprint(p.CommandLine(), " ", p.Args, " ", p.ReadyDelay, " ",
				p.ReadyPromptPrefix, " ", p.Env); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		again, err := Parse(c.Path, []byte(c.TOML()))
		if err != nil {
			t.Fatal(err, c.TOML())
		}
		c = again
	}
}

// A path in a patch is relative to the patch's file.
func TestPatchedPath(t *testing.T) {
	dir := folderOf(t, map[string]string{"team/agents.toml": "[[agents]]\nname = \"a\"\n" +
		"session_setup_script = \"in.sh\"\n[[agents]]\nname = \"b\"\nsession_setup_script = " +
		"\"in.sh\"\n",
		"team/in.sh": "", "out.sh": "", FileName: "include = [\"team/agents.toml\"]\n" +
			"[[patches.agents]]\nname = \"a\"\nsession_setup_script = \"out.sh\"\n"})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"out.sh", "team/in.sh"} {
		e, _ := c.Expand(&c.Agents[i])
		if e.Script != filepath.Join(dir, want) || c.Agents[i].ScriptProblem != "" {
			t.Errorf("%s, %s", e.Script, c.Agents[i].ScriptProblem)
		}
	}
}

// Every preset can be started.
func TestPresets(t *testing.T) {
	var got strings.Builder
	for _, p := range Presets() {
		c := load(t, fmt.Sprintf("[[agents]]\nname = \"a\"\nprovider = %q\n", p.Name))
		q := c.ProgramOf(&c.Agents[0], nil)
		fmt.Fprintf(&got, "%s (%s): %s\n  prompt %s\n  ready %q, %s\n  processes %s\n  env %v\n  "+
			"fresh %q, resume %q, hooks %q\n", p.Name, p.DisplayName, q.CommandLine(),
			strings.TrimSpace(q.PromptMode+" "+q.PromptFlag), q.ReadyPromptPrefix, q.ReadyDelay,
			q.ProcessNames, q.Env, p.Fresh, p.Resume, p.Hooks)
		for _, d := range p.Dialogs {
			if d.Loading {
				fmt.Fprintf(&got, "  loading: %q\n", d.Says)
				continue
			}
			if d.Notice {
				fmt.Fprintf(&got, "  notice about %s: %q\n", d.Name, d.Says)
				continue
			}
			fmt.Fprintf(&got, "  asks %s: %q, %q%q\n", d.Name, d.Says, d.Option, d.Keys)
			if len(d.Says) == 0 || (d.Name != "") != (len(d.Keys) > 0 || d.Option != "") {
				t.Errorf("%s: %+v", p.Name, d)
			}
		}
	}
	const path = "testdata/presets.txt"
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || string(want) != got.String() {
		t.Errorf("%v\n%s", err, cmp.Diff(string(want), got.String()))
	}
}

// gcity waits until a known program reads its terminal, because it might type into the terminal before that.
func TestPresetsWaitForReadiness(t *testing.T) {
	for _, p := range Presets() {
		if p.ReadyPromptPrefix == "" && p.ReadyDelay == 0 {
			t.Errorf("preset %s is ready immediately", p.Name)
		}
	}
}

// Dialogs are always recognized, but answered only if the configuration requests it.
func TestDialogsAreAnsweredIfConfigured(t *testing.T) {
	c := load(t, `
[[agents]]
name = "silent"
provider = "claude"
[[agents]]
name = "answered"
provider = "claude"
emits_permission_warning = true
[[agents]]
name = "by-provider"
provider = "codex"
[[agents]]
name = "not-this-one"
provider = "codex"
emits_permission_warning = false
[[agents]]
name = "a-command"
start_command = "sh"
[[agents]]
name = "a-wrapper"
start_command = "sh wrapper"
emits_permission_warning = true
[[agents]]
name = "by-path"
start_command = "exec /opt/copilot --banner"
emits_permission_warning = true
[providers.codex]
emits_permission_warning = true
`)
	for i, want := range []string{"9, 0 answered", "9, 5 answered", "7, 5 answered",
		"7, 0 answered", "0, 0 answered", "24, 13 answered", "2, 1 answered"} {
		known, answered := c.ProgramOf(&c.Agents[i], nil).Dialogs, 0
		for _, d := range known {
			if d.Option != "" || len(d.Keys) > 0 {
				answered++
			}
		}
		if got := fmt.Sprintf("%d, %d answered", len(known), answered); got != want {
			t.Errorf("%s: got %s, want %s", c.Agents[i].Name, got, want)
		}
	}
	for _, p := range Presets() {
		if p.EmitsPermissionWarning {
			t.Errorf("preset %s answers questions by default", p.Name)
		}
	}
}

// FirstWord returns the program if it can be determined without a shell.
func TestFirstWord(t *testing.T) {
	for command, want := range map[string]string{"claude": "claude", " npx claude": "npx",
		"/opt/a b": "/opt/a", "A=1 x": "", "$BIN": "", "(x)": "", "~/x": "", "\"a b\"": "",
		"": "", "exec claude -x": "claude", "exec -a x claude": "", "cd /x && claude": ""} {
		if got := (&Provider{Command: command}).FirstWord(); got != want {
			t.Errorf("%q: got %q, want %q", command, got, want)
		}
	}
}

// env_remove is applied after env.
func TestEnvRemoved(t *testing.T) {
	c := load(t, `
[[agents]]
name = "a"
env = { A = "1", B = "2" }
[[patches.agents]]
name = "a"
env = { B = "3", C = "4" }
env_remove = ["A", "C", "D"]
`)
	if a := c.Agents[0]; !maps.Equal(a.Env, map[string]string{"B": "3"}) ||
		a.Origins["env.B"].Line != 7 || a.Origins["env.A"].Line != 0 {
		t.Errorf("%v, %v", a.Env, a.Origins)
	}
	if len(c.Warnings) != 1 || c.Warnings[0].String() !=
		`city.toml:8:14: patches.agents.env_remove: removes nothing: the env of "a" has no D` {
		t.Errorf("%v", c.Warnings)
	}
}

// A patch can create or change a pool.
func TestPoolPatched(t *testing.T) {
	const text = "[[agents]]\nname = \"a\"\n[[agents]]\nname = \"b\"\npool = { min = 2, max = 5, " +
		"check = \"echo 3\" }\n" +
		"[[patches.agents]]\nname = \"a\"\npool.max = 3\n[[patches.agents]]\nname = \"b\"\npool " +
		"= { max = %d }\n"
	c := load(t, fmt.Sprintf(text, 4))
	if diff := cmp.Diff([]Pool{{Max: 3, CheckTimeout: 30 * time.Second,
		DrainTimeout: 5 * time.Minute},
		{Min: 2, Max: 4, Check: "echo 3", CheckTimeout: 30 * time.Second,
			DrainTimeout: 5 * time.Minute}}, []Pool{*c.Agents[0].Pool, *c.Agents[1].Pool}); diff !=
		"" {
		t.Error(diff)
	}
	if m := c.Member(&c.Agents[0], 3); m.SessionName == "" || m.Name != "a-3" {
		t.Errorf("%+v", m)
	}
	_, err := Load(folder(t, fmt.Sprintf(text, 1)))
	var e *Error
	if !errors.As(err, &e) || e.Problems[0].String() != "city.toml:5:16: agents.pool.min: is 2, "+
		"but max is 1; min must not be greater than max" {
		t.Errorf("%v", err)
	}
}

// Explain shows the provider's values that an agent uses.
func TestExplainProgram(t *testing.T) {
	c := load(t, `
[workspace]
provider = "opencode"
[[agents]]
name = "a"
args = ["--model", "it's"]
env = { TEAM = "x" }
[[agents]]
name = "b"
provider = "claude"
ready_delay_ms = 50
[providers.opencode]
display_name = "Ours"
env = { API_KEY = "hunter2" }
`)
	for name, want := range map[string]string{"a": `
from the provider opencode, city.toml:12:1
  display_name = "Ours"                                # city.toml:13:16
  command = "opencode"                                 # preset opencode
  prompt_mode = "flag"                                 # preset opencode
  prompt_flag = "--prompt"                             # preset opencode
  ready_delay_ms = 30000                               # preset opencode
  ready_prompt_prefix = "▣ "                           # preset opencode
  process_names = ["opencode", "node", "bun"]          # preset opencode
  env.API_KEY = "***"                                  # city.toml:14:19
  env.OPENCODE_PERMISSION = "{\"*\":\"allow\"}"        # preset opencode

from the city
  workspace.provider = "opencode"  # city.toml:3:12
`, "b": `
from the provider claude, preset claude
  display_name = "Claude Code"                         # preset claude
  command = "claude"                                   # preset claude
  args = ["--dangerously-skip-permissions"]            # preset claude
  prompt_mode = "arg"                                  # preset claude
  ready_prompt_prefix = "❯ "                           # preset claude
  process_names = ["claude", "node"]                   # preset claude

from the city
`} {
		got, err := c.Explain(name)
		got = strings.Join(strings.Fields(got), " ")
		if err != nil || !strings.Contains(got, strings.Join(strings.Fields(want), " ")) {
			t.Errorf("%v\n%s\nhas no\n%s", err, got, want)
		}
	}
	if got, _ := c.Explain("a"); !strings.Contains(got, `command = "opencode --model 'it'\\''s'"`) {
		t.Error(got)
	}
}

// If two files patch the same provider, the last file takes precedence, key by key.
func TestProviderPatchesInTwoFiles(t *testing.T) {
	c, err := Load(folderOf(t, map[string]string{
		FileName: "include = [\"one.toml\"]\n[[agents]]\nname = \"a\"\n[[patches.providers]]\n" +
			"name = \"claude\"\ncommand = \"one\"\nprompt_mode = \"typed\"\n",
		"one.toml": "[[patches.providers]]\nname = \"claude\"\ncommand = \"two\"\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := c.ProviderFor(&Agent{}, "claude"); p.Command != "two" || p.PromptMode != "typed" {
		t.Errorf("%+v", p)
	}
}

// A shell command is not a template, so a field in it is reported.
func TestUnexpandedFields(t *testing.T) {
	dir := folderOf(t, map[string]string{
		FileName: "[workspace]\ntopology = \"t\"\nstart_command = \"{{.CityRoot}}/run\"\n",
		"t/topology.toml": `[topology]
name = "t"
schema = 1
[providers.own]
command = "{{.ConfigDir}}/run"
[[agents]]
name = "a"
work_query = "docker ps --format '{{.Names}}'"
pre_start = ["{{.ConfigDir}}/run"]
[[agents]]
name = "b"
start_command = "exec {{.ConfigDir}}/run"
pool = { max = 2, check = "cd {{.WorkDir}}" }
`,
	})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range c.Warnings {
		got = append(got, w.String())
	}
	const not = ": is not a template, so gcity does not replace "
	want := strings.Join([]string{
		"t/topology.toml:5:11: providers.own.command" + not + "{{.ConfigDir}}; use $GC_PACK_DIR instead",
		"city.toml:3:17: workspace.start_command" + not + "{{.CityRoot}}; use $GC_CITY_PATH instead",
		"t/topology.toml:12:17: agents.start_command" + not + "{{.ConfigDir}}; use $GC_PACK_DIR instead",
		"t/topology.toml:13:27: agents.pool.check" + not + "{{.WorkDir}}; use $GC_DIR instead",
	}, "\n")
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// A session_setup_script that is missing or cannot be executed is a warning, once for all members of a pool.
func TestSetupScriptWarnings(t *testing.T) {
	dir := folderOf(t, map[string]string{
		FileName: `[[agents]]
name = "a"
session_setup_script = "a.sh"
[[agents]]
name = "b"
session_setup_script = "{{.Name}}.sh"
pool = { max = 3 }
[[agents]]
name = "c"
session_setup_script = "c.sh"
`,
		"a.sh": "true\n", "c.sh": "true\n",
	})
	if err := os.Chmod(filepath.Join(dir, "c.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range c.Warnings {
		got = append(got, strings.ReplaceAll(w.String(), dir, "CITY"))
	}
	const key = ": agents.session_setup_script: "
	want := "city.toml:3:24" + key + "CITY/a.sh is not executable, so the agent's start fails; run " +
		"`chmod +x` on it\ncity.toml:6:24" + key + "cannot be read: open CITY/b-1.sh: no such file " +
		"or directory; the agent cannot be started"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}
