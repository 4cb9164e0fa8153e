package migrate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// What a city loses in the conversion is noted, and the rest keeps its meaning.
func TestLosses(t *testing.T) {
	const city = "-- pack.toml --\n[pack]\nname = \"x\"\nschema = 2\n" +
		"-- agents/a/prompt.md --\nWork.\n"
	for _, tt := range []struct {
		name, files   string
		want, without []string // parts of the report and the written files
	}{
		{
			"a worktree script would run on the rig itself", city +
				"-- city.toml --\n[[rigs]]\nname = \"app\"\npath = \"/srv/app\"\n" +
				"-- agents/a/agent.toml --\ndir = \"app\"\nwork_dir = \".gc/worktrees/a\"\n" +
				"pre_start = [\"tree.sh {{.WorkDir}}\", \"echo ready\"]\n",
			[]string{
				"agents/a/agent.toml:3:1: pre_start for a was omitted: it prepares {{.WorkDir}}",
				"which the members of a pool share",
				`pre_start = ["echo ready"]`,
			},
			[]string{"tree.sh"},
		},
		{
			"a patch adds a worktree script", city +
				"-- city.toml --\n[[rigs]]\nname = \"app\"\npath = \"/srv/app\"\n" +
				"[[patches.agent]]\nname = \"a\"\ndir = \"app\"\npre_start = [\"tree.sh {{ .WorkDir }}\"]\n" +
				"-- agents/a/agent.toml --\ndir = \"app\"\nwork_dir = \".gc/worktrees/a\"\n",
			[]string{"city.toml:7:1: pre_start for a was omitted"},
			[]string{"tree.sh"},
		},
		{
			"the working folder of a city's agent stays", city + "-- city.toml --\n" +
				"-- agents/a/agent.toml --\nwork_dir = \"trees/a\"\n" +
				"pre_start = [\"tree.sh {{.WorkDir}}\"]\n",
			[]string{`pre_start = ["tree.sh {{.WorkDir}}"]`, `dir = "trees/a"`},
			[]string{"was omitted"},
		},
		{
			"the options of a preset", city + "-- city.toml --\n[providers.claude]\n" +
				"base = \"builtin:claude\"\n" +
				"option_defaults = { permission_mode = \"plan\", model = \"sonnet\" }\n" +
				"[providers.codex.option_defaults]\neffort = \"high\"\n",
			[]string{
				`args = ["--permission-mode", "plan", "--model", "sonnet"]`,
				`args = ["--dangerously-bypass-approvals-and-sandbox", "-c", ` +
					`"model_reasoning_effort=high"]`,
			},
			[]string{"--dangerously-skip-permissions", "no equivalent"},
		},
		{
			"the city's own choices for an option", city + "-- city.toml --\n[providers.codex]\n" +
				"options_schema_merge = \"replace\"\n[[providers.codex.options_schema]]\n" +
				"key = \"permission_mode\"\ndefault = \"safe\"\n" +
				"[[providers.codex.options_schema.choices]]\nvalue = \"safe\"\n" +
				"flag_args = [\"--ask-for-approval\", \"never\"]\n",
			[]string{`args = ["--ask-for-approval", "never"]`},
			[]string{"--dangerously", "no equivalent"},
		},
		{
			"the city's own choices without an unrestricted one", city + "-- city.toml --\n" +
				"[[providers.claude.options_schema]]\nkey = \"permission_mode\"\n" +
				"default = \"safe\"\n[[providers.claude.options_schema.choices]]\n" +
				"value = \"safe\"\nflag_args = [\"--permission-mode\", \"default\"]\n" +
				"[[providers.codex.options_schema]]\nkey = \"permission_mode\"\n",
			[]string{
				"[providers.claude]\nargs = [\"--permission-mode\", \"default\"]\n",
				"[providers.codex]\nargs = []\n",
			},
			[]string{"--dangerously"},
		},
		{
			"replaced choices without a permission mode", city + "-- city.toml --\n" +
				"[providers.claude]\noptions_schema_merge = \"replace\"\n" +
				"[[providers.claude.options_schema]]\nkey = \"tone\"\n",
			[]string{"[providers.claude]\nargs = []\n"},
			[]string{"--dangerously"},
		},
		{
			"an unknown permission mode does not widen permissions", city + "-- city.toml --\n" +
				"[providers.claude]\noption_defaults = { permission_mode = \"odd\" }\n",
			[]string{
				"[providers.claude]\nargs = []\n",
				`permission_mode = "odd" for the provider claude is unknown to gcity, so its ` +
					`agents start without arguments for permissions`,
			},
			nil,
		},
		{
			"an agent's options extend those of its provider", city + "-- city.toml --\n" +
				"[workspace]\nprovider = \"claude\"\n[providers.claude]\n" +
				"option_defaults = { permission_mode = \"plan\" }\n" +
				"[agent_defaults]\noption_defaults = { model = \"opus-5\" }\n" +
				"-- agents/a/agent.toml --\noption_defaults = { effort = \"low\" }\n",
			[]string{
				`args = ["--permission-mode", "plan", "--effort", "low", ` +
					`"--model", "claude-opus-5"]`,
			},
			[]string{"--dangerously"},
		},
		{
			"a patch of an agent with options changes its provider", city + "-- city.toml --\n" +
				"[[rigs]]\nname = \"app\"\npath = \"/srv/app\"\n[[patches.agent]]\n" +
				"name = \"a\"\ndir = \"app\"\nprovider = \"codex\"\n" +
				"option_defaults = { model = \"o3\" }\n" +
				"-- agents/a/agent.toml --\ndir = \"app\"\n" +
				"option_defaults = { permission_mode = \"auto-edit\" }\n",
			[]string{
				`args = ["--ask-for-approval", "on-request", "--sandbox", "workspace-write", ` +
					`"--model", "o3"]`,
				`args = ["--permission-mode", "acceptEdits"]`,
			},
			[]string{"--dangerously"},
		},
		{
			"a provider takes the settings of its base", city + "-- city.toml --\n" +
				"[providers.claude]\nready_delay_ms = 7\nargs = [\"--verbose\"]\n" +
				"[providers.claude.env]\nA = \"1\"\n" +
				"[providers.own]\nbase = \"provider:claude\"\ncommand = \"wrapper\"\n",
			[]string{"[providers.own]\nargs = [\"--verbose\"]\ncommand = \"wrapper\"\n" +
				"ready_delay_ms = 7\nprompt_mode = \"arg\"\n", "[providers.own.env]\nA = \"1\"",
				"city.toml:3:1: args without permissions: the program asks before it acts; " +
					"Gas City adds --dangerously-skip-permissions\n"},
			[]string{`["--dangerously`, "no equivalent"},
		},
		{
			"hooks for a program for which gcity has none", city +
				"-- city.toml --\n[workspace]\n" +
				"install_agent_hooks = [\"claude\", \"amp\"]\n" +
				"-- agents/a/agent.toml --\ninstall_agent_hooks = [\"amp\"]\n",
			[]string{
				"city.toml:2:1: gcity cannot install hooks for amp; the item was omitted for " +
					"the agents",
				"agents/a/agent.toml:1:1: gcity cannot install hooks for amp; the item was " +
					"omitted for a",
				`install_agent_hooks = ["claude"]`,
			},
			[]string{`"amp"`},
		},
		{
			"queries of work that gcity keeps elsewhere", city + "-- city.toml --\n" +
				"-- agents/a/agent.toml --\nmax_active_sessions = 3\n" +
				"scale_check = \"bd ready --label=x | wc -l\"\n" +
				"work_query = \"x=$(bd ready); echo $x\"\nsling_query = \"abd {{.Odd}}\"\n",
			[]string{
				"agents/a/agent.toml:2:1: scale_check for a was omitted: it asks bd",
				"agents/a/agent.toml:3:1: work_query for a was omitted: it asks bd",
				"agents/a/agent.toml:4:1: sling_query for a was omitted: it uses {{.Odd}}",
			},
			[]string{"check = ", "_query = "},
		},
		{
			"queries of the store that stays", city + "-- city.toml --\n[beads]\n" +
				"provider = \"bd\"\n-- agents/a/agent.toml --\nmax_active_sessions = 3\n" +
				"scale_check = \"bd list --metadata gc.routed_to=a\"\n" +
				"work_query = \"bd ready --assignee={{.QualifiedName}}\"\n",
			[]string{
				"scale_check for a was omitted: it asks bd",
				`work_query = "bd ready --assignee=$GC_AGENT"`,
			},
			[]string{"check = "},
		},
		{
			"suspended on start", city + "-- city.toml --\n[[rigs]]\nname = \"app\"\n" +
				"path = \"/srv/app\"\nsuspended_on_start = true\nsuspended = false\n" +
				"-- agents/a/agent.toml --\nsuspended_on_start = true\n",
			[]string{"path = \"/srv/app\"\nsuspended = true\n",
				"name = \"a\"\nsuspended = true\n"},
			[]string{"no equivalent", "suspended_on_start"},
		},
		{
			"the limit of a city", city + "-- city.toml --\n[workspace]\n" +
				"max_active_sessions = 3\n",
			[]string{
				"city.toml:2:1: max_active_sessions in [workspace] has no equivalent; it is now " +
					"the max of each pool without a limit of its own",
				"max = 3",
			},
			nil,
		},
		{
			"a folder of an import that does not exist", city + "-- city.toml --\n[imports.p]\n" +
				"source = \"packs/none\"\n[[rigs]]\nname = \"app\"\npath = \"/srv/app\"\n" +
				"imports = [\"p\"]\n",
			[]string{
				"city.toml:1:1: the import p names ",
				"packs/none, which does not exist, so it was not converted",
				`city.toml:6:1: the city has no import "p"; it was omitted`,
				"agents: a",
			},
			nil,
		},
		{
			"a rig's list of the city's imports", city + "-- city.toml --\n[imports.p]\n" +
				"source = \"p\"\n[[rigs]]\nname = \"app\"\npath = \"/srv/app\"\n" +
				"imports = [\"p\"]\n-- p/pack.toml --\n[pack]\nname = \"p\"\nschema = 2\n" +
				"-- p/agents/hand/agent.toml --\nscope = \"rig\"\n",
			[]string{"app/hand"},
			nil,
		},
		{
			"prefixes that gcity rejects", city + "-- city.toml --\n[workspace]\n" +
				"name = \"safetyChain\"\n[[rigs]]\nname = \"one\"\npath = \"/srv/one\"\n" +
				"prefix = \"sc\"\n[[rigs]]\nname = \"two\"\npath = \"/srv/two\"\n" +
				"prefix = \"agent-diagnostics\"\n",
			[]string{
				`city.toml:6:1: the prefix "sc" of the rig one is now "sc2"`,
				`prefix = "sc2"`, `prefix = "agent-diagnostic"`,
			},
			nil,
		},
		{
			"a patch of an agent that the rig does not have", city + "-- city.toml --\n[[rigs]]\n" +
				"name = \"app\"\npath = \"/srv/app\"\n[[rigs.patches]]\nagent = \"a\"\n",
			[]string{
				`city.toml:4:1: no topology of the rig app has an agent "a"; the patch was omitted`,
			},
			[]string{"rigs.overrides"},
		},
		{
			"another program does not replace an unknown one", city + "-- city.toml --\n" +
				"[workspace]\nprovider = \"none\"\n" +
				"-- agents/a/agent.toml --\nprovider = \"odd\"\nsuspended = false\n",
			[]string{
				`city.toml:2:1: unknown provider "none", so the city is suspended; add a ` +
					"[providers.none] table, set provider, and remove suspended",
				`agents/a/agent.toml:1:1: unknown provider "odd" for a, so the agent is suspended`,
				"name = \"x\"\nsuspended = true\n", "name = \"a\"\nsuspended = true\n",
			},
			nil,
		},
		{
			"files below .gc that an agent names", city + "-- city.toml --\n" +
				"-- agents/a/agent.toml --\nprompt_template = \".gc/system/work.md\"\n" +
				"overlay_dir = \".gc/system/layer\"\n" +
				"-- .gc/system/work.md --\nWork hard.\n-- .gc/system/layer/NOTES --\nlayer\n" +
				"-- .gc/other --\nother\n",
			[]string{
				`prompt_template = "gc-files/system/work.md"`,
				"-- gc-files/system/work.md --\nWork hard.",
				"-- agent-overlays/a/NOTES --\nlayer",
			},
			[]string{"other"},
		},
		{
			"a message about the result names its final folder", city + "-- city.toml --\n" +
				"[[agent]]\nname = \"b\"\nprompt_template = \"//packs/{{x\"\n",
			[]string{"PARENT/city-gcity/packs/{{x"},
			[]string{".gcity-import-"},
		},
		{
			"the environment of all agents", city + "-- city.toml --\n[workspace]\n" +
				"provider = \"claude\"\nenv = { A = \"1\", B = \"2\", C = \"3\" }\n" +
				"[providers.claude.env]\nB = \"own\"\n" +
				"-- agents/a/agent.toml --\nenv = { C = \"own\" }\n",
			[]string{"[agents.env]\nA = \"1\"\nC = \"own\"\n"},
			[]string{"no equivalent"},
		},
		{
			"descriptions of a formula in files", city + "-- city.toml --\n" +
				"-- formulas/build.toml --\nformula = \"build\"\nvars.x = \"1\"\n[[steps]]\nid = \"a\"\n" +
				"title = \"A\"\ndescription_file = \"text/a.md\"\n[[steps]]\nid = \"b\"\n" +
				"title = \"B\"\nneeds = [\"a\"]\ndescription_file = \"text/b.md\"\n" +
				"-- formulas/text/a.md --\nDo \"this\".\nThen that.\n",
			[]string{
				`description = "Do \"this\".\nThen that.\n"`, `needs = ["a"]`,
				"[vars.x]\ndefault = \"1\"\n",
				"formulas/build.toml:11:1: the description cannot be read: ",
			},
			[]string{"was omitted", "no effect"},
		},
		{
			"a step that only a person may do", city + "-- city.toml --\n" +
				"-- formulas/merge.toml --\nformula = \"merge\"\n[[steps]]\nid = \"a\"\n" +
				"title = \"Approve\"\nassignee = \"human\"\n",
			[]string{
				"formulas/merge.toml:5:1: assignee in a step of the formula merge has no effect, " +
					"so any agent can do and close the step\nnote agents/a:",
			},
			nil,
		},
		{
			"orders of a pack that the city disables", city + "-- city.toml --\n[orders]\n" +
				"skip = [\"b\"]\n[imports.p]\nsource = \"p\"\n-- pack.toml --\n[pack]\n" +
				"name = \"x\"\nschema = 2\n[orders]\nskip = [\"a\"]\n" +
				"[[orders.overrides]]\nname = \"c\"\nenabled = false\n" +
				"-- p/pack.toml --\n[pack]\nname = \"p\"\nschema = 2\n" +
				"-- p/orders/a.toml --\n[order]\nexec = \"a\"\ntrigger = \"manual\"\n" +
				"-- p/orders/b.toml --\n[order]\nexec = \"b\"\ntrigger = \"manual\"\n" +
				"-- p/orders/c.toml --\n[order]\nexec = \"c\"\ntrigger = \"manual\"\n",
			[]string{
				`skip = ["a", "b"]`, "[[automations.overrides]]\nname = \"c\"\nenabled = false\n",
			},
			nil,
		},
		{
			"all tables of the city's provider count", city + "-- city.toml --\n" +
				"include = [\"more.toml\"]\n[imports.p]\nsource = \"p\"\n[providers.claude]\n" +
				"option_defaults = { model = \"opus\" }\n[[patches.providers]]\n" +
				"name = \"codex\"\noption_defaults = { permission_mode = \"auto-edit\" }\n" +
				"-- more.toml --\n[providers.claude]\nready_delay_ms = 3\n" +
				"option_defaults = { permission_mode = \"plan\" }\n" +
				"-- p/pack.toml --\n[pack]\nname = \"p\"\nschema = 2\n[providers.claude]\n" +
				"option_defaults = { effort = \"high\" }\nargs = [\"--verbose\"]\n",
			[]string{
				"[providers.claude]\nready_delay_ms = 3\nargs = [\"--permission-mode\", \"plan\", " +
					"\"--model\", \"opus\"]\n",
				"[providers.codex]\nargs = [\"--ask-for-approval\", \"on-request\", " +
					"\"--sandbox\", \"workspace-write\"]\n",
			},
			[]string{"--dangerously", "was omitted"},
		},
		{
			"a preset that a pack for new rigs changes", city + "-- city.toml --\n" +
				"[defaults.rig.imports.p]\nsource = \"p\"\n" +
				"-- p/pack.toml --\n[pack]\nname = \"p\"\nschema = 2\n[providers.codex]\nargs = [\"-y\"]\n",
			[]string{"[providers.codex]\nargs = [\"-y\"]\n"},
			nil,
		},
		{
			"the first of two packs with the same provider", city + "-- city.toml --\n" +
				"[workspace]\nprovider = \"claude\"\n" +
				"[imports.p]\nsource = \"p\"\n[imports.q]\nsource = \"q\"\n" +
				"-- agents/a/agent.toml --\noption_defaults = { effort = \"low\" }\n" +
				"-- p/pack.toml --\n[pack]\nname = \"p\"\nschema = 2\n" +
				"[providers.claude.option_defaults]\npermission_mode = \"plan\"\n" +
				"-- q/pack.toml --\n[pack]\nname = \"q\"\nschema = 2\n" +
				"[providers.claude.option_defaults]\npermission_mode = \"unrestricted\"\n",
			[]string{`args = ["--permission-mode", "plan", "--effort", "low"]`},
			nil,
		},
		{
			"arguments after those of the base", city + "-- city.toml --\n[providers.safe]\n" +
				"base = \"builtin:claude\"\nargs_append = [\"--add-dir\", \"x\"]\n",
			[]string{`args = ["--dangerously-skip-permissions", "--add-dir", "x"]`},
			[]string{"no equivalent"},
		},
		{
			"the command of a preset keeps the preset's options", city + "-- city.toml --\n" +
				"[providers.codex]\ncommand = \"codex\"\n[providers.own]\n" +
				"base = \"builtin:codex\"\ncommand = \"/opt/codex\"\n",
			[]string{
				"[providers.codex]\ncommand = \"codex --no-daemon -c allow_login_shell=false\"\n",
				"command = \"/opt/codex\"\n",
			},
			nil,
		},
		{
			"an agent's own arguments keep the options of its provider", city +
				"-- city.toml --\n[workspace]\nprovider = \"claude\"\n" +
				"[providers.claude.option_defaults]\npermission_mode = \"plan\"\n" +
				"-- agents/a/agent.toml --\nargs = [\"--verbose\"]\n",
			[]string{"args = [\"--verbose\", \"--permission-mode\", \"plan\"]\nprompt_template"},
			nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Convert(unpack(t, txtar.Parse([]byte(tt.files)).Files), "")
			if err != nil {
				t.Fatal(err)
			}
			got := shown(t, r)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("the result lacks %q", want)
				}
			}
			for _, without := range tt.without {
				if strings.Contains(got, without) {
					t.Errorf("the result contains %q", without)
				}
			}
			if t.Failed() {
				fmt.Println(got)
			}
		})
	}
}
