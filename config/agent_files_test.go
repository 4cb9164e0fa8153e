package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gcity/prompt"
	"gcity/session"
)

func renderedPrompt(t *testing.T, a *Agent) string {
	t.Helper()
	if a.Prompt == nil {
		t.Fatalf("%s has no prompt", a.Qualified())
	}
	text, err := a.Prompt.Render(t.Context(), prompt.Values{AgentName: a.Qualified(), Env: a.Env})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestComposedPrompt(t *testing.T) {
	dir := folderOf(t, map[string]string{
		FileName: `include = ["team/more.toml"]
[workspace]
name = "app"
global_fragments = ["manners"]
[[agents]]
name = "a"
prompt_template = "prompts/a.md.tmpl"
inject_fragments = ["aim", "manners"]
env = { MODE = "quick" }
pool = { max = 3 }
`,
		"team/more.toml": "[[agents]]\nname = \"b\"\nprompt_template = " +
			"\"p.md.tmpl\"\n[[agents]]\nname = \"c\"\nprompt_template = \"//prompts/a.md.tmpl\"\n",
		"prompts/a.md.tmpl": "{{.AgentName}} {{.MODE}}",
		"prompts/shared/all.md.tmpl": `{{define "manners"}}be kind{{end}}{{define "aim"}}the ` +
			`city's{{end}}`,
		"team/p.md.tmpl":               "{{template \"aim\" .}}",
		"team/shared/aim.template.md":  "the team's",
		"team/shared/notes.md":         "{{ no fragment",
		"team/shared/.aim.md.tmpl.swp": "{{ no fragment",
	})
	// while a user edits a file, Emacs locks it with a dangling link
	lock := filepath.Join(dir, "prompts", "shared", ".#all.md.tmpl")
	if err := os.Symlink("user@host.123", lock); err != nil {
		t.Fatal(err)
	}
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"a quick\n\nbe kind\n\nthe city's", "the team's\n\nbe kind",
		"c \n\nbe kind"} {
		if got := renderedPrompt(t, &c.Agents[i]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if m := c.Member(&c.Agents[0], 2); m.Prompt != c.Agents[0].Prompt {
		t.Error("members of a pool have different prompts")
	}
	if want := "prompts/a.md.tmpl:1:1: {{.MODE}} is neither a prompt value nor set in the env of " +
		"c, so it stays empty"; len(c.Warnings) != 1 || c.Warnings[0].String() != want {
		t.Errorf("%v", c.Warnings)
	}
	for _, file := range []string{"prompts/a.md.tmpl", "prompts/shared/all.md.tmpl",
		"team/p.md.tmpl", "team/shared/aim.template.md"} {
		if !slices.Contains(c.Sources, filepath.Join(dir, file)) {
			t.Errorf("want %s in the sources %q", file, c.Sources)
		}
	}
}

// A broken prompt, fragment or overlay causes a warning and affects no other agent.
func TestPromptAndOverlayProblems(t *testing.T) {
	const failed = "; the agent cannot be started"
	agent := "[[agents]]\nname = \"a\"\n"
	for _, tt := range []struct{ text, prompt, want string }{
		{agent + "prompt_template = \"p\"\n", "a\nb {{if}}",
			"p:2:3: is not a valid template: missing value for if; the text is used verbatim " +
				"(used at city.toml:3:19)"},
		{agent + "prompt_template = \"p\"\n", "a\nask {{requester}}",
			"p:2:7: is not a valid template: function \"requester\" not defined; the " +
				"text is used " +
				"verbatim (used at city.toml:3:19)"},
		{agent + "prompt_template = \"p\"\n" + "[[agents]]\nname = \"b\"\n" +
			"prompt_template = \"p\"\n", "{{template \"x\" .}}",
			"p:1:13: uses the fragment \"x\", which does not exist; defined fragments: s; the " +
				"text is used " +
				"verbatim (used at city.toml:3:19)"},
		{agent + "prompt_template = \"q\"\n" + "[[agents]]\nname = \"b\"\n" +
			"prompt_template = \"q\"\n", "",
			"city.toml:3:19: agents.prompt_template: cannot be read: DIR/q: no such file " +
				"or directory" + failed},
		{agent + "prompt_template = \"../q\"\n", "", "city.toml:3:19: agents.prompt_template: " +
			"\"../q\" is outside the city's folder; use the absolute " +
			"path \"UP/q\" if this is intended" + failed},
		{agent + "prompt_template = \"p\"\ninject_fragments = [\"x\"]\n", "",
			"city.toml:4:20: agents.inject_fragments: fragment \"x\" not found; defined fragments: s; " +
				"the missing fragment is ignored"},
		{"[workspace]\nglobal_fragments = [\"x\"]\n" + agent + "prompt_template = \"p\"\n", "",
			"city.toml:2:20: workspace.global_fragments: fragment \"x\" not found; defined " +
				"fragments: s; the missing fragment is ignored"},
		{agent + "overlay_dir = \"o\"\n", "",
			"city.toml:3:15: agents.overlay_dir: DIR/o does not exist; nothing is copied into " +
				"the working folder"},
		{agent + "overlay_dir = \"p\"\n", "", "city.toml:3:15: agents.overlay_dir: cannot be " +
			"used: DIR/p cannot be opened: not a directory" + failed},
	} {
		dir := folderOf(t, map[string]string{FileName: tt.text, "p": tt.prompt,
			"shared/s.md.tmpl": "s"})
		c, err := Load(dir)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		want := strings.NewReplacer("DIR", dir, "UP", filepath.Dir(dir)).Replace(tt.want)
		if len(c.Warnings) != 1 || c.Warnings[0].String() != want {
			t.Errorf("%q:\n got %v\nwant %s", tt.text, c.Warnings, want)
		}
		for i := range c.Agents {
			a := &c.Agents[i]
			if (a.Fault != "") != strings.HasSuffix(want, failed) {
				t.Errorf("%q: got the fault of %s: %q", tt.text, a.Name, a.Fault)
			}
			if a.Fault == "" && a.PromptTemplate != "" && renderedPrompt(t, a) != tt.prompt {
				t.Errorf("%q: got the prompt of %s: %q", tt.text, a.Name, renderedPrompt(t, a))
			}
		}
	}
}

func TestHookProblems(t *testing.T) {
	for text, want := range map[string]string{
		"[[agents]]\nname = \"a\"\ninstall_agent_hooks = [\"claud\"]\n": "city.toml:3:23: " +
			"agents.install_agent_hooks: item 1: cannot install hooks for \"claud\"; did you " +
			"mean \"claude\"?",
		"[workspace]\ninstall_agent_hooks = [\"amp\"]\n": "city.toml:2:23: " +
			"workspace.install_agent_hooks: item 1: cannot install hooks for \"amp\"; use one of " +
			"claude, gemini, codex, opencode, copilot and cursor",
	} {
		if _, err := Load(folderOf(t, map[string]string{FileName: text})); err == nil ||
			err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestHooksOf(t *testing.T) {
	c := load(t, "[workspace]\ninstall_agent_hooks = [\"claude\"]\n[[agents]]\nname = \"a\"\n"+
		"[[agents]]\nname = \"b\"\ninstall_agent_hooks = [\"gemini\"]\n"+
		"[[agents]]\nname = \"c\"\nhooks_installed = true\n[[agents]]\nname = \"d\"\n"+
		"install_agent_hooks = []\n")
	for i, want := range [][]string{{"claude"}, {"gemini"}, nil, {}} {
		if got := c.HooksOf(&c.Agents[i]); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", c.Agents[i].Name, got, want)
		}
	}
}

func TestSessionOf(t *testing.T) {
	c := load(t, "[workspace]\nname = \"app\"\n[[agents]]\nname = \"a\"\n[[agents]]\nname = "+
		"\"p\"\ndir = \"demo\"\npool = { max = 2 }\n[[rigs]]\nname = \"demo\"\npath = \"/usr\"\n")
	for _, name := range []string{"a", "demo/p-2", "demo/other"} {
		if got, want := c.SessionOf(name), "gc-app-"+session.Encode(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
