package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// fault is a kind of disturbance. An error from inject means that a guarantee was broken.
type fault struct {
	name   string
	inject func(*state) error
}

func faults() []fault {
	return []fault{
		{"kill the controller", (*state).killController},
		{"kill the controller during its start", (*state).killStarting},
		{"stop the controller with SIGSTOP", (*state).freezeController},
		{"kill holders", (*state).killHolders},
		{"stop a holder with SIGSTOP", (*state).freezeHolder},
		{"kill agents", (*state).killAgents},
		{"edit: change a command", (*state).editCommand},
		{"edit: add or remove an agent", (*state).editAgents},
		{"edit: save a broken file", (*state).editBroken},
		{"edit: save many times", (*state).editStorm},
		{"files: damage a file while the controller is down", (*state).damage},
		{"files: remove the socket", (*state).removeSocket},
		{"disk: full", (*state).fillDisk},
		{"storm: commands", (*state).commandStorm},
	}
}

func (c *state) killController() error {
	c.pause(300 * time.Millisecond)
	return errors.Join(c.target.kill(), c.target.begin())
}

func (c *state) killStarting() error {
	for range 1 + c.rnd.IntN(5) {
		if err := c.target.kill(); err != nil {
			return err
		}
		if err := c.target.begin(); err != nil {
			return err
		}
		c.pause(120 * time.Millisecond)
	}
	return nil
}

func (c *state) freezeController() error {
	pid := c.target.ctl.Process.Pid
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	c.pause(3 * time.Second)
	return syscall.Kill(pid, syscall.SIGCONT)
}

func (c *state) someOf(pids []int) []int {
	c.rnd.Shuffle(len(pids), func(i, j int) { pids[i], pids[j] = pids[j], pids[i] })
	return pids[:min(len(pids), 1+c.rnd.IntN(3))]
}

func (c *state) killHolders() error {
	for _, pid := range c.someOf(c.target.holders()) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return nil
}

func (c *state) freezeHolder() error {
	name := c.target.name(c.rnd.IntN(c.target.agents))
	for _, pid := range c.target.holders() {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || filepath.Base(string(line[:max(0, len(line)-1)])) != "gc-faults-"+name {
			continue
		}
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return nil
		}
	}
	out, err := c.target.command("agent", "restart", name)
	if err != nil {
		return fmt.Errorf("restart %s: %w: %s", name, err, out)
	}
	return nil
}

func (c *state) killAgents() error {
	var pids []int
	for _, p := range c.target.processes() {
		pids = append(pids, p.pid)
	}
	for _, pid := range c.someOf(pids) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return nil
}

func (c *state) save(text string) error {
	tmp := c.target.file() + ".new"
	if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, c.target.file())
}

func (c *state) editCommand() error {
	c.target.spoken[c.rnd.IntN(c.target.agents)] = fmt.Sprintf("w%d", c.rnd.Uint32())
	return c.save(c.target.config())
}

func (c *state) editAgents() error {
	c.target.extra = c.rnd.IntN(3)
	return c.save(c.target.config())
}

func (c *state) editBroken() error {
	good := c.target.config()
	bad := []string{"", "[[agents]]\nname = 7\n", good[:len(good)/2] + "\x00",
		"[workspace]\nname = \"other\"\n", "# nothing\n"}
	if err := os.WriteFile(c.target.file(), []byte(bad[c.rnd.IntN(len(bad))]), 0o600); err != nil {
		return err
	}
	c.pause(2 * time.Second)
	return c.save(good)
}

func (c *state) editStorm() error {
	for range 20 {
		c.target.spoken[c.rnd.IntN(c.target.agents)] = fmt.Sprintf("s%d", c.rnd.Uint32())
		if err := c.save(c.target.config()); err != nil {
			return err
		}
		c.pause(20 * time.Millisecond)
	}
	return nil
}

func (c *state) damage() error {
	if err := c.target.kill(); err != nil {
		return err
	}
	names := []string{
		"known.json", "session-providers", "crash-history.json", "automations.json",
		"overrides.toml", "daemon.pid",
		"controller.sock",
	}
	path := filepath.Join(c.target.dir, ".gc", names[c.rnd.IntN(len(names))])
	ways := []func() error{
		func() error { return os.Truncate(path, int64(c.rnd.IntN(20))) },
		func() error { // opening a named pipe of an earlier fault would block
			return errors.Join(os.RemoveAll(path),
				os.WriteFile(path, []byte("\x00\xff garbage {"), 0o600))
		},
		func() error { return os.RemoveAll(path) },
		func() error { return errors.Join(os.RemoveAll(path), os.Mkdir(path, 0o700)) },
		func() error { return errors.Join(os.RemoveAll(path), syscall.Mkfifo(path, 0o600)) },
	}
	if err := ways[c.rnd.IntN(len(ways))](); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil // for example, a socket is not writable
	}
	return c.target.begin()
}

func (c *state) removeSocket() error {
	err := os.Remove(c.target.socket())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func (c *state) commandStorm() error {
	lines := [][]string{{"status"}, {"agent", "list"}, {"why", "agent-0"},
		{"agent", "peek", "agent-0"}, {"events", "--limit", "5"}}
	errs := make([]error, len(lines)*3)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			line := lines[i%len(lines)]
			if out, err := c.target.command(line...); err != nil {
				errs[i] = fmt.Errorf("gcity %v: %w: %s", line, err, out)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
