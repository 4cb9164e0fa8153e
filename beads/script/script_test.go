package script_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gcity/beads"
	"gcity/beads/beadstest"
	"gcity/beads/script"
)

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
		t.Skip("needs jq, which is not on the PATH")
	}
	path, err := filepath.Abs("testdata/folder.sh")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A script gets the environment of this process without session variables.
func TestEnviron(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "keep")
	text := "#!/bin/sh\nenv >" + filepath.Join(dir, "environ") + "\n[ \"$1\" = list ] && echo '[]'\nexit 0\n"
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_PROFILE", "work")
	t.Setenv("GC_SESSION_ID", "of-a-session")
	t.Setenv("GC_RIG", "of-a-session")
	s, err := script.Open(script.Options{
		Script: path, Dir: dir, Prefix: "sc", Env: []string{"GC_CITY_PATH=/town", "GC_AGENT=me", "GC_RUN=of-a-session"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.List(t.Context(), beads.Query{}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "environ"))
	for _, want := range []string{"AWS_PROFILE=work\n", "GC_CITY_PATH=/town\n", "GC_AGENT=me\n"} {
		if err != nil || !strings.Contains(string(got), want) || strings.Contains(string(got), "of-a-session") {
			t.Errorf("want exactly one %q in %s (%v)", want, got, err)
		}
	}
}

type folderStore struct {
	*script.Store
	dir string
}

// A short script that stores its input passes the test suite for stores.
func TestSuite(t *testing.T) {
	path := folder(t)
	beadstest.Run(t, beadstest.Harness{
		New: func(t *testing.T) beads.Store {
			dir := t.TempDir()
			s := open(t, path, dir)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			return &folderStore{s, dir}
		},
		Reopen: func(t *testing.T, s beads.Store) beads.Store {
			return &folderStore{open(t, path, s.(*folderStore).dir), ""}
		},
		Slow: true, Parallel: true,
	})
}
