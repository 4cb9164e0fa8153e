package proc

import (
	"os/exec"
	"testing"

	"gcity/internal/eventually"
)

// A process is in the session that its environment names. For a process without a session, Actor looks up no agent.
func TestActor(t *testing.T) {
	for _, in := range []struct {
		environ []string
		want    string
		isAgent bool
	}{
		{[]string{"GC_SESSION_ID=s1", "GC_AGENT=other"}, "worker", true},
		{[]string{"GC_SESSION_ID=unknown", "GC_AGENT=other"}, "other", false},
		{[]string{"GC_AUTOMATION=nightly"}, "nightly", false},
		{[]string{"A=b"}, "operator", false},
	} {
		c := exec.Command("sleep", "1000")
		c.Env = in.environ
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Kill(); c.Wait() })
		agentOf := func(session string) string {
			if session == "" {
				t.Errorf("%q: looked up the agent of an empty session", in.environ)
			}
			return map[string]string{"s1": "worker"}[session]
		}
		eventually.True(t, "the process has its environment", func() bool {
			return HasEnv(Environ(c.Process.Pid), in.environ[0], false)
		})
		if name, isAgent := Actor(c.Process.Pid, agentOf); name != in.want || isAgent != in.isAgent {
			t.Errorf("%q: got %q, %t; want %q, %t", in.environ, name, isAgent, in.want,
				in.isAgent)
		}
	}
}
