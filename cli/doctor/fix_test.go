package doctor

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/cli/folder"
	"gcity/internal/disk"
)

// doctor --fix does not change a healthy folder, not even modification times.
func TestFixChangesNothing(t *testing.T) {
	dir := t.TempDir()
	gc := filepath.Join(dir, ".gc")
	if err := disk.MakePrivate(gc); err != nil {
		t.Fatal(err)
	}
	lock, err := disk.TryLock(filepath.Join(gc, "controller.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if err := folder.HideFromGit(gc); err != nil {
		t.Fatal(err)
	}
	if err := folder.LinkBinary(dir); err != nil {
		t.Fatal(err)
	}
	young, old := ".gcity-ABCDEFGHIJKLMNOPQRSTUVWXYZ",
		[]string{"events.jsonl", ".mine.toml", "known.json123456789", "gc.12"}
	for _, name := range append(old, young) {
		if err := os.WriteFile(filepath.Join(gc, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range old {
		if err := os.Chtimes(filepath.Join(gc, name), time.Time{},
			time.Now().Add(-48*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	before := listing(t, dir)
	if m := repairCity(dir); len(m.Done)+len(m.Left) != 0 {
		t.Errorf("%+v", m)
	}
	if after := listing(t, dir); !slices.Equal(before, after) {
		t.Errorf("files before %q, after %q", before, after)
	}
	if f := checkLeftovers(t.Context(), &Subject{dir: dir}); f.State != "ok" {
		t.Errorf("%+v", f)
	}
}

func listing(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		out = append(out, strings.Join([]string{path, info.Mode().String(),
			info.ModTime().String()}, " "))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// doctor --fix reports what it cannot fix, and fixes the rest.
func TestFixReportsWhatItCannotFix(t *testing.T) {
	dir := t.TempDir()
	gc := filepath.Join(dir, ".gc")
	if err := disk.MakePrivate(gc); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(gc, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{".gc/controller.lock": "", ".gc/known.json": "{",
		"city.toml": "nonsense"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := repairCity(dir)
	if len(m.Done) != 2 || len(m.Left) != 1 ||
		!strings.Contains(m.Left[0], "known.json is damaged: gcity will rewrite the file once "+
			"the configuration is valid") {
		t.Errorf("%+v", m)
	}
	if data, err := os.ReadFile(folder.ConfigCachePath(dir)); err != nil || string(data) != "{" {
		t.Errorf("%q, %v", data, err)
	}
}

// A city without .gc/bin has never had a controller, so its link to gcity is not missing.
func TestBrokenLink(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "bin")
	link := filepath.Join(bin, "gc")
	if got := brokenLink(bin, false); got != "" {
		t.Errorf("without a folder: %q", got)
	}
	if got := brokenLink(bin, true); got != link+" is missing" {
		t.Errorf("without a folder, while a controller runs: got %q", got)
	}
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := brokenLink(bin, false); got != link+" is missing" {
		t.Errorf("without a link: %q", got)
	}
	if err := os.Symlink(filepath.Join(bin, "none"), link); err != nil {
		t.Fatal(err)
	}
	if got := brokenLink(bin, false); got != link+" is a broken link" {
		t.Errorf("without a target: %q", got)
	}
}
