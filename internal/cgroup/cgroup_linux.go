// Package cgroup uses control groups (cgroup v2) to limit the processors and the memory of groups of processes. It
// needs a control group that systemd has delegated to this program.
//
// # Concurrency
//
// Only one goroutine may use a Tree at a time.
package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Limits contains the limits for all processes in a control group together. Zero means unlimited.
type Limits struct {
	CPUs   float64
	Memory int64 // bytes
}

// Tree is a control group below which groups with limits can be created.
type Tree struct {
	dir string
}

// of the processor limit, in microseconds
const period = 100_000

// the group of this program itself in a delegated scope
const leaf = "supervisor"

// Own returns the tree that systemd has delegated to this program, or an error that says what is missing.
func Own() (*Tree, error) {
	own, err := Dir()
	if err != nil {
		return nil, err
	}
	return at(own, delegated)
}

// Dir returns the folder of the control group that this program is in.
func Dir() (string, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", fmt.Errorf("cannot read the mounts: %w", err)
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", fmt.Errorf("cannot find this program's control group: %w", err)
	}
	own := find(string(mounts), string(groups))
	if own == "" {
		return "", errors.New("this machine has no cgroup v2")
	}
	return own, nil
}

func at(own string, delegated func(string) bool) (*Tree, error) {
	t := &Tree{dir: filepath.Dir(own)}
	if !delegated(t.dir) {
		if !delegated(own) || !strings.HasSuffix(own, ".scope") {
			return nil, fmt.Errorf("the control group %s is not delegated by systemd; "+
				"`gcity help api`, section Tenants, shows how to delegate it to a service", own)
		}
		t.dir = own
		if err := t.retreat(); err != nil {
			return nil, err
		}
	}
	return t, t.control()
}

func find(mounts, groups string) string {
	group := ""
	for line := range strings.Lines(groups) {
		if path, ok := strings.CutPrefix(line, "0::"); ok {
			group = strings.TrimSpace(path)
			if strings.HasPrefix(group, "/..") {
				return ""
			}
		}
	}
	for line := range strings.Lines(mounts) {
		fields, kind, _ := strings.Cut(line, " - ")
		parts := strings.Fields(fields)
		if len(parts) < 5 || !strings.HasPrefix(kind, "cgroup2 ") || group == "" {
			continue
		}
		if rel, err := filepath.Rel(parts[3], group); err == nil && !strings.HasPrefix(rel, "..") {
			return filepath.Join(parts[4], rel)
		}
	}
	return ""
}

func delegated(dir string) bool {
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		value := make([]byte, 8)
		if n, err := unix.Getxattr(dir, name, value); err == nil && string(value[:n]) == "1" {
			return unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) == nil
		}
	}
	return false
}

// retreat moves the group's processes to a child group, because the kernel does not allow processes in a group that
// enables controllers for its children.
func (t *Tree) retreat() error {
	to := filepath.Join(t.dir, leaf)
	if err := os.Mkdir(to, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("cannot create a control group: %w", err)
	}
	data, err := os.ReadFile(filepath.Join(t.dir, "cgroup.procs"))
	if err != nil {
		return fmt.Errorf("cannot read a control group: %w", err)
	}
	for pid := range strings.FieldsSeq(string(data)) {
		err := write(to, "cgroup.procs", pid)
		if err != nil && !errors.Is(err, unix.ESRCH) { // ESRCH: the process has exited
			return err
		}
	}
	return nil
}

func (t *Tree) control() error {
	have, err := os.ReadFile(filepath.Join(t.dir, "cgroup.controllers"))
	if err != nil {
		return fmt.Errorf("cannot read the control group's controllers: %w", err)
	}
	for _, name := range []string{"cpu", "memory"} {
		if !strings.Contains(" "+strings.TrimSpace(string(have))+" ", " "+name+" ") {
			return fmt.Errorf("the controller %s is not delegated to %s", name, t.dir)
		}
	}
	return write(t.dir, "cgroup.subtree_control", "+cpu +memory")
}

// Set creates a control group or changes its limits, and returns its folder.
func (t *Tree) Set(name string, l Limits) (string, error) {
	dir := filepath.Join(t.dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("cannot create a control group: %w", err)
	}
	cpu, memory := "max", "max"
	if l.CPUs > 0 {
		cpu = strconv.FormatInt(max(1000, int64(l.CPUs*period)), 10)
	}
	if l.Memory > 0 {
		memory = strconv.FormatInt(l.Memory, 10)
	}
	return dir, errors.Join(write(dir, "cpu.max", fmt.Sprintf("%s %d", cpu, period)),
		write(dir, "memory.max", memory))
}

func write(dir, file, text string) error {
	if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
		return fmt.Errorf("cannot write to a control group: %w", err)
	}
	return nil
}
