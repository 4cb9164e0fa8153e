package supervisor

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// An empty or missing registry does not stop any cities. The next registration writes the other cities back.
func TestEmptiedRegistry(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"gone":     os.Remove,
		"empty":    func(path string) error { return os.Truncate(path, 0) },
		"comments": func(path string) error { return os.WriteFile(path, []byte("# mine\n"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newFakeFleet(t)
				l.begin("/c/a", "/c/b", "/c/d")
				tick()
				if err := spoil(l.h.Registry()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(11 * time.Second)
				l.want("a running, b running, d running")
				if p := l.s.Problem(); !strings.Contains(p, l.h.Registry()) || !strings.Contains(p, "gcity unregister") {
					t.Errorf("%q", p)
				}
				if _, err := l.s.Unregister(t.Context(), "d"); err != nil {
					t.Error(err)
				}
				l.want("a running, b running")
				if all, err := Read(l.h); err != nil || len(all) != 2 || all[0] != (Entry{"/c/a", "a"}) || all[1] != (Entry{"/c/b", "b"}) {
					t.Errorf("%v, %v", all, err)
				}
				if p := l.s.Problem(); p != "" {
					t.Errorf("%q", p)
				}
				for _, name := range []string{"a", "b"} {
					if _, err := l.s.Unregister(t.Context(), name); err != nil {
						t.Error(err)
					}
				}
				l.want("")
				if p := l.s.Problem(); p != "" {
					t.Errorf("%q", p)
				}
				l.over("")
			})
		})
	}
}

// Registering a city while the registry is empty does not stop the other cities.
func TestRegisterIntoEmptiedRegistry(t *testing.T) {
	dir := must(filepath.EvalSymlinks(t.TempDir()))
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.begin("/c/a", "/c/b")
		tick()
		if err := os.Remove(l.h.Registry()); err != nil {
			t.Fatal(err)
		}
		if _, err := l.s.Register(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		if all, err := Read(l.h); err != nil || len(all) != 3 || all[2].Path != dir || l.city("/c/a").over {
			t.Errorf("%v, %v", all, err)
		}
		l.over("")
	})
}

// If the disk becomes full while cities are written back to an empty registry, no city stops. The test runs in a child
// process, because the limit on the size of files affects the whole process.
func TestDiskFullWhileRestoringRegistry(t *testing.T) {
	const variable = "GCITY_TEST_DISK_FULL"
	if os.Getenv(variable) == "" {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = append(os.Environ(), variable+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	dir := must(filepath.EvalSymlinks(t.TempDir()))
	for name, change := range map[string]func(context.Context, *Supervisor) error{
		"register":   func(ctx context.Context, s *Supervisor) error { _, err := s.Register(ctx, dir); return err },
		"unregister": func(ctx context.Context, s *Supervisor) error { _, err := s.Unregister(ctx, "d"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newFakeFleet(t)
				l.begin("/c/a", "/c/b", "/c/d")
				tick()
				if err := os.Truncate(l.h.Registry(), 0); err != nil {
					t.Fatal(err)
				}
				var limit syscall.Rlimit
				if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
					t.Fatal(err)
				}
				old := limit
				limit.Cur = uint64(len(Entry{"/c/a", "a"}.String()))
				if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
					t.Fatal(err)
				}
				err := change(t.Context(), l.s)
				if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
					t.Fatal(err)
				}
				if !errors.Is(err, syscall.EFBIG) {
					t.Errorf("the disk is not full: %v", err)
				}
				time.Sleep(11 * time.Second)
				l.want("a running, b running, d running")
				l.over("")
			})
		})
	}
}
