package e2e

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gcity/internal/eventually"
)

func onTmux(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	dir, err := os.MkdirTemp("", "gct-") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMUX_TMPDIR", dir)
	t.Setenv("GC_SESSION", "tmux")
	t.Cleanup(func() {
		sockets, err := filepath.Glob(filepath.Join(dir, "tmux-*", "*"))
		if err != nil {
			t.Error(err)
		}
		for _, s := range sockets {
			if answers(s) {
				t.Errorf("the server %s is still running after its city stopped", filepath.Base(s))
				exec.Command("tmux", "-S", s, "kill-server").Run()
			}
		}
		os.RemoveAll(dir)
	})
}

// In tmux, a crash is reported with its signal. If the tmux server dies, all agents restart without a crash. A stop
// leaves no process behind (L10).
func TestCityOnTmux(t *testing.T) {
	onTmux(t)
	c := newTown(t, 3, "")
	c.run()
	c.born(3)
	c.until("all run", func() bool { return c.count("running") == 3 })
	old := c.pids[agentName(0)]
	if err := syscall.Kill(old, syscall.SIGSEGV); err != nil {
		t.Fatal(err)
	}
	c.born(1)
	if c.pids[agentName(0)] == old {
		t.Error("not restarted")
	}
	if why := c.gcity(0, "why", agentName(0)); !strings.Contains(why, "SIGSEGV") {
		t.Errorf("want the agent's signal in the output of why:\n%s", why)
	}
	if doctor := c.gcity(0, "doctor"); !strings.Contains(doctor, "tmux -L gcity-") || strings.Contains(doctor, "bad ") {
		t.Errorf("output of doctor: got\n%s", doctor)
	}
	for _, pid := range c.parents("tmux: server") {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	c.born(3)
	c.until("all run again", func() bool { return c.count("running") == 3 })
	for _, a := range c.agents() {
		if a.Crashes != 0 {
			t.Errorf("%s: got %d crashes", a.Name, a.Crashes)
		}
	}
	c.gcity(0, "stop")
	c.nothingLeft()
}

// The tmux server exits after its last session has ended, or at the latest during the next stop (L10).
func TestTmuxServerExits(t *testing.T) {
	onTmux(t)
	t.Setenv("GC_SESSION", "")
	marks := func(c *town) string {
		data, err := os.ReadFile(filepath.Join(c.dir, ".gc", "session-providers"))
		if err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
		return string(data)
	}
	c := newTown(t, 0, "")
	swap := func(to string) {
		c.config("[workspace]\nname = \"swaps\"\n[daemon]\npatrol_interval = \"200ms\"\nshutdown_timeout = \"100ms\"\n[session]\nprovider = \"" + to + "\"\n" +
			"[[agents]]\nname = \"a\"\nstart_command = \"" + c.line("a", "") + "\"\n")
	}
	server := func() int {
		t.Helper()
		c.born(1)
		all := c.parents("tmux: server")
		if len(all) != 1 {
			t.Fatalf("the servers %v", all)
		}
		return all[0]
	}
	swap("tmux")
	ctl := c.begin()
	c.ctl = ctl
	first := server()
	swap("pty")
	c.born(1)
	c.until("the server has exited while the city runs", func() bool { return !lives(first) })
	c.until("no session provider is listed", func() bool { return marks(c) == "" })
	swap("tmux")
	second := server()
	swap("pty")
	c.born(1)
	ctl.Process.Kill()
	ctl.Wait()
	c.gcity(0, "stop") // the controller was killed while the agent moved to another provider
	c.until("the server has exited after a stop without a controller", func() bool { return !lives(second) })
	c.nothingLeft()

	swap("tmux")
	ctl = c.begin()
	c.ctl = ctl
	third := server()
	ctl.Process.Kill()
	ctl.Wait()
	if err := syscall.Kill(c.pids["a"], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.until("the agent is gone", func() bool { return !lives(c.pids["a"]) })
	// Simulate a controller that was killed after it recorded that tmux has no sessions.
	if err := os.Remove(filepath.Join(c.dir, ".gc", "session-providers")); err != nil {
		t.Fatal(err)
	}
	c.parentless(third)
	c.gcity(3, "stop")
	c.until("an unlisted server has exited after a stop", func() bool { return !lives(third) })
}

func (c *town) parentless(server int) {
	c.t.Helper()
	sockets, err := filepath.Glob(filepath.Join(os.Getenv("TMUX_TMPDIR"), "tmux-*", "gcity-*"))
	if err != nil || len(sockets) != 1 {
		c.t.Fatalf("sockets: got %q, %v", sockets, err)
	}
	if out, err := exec.Command("tmux", "-S", sockets[0], "kill-session").CombinedOutput(); err != nil {
		c.t.Fatalf("%v: %s", err, out)
	}
	if !lives(server) {
		c.t.Fatal("the server exited on its own")
	}
}

func (c *town) parents(name string) (servers []int) {
	seen := map[int]bool{}
	for _, pid := range c.pids {
		parent := stat(pid, 1)
		data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(parent), "comm"))
		if err == nil && strings.TrimSpace(string(data)) == name && !seen[parent] {
			seen[parent] = true
			servers = append(servers, parent)
		}
	}
	return servers
}

// tmux needs a while to detect that a server is gone.
func answers(socket string) bool {
	return !eventually.Poll(func() bool {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
}
