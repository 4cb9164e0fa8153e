package config

import (
	"fmt"
	"gcity/config/keys"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gcity/trust"
)

// Every text key names a program in Programs or is listed below as harmless.
func TestProgramsCoverEveryKey(t *testing.T) {
	programs := []string{
		"agents.start_command", "agents.provider", "agents.args", "agents.env", "agents.nudge",
		"agents.pre_start", "agents.session_setup",
		"agents.session_setup_script", "agents.session", "agents.prompt_flag", "agents.overlay_dir",
		"agents.work_query", "agents.sling_query",
		"agents.pool.check", "workspace.start_command", "workspace.provider", "providers.*.command",
		"providers.*.args", "providers.*.env",
		"providers.*.prompt_flag", "session.provider", "events.provider", "beads.provider",
		"watchdogs.nudge", "watchdogs.wake",
		"watchdogs.escalate_command", "session.k8s.kubeconfig", "session.k8s.pod",
	}
	others := strings.Fields(
		`agents.default_sling_formula agents.depends_on agents.description agents.dir agents.inject_fragments
		agents.install_agent_hooks agents.name agents.process_names agents.prompt_mode agents.prompt_template agents.ready_prompt_prefix
		agents.restart agents.scope agents.stop_signal agents.strategy api.bind api.hosts api.read_token_file api.token_file automations.overrides.check automations.overrides.gate
		automations.overrides.name automations.overrides.on automations.overrides.pool automations.overrides.rig
		automations.overrides.schedule automations.skip console.colour console.theme daemon.crash_history dolt.host formulas.dir include
		providers.*.display_name providers.*.process_names providers.*.prompt_mode providers.*.ready_prompt_prefix
		rigs.default_sling_target rigs.formulas_dir rigs.includes rigs.name rigs.path rigs.prefix rigs.topologies rigs.topology session.passthrough
		session.k8s.context session.k8s.cpu_limit session.k8s.cpu_request session.k8s.image session.k8s.mem_limit session.k8s.mem_request
		session.k8s.image_pull_policy session.k8s.namespace session.k8s.node_selector session.k8s.service_account session.k8s.tools_image topologies.*.path topologies.*.ref topologies.*.source watchdogs.escalate_to watchdogs.heartbeat
		watchdogs.name watchdogs.rig watchdogs.triage watchdogs.watches workspace.global_fragments workspace.includes
		workspace.install_agent_hooks workspace.name workspace.session_template workspace.topologies workspace.topology`)
	for _, k := range keys.City().ByPath {
		text := slices.Contains([]keys.Kind{keys.String, keys.Strings, keys.Env}, k.Kind)
		if strings.HasPrefix(k.Path, "patches.") || strings.HasPrefix(k.Path, "rigs.overrides.") {
			continue
		}
		if text && !slices.Contains(programs, k.Path) && !slices.Contains(others, k.Path) {
			t.Errorf("%s: if this key names a program, add it to Programs; otherwise add it to "+
				"this test",
				k.Path)
		}
	}
}

// A change to anything that is executed changes the checksum.
func TestProgramsHashEveryFile(t *testing.T) {
	const text = `[workspace]
name = "town"
[session]
provider = "exec:./VALUE-a"
[events]
provider = "exec:./VALUE-b"
[beads]
provider = "exec:./VALUE-c"
[providers.mine]
command = "VALUE-d"
args = ["VALUE-e"]
env = { HELPER = "VALUE-f" }
prompt_flag = "--VALUE-g"
[[agents]]
name = "one"
provider = "mine"
session = "exec:./VALUE-h"
nudge = "VALUE-i"
pre_start = ["VALUE-j"]
session_setup = ["VALUE-k"]
work_query = "VALUE-l"
sling_query = "VALUE-m {}"
[[agents]]
name = "two"
start_command = "./script VALUE-n"
session_setup_script = "script"
env = { LD_PRELOAD = "VALUE-o" }
overlay_dir = "over"
[agents.pool]
max = 1
check = "VALUE-p"
[[watchdogs]]
name = "w"
watches = "one"
every = "1h"
nudge = "VALUE-q"
wake = "VALUE-r"
escalate_command = "VALUE-s"
`
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sums := func(text string) map[string]bool {
		t.Helper()
		c, err := Parse(dir, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]bool{}
		for _, p := range c.Programs() {
			out[p.Sum()] = true
		}
		return out
	}
	write("script", "1")
	write("over/file", "1")
	before := sums(text)
	news := func(what, text string) {
		t.Helper()
		for sum := range sums(text) {
			if !before[sum] {
				return
			}
		}
		t.Errorf("%s changed, but no checksum changed", what)
	}
	for _, letter := range "abcdefghijklmnopqrs" {
		value := "VALUE-" + string(letter)
		news(value, strings.Replace(text, value, "other-"+string(letter), 1))
	}
	if len(sums(text+"[[agents]]\nname = \"three\"\ndescription = \"x\"\nsuspended = true\n"+
		"start_command = \"x\"\n")) != len(before)+1 {
		t.Error("the program of an additional agent is missing")
	}
	write("script", "2")
	news("a script", text)
	write("script", "1")
	write("over/file", "2")
	news("an overlay", text)
}

