package pty

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"gcity/internal/eventually"
	"gcity/session"
	"gcity/session/registry"
	"gcity/session/sessiontest"
)

// The test binary also runs as the holder, as gcity does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "hold" {
		// a fifo that delays the holder's start until it is opened
		if gate := os.Getenv("GATE"); gate != "" {
			if _, err := os.ReadFile(gate); err != nil {
				os.Exit(1)
			}
		}
		os.Exit(Hold())
	}
	if len(os.Args) > 2 && os.Args[1] == "mini-controller" {
		os.Exit(miniController(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) == 3 && os.Args[1] == "few-files" {
		os.Exit(adoptWithFewFiles(os.Args[2]))
	}
	os.Exit(m.Run())
}

// miniController is the child process of TestControllerKilled. env is added to the environment of its holders.
func miniController(city string, env []string) int {
	p, err := New(Options{City: city, Binary: os.Args[0]})
	if err == nil {
		p.launcher.env = append(p.launcher.env, "GORACE=atexit_sleep_ms=0")
		p.launcher.env = append(p.launcher.env, env...)
		err = sessiontest.MiniController(p, city)
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func newProvider(t testing.TB, city string) *Provider {
	t.Helper()
	p, err := New(Options{City: city, Binary: os.Args[0]})
	if err != nil {
		t.Fatal(err)
	}
	p.launcher.env = append(p.launcher.env, "GORACE=atexit_sleep_ms=0") // without this, each holder takes a second to exit
	t.Cleanup(func() { endAll(t, p) })
	return p
}

func endAll(t testing.TB, p *Provider) {
	ctx, cancel := context.WithTimeout(context.Background(), eventually.Timeout)
	defer cancel()
	list, err := p.List(ctx)
	if err == registry.ErrClosed {
		return
	}
	for _, st := range list {
		if err := p.Stop(ctx, st.Name, 0); err != nil {
			t.Error(err)
		}
		if err := p.Acknowledge(ctx, st.Name, st.ID); err != nil {
			t.Error(err)
		}
	}
	p.Close()
}

var ids atomic.Int64

func spec(city, name, command string) session.Spec {
	id := fmt.Sprintf("%s-%d-%d", name, os.Getpid(), ids.Add(1))
	return session.Spec{
		Name: name, Agent: name, City: city, ID: id, Command: command, Dir: city,
		Env:  []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "GC_SESSION_ID=" + id},
		Cols: 80, Rows: 24,
	}
}

var (
	until    = eventually.True
	start    = sessiontest.Start
	nextExit = sessiontest.NextExit
	shows    = sessiontest.Shows
)

func TestLifeOfASession(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	st := start(t, p, spec(city, "a", "echo hello; exec cat"))
	if !st.Alive || !st.Ready || st.PID == 0 {
		t.Fatalf("%+v", st)
	}
	shows(t, p, "a", "hello")
	if err := p.Send(t.Context(), "a", "typed"); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "a", "typed\ntyped")
	if err := p.Stop(t.Context(), "a", eventually.Timeout); err != nil {
		t.Fatal(err)
	}
	x := nextExit(t, p)
	if !x.Asked || x.Signal != "SIGINT" || x.ID != st.ID {
		t.Errorf("%+v", x)
	}
	if err := p.Acknowledge(t.Context(), "a", st.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(city, ".gc/sessions/a")); err == nil {
		t.Error("the session's folder was not removed")
	}
	start(t, p, spec(city, "a", "exit 7"))
	if x := nextExit(t, p); x.Code != 7 || x.Asked {
		t.Errorf("%+v", x)
	}
	start(t, p, spec(city, "a", "kill -9 $$"))
	if x := nextExit(t, p); x.Code != -1 || x.Signal != "SIGKILL" {
		t.Errorf("%+v", x)
	}
}
