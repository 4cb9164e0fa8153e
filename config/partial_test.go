package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// LoadPartial returns nil only if an error might affect names or the store.
func TestLoadPartial(t *testing.T) {
	const good = "[workspace]\nname = \"town\"\n[beads]\nprovider = \"bd\"\n[[agents]]\nname = " +
		"\"ann\"\nstart_command = \"x\"\n"
	for text, legible := range map[string]bool{
		good + "idle_timout = \"5m\"\n":              true,
		good + "idle_timeout = \"soon\"\n":           true,
		good + "[daemon]\npatrol_interval = \"x\"\n": true,
		good + "[[agents]]\nname = \"ann\"\n":        false,
		good + "[[agents]]\nstart_command = \"y\"\n": false,
		good + "[bead]\nprovider = \"bd\"\n":         false,
		good + "start_command =\n":                   false,
		"[workspace]\nnmae = \"town\"\n":             false,
		"[beads]\nprovider = \"bdd\"\n":              false,
		// the size of the pool is unknown
		good + "[agents.pool]\nmaxx = 3\n":                                   false,
		good + "dri = \"yard\"\n":                                            false, // the agent's rig is unknown
		good + "rig = \"yard\"\n":                                            false,
		good + "[formulas]\nfolder = \"x\"\n":                                true,
		strings.Replace(good, "[beads]", "topology = \"staff\"\n[beads]", 1): false, // the topology might add agents
		strings.Replace(good, "[beads]", "topology = \"none\"\n[beads]", 1):  false,
		"": false,
	} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, FileName), text)
		if err := os.Mkdir(filepath.Join(dir, "staff"), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, "staff", "topology.toml"),
			"[topology]\nname = \"staff\"\nschema = 1\n[[agents]]\nname = \"bob\"\nscope = "+
				"\"city\"\nstart_command = \"x\"\nidle_timeout = \"soon\"\n")
		if _, err := Load(dir); err == nil {
			t.Fatalf("want an invalid configuration: %s", text)
		}
		c := Source{Dir: dir}.LoadPartial()
		if (c != nil) != legible {
			t.Errorf("%v, want %v:\n%s", c != nil, legible, text)
		}
		if c != nil && (c.Beads.Keeper() != "bd" || c.Workspace.Name != "town" ||
			len(c.Agents) != 1 || c.Agents[0].Name != "ann") {
			t.Errorf("%+v of\n%s", c, text)
		}
	}
}
