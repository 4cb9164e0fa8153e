package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever becomes another program all the time shows its environment to the last entry at every look.
func TestEnvironOfOneThatKeepsBecomingAnother(t *testing.T) {
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
			t.Fatalf("at look %d only %d bytes are seen", i, len(env))
		}
	}
}
