package subprocess

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gcity/internal/eventually"
	"gcity/internal/proc"
	"gcity/session"
	"gcity/session/pty"
	"gcity/session/sessiontest"
)

// The test binary also runs as the holder, as gcity does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "hold" {
		syscall.Exit(pty.Hold()) // os.Exit would take a second with the race detector
	}
	os.Exit(m.Run())
}

type city struct {
	*Provider
	dir string
}

func open(t *testing.T, dir string) city {
	t.Helper()
	p, err := New(Options{City: dir, Binary: os.Args[0]})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), eventually.Timeout)
		defer cancel()
		all, err := p.List(ctx)
		if err != nil {
			return // already closed; the provider that adopted the sessions stops them
		}
		for _, st := range all {
			if err := errors.Join(p.Stop(ctx, st.Name, 0), p.Acknowledge(ctx, st.Name, st.ID)); err != nil {
				t.Error(err)
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return city{p, dir}
}

var ids atomic.Int64

func spec(dir, name, command string) session.Spec {
	id := fmt.Sprintf("%s-%d-%d", name, os.Getpid(), ids.Add(1))
	return session.Spec{
		Name: name, Agent: name, City: dir, ID: id, Command: command, Dir: dir,
		Env:  []string{"PATH=" + os.Getenv("PATH"), "GC_SESSION_ID=" + id},
		Cols: 80, Rows: 24,
	}
}

func start(t *testing.T, p city, name, command string) session.Status {
	t.Helper()
	st, err := p.Start(t.Context(), spec(p.dir, name, command))
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func shows(t *testing.T, p city, name, text string) string {
	t.Helper()
	var last string
	eventually.True(t, fmt.Sprintf("%s shows %q", name, text), func() bool {
		var err error
		if last, err = p.Output(t.Context(), name, 0); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(last, text)
	}, func() string { return last })
	return last
}

func ended(t *testing.T, p city) session.Exit {
	t.Helper()
	return eventually.Receive(t, "an exit", p.Exits())
}

func TestConformance(t *testing.T) {
	t.Parallel()
	sessiontest.Run(t, sessiontest.Harness{
		Parallel: true,
		New:      func(t *testing.T) session.Provider { return open(t, t.TempDir()) },
		Spec: func(_ *testing.T, p session.Provider, name string) session.Spec {
			return spec(p.(city).dir, name, sessiontest.Agent)
		},
		Adopt: func(t *testing.T, p session.Provider) session.Provider {
			if err := p.(city).Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, p.(city).dir)
		},
	})
}

// A session's program has no terminal. The provider reports that it can neither attach nor press keys.
func TestNoTerminal(t *testing.T) {
	p := open(t, t.TempDir())
	start(t, p, "a", `[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none; (: </dev/tty) 2>/dev/null || echo nowhere; echo wrong >&2; exec cat`)
	out := shows(t, p, "a", "wrong")
	if strings.TrimSpace(out) != "none\nnowhere\nwrong" {
		t.Errorf("%q", out)
	}
	if l := session.LimitsOf(p.Provider).String(); l != "cannot attach, press keys: it has no terminal" {
		t.Errorf("it %s", l)
	}
	if raw, err := p.Capture(t.Context(), "a", status(t, p, "a").ID); err != nil || string(raw) != "none\r\nnowhere\r\nwrong\r\n" {
		t.Errorf("captured: %q, %v", raw, err)
	}
}

func status(t *testing.T, p city, name string) session.Status {
	t.Helper()
	all, err := p.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range all {
		if st.Name == name {
			return st
		}
	}
	t.Fatalf("%s is not listed", name)
	panic("unreachable")
}

// If the program does not read its standard input, Send returns an error and does not block forever.
func TestSend(t *testing.T) {
	t.Parallel()
	p := open(t, t.TempDir())
	start(t, p, "a", `read -r line; echo "${#line} $(printf %s "$line" | tail -c 3)"; exec <&-; echo closed; sleep 1000`)
	long := strings.Repeat("x", 50_000) + "end"
	if err := p.Send(t.Context(), "a", long); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "a", "50003 end\nclosed")
	if err := p.Send(t.Context(), "a", "more"); !errors.Is(err, session.ErrRejected) || !strings.Contains(err.Error(), "closed its standard input") {
		t.Errorf("%v", err)
	}
	start(t, p, "deaf", `sleep 1000`)
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Timeout)
	defer cancel()
	if err := p.Send(ctx, "deaf", strings.Repeat("x", 200_000)); !errors.Is(err, session.ErrRejected) || !strings.Contains(err.Error(), "stopped reading") {
		t.Errorf("%v", err)
	}
}

