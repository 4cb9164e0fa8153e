package sessiontest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gcity/internal/proc"
	"gcity/session"
)

// NotUTF8 checks that an agent gets an environment and a folder that are not UTF-8, also from a provider that has
// adopted its session.
func NotUTF8(t *testing.T, h Harness) {
	dir := filepath.Join(t.TempDir(), "caf\xe9")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p := h.New(t)
	for round := range 2 {
		s := h.Spec(t, p, "a")
		s.Command, s.Dir = "echo 'caf\xe9' >name; exec sleep 1000", dir
		s.Env = append(s.Env, "X=caf\xe9")
		st := Start(t, p, s)
		var name []byte
		wait(t, "the agent's file", func() bool {
			name, _ = os.ReadFile(filepath.Join(dir, "name"))
			return len(name) > 0
		})
		env := proc.Environ(st.PID)
		if !proc.HasEnv(env, "X=caf\xe9", false) || string(name) != "caf\xe9\n" {
			t.Errorf("round %d: the agent has the environment %q and wrote %q", round, env, name)
		}
		p = h.Adopt(t, p)
		endAndForget(t, p, st, filepath.Join(dir, "name"))
	}
}

func endAndForget(t *testing.T, p session.Provider, st session.Status, file string) {
	t.Helper()
	if err := syscall.Kill(st.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := p.(session.Acknowledger).Acknowledge(t.Context(), st.Name,
		NextExit(t, p).ID); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}
