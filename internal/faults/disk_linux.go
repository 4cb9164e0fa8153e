package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const ownMounts = "GCITY_FAULTS_MOUNTS"

const diskSize = "size=64m"

// withOwnMounts runs this program again in a new mount namespace. ok is false if the system does not permit that.
func withOwnMounts() (status int, ok bool) {
	unshare, err := exec.LookPath("unshare")
	if err != nil || os.Geteuid() != 0 || os.Getenv(ownMounts) != "" {
		return 0, false
	}
	if exec.Command(unshare, "--mount", "true").Run() != nil {
		return 0, false
	}
	cmd := exec.Command(unshare, append([]string{"--mount", "/proc/self/exe"}, os.Args[1:]...)...)
	cmd.Args[2] = os.Args[0]
	if self, err := os.Executable(); err == nil {
		cmd.Args[2] = self
	}
	cmd.Env = append(os.Environ(), ownMounts+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit, exited := errors.AsType[*exec.ExitError](err); exited {
		return exit.ExitCode(), true
	}
	return 0, err == nil
}

func (t *target) mountSmall() error {
	if os.Getenv(ownMounts) == "" {
		return nil
	}
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", t.dir, "tmpfs", 0, diskSize+",mode=0700"); err != nil {
		return fmt.Errorf("cannot mount a file system for the city: %w", err)
	}
	t.mounted = true
	return nil
}

func (c *state) fillDisk() error {
	if !c.target.mounted {
		return nil
	}
	path := filepath.Join(c.target.dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		return nil // the disk is already full
	}
	defer os.Remove(path)
	defer f.Close()
	page := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(page)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	c.pause(3 * time.Second)
	return nil
}
