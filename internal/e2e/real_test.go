package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// Real interactive programs can be peeked at, typed into, attached to and detached from. They keep running.
func TestRealPrograms(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"bash", "bc", "vi"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
	c := newTown(t, 0, "")
	c.lines(map[string]string{
		"bash": "exec bash --norc -i",
		"bc":   "exec bc -qi",
		"vi":   "exec vi -u NONE notes.txt",
	})
	c.run()
	c.until("all run", func() bool { return c.count("running") == 3 })
	before := c.agents()

	c.gcity(0, "agent", "nudge", "bash", "echo the answer is $((6*7))")
	c.sees("bash", "the answer is 42")
	c.gcity(0, "agent", "nudge", "bc", "2^64")
	c.sees("bc", "18446744073709551616")
	c.sees("vi", "notes.txt")
	c.gcity(0, "agent", "send-keys", "vi", "i", "from outside", "Escape")
	c.sees("vi", "from outside")
	c.gcity(0, "agent", "send-keys", "vi", ":w", "Enter")
	c.until("vi has written its file", func() bool {
		text, err := os.ReadFile(c.dir + "/notes.txt")
		return err == nil && string(text) == "from outside\n"
	})

	v := c.attach("bash")
	v.types("echo typed $((1000+337))\r")
	v.until("typed 1337")
	v.types("\x11") // ctrl+q
	v.ends(0)

	v = c.attach("vi")
	v.until("from outside")
	v.types("\x11")
	v.ends(0)

	for i, a := range c.agents() {
		if a.PID != before[i].PID || a.State != "running" {
			t.Errorf("%s: pid changed from %d to %d; its state is %s",
				a.Name, before[i].PID, a.PID, a.State)
		}
	}
}

func (c *town) sees(agent, text string) {
	c.t.Helper()
	var screen string
	defer func() {
		if c.t.Failed() {
			c.t.Logf("screen of %s:\n%s", agent, screen)
		}
	}()
	c.until(agent+" shows "+text, func() bool {
		screen = c.gcity(0, "agent", "peek", agent)
		return strings.Contains(screen, text)
	})
}

type viewer struct {
	c    *town
	cmd  *exec.Cmd
	tty  *os.File
	mu   sync.Mutex
	seen bytes.Buffer
	done chan struct{}
	eyes sync.Mutex // while locked, the output is not read
}

func (c *town) attach(agent string) *viewer { return c.terminal("agent", "attach", agent) }

// terminal runs a command line in a user's terminal (100x30), with the town's environment.
func (c *town) terminal(args ...string) *viewer {
	c.t.Helper()
	if c.person == nil {
		c.prefer("") // ignore the preferences of the user who runs the test
	}
	v := &viewer{c: c, cmd: exec.Command(c.bin, append(args, "--city", c.dir)...), done: make(chan struct{})}
	v.cmd.Env = append(append(os.Environ(), "TERM=xterm-256color"), c.person...)
	var err error
	if v.tty, err = pty.StartWithSize(v.cmd, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { v.cmd.Process.Signal(syscall.SIGKILL); v.tty.Close() })
	go func() {
		defer close(v.done)
		buf := make([]byte, 4096)
		for {
			v.eyes.Lock()
			n, err := v.tty.Read(buf)
			v.eyes.Unlock()
			v.mu.Lock()
			v.seen.Write(buf[:n])
			v.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return v
}

func (v *viewer) types(text string) {
	if _, err := v.tty.WriteString(text); err != nil {
		v.c.t.Fatal(err)
	}
}

func (v *viewer) until(text string) {
	v.c.t.Helper()
	defer func() {
		if v.c.t.Failed() {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.c.t.Logf("terminal: got %q", v.seen.String())
		}
	}()
	v.c.until("the attached terminal shows "+text, func() bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		return strings.Contains(v.seen.String(), text)
	})
}

func (v *viewer) ends(code int) {
	v.c.t.Helper()
	select {
	case <-v.done:
	case <-time.After(patience):
		v.c.t.Fatal("the viewer did not detach")
	}
	v.cmd.Wait()
	if got := v.cmd.ProcessState.ExitCode(); got != code {
		v.c.t.Errorf("exit code of the viewer: got %d\n%s", got, v.seen.String())
	}
}
