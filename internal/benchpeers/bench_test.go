package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/internal/eventually"
)

// TestMain makes the test binary act as a peer.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "floor" {
		os.Exit(report(floor(os.Args[2])))
	}
	if len(os.Args) > 1 && os.Args[1] == "noise" {
		os.Exit(report(noise(os.Stdout)))
	}
	os.Exit(m.Run())
}

func groupsOf(t *testing.T) string {
	t.Helper()
	g, err := newGroups()
	if err != nil {
		t.Skip(err)
	}
	g.remove()
	return filepath.Dir(g.dir)
}

func floorOnly(t *testing.T, out io.Writer) options {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	return options{
		sizes: []int{3}, runs: 1, peers: []string{floorName}, kills: 2, killFor: time.Minute,
		idle: time.Millisecond, noisy: 2, hurry: true,
		out: out, log: t.Output(),
	}
}

func TestBenchMeasuresTheFloor(t *testing.T) {
	parent := groupsOf(t)
	var out bytes.Buffer
	o := floorOnly(t, &out)
	if err := bench(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"### 3 agents", "| start all, s | 0.", "| kill -9 to replacement, median ms | ", "| idle, CPU s per minute | ",
		"| memory of the main process, PSS in MiB | ", "### 2 agents that print", "| CPU of manager and agents, cores | 0.",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "failed") {
		t.Error(&out)
	}
	nothingLeft(t, parent)
}

func TestInterruptedBenchLeavesNothing(t *testing.T) {
	parent := groupsOf(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	o := floorOnly(t, io.Discard)
	o.kills, o.sizes = 1000, []int{1000}
	interrupted := errors.New("interrupted")
	done := make(chan error)
	go func() { done <- bench(ctx, o) }()
	eventually.True(t, "an agent runs", func() bool {
		agents, err := filepath.Glob(filepath.Join(parent, groupPrefix+"*", "*", "cgroup.procs"))
		if err != nil || len(agents) == 0 {
			return false
		}
		return len((&group{filepath.Dir(agents[0])}).pids()) > 1
	})
	cancel(interrupted)
	if err := eventually.Receive(t, "the end", done); !errors.Is(err, interrupted) {
		t.Errorf("got error %v", err)
	}
	nothingLeft(t, parent)
}

func nothingLeft(t *testing.T, parent string) {
	t.Helper()
	for _, pattern := range []string{filepath.Join(parent, groupPrefix+"*"), filepath.Join(os.Getenv("TMPDIR"), "*")} {
		if left, err := filepath.Glob(pattern); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}

// The next run removes the control group of a killed run.
func TestSweep(t *testing.T) {
	parent := groupsOf(t)
	dead := &groups{filepath.Join(parent, groupPrefix+"999999999")}
	if err := os.Mkdir(dead.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	g, err := dead.create("floor")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sleep", "1000000")
	if err := g.start(cmd); err != nil {
		t.Fatal(err)
	}
	sweep(parent)
	if err := cmd.Wait(); err == nil {
		t.Error("the process was not killed")
	}
	if _, err := os.Stat(dead.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the group of the killed run still exists: %v", err)
	}
}
