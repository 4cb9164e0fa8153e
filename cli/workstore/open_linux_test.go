package workstore

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/beads"
	"gcity/internal/eventually"
	"gcity/internal/shutdown"
)

// The store of a rig that is removed from the configuration does not keep the rig's files open.
func TestRemovedRigIsClosed(t *testing.T) {
	rig := shelf(t)
	city := Place{Dir: rig.City, Prefix: "ci", City: rig.City}
	places := []Place{city, rig}
	s := &Stores{Open: map[Place]Store{}, Places: func() []Place { return places },
		Logger: slog.New(slog.DiscardHandler)}
	use := func(name string) {
		t.Helper()
		store, err := s.Of(name)
		if err == nil {
			_, err = store.List(t.Context(), beads.Query{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	use("shop")
	if len(openFiles(t, rig.Dir)) == 0 {
		t.Fatal("the store has no open file")
	}
	use("")
	places = []Place{city}
	use("")
	eventually.True(t, "closed files", func() bool { return len(openFiles(t, rig.Dir)) == 0 },
		func() string { return strings.Join(openFiles(t, rig.Dir), ", ") })
	use("")
	s.Close(shutdown.New(time.Minute))
	if left := openFiles(t, rig.City); len(left) > 0 {
		t.Errorf("open after Close: %s", left)
	}
}

func openFiles(t *testing.T, dir string) (paths []string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range all {
		path, err := os.Readlink(filepath.Join("/proc/self/fd", fd.Name()))
		if err == nil && strings.HasPrefix(path, dir+string(filepath.Separator)) {
			paths = append(paths, path)
		}
	}
	return paths
}
