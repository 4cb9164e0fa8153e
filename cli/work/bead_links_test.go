package work

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/cli/depot"
	"gcity/cli/env"
	"gcity/cli/output"
)

// The warning about a label for an unknown pool suggests the nearest pool.
func TestWarnPools(t *testing.T) {
	dir := t.TempDir()
	text := "[workspace]\nname = \"town\"\n[[agents]]\nname = \"loader\"\nstart_command = \"x\"\n[agents.pool]\nmax = 2\n"
	if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for label, want := range map[string]string{
		"pool:loder":  `no pool has the name "loder", so no agent will claim the bead; did you mean "pool:loader"?`,
		"pool:other":  "no pool has the name \"other\", so no agent will claim the bead\n",
		"pool:loader": "", "loder": "",
	} {
		var out strings.Builder
		e := &env.Env{Printer: output.Printer{Err: &out, Getenv: func(string) string { return "" }}}
		warnPools(e, &depot.Store{City: dir}, []string{label})
		if got := out.String(); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q", label, got)
		}
	}
}