// If the pipe accepts only the beginning of a text, the next text is not appended to it.
func TestTextAfterPartialText(t *testing.T) {
	if testing.Short() {
		t.Skip("waits five seconds")
	}
	t.Parallel()
	dir := t.TempDir()
	p := open(t, dir)
	read := filepath.Join(t.TempDir(), "read")
	start(t, p, "a", `until [ -e `+read+` ]; do sleep 0.02; done; while read -r line; do echo "${#line} $(printf %s "$line" | tail -c 4)"; done`)
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Timeout)
	defer cancel()
	if err := p.Send(ctx, "a", strings.Repeat("x", 200_000)); !errors.Is(err, session.ErrRejected) || !strings.Contains(err.Error(), "stopped reading") {
		t.Fatalf("%v", err)
	}
	if err := os.WriteFile(read, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"next", "last"} {
		if err := p.Send(t.Context(), "a", text); err != nil {
			t.Fatal(err)
		}
	}
	shows(t, p, "a", "xxxx\n4 next\n4 last")
}

// An interrupt is a single signal to the agent's group. A stop ends the whole tree, even outside the group.
func TestInterruptAndStop(t *testing.T) {
	p := open(t, t.TempDir())
	start(t, p, "a", `trap 'echo caught' INT; echo up; `+sessiontest.Idle)
	shows(t, p, "a", "up")
	if err := p.Interrupt(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if out := shows(t, p, "a", "caught"); strings.Count(out, "caught") != 1 {
		t.Errorf("%q", out)
	}
	start(t, p, "b", `setsid sh -c 'trap "" INT TERM HUP; echo $$ is up; while :; do sleep 1; done' & wait`)
	out := shows(t, p, "b", "is up")
	var pid int
	if _, err := fmt.Sscan(out, &pid); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	if err := p.Stop(t.Context(), "b", 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	// the process may not have been reaped yet
	if st, err := proc.ReadStat(pid); err == nil && st.State != 'Z' && st.State != 'X' {
		t.Errorf("process %d is still running: %c", pid, st.State)
	}
	if x := ended(t, p); !x.Asked || x.Signal != "SIGINT" {
		t.Errorf("%+v", x)
	}
	start(t, p, "c", `echo up; exec sleep 1000`)
	shows(t, p, "c", "up")
	if err := p.Stop(t.Context(), "c", eventually.Timeout); err != nil {
		t.Fatal(err)
	}
	if x := ended(t, p); x.Signal != "SIGINT" {
		t.Errorf("exit after an interrupt: got %+v", x)
	}
}

// A program that closes its output keeps running. Its exit is reported only when it exits.
func TestClosedOutputIsNotAnExit(t *testing.T) {
	p := open(t, t.TempDir())
	start(t, p, "a", `exec >/dev/null 2>&1; read -r line; exit 3`)
	if err := p.Send(t.Context(), "a", "go"); err != nil {
		t.Fatal(err)
	}
	if x := ended(t, p); x.Code != 3 || x.Asked {
		t.Errorf("%+v", x)
	}
}

// The last output of a session is completely retained, even without a newline at its end.
func TestLastOutput(t *testing.T) {
	p := open(t, t.TempDir())
	st := start(t, p, "a", `i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done; printf 'no end'; kill -9 $$`)
	if x := ended(t, p); x.Signal != "SIGKILL" {
		t.Errorf("%+v", x)
	}
	raw, err := p.Capture(t.Context(), "a", st.ID)
	if err != nil || !strings.HasPrefix(string(raw), "line 0\r\nline 1\r\n") || !strings.HasSuffix(string(raw), "line 1999\r\nno end") || strings.Count(string(raw), "\r\n") != 2000 {
		t.Errorf("got %d bytes that end with %q, %v", len(raw), raw[max(0, len(raw)-30):], err)
	}
}
