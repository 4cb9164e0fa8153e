package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/agent"
	"gcity/config"
	"gcity/pool"
)

func TestJudgeGroups(t *testing.T) {
	pools := []agent.Pool{{Spec: pool.Spec{Name: "w", Min: 1, Max: 3}, Source: "city.toml:4:1"}}
	for _, c := range []struct {
		f           finding
		state, says string
	}{
		{judgeOverrides(nil, pools), "ok", "0 pools set by hand"},
		{judgeOverrides(map[string]int{"w": 3}, pools), "ok", "1 pool set by hand"},
		{judgeOverrides(map[string]int{"w": 4}, pools), "note", "w is set to 4, and its bounds are 1 to 3 (city.toml:4:1)"},
		{judgeOverrides(map[string]int{"gone": 1, "w": 1}, pools), "note", "there is no pool gone"},
		{judgeRigs([]agent.Rig{{Name: "demo"}}), "ok", "1 rig"},
		{judgeRigs([]agent.Rig{{Name: "demo"}, {Name: "lost", Problem: "its folder is missing", Source: "city.toml:9:1"}}), "bad", "lost (city.toml:9:1): its folder is missing"},
	} {
		if c.f.State != c.state || !strings.Contains(c.f.Detail, c.says) || (c.state != "ok" && c.f.Fix == "") {
			t.Errorf("%+v, want %s: %s", c.f, c.state, c.says)
		}
	}
}

// A file of overrides that cannot be read is said, with where it is.
func TestDamagedOverrides(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".gc"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, ".gc", config.OverridesFile)
	if err := os.WriteFile(file, []byte("[pools]\nw = \"many\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := checkOverrides(t.Context(), &patient{dir: dir}); f.State != "bad" || !strings.Contains(f.Detail, file) {
		t.Errorf("%+v", f)
	}
}
