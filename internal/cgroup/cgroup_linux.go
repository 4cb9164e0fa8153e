// Package cgroup limits the processors and the memory of groups of processes with control groups (cgroup v2), where
// systemd has delegated them to this program.
//
// # Concurrency
//
// A Tree may be used by one goroutine at a time. A Group does not change.
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

// Limits are what the processes of a group get together. Zero means unlimited.
type Limits struct {
	CPUs   float64 // processors
	Memory int64   // bytes
}

// Tree is a control group in which groups with limits can be made.
type Tree struct {
	dir string
}

// period is the time in microseconds for which a group gets its share of processor time.
const period = 100_000

// leaf is the group of this program within a scope that is delegated to it as a whole.
const leaf = "supervisor"

// Own returns the tree that is delegated to this program. The error says what is missing.
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
		return "", fmt.Errorf("cannot read the control group of this program: %w", err)
	}
	own := find(string(mounts), string(groups))
	if own == "" {
		return "", errors.New("this machine has no cgroup v2")
	}
	return own, nil
}

// at returns the tree for a program in the group own.
func at(own string, delegated func(string) bool) (*Tree, error) {
	t := &Tree{dir: filepath.Dir(own)}
	if !delegated(t.dir) {
		if !delegated(own) || !strings.HasSuffix(own, ".scope") {
			return nil, fmt.Errorf("the control group %s is not delegated by systemd; "+
				"docs/api.md says under Tenants how a service gets it", own)
		}
		t.dir = own
		if err := t.retreat(); err != nil {
			return nil, err
		}
	}
	return t, t.control()
}

// find returns the folder of the program's group, "" if it has no folder.
func find(mounts, groups string) string {
	group := ""
	for line := range strings.Lines(groups) {
		if path, ok := strings.CutPrefix(line, "0::"); ok {
			group = strings.TrimSpace(path)
			if strings.HasPrefix(group, "/..") { // outside of what this program can see
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

// delegated reports whether systemd has given a group to this program.
func delegated(dir string) bool {
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		value := make([]byte, 8)
		if n, err := unix.Getxattr(dir, name, value); err == nil && string(value[:n]) == "1" {
			return unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) == nil
		}
	}
	return false
}

// retreat moves all processes of a delegated scope to a group of their own: a group with controllers has no processes.
func (t *Tree) retreat() error {
	to := filepath.Join(t.dir, leaf)
	if err := os.Mkdir(to, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("cannot make a control group: %w", err)
	}
	data, err := os.ReadFile(filepath.Join(t.dir, "cgroup.procs"))
	if err != nil {
		return fmt.Errorf("cannot read a control group: %w", err)
	}
	for pid := range strings.FieldsSeq(string(data)) {
		err := write(to, "cgroup.procs", pid)
		if err != nil && !errors.Is(err, unix.ESRCH) { // it has ended
			return err
		}
	}
	return nil
}

// control makes the controllers known to the groups in the tree.
func (t *Tree) control() error {
	have, err := os.ReadFile(filepath.Join(t.dir, "cgroup.controllers"))
	if err != nil {
		return fmt.Errorf("cannot read the controllers: %w", err)
	}
	for _, name := range []string{"cpu", "memory"} {
		if !strings.Contains(" "+strings.TrimSpace(string(have))+" ", " "+name+" ") {
			return fmt.Errorf("the controller %s is not delegated to %s", name, t.dir)
		}
	}
	return write(t.dir, "cgroup.subtree_control", "+cpu +memory")
}

// Set makes a group, or changes its limits, and returns its folder.
func (t *Tree) Set(name string, l Limits) (string, error) {
	dir := filepath.Join(t.dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("cannot make a control group: %w", err)
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
