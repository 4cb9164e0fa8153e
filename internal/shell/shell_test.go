package shell

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestRun(t *testing.T) {
	for _, c := range []struct {
		text, out string
		code      int
	}{
		{"echo hello", "hello\n", 0},
		{"echo out; echo err >&2; exit 7", "out\nerr\n", 7},
		{"kill -9 $$", "", -1},
		{"echo $X$PATH", "1\n", 0},
	} {
		res, err := Run(t.Context(), Line{Text: c.text, Env: []string{"X=1", "PATH="}})
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
		if string(res.Output) != c.out || res.Code != c.code {
			t.Errorf("%q: exit %d, %q; want %d, %q", c.text, res.Code, res.Output, c.code, c.out)
		}
	}
}

func TestMissingFolderIsAnError(t *testing.T) {
	if _, err := Run(t.Context(), Line{Text: "true", Dir: "/does/not/exist"}); err == nil {
		t.Error("no error")
	}
}

// A child that keeps stdout open does not keep the result, and does not live on.
func TestChildrenEndWithTheLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	res, err := Run(t.Context(), Line{Text: "sleep 1000 & echo $! >" + file + "; echo done", Env: os.Environ()})
	if err != nil || string(res.Output) != "done\n" {
		t.Fatalf("%q, %v", res.Output, err)
	}
	gone(t, file)
}

func TestDeadlineEndsTheGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := Run(ctx, Line{Text: "trap '' INT TERM; sleep 1000 & echo $! >" + file + "; wait", Env: os.Environ()})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v", err)
	}
	gone(t, file)
}

// Ten gigabytes of output cost the memory of two caps.
func TestFloodKeepsTheEnd(t *testing.T) {
	res, err := Run(t.Context(), Line{Text: "yes | head -c 20000000; echo end", Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Output) != MaxOutput || !strings.HasSuffix(string(res.Output), "end\n") {
		t.Errorf("kept %d bytes, ending in %q", len(res.Output), res.Output[max(0, len(res.Output)-10):])
	}
	if want := int64(20000000 + 4 - MaxOutput); res.Dropped != want {
		t.Errorf("dropped %d, want %d", res.Dropped, want)
	}
}

func gone(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	// A pidfd becomes readable when its process ends.
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 5000)
	if err != nil || n != 1 {
		t.Errorf("process %d lives on: %v", pid, err)
	}
}
