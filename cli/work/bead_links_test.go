package work

import (
	"strings"
	"testing"

	"gcity/cli/depot"
	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/config"
)

// The warning about a label for an unknown pool suggests the nearest pool.
func TestWarnPools(t *testing.T) {
	dir := t.TempDir()
	c, err := config.Parse(dir, []byte("[workspace]\nname = \"town\"\n[[agents]]\nname = \"loader\"\nstart_command = \"x\"\n[agents.pool]\nmax = 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	for label, want := range map[string]string{
		"pool:loder":  `no pool has the name "loder", so no agent will claim the bead; did you mean "pool:loader"?`,
		"pool:other":  "no pool has the name \"other\", so no agent will claim the bead\n",
		"pool:loader": "", "loder": "",
	} {
		var out strings.Builder
		e := &env.Env{Printer: output.Printer{Err: &out, Getenv: func(string) string { return "" }}}
		warnPools(e, &depot.Store{City: dir, Config: c}, []string{label})
		if got := out.String(); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q", label, got)
		}
	}
}

// The warning about an assignee names the agent with a similar name, and accepts all other names, because people also
// have work.
func TestWarnAssignee(t *testing.T) {
	dir := t.TempDir()
	c, err := config.Parse(dir, []byte("[workspace]\nname = \"town\"\n[[agents]]\nname = \"loader\"\nstart_command = \"x\"\n"+
		"[[agents]]\nname = \"w\"\nstart_command = \"x\"\n[agents.pool]\nmin = 1\nmax = 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"loder": `no agent has the name "loder"; did you mean "loader"?`, "loader": "", "maria": "", "w-1": "", "w-2": "", "": "",
	} {
		var out strings.Builder
		e := &env.Env{Printer: output.Printer{Err: &out, Getenv: func(string) string { return "" }}}
		warnAssignee(e, &depot.Store{City: dir, Config: c}, name)
		if got := out.String(); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
