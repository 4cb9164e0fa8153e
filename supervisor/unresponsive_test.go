package supervisor

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
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
