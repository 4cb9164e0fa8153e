package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// In a folder without a city, gcity offers to create one and opens its control room.
func TestFirstContact(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, "")
	file := filepath.Join(c.dir, "city.toml")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(c.dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	v := c.terminal()
	v.until("[Y/n]")
	v.until("found: a git repository")
	v.types("n\r")
	v.ends(2)
	if _, err := os.Stat(file); err == nil {
		t.Fatal("city.toml was written although the answer was no")
	}
	v = c.terminal()
	v.until("[Y/n]")
	v.types("y\r")
	v.shows("1 Agents")
	v.shows("1 running")
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "[[agents]]") {
		t.Fatalf("city.toml: %v", err)
	}
	v.types("q")
	v.shows("keep the city running in the background")
	c.until("the city stops", func() bool {
		v.types("sy") // a dialog ignores keys that arrive right after it opens
		return !c.answers()
	})
	v.ends(0)
}
