package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func (c *town) host() *viewer {
	c.t.Helper()
	v := c.terminal()
	c.ctl = v.cmd
	c.t.Cleanup(func() { // runs before the terminal is closed
		out, err := exec.Command(c.bin, "stop", "--city", c.dir).CombinedOutput()
		if e, ok := errors.AsType[*exec.ExitError](err); err != nil && !(ok && e.ExitCode() == 3) {
			c.t.Errorf("stop: %v\n%s", err, out)
		}
	})
	return v
}

// While the control room waits for a terminal, ctrl+c cancels only the wait. At other times, ctrl+c stops the city.
func TestInterruptWhileAttaching(t *testing.T) {
	t.Parallel()
	c := newTown(t, 1, "")
	v := c.host()
	pid := c.born(1).pid
	v.shows("1 running")
	holder := c.holder(agentName(0))
	if err := syscall.Kill(holder, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	c.until("the holder is stopped", func() bool {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", holder))
		return err == nil && bytes.Contains(data, []byte(") T "))
	})
	v.types("a")
	v.shows("ctrl+c cancels")
	v.cmd.Process.Signal(syscall.SIGINT)
	v.types("\x03")
	v.shows("canceled attaching to")
	if err := syscall.Kill(holder, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	v.types("?") // the room handles keys and interrupts again
	v.shows("━ Help ━")
	if !lives(pid) {
		t.Error("the agent has ended")
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		joined := c.terminal()
		joined.shows("1 running")
		joined.cmd.Process.Signal(s)
		joined.until("the control room has closed; the city keeps running")
		joined.ends(0)
	}
	v.cmd.Process.Signal(syscall.SIGINT)
	v.ends(0)
	if lives(pid) {
		t.Error("the city was not stopped")
	}
}

// After a user leaves a joined control room, a message says whether the city still runs.
func TestLeavingAJoinedRoom(t *testing.T) {
	t.Parallel()
	c := newTown(t, 1, "")
	c.host().shows("1 running")
	joined := c.terminal()
	joined.shows("1 running")
	joined.types("q")
	joined.until(" (" + c.dir + ") keeps running in another control room with 1 agent; `gcity` in its folder opens its")
	joined.ends(0)
	joined = c.terminal()
	joined.shows("1 running")
	c.gcity(0, "stop")
	joined.shows("the city stopped")
	joined.shows("stopped with the city")
	joined.types("q")
	joined.until("the city has stopped\r\n")
	joined.ends(0)
}

// A frozen terminal does not block the exit of a control room or the end of an attach.
func TestFrozenTerminals(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, "")
	c.lines(map[string]string{"big": c.line("big", "head -c 100000 /dev/zero | tr '\\0' x; ")})
	host := c.host()
	pid := c.born(1).pid
	host.shows("1 running")
	joined := c.terminal()
	joined.shows("1 running")

	host.eyes.Lock()
	defer host.eyes.Unlock()
	host.types("a")
	c.until("an attach's terminal is full", host.full)
	joined.eyes.Lock()
	defer joined.eyes.Unlock()
	c.until("a room's terminal is full", func() bool {
		joined.types("\x0c")
		return joined.full()
	})
	viewers := []*viewer{joined, host}
	for _, v := range viewers {
		v.cmd.Process.Signal(syscall.SIGTERM)
	}
	for _, v := range viewers {
		ended := make(chan error, 1)
		go func() { ended <- v.cmd.Wait() }()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Fatal("a frozen terminal blocks the exit of the control room")
		}
		if v.modes().Lflag&(unix.ICANON|unix.ECHO|unix.ISIG) != unix.ICANON|unix.ECHO|unix.ISIG {
			t.Errorf("modes of the terminal: got %+v", v.modes())
		}
	}
	if lives(pid) {
		t.Error("the city was not stopped")
	}
}

func (v *viewer) full() bool {
	v.c.t.Helper()
	n, err := unix.IoctlGetInt(int(v.tty.Fd()), unix.TIOCINQ)
	if err != nil {
		v.c.t.Fatal(err)
	}
	return n >= 4000
}

func (v *viewer) modes() *unix.Termios {
	v.c.t.Helper()
	m, err := unix.IoctlGetTermios(int(v.tty.Fd()), unix.TCGETS)
	if err != nil {
		v.c.t.Fatal(err)
	}
	return m
}