// The Kubernetes helper is a program of the city. A change of the kubeconfig or the pod file changes it.
func TestProgramsOfKubernetes(t *testing.T) {
	dir := t.TempDir()
	c, err := Parse(dir, []byte("[workspace]\nname = \"app\"\n[session]\n"+
		"provider = \"k8s\"\n[session.k8s]\nkubeconfig = \"kube\"\npod = \"pod.yaml\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	files := []string{filepath.Join(dir, "kube"), filepath.Join(dir, "pod.yaml")}
	seen := map[string]bool{}
	for _, path := range append([]string{""}, files...) {
		if path != "" {
			if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all := c.Programs()
		if len(all) != 1 || !slices.Equal(all[0].Files, files) || seen[all[0].Sum()] {
			t.Errorf("after a change of %q: %+v", path, all)
		}
		seen[all[0].Sum()] = true
	}
}

// Cities with Copilot that were trusted by versions whose preset had no prompt flag remain trusted.
func TestProgramsOfCopilot(t *testing.T) {
	before := trust.Program{What: "agent a", Line: "copilot --yolo", Sums: []string{""}}.Sum()
	for flag, same := range map[string]bool{"": true, "prompt_flag = \"-p\"\n": false} {
		c, err := Parse(t.TempDir(), []byte("[workspace]\nname = \"app\"\n[[agents]]\n"+
			"name = \"a\"\nprovider = \"copilot\"\n"+flag))
		if err != nil {
			t.Fatal(err)
		}
		all := c.Programs()
		if len(all) != 1 || (all[0].Sum() == before) != same {
			t.Errorf("with %q: %+v", flag, all)
		}
	}
}

// A setup script is a file of its program, and a change of any pool member's script changes the program.
func TestProgramsOfSetupScripts(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	text := "[workspace]\nname = \"app\"\n[[agents]]\nname = \"a\"\nstart_command = \"x\"\n" +
		"session_setup_script = \"" + other + "/{{.Name}}.sh\"\n[agents.pool]\nmax = 2\n"
	scripts := []string{filepath.Join(other, "a-1.sh"), filepath.Join(other, "a-2.sh")}
	var sums []string
	for _, written := range [][]string{scripts, scripts[1:]} {
		for _, path := range written {
			if err := os.WriteFile(path, fmt.Append(nil, len(written)), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		c, err := Parse(dir, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range c.Programs() {
			if p.What == "session_setup_script of a" && slices.Equal(p.Files, scripts) {
				sums = append(sums, p.Sum())
			}
		}
	}
	if len(sums) != 2 || sums[0] == sums[1] {
		t.Errorf("got the sums %v", sums)
	}
}

// The scripts of a template are the scripts of the command lines to which it expands. A script can be in the agent's
// working folder.
func TestProgramsOfTemplates(t *testing.T) {
	dir := t.TempDir()
	c, err := Parse(dir, []byte(`[workspace]
name = "app"
[[agents]]
name = "a"
dir = "desk"
start_command = "./agent.sh"
nudge = "./agent.sh"
pre_start = ["{{.ConfigDir}}/{{.Name}}.sh {{.Agent}}"]
session_setup = ["sh '{{.CityRoot}}/my setup.sh'"]
[agents.pool]
max = 2
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"agent a": {"desk/agent.sh"}, "pre_start of a": {"a-1.sh", "a-2.sh"},
		"session_setup of a": {"my setup.sh"}, "nudge of a": nil}
	if err := os.Mkdir(filepath.Join(dir, "desk"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, files := range want {
		for i, name := range files {
			files[i] = filepath.Join(dir, name)
			if err := os.WriteFile(files[i], nil, 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	check := func() {
		t.Helper()
		for _, p := range c.Programs() {
			if !slices.Equal(p.Files, want[p.What]) {
				t.Errorf("%s: got the files %v, want %v", p.What, p.Files, want[p.What])
			}
		}
	}
	check()
	// an agent's own worktree is not part of what a pull of the city changes
	if err := os.WriteFile(filepath.Join(dir, "desk", ".git"), []byte("gitdir: /x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want["agent a"] = nil
	check()
}

// A patch can set an escalate_command that runs a script in the folder of the topology that declares the watchdog.
func TestProgramsHashScriptOfPatchedWatchdog(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"p/topology.toml": "[topology]\nname = \"p\"\nschema = 1\n[[agents]]\nname = \"one\"\nstart_command = \"cat\"\n" +
			"[[watchdogs]]\nname = \"w\"\nwatches = \"one\"\nevery = \"1h\"\n",
		"p/esc.sh": "true\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Parse(dir, []byte("[workspace]\nname = \"town\"\ntopology = \"p\"\n"+
		"[[patches.watchdogs]]\nname = \"w\"\nescalate_command = \"$GC_PACK_DIR/esc.sh\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "p", "esc.sh")
	if !slices.ContainsFunc(c.Programs(), func(p trust.Program) bool { return slices.Contains(p.Files, script) }) {
		t.Errorf("the programs do not include %s", script)
	}
}

// A provider's script is a part of each program that can run it, also if the agent uses the first preset that is
// installed, or if a different topology declares the provider.
func TestProgramsHashScriptsOfProviders(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"p/topology.toml": "[topology]\nname = \"p\"\nschema = 1\nincludes = [\"../base\"]\n" +
			"[[agents]]\nname = \"a\"\nprovider = \"p\"\n",
		"base/topology.toml": "[topology]\nname = \"base\"\nschema = 1\n" +
			"[providers.p]\ncommand = 'exec \"$GC_PACK_DIR\"/run'\n",
		"base/run": "true\n", "claude.sh": "true\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Parse(dir, []byte("[workspace]\nname = \"town\"\ntopology = \"p\"\n[[agents]]\nname = \"b\"\n"+
		"[providers.claude]\ncommand = \"./claude.sh\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	for what, file := range map[string]string{"agent a": "base/run", "agent b with claude": "claude.sh"} {
		if !slices.ContainsFunc(c.Programs(), func(p trust.Program) bool {
			return p.What == what && slices.Contains(p.Files, filepath.Join(dir, file))
		}) {
			t.Errorf("%s does not include %s", what, file)
		}
	}
}
