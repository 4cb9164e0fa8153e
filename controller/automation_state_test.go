package controller

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/config"
	"gcity/controller/memory"
)

// A state file with unusable content is copied to .bad before it is replaced. Its usable entries are kept.
func TestUnusableAutomationState(t *testing.T) {
	const well = `"well":{"born":"2026-01-01T00:00:00Z","on":"x.y","cursor":7}`
	for name, c := range map[string]struct {
		file, why string
		known     int
	}{
		"cut off": {`{"version":1,"automations":{` + well, "the file is damaged", 0},
		"of later": {`{"version":2,"automations":{` + well + `}}`,
			"the file has version 2, but this program reads only version 1", 0},
		"one is bad": {`{"version":1,"automations":{` + well + `,"bad":{"cursor":"x"}}}`, "bad: ",
			1},
		"as it is":    {`{"version":1,"automations":{` + well + `}}`, "", 1},
		"of no order": {"\x00\x00\x00", "the file is damaged", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t, two)
			path := filepath.Join(w.dir, ".gc", memory.AutomationsFile)
			if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg, err := config.Load(w.dir)
			if err != nil {
				t.Fatal(err)
			}
			known, _ := memory.ReadAutomations(w.dir) // New reports the error
			next, err := New(w.o, cfg)
			if err != nil {
				t.Fatal(err)
			}
			if err := memory.WriteAutomations(w.dir, []byte("{}")); err != nil {
				t.Fatal(err)
			}
			kept, err := os.ReadFile(path + ".bad")
			told := strings.Join(next.snap.Load().Degraded, "\n")
			if c.why == "" {
				if err == nil || told != "" {
					t.Errorf("kept %q, told %q", kept, told)
				}
			} else if string(kept) != c.file || !strings.Contains(told, c.why) ||
				!strings.Contains(told, ".gc/automations.json.bad") {
				t.Errorf("kept %q (%v), told %q", kept, err, told)
			}
			if n := len(known); n != c.known {
				t.Errorf("%d automations are remembered", n)
			}
		})
	}
}
