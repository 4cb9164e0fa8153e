package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gcity/config"
)

// Each agent, including each pool member, gets a prompt with its own values. Only the contents of the agent's prompt
// and overlay count as drift.
func TestInstructionsOfMembers(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files(t, dir, map[string]string{"p.md.tmpl": "{{.AgentName}} {{.TemplateName}} {{.IssuePrefix}} {{.WorkDir}} {{.A}} {{.SlingQuery}}", "o/x": "x", config.FileName: `
[[agents]]
name = "w"
start_command = "sh"
dir = "demo"
prompt_template = "p.md.tmpl"
overlay_dir = "o"
install_agent_hooks = ["claude"]
env = { A = "$HOME" }
pool = { max = 2 }
[[rigs]]
name = "demo"
path = "/usr"
prefix = "dm"
[[agents]]
name = "plain"
start_command = "sh"
`})
	host := Host{Environ: []string{"HOME=/h"}}
	all := planned(t, reload(t, dir), host)
	for name, want := range map[string]string{"demo/w-1": "demo/w-1 w dm /usr /h gc sling demo/w {}", "demo/w-2": "demo/w-2 w dm /usr /h gc sling demo/w {}"} {
		w := all[name]
		if w.Prompt.Draft == nil || w.Prompt.Mode != "arg" {
			t.Fatalf("%s: %+v", name, w.Prompt)
		}
		if got, err := w.Prompt.Draft.Template.Render(t.Context(), w.Prompt.Draft.Values); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, want)
		}
		if w.Overlay != filepath.Join(dir, "o") || !slices.Equal(w.Hooks, []string{"claude"}) {
			t.Errorf("%s: %q %q", name, w.Overlay, w.Hooks)
		}
	}
	if w := all["plain"]; w.Prompt.Draft != nil || w.Overlay != "" || len(w.Hooks) > 0 || len(w.Spec.Fingerprint.Fields) != 1 {
		t.Errorf("%+v, %v", w.Prompt, w.Spec.Fingerprint.Fields)
	}
	was := all["demo/w-2"].Spec.Fingerprint
	for _, change := range []struct{ file, text, drift string }{
		{"shared/unused.md.tmpl", "x", ""},
		{"p.md.tmpl", "x", "prompt_template changed"},
		{"o/y", "y", "prompt_template changed, overlay_dir changed"},
	} {
		files(t, dir, map[string]string{change.file: change.text})
		drift := was.Drift(planned(t, reload(t, dir), host)["demo/w-2"].Spec.Fingerprint)
		slices.Sort(drift)
		want := strings.Split(change.drift, ", ")
		slices.Sort(want)
		if strings.Join(drift, ", ") != strings.Join(want, ", ") {
			t.Errorf("%s: got %q, want %q", change.file, drift, want)
		}
	}
}

func files(t *testing.T, dir string, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
