package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"gcity/internal/eventually"
	"gcity/internal/proc"
	"gcity/session"
	"gcity/session/protocol"
	"gcity/session/pty"
	"gcity/session/sessiontest"
)

// The test binary also runs as the helper, and as the holder of the helper's sessions.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "hold":
		syscall.Exit(pty.Hold())
	case os.Getenv(protocol.SocketEnv) != "":
		syscall.Exit(helper())
	}
	os.Exit(m.Run())
}

func helper() int {
	err := protocol.Serve(
		context.Background(),
		func(_ context.Context, r protocol.OpenRequest) (protocol.Opened, error) {
			var settings struct{ Refuse string }
			if len(r.Settings) > 0 {
				if err := json.Unmarshal(r.Settings, &settings); err != nil {
					return protocol.Opened{}, err
				}
			}
			if settings.Refuse != "" {
				return protocol.Opened{}, errors.New(settings.Refuse)
			}
			p, err := pty.New(pty.Options{City: r.City, Binary: os.Args[0], Observe: r.Observe})
			if err != nil {
				return protocol.Opened{}, err
			}
			s := &slow{Provider: p, changes: make(chan struct{}, 1)}
			return protocol.Opened{Name: "test", Provider: s, Close: func() { p.Close() }}, nil
		},
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// slow is a provider that reports progress while it starts the session "slow".
type slow struct {
	*pty.Provider
	changes chan struct{}
	lost    atomic.Bool
}

func (p *slow) Changes() <-chan struct{} { return p.changes }

func (p *slow) Send(ctx context.Context, name, text string) error {
	if name != "platform" {
		return p.Provider.Send(ctx, name, text)
	}
	p.lost.Store(text == "lose")
	p.changes <- struct{}{}
	return nil
}

func (p *slow) List(ctx context.Context) ([]session.Status, error) {
	if p.lost.Load() {
		return nil, errors.New("no route to host")
	}
	return p.Provider.List(ctx)
}

func (p *slow) Start(ctx context.Context, s session.Spec) (session.Status, error) {
	switch s.Name {
	case "slow":
		session.Progress(ctx, "waits for a node")
		session.Progress(ctx, "starts")
		session.Progress(ctx, "") // the start continues
	case "full":
		return session.Status{}, fmt.Errorf("cannot start %q: %w: no free terminal", s.Name, session.ErrExhausted)
	}
	st, err := p.Provider.Start(ctx, s)
	st.Details = []string{"node n1"}
	return st, err
}

func open(t *testing.T, city string) *Provider {
	t.Helper()
	p, err := New(Options{
		Program: self(t), City: city, Dir: filepath.Join(city, "helper"),
		Environ: append(os.Environ(), "GORACE=atexit_sleep_ms=0"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, p) })
	return p
}

func self(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

func closeAll(t *testing.T, p *Provider) {
	ctx, cancel := context.WithTimeout(context.Background(), eventually.Timeout)
	defer cancel()
	all, err := p.List(ctx)
	if p.closed() {
		return
	}
	if err != nil {
		t.Error(err)
	}
	for _, st := range all {
		if err := errors.Join(p.Stop(ctx, st.Name, 0), p.Acknowledge(ctx, st.Name, st.ID)); err != nil {
			t.Error(err)
		}
	}
	p.Close()
}

func (p *Provider) closed() bool {
	_, err := p.listener.Stat()
	return err != nil
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

func TestConformance(t *testing.T) {
	t.Parallel()
	sessiontest.Run(t, sessiontest.Harness{
		Parallel: true,
		New:      func(t *testing.T) session.Provider { return open(t, t.TempDir()) },
		Spec: func(_ *testing.T, p session.Provider, name string) session.Spec {
			return spec(p.(*Provider).o.City, name, sessiontest.Agent)
		},
		Lose: func(t *testing.T, p session.Provider) func() {
			sessiontest.Send(t, p, "platform", "lose")
			return func() { sessiontest.Send(t, p, "platform", "return") }
		},
		Adopt: func(t *testing.T, p session.Provider) session.Provider {
			old := p.(*Provider)
			old.Close()
			return open(t, old.o.City)
		},
	})
}

// A helper that dies is restarted. Its sessions continue, and no exit is lost.
func TestHelperDies(t *testing.T) {
	p := open(t, t.TempDir())
	stays, err := p.Start(t.Context(), spec(p.o.City, "stays", "exec cat"))
	if err != nil {
		t.Fatal(err)
	}
	ends, err := p.Start(t.Context(), spec(p.o.City, "ends", "exec cat"))
	if err != nil {
		t.Fatal(err)
	}
	pid := helperPID(t, p)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(ends.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for x := eventually.Receive(t, "the exit", p.Exits()); x.ID != ends.ID; {
		x = eventually.Receive(t, "the exit", p.Exits())
	}
	if next := helperPID(t, p); next == pid {
		t.Error("the old helper is still running")
	} else if p.Forwards(pid) || !p.Forwards(next) || p.Forwards(os.Getpid()) || p.Forwards(stays.PID) {
		t.Error("Forwards must be true for the new helper only")
	}
	all, err := p.List(t.Context())
	if err != nil || len(all) != 2 || all[1].PID != stays.PID || !all[1].Alive {
		t.Errorf("%+v, %v", all, err)
	}
}

// A helper gets the controller's environment without the variables of any session.
func TestEnvironOfHelper(t *testing.T) {
	t.Setenv("KUBECONFIG", "/somewhere/config")
	t.Setenv("GC_SESSION_ID", "of-the-controller")
	t.Setenv("GC_AGENT", "of-the-controller")
	p := open(t, t.TempDir())
	env := proc.Environ(helperPID(t, p))
	if !proc.HasEnv(env, "KUBECONFIG=/somewhere/config", false) || strings.Contains(string(env), "of-the-controller") {
		t.Errorf("environment of the helper: got %q", env)
	}
}

// A slow start reports why it is waiting, and the status contains the details.
func TestSlowStart(t *testing.T) {
	p := open(t, t.TempDir())
	var waits []string
	ctx := session.WithProgress(t.Context(), func(why string) { waits = append(waits, why) })
	s := spec(p.o.City, "slow", "exec cat")
	st, err := p.Start(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"waits for a node", "starts"}; !slices.Equal(waits, want) {
		t.Errorf("reported %q, want %q", waits, want)
	}
	if !slices.Equal(st.Details, []string{"node n1"}) {
		t.Errorf("%+v", st)
	}
	if _, err := p.Start(ctx, s); !errors.Is(err, session.ErrExists) {
		t.Errorf("second Start: got %v", err)
	}
}

// If a start fails because the helper lacks a resource, the failure does not count against the agent.
func TestStartWithoutResources(t *testing.T) {
	p := open(t, t.TempDir())
	_, err := p.Start(t.Context(), spec(p.o.City, "full", "exec cat"))
	if !errors.Is(err, session.ErrExhausted) || !strings.Contains(err.Error(), "no free terminal") {
		t.Errorf("%v", err)
	}
}

// If the helper cannot run, a start is not attempted, and does not count against the agent.
func TestStartWithoutHelper(t *testing.T) {
	city := t.TempDir()
	program := filepath.Join(city, "program")
	if err := os.Symlink(self(t), program); err != nil {
		t.Fatal(err)
	}
	p, err := New(Options{
		Program: program, City: city, Dir: filepath.Join(city, "helper"),
		Environ: append(os.Environ(), "GORACE=atexit_sleep_ms=0"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	pid := helperPID(t, p)
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "a failed restart of the helper", func() bool {
		err := p.whyDown()
		return err != nil && strings.Contains(err.Error(), "not found")
	})
	_, err = p.Start(t.Context(), spec(city, "a", "exec cat"))
	if !errors.Is(err, session.ErrMissing) || !strings.Contains(err.Error(), "cannot start the helper") {
		t.Errorf("%v", err)
	}
}

func helperPID(t *testing.T, p *Provider) int {
	t.Helper()
	found := 0
	eventually.True(t, "a running helper", func() bool {
		for _, pid := range proc.Descendants(os.Getpid()) {
			env := proc.Environ(pid)
			if cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); cwd == p.o.City &&
				proc.HasEnv(env, protocol.SocketEnv+"=", true) &&
				!proc.HasEnv(env, "GC_SESSION_ID=", true) {
				found = pid
			}
		}
		return found != 0 && p.whyDown() == nil
	})
	return found
}

func TestUnusableHelper(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	script := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(city, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct{ program, settings, want string }{
		{filepath.Join(city, "nothing"), "", "session helper"},
		{script("data", "", 0o600), "", "not executable"},
		{script("ends", "#!/bin/sh\necho the cluster is not known >&2; exit 4\n", 0o700), "", "exit code 4: the cluster is not known"},
		{self(t), `{"refuse":"no kubeconfig"}`, "no kubeconfig"},
	} {
		p, err := New(Options{
			Program: c.program, City: city, Dir: filepath.Join(city, "helper"), Settings: json.RawMessage(c.settings), Environ: os.Environ(),
		})
		if err == nil {
			p.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.program, err, c.want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(city, "helper", "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// A command that only inspects a city does not create its .gc.
func TestObserveACityThatHasNeverRun(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p, err := New(Options{
		Program: self(t), City: city, Dir: filepath.Join(city, ".gc", "plugins", "x"), Observe: true, Environ: os.Environ(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.List(t.Context()); err != nil {
		t.Error(err)
	}
	p.Close()
	for _, path := range []string{filepath.Join(city, ".gc"), p.temp} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s exists: %v", path, err)
		}
	}
}
