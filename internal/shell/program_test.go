package shell

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A program gets its arguments and input unchanged. Its output and exit code are returned.
func TestProgramGetsItsArguments(t *testing.T) {
	dir := t.TempDir()
	odd := []string{"$(id)", "a b", "", "-x", "é\n'\"", ";"}
	for _, in := range []string{"", dir} {
		got, err := Call(t.Context(), Program{
			Path: "sh", Args: append([]string{"-c", `cat; printf '[%s]' "$@"; printf '%s|' "$A"; pwd >&2; exit 3`, "sh"}, odd...),
			Dir: in, Env: []string{"A=1 2", "PATH=/usr/bin:/bin"}, Stdin: []byte("from stdin "),
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := "from stdin [" + strings.Join(odd, "][") + "]1 2|"; string(got.Stdout) != want || got.Code != 3 {
			t.Errorf("exit %d, %q; want %q", got.Code, got.Stdout, want)
		}
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			t.Fatal(err)
		}
		if in != "" && got.Stderr != real {
			t.Errorf("working folder: got %q, want %q", got.Stderr, real)
		}
	}
}

// A failing program does not block the caller.
func TestFailingPrograms(t *testing.T) {
	env := []string{"PATH=/usr/bin:/bin"}
	if _, err := Call(t.Context(), Program{Path: "no-such-program-here"}); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("absent: %v", err)
	}
	if _, err := Call(t.Context(), Program{Path: "sh", Args: []string{"-c", "yes"}, Env: env, MaxStdout: 1000}); !errors.Is(err, ErrTooMuch) {
		t.Errorf("too much output: got %v", err)
	}
	if got, err := Call(t.Context(), Program{Path: "true", Env: env, Stdin: make([]byte, 1<<20)}); err != nil || got.Code != 0 {
		t.Errorf("unread input: got %+v, %v", got, err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Call(short, Program{Path: "sh", Args: []string{"-c", "sleep 600 & wait"}, Env: env}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("hanging: %v", err)
	}
	if _, err := Call(short, Program{Path: "true", Env: env}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a program that hangs: got %v", err)
	}
	if got, err := Call(t.Context(), Program{Path: "true", Dir: filepath.Join(t.TempDir(), "none"), Env: env}); err != nil || got.Code == 0 || !strings.Contains(got.Stderr, "none") {
		t.Errorf("a missing folder: got %+v, %v", got, err)
	}
}
