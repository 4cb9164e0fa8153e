package workstore

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/internal/eventually"
	"gcity/internal/shutdown"
)

// The store of a rig that is removed from the configuration does not keep the rig's files open.
func TestRemovedRigIsClosed(t *testing.T) {
	rig := shelf(t)
	own := Place{Dir: rig.City, Prefix: "ci", City: rig.City}
	places, rev := []Place{own, rig}, uint64(1)
	s := &Stores{Open: map[Place]Store{}, Places: func() ([]Place, uint64) { return places, rev },
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
	places, rev = []Place{own}, 0
	use("")
	if len(openFiles(t, rig.Dir)) == 0 {
		t.Fatal("an older configuration has closed the store")
	}
	rev = 2
	use("")
	eventually.True(t, "closed files", func() bool { return len(openFiles(t, rig.Dir)) == 0 },
		func() string { return strings.Join(openFiles(t, rig.Dir), ", ") })
	use("")
	places = append(places, rig)
	s.Close(shutdown.New(time.Minute))
	for _, p := range places { // one store was open, the other was not
		if _, err := s.Of(p.Rig); !errors.Is(err, errClosed) {
			t.Errorf("after Close: got the store of %q, %v", p.Rig, err)
		}
	}
	if left := openFiles(t, rig.City); len(left) > 0 {
		t.Errorf("open after Close: %s", left)
	}
}

// A script is not shut down while the controller runs, because the store of another place might use it.
func TestScriptOfRemovedPlace(t *testing.T) {
	script := &closedStore{}
	former := Place{Prefix: "old", By: city.WorkStore{Provider: "exec:./store.sh"}}
	s := &Stores{Open: map[Place]Store{former: script}, Logger: slog.New(slog.DiscardHandler),
		Places: func() ([]Place, uint64) { return []Place{{Dir: t.TempDir(), Prefix: "new"}}, 1 }}
	if _, err := s.Of(""); err != nil {
		t.Fatal(err)
	}
	s.closing.Wait()
	if script.closed {
		t.Error("the script was shut down")
	}
	if s.Close(shutdown.New(time.Minute)); !script.closed {
		t.Error("the script was not shut down at the end")
	}
}

type closedStore struct {
	Store
	closed bool
}

func (s *closedStore) Close() error {
	s.closed = true
	return nil
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
