package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestCheckDir(t *testing.T) {
	gc, outside := hostile(t)
	at := func(name string) string { return filepath.Join(gc, name) }
	if err := errors.Join(os.MkdirAll(at("sessions/a"), 0o700), os.WriteFile(at("file"), nil, 0o600),
		os.Symlink(at("sessions"), at("link")), os.Symlink(outside, at("sessions/b"))); err != nil {
		t.Fatal(err)
	}
	for name, safe := range map[string]bool{
		"sessions/a": true, "sessions/missing": true, "missing/a": true,
		"file": false, "sessions/b": false, "link": false, "link/a": false, "link/missing": false,
	} {
		err := CheckDir(at(name))
		if _, unsafe := errors.AsType[*UnsafeError](err); unsafe == safe || (err == nil) != safe {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
