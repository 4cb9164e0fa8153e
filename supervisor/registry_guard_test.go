package supervisor

import (
	"os"
	"path/filepath"
	"strings"
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
