package watch

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A watch reports when files are created, changed or removed, even in folders that are created later.
func TestFiles(t *testing.T) {
	for name, polling := range map[string]bool{"kernel": false, "polling": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file, folder := filepath.Join(dir, "gcity", "config.toml"),
				filepath.Join(dir, "gcity", "themes")
			pokes := Files(t.Context(), []string{file}, []string{folder},
				Options{Quiet: 20 * time.Millisecond, Poll: 50 * time.Millisecond,
					Polling: polling})
			poked := func(what string) {
				t.Helper()
				select {
				case <-pokes:
				case <-time.After(patience):
					t.Fatalf("%s: the change was not reported", what)
				}
			}
			write := func(path, text string) {
				t.Helper()
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			write(file, "a = 1")
			poked("a new file in a new folder")
			write(filepath.Join(folder, "mine.toml"), "x")
			poked("a new theme")
			write(filepath.Join(folder, "mine.toml"), "xy")
			poked("a changed theme")
			if err := os.Rename(filepath.Join(folder, "mine.toml"),
				filepath.Join(folder, "yours.toml")); err != nil {
				t.Fatal(err)
			}
			poked("a renamed theme")
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			poked("a removed file")
		})
	}
}
