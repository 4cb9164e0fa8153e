package doctor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gcity/internal/eventually"
)

// The folders of sessions in pods are missing on this machine, but were not deleted.
func TestHiddenSessionsInPods(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hold"), []byte("sleep 100\n:\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(dir, "gone")
	for _, flags := range []uintptr{syscall.CLONE_NEWPID, 0} {
		want := gone
		if flags != 0 {
			want = ""
		}
		cmd := exec.Command("sh", "hold", gone)
		cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Cloneflags: flags, Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Skip("PID namespaces are not available: ", err)
		}
		t.Cleanup(func() {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			_ = cmd.Wait()
		})
		agent := 0
		eventually.True(t, "the agent runs", func() bool {
			list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
			if err == nil {
				agent, _ = strconv.Atoi(strings.TrimSpace(string(list)))
			}
			return agent != 0
		})
		if got, moved := elsewhere(agent); got != want || moved != "" {
			t.Errorf("got %q and %q, want %q", got, moved, want)
		}
		if want == "" {
			continue
		}
		if err := os.Mkdir(gone, 0o700); err != nil {
			t.Fatal(err)
		}
		if deleted, got := elsewhere(agent); deleted != "" || got != dir {
			t.Errorf("after another folder has replaced it: got %q and %q, want %q", deleted, got, dir)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(gone, 0o700); err != nil {
			t.Fatal(err)
		}
		if got, moved := elsewhere(agent); got != want || moved != "" {
			t.Errorf("after it was replaced and deleted: got %q and %q, want %q", got, moved, want)
		}
	}
}
