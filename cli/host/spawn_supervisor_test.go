package host

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"testing"

	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/supervisor"
)

// A supervisor that was started in an agent's terminal does not inherit the agent's variables.
func TestWithoutCityEnv(t *testing.T) {
	got := withoutCityEnv([]string{"PATH=/bin", "GC_HOME=/h", "GC_AGENT=a", "GC_CITY_PATH=/c", "GC_SESSION=tmux", "GCITY=x"})
	if want := []string{"PATH=/bin", "GC_HOME=/h", "GCITY=x"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// A supervisor that holds its lock is running, even if its socket was removed.
func TestSupervisorWithoutSocket(t *testing.T) {
	environ := map[string]string{"GC_HOME": t.TempDir(), "XDG_RUNTIME_DIR": t.TempDir()}
	e := &env.Env{Printer: output.Printer{Getenv: func(k string) string { return environ[k] }}}
	home, err := env.Home(e)
	if err != nil {
		t.Fatal(err)
	}
	if _, r, err := DialSupervisor(e); !exit.IsStopped(err) || r.PID != 0 {
		t.Errorf("without a supervisor: pid %d, %v", r.PID, err)
	}
	hold, err := supervisor.Acquire(home, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Release()
	if _, r, err := DialSupervisor(e); !errors.Is(err, ErrNotAccepting) || exit.IsStopped(err) || r.PID != os.Getpid() {
		t.Errorf("without a socket: pid %d, %v", r.PID, err)
	}
}

// The error of a program that printed why it did not start does not begin with the exit status.
func TestNotStarted(t *testing.T) {
	ended := exec.Command("sh", "-c", "exit 78").Run()
	killed := exec.Command("sh", "-c", "kill -9 $$").Run()
	for _, c := range []struct {
		err           error
		printed, want string
	}{
		{ended, "\ngcity: no", "the controller did not start; it printed:\ngcity: no"},
		{ended, "", "the controller did not start: exit status 78"},
		{killed, "\nrunning", "the controller did not start: signal: killed\nrunning"},
		{context.Canceled, "\nslow", "the controller did not start: context canceled\nslow"},
	} {
		err := notStarted("the controller", c.err, c.printed)
		if err.Error() != c.want || !errors.Is(err, c.err) {
			t.Errorf("got %q, want %q", err, c.want)
		}
	}
	if code, _ := exit.Verdict(asChild(notStarted("x", ended, "\nno"))); code != exit.CodeConfig {
		t.Errorf("exit code %d", code)
	}
}
