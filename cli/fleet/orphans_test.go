package fleet

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/host"
	"gcity/cli/output"
)

// A city whose controller is still there, but does not respond, has not stopped with the supervisor.
func TestUnresponsiveCityHasNotStopped(t *testing.T) {
	t.Setenv("GC_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	e := &env.Env{Printer: output.Printer{Getenv: os.Getenv}}
	home, err := env.Home(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"slow", "quick"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(folder.StateDir(dir), 0o700); err != nil {
			t.Fatal(err)
		}
		text := "[workspace]\nname = \"" + name + "\"\n"
		if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := host.Register(t.Context(), home, dir); err != nil {
			t.Fatal(err)
		}
		if name == "slow" {
			l, err := net.Listen("unix", folder.SocketPath(dir))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close() // connections stay in the queue, because no goroutine accepts them
		}
	}
	got := notStopped(t.Context(), e)
	if strings.Contains(got, "quick") || !strings.HasPrefix(got, "slow: the city's controller does not respond") {
		t.Errorf("got %q", got)
	}
}
