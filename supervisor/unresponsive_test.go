package supervisor

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// If a folder that does not respond is registered several times, at most one read of it is in progress.
func TestFolderDoesNotRespond(t *testing.T) {
	h, dir := newHome(t), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		var named, counted atomic.Int32
		s := New(Options{
			Home:   h,
			Name:   func(string) string { named.Add(1); <-free; return "a" },
			Agents: func(string) (int, error) { counted.Add(1); return 1, nil },
		})
		for range 3 {
			if _, err := s.Preview(t.Context(), dir); err == nil {
				t.Error("Preview returned a result")
			}
			if _, err := s.Register(t.Context(), dir); err == nil {
				t.Error("the folder was registered")
			}
		}
		if n := named.Load(); n != 1 {
			t.Errorf("got %d reads in progress", n)
		}
		close(free)
		synctest.Wait()
		if d, err := s.Preview(t.Context(), dir); err != nil || d.Name != "a" ||
			counted.Load() != 1 {
			t.Errorf("got %+v, %v, counted %d times", d, err, counted.Load())
		}
	})
}

// While controllers do not respond, the list of cities waits for all of them at the same time, and the supervisor's
// other methods do not wait.
func TestControllersDoNotRespond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.begin("/c/a", "/c/b", "/c/d", "/c/ok")
		tick()
		const delay = 300 * time.Millisecond
		l.mu.Lock()
		for _, path := range []string{"/c/a", "/c/b", "/c/d"} {
			l.cities[path].late = delay
		}
		l.mu.Unlock()
		began, listed := time.Now(), make(chan time.Duration)
		go func() {
			must(l.s.Cities(t.Context()))
			listed <- time.Since(began)
		}()
		synctest.Wait()
		if l.s.mu.TryLock() {
			l.s.mu.Unlock()
			was := l.beaten()
			l.s.beat()
			if c := must(l.s.City("ok")); must(c.Snapshot(t.Context())).Name != "ok" ||
				l.beaten() != was+1 || time.Since(began) != 0 {
				t.Error("the other methods wait for the cities")
			}
		} else {
			t.Error("the list of cities waits for the cities while it holds the lock")
		}
		if waited := <-listed; waited != delay {
			t.Errorf("the list of cities waited %s, want %s", waited, delay)
		}
		l.over("")
	})
}
