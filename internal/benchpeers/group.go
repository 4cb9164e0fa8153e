package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// groupPrefix is the beginning of a control group's name; the program's pid follows.
const groupPrefix = "gcity-bench-"

const killLimit = 30 * time.Second

type groups struct{ dir string }

func newGroups() (*groups, error) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	parent, ok := ownGroup(string(mounts), string(own))
	if !ok {
		return nil, errors.New("cannot measure processor time: no cgroup2 is mounted")
	}
	sweep(parent)
	dir := filepath.Join(parent, groupPrefix+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		const scope = "systemd-run --user --scope -p Delegate=yes"
		return nil, fmt.Errorf("%w: run as root or with `%s`", err, scope)
	}
	return &groups{dir}, nil
}

func ownGroup(mounts, own string) (string, bool) {
	for line := range strings.Lines(mounts) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[2] != "cgroup2" {
			continue
		}
		for line := range strings.Lines(own) {
			if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
				return filepath.Join(fields[1], path), true
			}
		}
	}
	return "", false
}

func sweep(parent string) {
	old, _ := filepath.Glob(filepath.Join(parent, groupPrefix+"*")) // the pattern is valid
	for _, dir := range old {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), groupPrefix))
		if err != nil || syscall.Kill(pid, 0) == nil {
			continue
		}
		(&groups{dir}).remove()
	}
}

func (g *groups) remove() {
	children, _ := filepath.Glob(filepath.Join(g.dir, "*", "cgroup.procs")) // the pattern is valid
	for _, child := range children {
		_ = (&group{filepath.Dir(child)}).remove()
	}
	_ = os.Remove(g.dir)
}

type group struct{ dir string }

func (g *groups) create(name string) (*group, error) {
	dir := filepath.Join(g.dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	return &group{dir}, nil
}

func (g *group) start(cmd *exec.Cmd) error {
	dir, err := os.Open(g.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd()), Setsid: true}
	return cmd.Start()
}

func (g *group) cpu() (time.Duration, error) {
	usec, err := field(filepath.Join(g.dir, "cpu.stat"), "usage_usec")
	return time.Duration(usec) * time.Microsecond, err
}

func (g *group) pids() []int {
	data, err := os.ReadFile(filepath.Join(g.dir, "cgroup.procs"))
	if err != nil {
		return nil
	}
	var pids []int
	for line := range strings.Lines(string(data)) {
		if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (g *group) empty() bool {
	n, err := field(filepath.Join(g.dir, "cgroup.events"), "populated")
	return errors.Is(err, os.ErrNotExist) || err == nil && n == 0
}

func (g *group) waitEmpty(ctx context.Context) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !g.empty() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%d processes are left: %w", len(g.pids()), context.Cause(ctx))
		}
	}
	return nil
}

func (g *group) remove() error {
	if err := os.WriteFile(filepath.Join(g.dir, "cgroup.kill"), []byte("1"), 0); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), killLimit)
	defer cancel()
	if err := g.waitEmpty(ctx); err != nil {
		return err
	}
	return os.Remove(g.dir)
}

func field(path, name string) (int64, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	n, ok := parseField(string(data), name)
	if !ok {
		return 0, fmt.Errorf("%s has no %s", path, name)
	}
	return n, nil
}

func parseField(text, name string) (int64, bool) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) >= 2 && strings.TrimSuffix(fields[0], ":") == name {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
