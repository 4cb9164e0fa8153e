package sqlite

import (
	"path/filepath"
	"testing"

	"gcity/beads"
	"gcity/beads/beadstest"
)

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir, "gc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestSuite(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"wal", "delete"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			store := func(t *testing.T, dir string) beads.Store {
				s := open(t, dir)
				s.journal = func(string) (string, error) { return mode, nil }
				return s
			}
			beadstest.Run(t, beadstest.Harness{
				Parallel: true, New: func(t *testing.T) beads.Store { return store(t, t.TempDir()) },
				Reopen: func(t *testing.T, s beads.Store) beads.Store { return store(t, dir(s.(*Store))) },
			})
		})
	}
}

func dir(s *Store) string { return filepath.Dir(s.folder) }
