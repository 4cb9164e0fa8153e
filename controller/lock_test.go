package controller

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gcity/internal/disk"
	"gcity/session"
)

// A second controller is refused, and the error contains the PID of the first controller. If the runtime folder is
// removed, the first controller creates and locks it again.
func TestHold(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir := t.TempDir()
	first, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	var running *RunningError
	if _, err := Acquire(dir); !errors.As(err, &running) || running.PID != os.Getpid() {
		t.Fatalf("Acquire by a second controller: got %v", err)
	}
	for range 2 {
		remove(t, dir)
		running = nil
		if _, err := Acquire(dir); !errors.As(err, &running) || running.PID != os.Getpid() {
			t.Fatalf("Acquire after the folder was removed: got %v", err)
		}
		if err := first.Check(); err != nil {
			t.Fatalf("taken again: %v", err)
		}
		if pid := readPID(filepath.Join(dir, ".gc", "daemon.pid")); pid != os.Getpid() {
			t.Errorf("PID in the file: got %d", pid)
		}
	}
	if err := first.Release(); err != nil {
		t.Error(err)
	}
	second, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Release(); err != nil {
		t.Error(err)
	}
}

// A moved city keeps its lock at the new path, and nothing is created at the old path. The same applies to the runtime
// folder.
func TestHoldOfAMovedCity(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, what := range []string{"", ".gc"} {
		dir := filepath.Join(t.TempDir(), "city")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		hold, err := Acquire(dir)
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(dir, what)
		if err := os.Rename(at, at+"2"); err != nil {
			t.Fatal(err)
		}
		var moved *disk.MovedError
		if err := hold.Check(); !errors.As(err, &moved) || moved.Path != at || moved.To != at+"2" {
			t.Errorf("%q moved: %v", what, err)
		}
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s exists again: %v", at, err)
		}
		var running *RunningError
		if second, err := Acquire(strings.TrimSuffix(at+"2", "/.gc2")); !errors.As(err, &running) {
			t.Errorf("Acquire with %q moved: got %v, %v", what, second, err)
		}
		if err := os.Rename(at+"2", at); err != nil {
			t.Fatal(err)
		}
		if err := hold.Check(); err != nil {
			t.Errorf("after %q was moved back: %v", what, err)
		}
		if err := hold.Release(); err != nil {
			t.Error(err)
		}
	}
}

// CheckPath distinguishes a removed folder from one that was moved, even if another folder is at the path.
func TestHoldOfARemovedCity(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "city")
	for _, remade := range []bool{false, true} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		hold, err := Acquire(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(dir, dir+"2"); err != nil {
			t.Fatal(err)
		}
		if err := hold.CheckPath(); err == nil || disk.IsRemoved(err) {
			t.Errorf("moved: got %v", err)
		}
		if err := os.RemoveAll(dir + "2"); err != nil {
			t.Fatal(err)
		}
		if remade {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := hold.CheckPath(); !disk.IsRemoved(err) {
			t.Errorf("removed (another folder at the path: %t): got %v", remade, err)
		}
		_ = hold.Release() // its files no longer exist
	}
}

// A city stops when its folder was removed, but not after a single report or while the folder cannot be examined.
func TestARemovedFolderStopsTheCity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var state atomic.Pointer[error]
		report := func(err error) { state.Store(&err) }
		report(nil)
		check := func() error { return *state.Load() }
		w := newTown(t, two, func(o *Options) { o.CheckOwner, o.CheckFolder = check, check })
		w.begin()
		time.Sleep(time.Second)
		removed := &disk.MovedError{Path: w.dir, Removed: true}
		for _, err := range []error{&disk.MovedError{Path: w.dir}, syscall.EIO, removed} {
			report(err)
			time.Sleep(31 * time.Second) // a patrol after 29 s finds the problem, and the second check does not
			report(nil)
			time.Sleep(59 * time.Second)
			synctest.Wait()
			if w.state("a") != "running" {
				t.Fatalf("after %v: a is %s", err, w.state("a"))
			}
		}
		report(removed)
		if err := <-w.ended; !disk.IsRemoved(err) {
			t.Errorf("Run: %v", err)
		}
		if all, err := w.fake.List(context.Background()); err != nil || slices.ContainsFunc(all,
			func(st session.Status) bool { return st.Alive }) {
			t.Errorf("agents: %v, %v", all, err)
		}
	})
}

// Acquire waits for a lock that the last child of a killed controller still holds. It does not wait for the lock of
// a running controller.
func TestTheLockOfADeadControllerIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	first, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	dead := exec.Command("/bin/true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	// the recorded process might be unrelated, or have exited
	for _, recorded := range []int{os.Getppid(), dead.Process.Pid} {
		if err := os.WriteFile(first.pid, []byte(strconv.Itoa(recorded)), 0o600); err != nil {
			t.Fatal(err)
		}
		var running *RunningError
		if _, err := acquire(dir, 0); !errors.As(err, &running) || running.PID != os.Getpid() {
			t.Fatalf("acquire without a wait: got %v", err)
		}
	}
	time.AfterFunc(50*time.Millisecond, func() {
		first.lock.Load().Release()
		first.folder.Close()
	})
	second, err := Acquire(dir)
	if err != nil {
		t.Fatalf("Acquire of a dead controller's lock: %v", err)
	}
	if err := second.Release(); err != nil {
		t.Error(err)
	}
}

func remove(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, ".gc")); err != nil {
		t.Fatal(err)
	}
}

// A controller that loses its city to another controller exits without stopping the agents. It does not exit if the
// lock cannot be checked.
func TestLosingTheCityLeavesTheAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := make(chan error, 1)
		w := newTown(t, two, func(o *Options) {
			o.CheckOwner = func() error {
				select {
				case err := <-held:
					return err
				default:
					return nil
				}
			}
		})
		w.begin()
		synctest.Wait()
		held <- errors.New("too many open files")
		time.Sleep(time.Minute) // two patrols
		synctest.Wait()
		if w.state("a") != "running" {
			t.Fatalf("a is %s", w.state("a"))
		}
		held <- &RunningError{Path: w.dir, PID: 7}
		var running *RunningError
		if err := <-w.ended; !errors.As(err, &running) {
			t.Errorf("Run: %v", err)
		}
		all, err := w.fake.List(context.Background())
		if err != nil || len(all) != 2 || !all[0].Alive || !all[1].Alive {
			t.Errorf("agents: %v, %v", all, err)
		}
	})
}

// The pid file is optional. If it cannot be written, for example on a full or read-only disk, the city can still be
// locked.
func TestHoldWithoutAPidFile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".gc/daemon.pid/full"), 0o700); err != nil {
		t.Fatal(err)
	}
	first, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	var running *RunningError
	if _, err := Acquire(dir); !errors.As(err, &running) || running.PID != os.Getpid() {
		t.Errorf("Acquire: got %v", err)
	}
	_ = first.Release() // the lock is released in any case
	second, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	_ = second.Release()
}
