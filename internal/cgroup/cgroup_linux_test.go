package cgroup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	const mounts = "31 24 0:27 / /sys/fs/cgroup ro shared:9 - tmpfs tmpfs rw\n" +
		"32 31 0:28 / /sys/fs/cgroup/unified rw shared:10 - cgroup2 cgroup2 rw,nsdelegate\n"
	for groups, want := range map[string]string{
		"1:cpu:/x\n0::/user.slice/a.service\n": "/sys/fs/cgroup/unified/user.slice/a.service",
		"0::/\n":                               "/sys/fs/cgroup/unified",
		"1:cpu:/x\n":                           "",
		"0::/../out\n":                         "",
	} {
		if got := find(mounts, groups); got != want {
			t.Errorf("%q: got %q, want %q", groups, got, want)
		}
	}
	if got := find("", "0::/x\n"); got != "" {
		t.Errorf("without a mount: got %q", got)
	}
}

func folder(t *testing.T, controllers string, procs ...string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"cgroup.controllers": controllers,
		"cgroup.procs": strings.Join(procs, "\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func content(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestSet(t *testing.T) {
	dir := folder(t, "cpuset cpu io memory pids\n")
	tree, err := at(filepath.Join(dir, "supervisor"), func(d string) bool { return d == dir })
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, dir, "cgroup.subtree_control"); got != "+cpu +memory" {
		t.Errorf("controllers: %q", got)
	}
	for _, tt := range []struct {
		limits      Limits
		cpu, memory string
	}{
		{Limits{CPUs: 1.5, Memory: 1 << 30}, "150000 100000", "1073741824"},
		{Limits{CPUs: 0.001}, "1000 100000", "max"},
		{Limits{}, "max 100000", "max"},
	} {
		group, err := tree.Set("tenant-acme", tt.limits)
		if err != nil || group != filepath.Join(dir, "tenant-acme") {
			t.Fatal(group, err)
		}
		if cpu, memory := content(t, group, "cpu.max"), content(t, group, "memory.max"); cpu !=
			tt.cpu || memory != tt.memory {
			t.Errorf("%+v: %q %q", tt.limits, cpu, memory)
		}
	}
}

// The processes of a delegated scope move to a separate group.
func TestScope(t *testing.T) {
	dir := folder(t, "cpu memory", "12", "34")
	scope := filepath.Join(dir, "run.scope")
	if err := os.Rename(folder(t, "cpu memory", "12", "34"), scope); err != nil {
		t.Fatal(err)
	}
	if _, err := at(scope, func(d string) bool { return d == scope }); err != nil {
		t.Fatal(err)
	}
	// a plain file keeps only the last write
	if got := content(t, scope, "supervisor", "cgroup.procs"); got != "34" {
		t.Errorf("moved %q", got)
	}
}

func TestErrors(t *testing.T) {
	yes, no := func(string) bool { return true }, func(string) bool { return false }
	if _, err := at("/x/a.service", no); err == nil ||
		!strings.Contains(err.Error(), "not delegated by systemd") {
		t.Error(err)
	}
	dir := folder(t, "cpu pids")
	if _, err := at(filepath.Join(dir, "supervisor"), yes); err == nil ||
		!strings.Contains(err.Error(), "the controller memory") {
		t.Error(err)
	}
	if _, err := at(filepath.Join(t.TempDir(), "x"), yes); err == nil {
		t.Error("a folder that is not a control group was accepted")
	}
}
