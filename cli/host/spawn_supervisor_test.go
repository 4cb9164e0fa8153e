package host

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"testing"

	"gcity/cli/exit"
)

// A supervisor that was started in an agent's terminal does not inherit the agent's variables.
func TestWithoutCityEnv(t *testing.T) {
	got := withoutCityEnv([]string{"PATH=/bin", "GC_HOME=/h", "GC_AGENT=a", "GC_CITY_PATH=/c", "GC_SESSION=tmux", "GCITY=x"})
	if want := []string{"PATH=/bin", "GC_HOME=/h", "GCITY=x"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
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
