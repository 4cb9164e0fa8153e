package config

import (
	"os"
	"path/filepath"
	"testing"
)

// A mistake hides what a configuration says of work and of agents only where it may be about them.
func TestLegible(t *testing.T) {
	const good = "[workspace]\nname = \"town\"\n[beads]\nprovider = \"bd\"\n[[agents]]\nname = \"ann\"\nstart_command = \"x\"\n"
	for text, legible := range map[string]bool{
		good + "idle_timout = \"5m\"\n":              true,
		good + "idle_timeout = \"soon\"\n":           true,
		good + "[daemon]\npatrol_interval = \"x\"\n": true,
		good + "[[agents]]\nname = \"ann\"\n":        false, // which of them?
		good + "[[agents]]\nstart_command = \"y\"\n": false,
		good + "[bead]\nprovider = \"bd\"\n":         false,
		good + "start_command =\n":                   false,
		"[workspace]\nnmae = \"town\"\n":             false,
		"[beads]\nprovider = \"bdd\"\n":              false,
		"":                                           false,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir); err == nil {
			t.Fatalf("it is not refused: %s", text)
		}
		c := Source{Dir: dir}.Legible()
		if (c != nil) != legible {
			t.Errorf("%v, want %v:\n%s", c != nil, legible, text)
		}
		if c != nil && (c.Beads.Keeper() != "bd" || c.Workspace.Name != "town" || len(c.Agents) != 1 || c.Agents[0].Name != "ann") {
			t.Errorf("%+v of\n%s", c, text)
		}
	}
}
