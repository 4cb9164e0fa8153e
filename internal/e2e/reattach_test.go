package e2e

import (
	"syscall"
	"testing"
)

// An attached terminal outlives its controller and reconnects to the same agent. If the agent has ended, the command
// exits with a message for users (L11).
func TestAttachOutlivesTheController(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, "")
	c.lines(map[string]string{"shell": "echo shell $$ >births; exec sh -i"})
	kill := func() {
		t.Helper()
		if err := c.ctl.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		c.ctl.Wait()
	}
	c.ctl = c.begin()
	pid := c.born(1).pid
	// an earlier terminal would connect directly to the holder
	c.until("it runs", func() bool { return c.answers() && c.count("running") == 1 })
	v := c.attach("shell")
	v.types("echo begun $((1000+1))\r")
	v.until("begun 1001")
	kill()
	v.until("this city's controller has exited; attaching to shell again")
	v.types("echo pid $$ goes on $((1000+2))\r")
	v.until("goes on 1002")
	v.types("\x11")
	v.until("detached from shell, which keeps running")
	v.ends(0)
	if !lives(pid) {
		t.Error("the agent has ended")
	}

	c.ctl = c.begin()
	c.until("the next controller runs the agent", func() bool { return c.answers() && c.count("running") == 1 })
	v = c.attach("shell")
	v.types("echo again $((1000+3))\r")
	v.until("again 1003")

	// also a controller that leaves its agents running, for example before an upgrade
	if err := c.ctl.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	v.until("this city's controller has exited; attaching to shell again")
	c.ctl.Wait()
	v.types("echo past $((1000+4))\r")
	v.until("past 1004")
	v.types("\x11")
	v.until("detached from shell, which keeps running")
	v.ends(0)

	c.ctl = c.begin()
	c.until("the third controller runs the agent", func() bool { return c.answers() && c.count("running") == 1 })
	v = c.attach("shell")
	v.types("echo third $((1000+5))\r")
	v.until("third 1005")
	if err := v.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	holder := c.holder("shell")
	kill()
	if err := syscall.Kill(holder, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.until("the agent is gone", func() bool { return !lives(pid) })
	if err := v.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	v.until("and the terminal of shell cannot be reached")
	v.until("`gcity status` shows what is running")
	v.ends(3)
	c.gcity(3, "stop")
	c.nothingLeft()
}
