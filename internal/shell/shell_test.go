package shell

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"gcity/internal/eventually"
)

func TestRun(t *testing.T) {
	for _, c := range []struct {
		text, out string
		code      int
		signal    string
	}{
		{"echo hello", "hello\n", 0, ""},
		{"echo out; echo err >&2; exit 7", "out\nerr\n", 7, ""},
		{"kill -9 $$", "", -1, "SIGKILL"},
		{"echo $X$PATH", "1\n", 0, ""},
	} {
		res, err := Run(t.Context(), Line{Text: c.text, Env: []string{"X=1", "PATH="}})
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
		if string(res.Output) != c.out || res.Code != c.code || res.Signal != c.signal {
			t.Errorf("%q: got exit %d%s, %q; want %d%s, %q", c.text, res.Code, res.Signal, res.Output, c.code, c.signal,
				c.out)
		}
	}
}

func TestMissingFolderIsAnError(t *testing.T) {
	if _, err := Run(t.Context(), Line{Text: "true", Dir: "/does/not/exist"}); err == nil {
		t.Error("no error")
	}
}

// A child process that keeps stdout open is killed and does not delay the result.
func TestChildrenAreKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	res, err := Run(t.Context(), Line{Text: "sleep 1000 & echo $! >" + file + "; echo done", Env: os.Environ()})
	if err != nil || string(res.Output) != "done\n" {
		t.Fatalf("%q, %v", res.Output, err)
	}
	gone(t, file)
}

func TestGroupIsKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	_, err := Run(once(t, file), Line{Text: "trap '' INT TERM; sleep 1000 & echo $! >" + file + "; wait", Env: os.Environ()})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	gone(t, file)
}

// Run keeps the last MaxOutput bytes, even of a gigabyte.
func TestFloodKeepsTheEnd(t *testing.T) {
	size := 1_000_000_000
	if testing.Short() {
		size = 20_000_000
	}
	for _, split := range []bool{false, true} {
		res, err := Run(t.Context(), Line{Text: "yes | head -c " + strconv.Itoa(size) + "; echo end", Env: os.Environ(), Split: split})
		if err != nil {
			t.Fatal(err)
		}
		kept, dropped := res.Output, res.Dropped
		if split {
			kept, dropped = res.Stdout, res.StdoutDropped
		}
		if len(kept) != MaxOutput || cap(kept) > 4*MaxOutput || !strings.HasSuffix(string(kept), "end\n") {
			t.Errorf("got %d bytes that end with %q", len(kept), kept[max(0, len(kept)-10):])
		}
		if want := int64(size + 4 - MaxOutput); dropped != want || res.Dropped != want {
			t.Errorf("dropped %d, want %d", dropped, want)
		}
		size = min(size, 20_000_000)
	}
}

// A line that prints endlessly on both pipes is killed when the context ends.
func TestFloodUntilDeadline(t *testing.T) {
	file := filepath.Join(t.TempDir(), "flooded")
	text := "yes out & yes err | head -c 1000000 >&2; echo >" + file + "; yes err >&2"
	res, err := Run(once(t, file), Line{Text: text, Env: os.Environ(), Split: true})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if len(res.Output) != MaxOutput || len(res.Stdout) > MaxOutput || strings.Contains(string(res.Stdout), "err") {
		t.Errorf("stdout: got %d bytes; both streams: %d", len(res.Stdout), len(res.Output))
	}
}

func once(t *testing.T, file string) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		defer cancel()
		if !eventually.Poll(func() bool {
			info, err := os.Stat(file)
			return ctx.Err() != nil || err == nil && info.Size() > 0
		}) {
			t.Error("the file is still empty")
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	return ctx
}

// Run returns stdout and stderr separately.
func TestSplitStdout(t *testing.T) {
	for _, c := range []struct {
		text, stdout string
		complaint    bool
	}{
		{"echo 3; echo 'warning: slow' >&2", "3\n", true},
		{"echo 'warning: slow' >&2; echo 3", "3\n", true},
		{"echo 'warning: slow' >&2; exit 1", "", true},
		{"echo 3", "3\n", false},
		{"sleep 1000 & echo 'warning: slow' >&2; echo 3", "3\n", true}, // the child holds both pipes open
		{`printf '\377\000\033[2J3'; echo 'warning: slow' >&2`, "\xff\x00\x1b[2J3", true},
	} {
		res, err := Run(t.Context(), Line{Text: c.text, Env: os.Environ(), Split: true})
		if err != nil || string(res.Stdout) != c.stdout || res.StdoutDropped != 0 {
			t.Errorf("%q: stdout %q, %v", c.text, res.Stdout, err)
		}
		if out := string(res.Output); !strings.Contains(out, c.stdout) || strings.Contains(out, "warning: slow\n") != c.complaint {
			t.Errorf("%q: both %q", c.text, out)
		}
	}
	if res, err := Run(t.Context(), Line{Text: "echo 3", Env: os.Environ()}); err != nil || len(res.Stdout) != 0 {
		t.Errorf("Stdout without Split: got %q, %v", res.Stdout, err)
	}
}

// Arbitrary bytes are kept unchanged.
func TestBinaryOutput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "junk")
	res, err := Run(t.Context(), Line{Text: "head -c 50000 /dev/urandom | tee " + file, Env: os.Environ(), Split: true})
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(file)
	if err != nil || len(want) != 50000 || !bytes.Equal(res.Output, want) || !bytes.Equal(res.Stdout, want) {
		t.Errorf("got %d bytes, %d on stdout, want %d: %v",
			len(res.Output), len(res.Stdout), len(want), err)
	}
}

func gone(t *testing.T, file string) {
	t.Helper()
	pid := pidIn(t, file)
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	// A pidfd becomes readable when its process exits.
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 5000)
	if err != nil || n != 1 {
		t.Errorf("process %d is still running: %v", pid, err)
	}
}

func pidIn(t *testing.T, file string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
