package files

import (
	"os"
	"path/filepath"
	"testing"
)

// The hash of a folder changes with each kind of change to an entry.
func TestHashFolder(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	link := func(target string) func() error {
		return func() error {
			_ = os.Remove(at("link"))
			return os.Symlink(target, at("link"))
		}
	}
	write := func(path, text string, mode os.FileMode) func() error {
		return func() error {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				return err
			}
			return os.Chmod(path, mode)
		}
	}
	seen := map[string]string{}
	for _, step := range []struct {
		name   string
		change func() error
	}{
		{"a file", write(at("run"), "x", 0o600)},
		{"other contents", write(at("run"), "y", 0o600)},
		{"an executable file", write(at("run"), "y", 0o700)},
		{"a link to a file", link(filepath.Join(other, "file"))},
		{"the file behind the link", write(filepath.Join(other, "file"), "z", 0o600)},
		{"a link to a folder", link(other)},
		{"a link to another folder", link(filepath.Dir(other))},
		{"a link to nothing", link(filepath.Join(other, "none"))},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		hash, more := HashFolder(dir)
		if before, same := seen[hash]; same || more {
			t.Errorf("%s: same hash as %q, %t", step.name, before, more)
		}
		seen[hash] = step.name
	}
	before, _ := HashFolder(dir)
	if err := write(at(".run.swp"), "x", 0o600)(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at(".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := write(at(".git/HEAD"), "x", 0o600)(); err != nil {
		t.Fatal(err)
	}
	if hash, _ := HashFolder(dir); hash != before {
		t.Error("the hash depends on .git or on a swap file")
	}
}
