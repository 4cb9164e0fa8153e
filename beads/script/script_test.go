package script_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gcity/beads"
	"gcity/beads/beadstest"
	"gcity/beads/script"
)

// open opens the store of a script in a folder. The environment is no more than what gcity gives.
func open(t *testing.T, path, dir string) *script.Store {
	t.Helper()
	s, err := script.Open(script.Options{
		Script: path, Dir: dir, Prefix: "sc", Serve: true,
		Env: []string{"PATH=" + os.Getenv("PATH"), "BEADS_DIR=" + filepath.Join(dir, ".beads")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func folder(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("the script of this test needs jq, which is not on the PATH")
	}
	path, err := filepath.Abs("testdata/folder.sh")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A script of a few lines that keeps what it is given is a store with all the promises of one.
func TestSuite(t *testing.T) {
	path := folder(t)
	dirs := map[beads.Store]string{}
	beadstest.Run(t, beadstest.Harness{
		New: func(t *testing.T) beads.Store {
			dir := t.TempDir()
			s := open(t, path, dir)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			dirs[s] = dir
			return s
		},
		Again: func(t *testing.T, s beads.Store) beads.Store { return open(t, path, dirs[s]) },
		Few:   true,
	})
}
