package tmux

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gcity/internal/proc"
)

// An agent gets an environment and a folder that are not UTF-8, also from a provider that has adopted its session.
func TestNotUTF8(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	dir := filepath.Join(city, "caf\xe9")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p := newProvider(t, city)
	for round := range 2 {
		s := spec(city, "a", "echo 'caf\xe9' >name; exec sleep 1000")
		s.Dir, s.Env = dir, append(s.Env, "X=caf\xe9")
		st := start(t, p, s)
		name := []byte(nil)
		until(t, "the agent's file", func() bool {
			name, _ = os.ReadFile(filepath.Join(dir, "name"))
			return len(name) > 0
		})
		if env := proc.Environ(st.PID); !proc.HasEnv(env, "X=caf\xe9", false) || string(name) != "caf\xe9\n" {
			t.Errorf("round %d: the agent has the environment %q and wrote %q", round, env, name)
		}
		p.Close()
		p = newProvider(t, city)
		if err := syscall.Kill(st.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if err := p.Acknowledge(t.Context(), "a", nextExit(t, p).ID); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, "name")); err != nil {
			t.Fatal(err)
		}
	}
}
