package supervisor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func (l *fakeFleet) beaten() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.beats
}

// While the registry keeps changing, the supervisor still reports its status and can be stopped.
func TestRegistryKeepsChanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.begin("/c/a", "/c/b")
		tick()
		done := make(chan struct{})
		go func() {
			for i := range 100 {
				write(t, l.h.Registry()+".new", fmt.Sprintf("[[cities]]\npath = \"/c/a\"\n[[cities]]\npath = \"/d/n%d\"\n", i))
				if err := os.Rename(l.h.Registry()+".new", l.h.Registry()); err != nil {
					t.Error(err)
				}
				l.s.Reload()
				time.Sleep(50 * time.Millisecond)
			}
			close(done)
		}()
		for range 4 {
			was := l.beaten()
			time.Sleep(time.Second)
			if l.beaten() == was {
				t.Error("the supervisor did not report its status")
			}
		}
		if p := l.s.Problem(); !strings.Contains(p, l.h.Registry()+" keeps changing; applying its current content would stop cities, so gcity does not apply it") {
			t.Errorf("%q", p)
		}
		l.want("a running, b running")
		<-done
		began := time.Now()
		write(t, l.h.Registry(), "[[cities]]\npath = \"/c/a\"\n")
		l.s.Reload()
		synctest.Wait()
		l.over("")
		if waited := time.Since(began); waited > tenth {
			t.Errorf("the stop took %s", waited)
		}
		if !l.city("/c/a").ended || !l.city("/c/b").ended {
			t.Error("agents are still running")
		}
	})
}

const tenth = 100 * time.Millisecond

// While the disk does not respond, the supervisor still reports its status and the problem, and can be stopped. The
// result of a late read is not applied.
func TestRegistryDoesNotRespond(t *testing.T) {
	dir := must(filepath.EvalSymlinks(t.TempDir()))
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.begin("/c/a", "/c/b")
		tick()
		hung, looks := make(chan readResult), 0
		real := l.s.read
		l.s.read = func() readResult {
			if looks++; looks == 1 {
				return <-hung
			}
			return real()
		}
		write(t, l.h.Registry(), "[[cities]]\npath = \"/c/b\"\n[[cities]]\npath = \"/c/n\"\n")
		l.s.Reload()
		was := l.beaten()
		time.Sleep(30 * time.Second)
		if n := l.beaten() - was; n < 29 {
			t.Errorf("%d status reports", n)
		}
		if p := l.s.Problem(); !strings.Contains(p, l.h.Dir+" does not respond") {
			t.Errorf("%q", p)
		}
		l.want("a running, b running")
		if _, err := l.s.Register(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "supervisor status") {
			t.Errorf("%v", err)
		}
		if looks != 1 {
			t.Errorf("got %d reads in progress", looks)
		}
		hung <- readResult{} // a result without cities
		time.Sleep(2 * quietPeriod)
		l.want(filepath.Base(dir) + " running, b running, n running")
		if p := l.s.Problem(); p != "" || looks != 3 {
			t.Errorf("%q, %d reads", p, looks)
		}
		again := make(chan readResult)
		l.s.read = func() readResult { return <-again }
		l.s.Reload()
		synctest.Wait()
		l.over("")
		close(again)
	})
}

// Register waits for a read that starts after the registration.
func TestRegisterDuringRead(t *testing.T) {
	dir := must(filepath.EvalSymlinks(t.TempDir()))
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.begin("/c/a")
		tick()
		real := l.s.read
		l.s.read = func() readResult {
			saw := real()
			time.Sleep(time.Second)
			return saw
		}
		l.s.Reload()
		synctest.Wait()
		i, err := l.s.Register(t.Context(), dir)
		if err != nil || !i.Running {
			t.Errorf("%+v, %v", i, err)
		}
		l.over("")
	})
}

// If a city is unregistered during a read, the result of the read does not restart it.
func TestUnregisterDuringRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.begin("/c/a", "/c/b", "/c/slow")
		tick()
		l.city("/c/slow").slow = make(chan struct{})
		real := l.s.read
		l.s.read = func() readResult {
			saw := real()
			time.Sleep(time.Second)
			return saw
		}
		l.s.Reload()
		synctest.Wait()
		done := make(chan error, 2)
		for _, name := range []string{"b", "slow"} {
			go func() {
				_, err := l.s.Unregister(t.Context(), name)
				done <- err
			}()
		}
		time.Sleep(1500 * time.Millisecond) // wait until the read has ended
		l.city("/c/slow").Hurry()
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		l.want("a running")
		if n, m := l.count("/c/b"), l.count("/c/slow"); n != 1 || m != 1 {
			t.Errorf("starts of the cities: got %d and %d, want 1 each", n, m)
		}
		l.over("")
	})
}
