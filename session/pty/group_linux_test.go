package pty

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/internal/cgroup"
)

// An agent starts in the configured control group or, if that does not exist, in the group of this process.
func TestSessionsStartInTheirGroup(t *testing.T) {
	own, err := cgroup.Dir()
	if err != nil {
		t.Skip(err)
	}
	group := filepath.Join(own, fmt.Sprintf("gcity-test-%d", os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skip("cannot create a control group: ", err)
	}
	p := newProvider(t, t.TempDir())
	t.Cleanup(func() {
		if err := os.Remove(group); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { endAll(t, p) })
	p.launcher.group = func() string { return group }
	in := func(name string) bool {
		st := start(t, p, spec(p.files.city, name, "exec sleep 1000"))
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", st.PID))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(data), "/"+filepath.Base(group)+"\n")
	}
	if !in("limited") {
		t.Error("the agent is not in its group")
	}
	p.launcher.group = func() string { return filepath.Join(group, "none") }
	if in("unlimited") {
		t.Error("the agent is in a missing control group")
	}
}
