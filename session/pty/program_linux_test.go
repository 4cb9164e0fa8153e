package pty

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gcity/session/sessiontest"
)

var image = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "gcity-hold-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "gcity-hold")
	cmd := exec.Command("go", "build", "-tags", "noforcegc",
		"-ldflags", "-s -w -checklinkname=0", "-o", bin, "gcity/session/pty/gcity-hold")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(bin)
})

func newImageProvider(t testing.TB, city string) *Provider {
	t.Helper()
	data, err := image()
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(Options{City: city, Binary: os.Args[0], Image: data})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endAll(t, p) })
	return p
}

func TestConformanceOfTheEmbeddedHolder(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and repeats the whole suite")
	}
	sessiontest.Run(t, harness(newImageProvider))
}

func exeOf(t *testing.T, p *Provider, name string) string {
	t.Helper()
	exe, err := os.Readlink("/proc/" + strconv.Itoa(holderOf(t, p, name)) + "/exe")
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// A holder is executed from a sealed memory file. The fallbacks are a file in the sessions' folder and then the main
// program.
func TestSourcesOfTheHolder(t *testing.T) {
	city := t.TempDir()
	p := newImageProvider(t, city)
	start(t, p, spec(city, "a", "exec cat"))
	if exe := exeOf(t, p, "a"); exe != "/memfd:gcity-hold (deleted)" {
		t.Errorf("executes %s", exe)
	}
	seals, err := unix.FcntlInt(uintptr(p.launcher.program.mem), unix.F_GET_SEALS, 0)
	if err != nil || seals&unix.F_SEAL_WRITE == 0 {
		t.Errorf("the memory file is writable: seals %#x, %v", seals, err)
	}

	p.launcher.program.giveUp(p.launcher.program.path, unix.EACCES)
	start(t, p, spec(city, "b", "exec cat"))
	file := exeOf(t, p, "b")
	if !strings.HasPrefix(file, p.files.dir+"/gcity-hold-") {
		t.Errorf("executes %s", file)
	}

	// The file cannot be executed, as on a noexec file system.
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, p, spec(city, "c", "exec cat"))
	if exe := exeOf(t, p, "c"); exe != os.Args[0] {
		t.Errorf("executes %s", exe)
	}
	start(t, p, spec(city, "d", "exec cat"))
	list, err := p.List(t.Context())
	if err != nil || len(list) != 4 {
		t.Errorf("%+v, %v", list, err)
	}
}

// Another file in place of the holder's file is replaced and not executed. A link is not followed.
func TestHolderFileIsVerified(t *testing.T) {
	city := t.TempDir()
	p := newImageProvider(t, city)
	path, err := p.launcher.program.inFile()
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(city, "other")
	for name, spoil := range map[string]func() error{
		"changed": func() error { return os.WriteFile(path, []byte("#!/bin/false\n"), 0o700) },
		"a link":  func() error { return os.Symlink(other, path) },
		"missing": func() error { return nil },
	} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		again, err := p.launcher.program.inFile()
		if err != nil || again != path || !sameContent(path, p.launcher.program.image) {
			t.Errorf("%s: %s, %v", name, again, err)
		}
	}
	if _, err := os.Lstat(other); err == nil {
		t.Error("the link was followed")
	}
}

// The holder is small because it imports only the standard library, golang.org/x/sys, and the packages in this list.
func TestImportsOfTheHolder(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f",
		"{{if not .Standard}}{{.ImportPath}}{{end}}",
		"gcity/session/pty/gcity-hold").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"golang.org/x/sys/unix", "gcity/internal/proc", "gcity/internal/typing", "gcity/session/pty/internal/wire",
		"gcity/session/pty/internal/holder", "gcity/session/pty/gcity-hold",
	}
	got := strings.Fields(string(out))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the holder links %v, want %v", got, want)
	}
}

// All values of a Spec reach the holder, whether it runs the same build or another.
func TestSpecReachesHolder(t *testing.T) {
	for _, open := range []func(testing.TB, string) *Provider{newImageProvider, newProvider} {
		p := open(t, t.TempDir())
		s := spec(p.files.city, "a", `echo "$GREETING" >seen; stty size >>seen`)
		s.Env, s.Cols, s.Rows = append(s.Env, "GREETING=two\nlines \x01 é"), 91, 33
		for range 2 {
			s.ID += "-again"
			start(t, p, s)
			if x := <-p.Exits(); x.ID != s.ID || x.Code != 0 {
				t.Fatalf("%+v", x)
			}
			seen, err := os.ReadFile(filepath.Join(p.files.city, "seen"))
			if want := "two\nlines \x01 é\n33 91\n"; err != nil || string(seen) != want {
				t.Errorf("got %q, %v; want %q", seen, err, want)
			}
		}
	}
}

// No thread of an idle holder sleeps with a timeout of less than an hour. By default, the Go runtime wakes one each
// minute.
func TestIdleHolderSleeps(t *testing.T) {
	if testing.Short() {
		t.Skip("waits five seconds")
	}
	t.Parallel()
	p := newImageProvider(t, t.TempDir())
	start(t, p, spec(p.files.city, "a", "exec cat"))
	holder := holderOf(t, p, "a")
	var shortest time.Duration
	until(t, "threads that sleep without a short timeout", func() bool {
		var ok bool
		shortest, ok = shortestSleep(t, holder)
		return ok && shortest >= time.Hour
	})
}

func shortestSleep(t *testing.T, pid int) (shortest time.Duration, ok bool) {
	t.Helper()
	shortest = math.MaxInt64
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	if err != nil || len(tasks) == 0 {
		t.Fatal("the holder has no threads", err)
	}
	for _, task := range tasks {
		data, err := os.ReadFile(task)
		if errors.Is(err, unix.EPERM) {
			t.Skip("the kernel does not show what threads wait for")
		}
		var call, timeout uint64
		var skip string
		_, scanErr := fmt.Sscanf(string(data), "%d %s %s %s 0x%x", &call, &skip, &skip, &skip,
			&timeout)
		if err != nil || scanErr != nil {
			return 0, false
		}
		switch {
		case call == unix.SYS_FUTEX && timeout != 0:
			shortest = min(shortest, timespecAt(t, pid, int64(timeout)))
		case call == unix.SYS_EPOLL_PWAIT && int32(timeout) >= 0:
			shortest = min(shortest, time.Duration(int32(timeout))*time.Millisecond)
		case call == unix.SYS_NANOSLEEP:
			return 0, false
		}
	}
	return shortest, true
}

func timespecAt(t *testing.T, pid int, address int64) time.Duration {
	t.Helper()
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	var ts struct{ Sec, Nsec int64 }
	err = binary.Read(io.NewSectionReader(mem, address, 16), binary.NativeEndian, &ts)
	if err != nil {
		t.Fatal(err)
	}
	if ts.Sec > int64(math.MaxInt64/time.Second) {
		return math.MaxInt64
	}
	return time.Duration(ts.Sec)*time.Second + time.Duration(ts.Nsec)
}
