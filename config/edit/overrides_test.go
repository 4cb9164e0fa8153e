package edit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOverrides(t *testing.T) {
	dir := t.TempDir()
	want := func(m map[string]int) {
		t.Helper()
		got, err := Overrides(dir)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, got); diff != "" {
			t.Error(diff)
		}
	}
	set := func(pool string, size int) {
		t.Helper()
		if err := SetOverride(dir, pool, &size); err != nil {
			t.Fatal(err)
		}
	}
	want(nil)
	set("demo/worker", 3)
	set("app", 0)
	set("demo/worker", 4)
	want(map[string]int{"demo/worker": 4, "app": 0})
	for _, name := range []string{"app", "demo/worker", "never"} {
		if err := SetOverride(dir, name, nil); err != nil {
			t.Fatal(err)
		}
	}
	want(nil)
	if _, err := os.Stat(filepath.Join(dir, ".gc", OverridesFile)); !os.IsNotExist(err) {
		t.Errorf("the empty file was not removed: %v", err)
	}
}

// An overrides file that cannot be parsed is not overwritten.
func TestInvalidOverridesFile(t *testing.T) {
	for _, text := range []string{"[pools", "[pools]\na = \"three\"\n", "[pool]\na = 3\n"} {
		dir := t.TempDir()
		path := filepath.Join(dir, ".gc", OverridesFile)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		n := 1
		for _, err := range []error{func() error { _, err := Overrides(dir); return err }(), SetOverride(dir, "a", &n)} {
			if err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%q: %v", text, err)
			}
		}
		if kept, err := os.ReadFile(path); err != nil || string(kept) != text {
			t.Errorf("%q: file changed to %q, %v", text, kept, err)
		}
	}
}
