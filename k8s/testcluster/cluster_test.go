package main

import (
	"os"
	"path/filepath"
	"testing"
)

// A mount that a container has removed in the meantime is not an error.
func TestUnmountTwice(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "missing")} {
		if err := unmount(path); err != nil {
			t.Error(err)
		}
	}
}
