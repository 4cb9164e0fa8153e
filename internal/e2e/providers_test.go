package e2e

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// inNamespace runs a test twice: with agents in tmux, and with agents that have no terminal.
func inNamespace(t *testing.T, test func(t *testing.T)) {
	t.Run("tmux", func(t *testing.T) {
		onTmux(t)
		test(t)
	})
	t.Run("subprocess", func(t *testing.T) {
		t.Setenv("GC_SESSION", "subprocess")
		test(t)
	})
}

// killLoop passes with other providers (L10, L11).
func TestKillLoopWithOtherProviders(t *testing.T) {
	inNamespace(t, func(t *testing.T) { killLoop(t, 10, min(*kills, 12)) })
}

// A stop leaves no process behind, even if agents ignore signals.
func TestNothingIsLeftWithOtherProviders(t *testing.T) { inNamespace(t, nothingIsLeft) }

// A crash loop ends in quarantine. A release starts the agent again.
func TestCrashLoopWithOtherProviders(t *testing.T) { inNamespace(t, crashLoop) }

func crashLoop(t *testing.T) {
	c := newTown(t, 0, "")
	c.config("[workspace]\nname = \"falls\"\n[daemon]\nmax_restarts = 2\nrestart_backoff = \"10ms\"\nshutdown_timeout = \"100ms\"\n" +
		"[[agents]]\nname = \"falls\"\nstart_command = \"echo last words; exit 3\"\n" +
		"[[agents]]\nname = \"stands\"\nstart_command = \"" + c.line("stands", "") + "\"\n")
	c.run()
	c.born(1)
	quarantines := func() int { return strings.Count(c.gcity(0, "events", "--type", "agent.quarantined"), "falls") }
	c.until("it is in quarantine", func() bool { return c.count("quarantined") == 1 })
	if why := c.gcity(0, "why", "falls"); quarantines() != 1 || !strings.Contains(why, "crashed 3×") || !strings.Contains(why, "exit 3") {
		t.Errorf("got %d quarantine events; output of why:\n%s", quarantines(), why)
	}
	c.gcity(0, "agent", "release", "falls")
	c.until("the agent is in quarantine again", func() bool { return quarantines() == 2 && c.count("quarantined") == 1 })
	for _, a := range c.agents() {
		if a.Name == "stands" && (a.PID != c.pids["stands"] || syscall.Kill(a.PID, 0) != nil) {
			t.Errorf("the other agent's pid changed from %d to %d", c.pids["stands"], a.PID)
		}
	}
	c.gcity(0, "stop")
	c.nothingLeft()
}

// BenchmarkForks counts the new processes per patrol of 100 idle agents. Target: 0 with the built-in providers, 1 with
// tmux.
func BenchmarkForks(b *testing.B) {
	for _, provider := range []string{"pty", "subprocess", "tmux"} {
		b.Run(provider, func(b *testing.B) {
			if provider == "tmux" {
				if _, err := exec.LookPath("tmux"); err != nil {
					b.Skip("tmux is not installed")
				}
			}
			b.Setenv("GC_SESSION", provider)
			b.Setenv("TMUX_TMPDIR", b.TempDir())
			forksOfPatrols(b)
		})
	}
}

func forksOfPatrols(b *testing.B) {
	const patrols = 10
	c := newTown(b, 100, `patrol_interval = "1s"`)
	c.run()
	c.born(100)
	c.until("all run", func() bool { return c.count("running") == 100 })
	for range b.N {
		time.Sleep(2 * time.Second) // until the city has settled
		before := forks(b)
		time.Sleep(patrols * time.Second) // the length of the measurement
		b.ReportMetric(float64(forks(b)-before)/patrols, "forks/patrol")
	}
	b.ReportMetric(0, "ns/op")
	c.gcity(0, "stop")
}
