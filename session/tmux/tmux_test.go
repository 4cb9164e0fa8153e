package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"

	"gcity/internal/eventually"
	"gcity/session"
	"gcity/session/registry"
	"gcity/session/sessiontest"
)

// The test binary also runs as the program that tmux starts in a pane, as gcity does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "pane" {
		os.Exit(Pane())
	}
	if len(os.Args) > 2 && os.Args[1] == "mini-controller" {
		os.Exit(miniController(os.Args[2]))
	}
	if len(os.Args) == 3 && os.Args[1] == "few-files" {
		os.Exit(adoptWithFewFiles(os.Args[2]))
	}
	// for the servers' sockets, because the path of t.TempDir is too long
	dir, err := os.MkdirTemp("", "gct-")
	if err == nil {
		err = errors.Join(os.Setenv("TMUX_TMPDIR", dir), os.Setenv("GC_LEAK", "of the controller"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// miniController is the child process of TestControllerKilled.
func miniController(city string) int {
	p, err := New(Options{City: city, Binary: os.Args[0]})
	if err == nil {
		err = sessiontest.MiniController(p, city)
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// newProvider stops all sessions of the city after the test.
func newProvider(t testing.TB, city string) *Provider {
	t.Helper()
	p, err := New(Options{City: city, Binary: os.Args[0]})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endAll(t, p) })
	return p
}

func endAll(t testing.TB, p *Provider) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*eventually.Timeout)
	defer cancel()
	list, err := p.List(ctx)
	if err != nil && err != registry.ErrClosed {
		t.Error(err)
	}
	for _, st := range list {
		if err := p.Stop(ctx, st.Name, 0); err != nil {
			t.Error(err)
		}
	}
	p.Close()
	if err == nil && !eventually.Poll(func() bool { return !p.tmux.serverLives() }) {
		out, err := p.tmux.once(ctx, nil, "list-panes", "-a", "-F", "#{session_name} #{pane_id} #{pane_pid} #{pane_dead}")
		t.Errorf("the server did not exit: got %q, %v", out, err)
	}
	if p.tmux.serverLives() {
		exec.Command("tmux", "-L", p.tmux.label, "kill-server").Run()
	}
}

var lastID atomic.Int64

func spec(city, name, command string) session.Spec {
	id := fmt.Sprintf("id-%d-%d", os.Getpid(), lastID.Add(1))
	return session.Spec{
		Name: name, Agent: name, City: city, ID: id, Command: command, Dir: city,
		Env:  []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "GC_SESSION_ID=" + id, "GC_CITY_PATH=" + city},
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
	t.Parallel()
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
	if _, err := os.Stat(p.files.path("a", "")); err == nil {
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

// Input that waits for other input can succeed later.
func TestInputWhileOtherInputIsTyped(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", "exec cat"))
	e, _, err := p.living("send to", "a")
	if err != nil {
		t.Fatal(err)
	}
	<-e.typing
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Send(ctx, "a", "x"); !errors.Is(err, session.ErrBusy) {
		t.Error(err)
	}
	e.typing <- struct{}{}
}
