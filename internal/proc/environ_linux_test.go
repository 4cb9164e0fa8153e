package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gcity/internal/eventually"
)

// An environment is not mistaken for empty during an exec.
func TestHiddenEnvironment(t *testing.T) {
	for at, want := range map[[3]int]bool{{0, 0, 0}: true, {0, 900, 900}: true, {0, 900, 910}: true,
		{100, 900, 910}: true, {100, 900, 900}: false} {
		stat := fmt.Sprintf("7 (a) R 1 7 7 0 -1 4194304 56 0 0 0 0 0 0 0 22 2 1 0 248 256 318 "+
			"184 %d 500 700 0 0 0 0 0 0 1 0 0 17 0 0 0 0 0 0 600 610 620 890 900 %d %d 0",
			at[0], at[1], at[2])
		if st, ok := parseStat([]byte(stat)); !ok || st.mayHide(7) != want {
			t.Errorf("%v: %+v, %v", at, st, ok)
		}
	}
	c := exec.Command("sleep", "1000")
	c.Env = []string{}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	eventually.True(t, "the process is known to have no environment", func() bool {
		st, err := ReadStat(c.Process.Pid)
		return err != nil || !st.mayHide(c.Process.Pid)
	})
	if env := Environ(c.Process.Pid); len(env) > 0 {
		t.Errorf("a process without an environment: got %q", env)
	}
}

// If a process calls exec repeatedly, every read returns its whole environment.
func TestEnvironDuringExecs(t *testing.T) {
	script := filepath.Join(t.TempDir(), "again")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec \"$0\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(script)
	c.Env = []string{"A=" + strings.Repeat("x", 6000), "LAST=1"}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	for i := range 3000 {
		if env := Environ(c.Process.Pid); !HasEnv(env, "LAST=1", false) {
			t.Fatalf("attempt %d: got only %d bytes", i, len(env))
		}
	}
}
