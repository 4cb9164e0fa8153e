package script

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gcity/internal/eventually"
	"gcity/session"
	"gcity/session/sessiontest"
)

type home struct {
	*Provider
	city, script string
	environ      []string
}

var ids atomic.Int64

func open(t *testing.T, script string) *home {
	t.Helper()
	run, err := os.MkdirTemp("", "gcs") // short, because the length of a socket's path is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(run) })
	h := &home{city: t.TempDir(), script: script}
	h.environ = append(slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "XDG_RUNTIME_DIR=") || strings.HasPrefix(kv, "LANG=") || strings.HasPrefix(kv, "LC_")
	}), "XDG_RUNTIME_DIR="+run, "LANG=C.UTF-8", "SECRET_KEY=of the controller")
	h.reopen(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), eventually.Timeout)
		defer cancel()
		for _, name := range h.sorted() {
			if err := h.Stop(ctx, name, 0); err != nil {
				t.Error(err)
			}
		}
	})
	return h
}

func (h *home) reopen(t *testing.T) {
	t.Helper()
	p, err := New(Options{City: h.city, Script: h.script, Dir: filepath.Join(h.city, "records"), Environ: h.environ})
	if err != nil {
		t.Fatal(err)
	}
	h.Provider = p
}

func (h *home) spec(name, command string) session.Spec {
	id := fmt.Sprintf("%s-%d-%d", name, os.Getpid(), ids.Add(1))
	return session.Spec{
		Name: name, Agent: name, City: h.city, ID: id, Command: command, Dir: h.city,
		Env:  []string{"PATH=" + os.Getenv("PATH"), "GC_SESSION_ID=" + id},
		Cols: 80, Rows: 24,
	}
}

const echoing = "stty -echo; " + sessiontest.Agent

func start(t *testing.T, h *home, name, command string) session.Status {
	t.Helper()
	st, err := h.Start(t.Context(), h.spec(name, command))
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// screenScript returns the example script. Without screen, it skips the test.
func screenScript(t *testing.T) string {
	t.Helper()
	for _, need := range []string{"screen", "jq"} {
		if _, err := exec.LookPath(need); err != nil {
			t.Skipf("%s is not installed", need)
		}
	}
	script, err := filepath.Abs("../../examples/providers/screen")
	if err != nil {
		t.Fatal(err)
	}
	return script
}

func TestConformanceOfScreen(t *testing.T) {
	script := screenScript(t)
	sessiontest.Run(t, sessiontest.Harness{
		Parallel: true,
		New:      func(t *testing.T) session.Provider { return open(t, script) },
		Spec:     func(_ *testing.T, p session.Provider, name string) session.Spec { return p.(*home).spec(name, echoing) },
		ASCII:    "screen copies its screen in Latin-1",
		Adopt: func(t *testing.T, p session.Provider) session.Provider {
			p.(*home).reopen(t)
			return p
		},
	})
}

func status(t *testing.T, h *home, name string) (session.Status, bool) {
	t.Helper()
	all, err := h.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(st session.Status) bool { return st.Name == name })
	if i < 0 {
		return session.Status{}, false
	}
	return all[i], true
}

var until = eventually.True
