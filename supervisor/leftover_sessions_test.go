package supervisor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/internal/deadline"
)

func (l *fakeFleet) leaves(wrong map[string]error) (ended func() []string) {
	var paths []string
	l.s.o.CountLeftovers = func(context.Context, string) (int, error) { return 2, nil }
	l.s.o.StopLeftovers = func(_ context.Context, path string) (int, error) {
		time.Sleep(time.Second) // on the bubble's fake clock
		l.mu.Lock()
		defer l.mu.Unlock()
		paths = append(paths, path)
		if err := wrong[path]; err != nil {
			return 1, err
		}
		return 2, nil
	}
	return func() []string {
		l.mu.Lock()
		defer l.mu.Unlock()
		return slices.Sorted(slices.Values(paths))
	}
}

// If a city cannot be opened, the sessions from its earlier run are stopped with the city. Another controller's
// sessions are left alone.
func TestSessionsOfUnopenableCity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		ended := l.leaves(map[string]error{"/c/hard": errors.New("one does not exit"), "/c/taken": errBusy})
		hang := make(chan struct{})
		for _, p := range []string{"/c/bad", "/c/gone", "/c/hard", "/c/taken"} {
			l.wrong[p] = errors.New("no")
		}
		l.wrong["/c/busy"], l.hangs["/c/mute"] = errBusy, hang
		l.begin("/c/bad", "/c/busy", "/c/gone", "/c/hard", "/c/mute", "/c/taken")
		time.Sleep(19 * time.Second)
		for _, i := range must(l.s.Cities(t.Context())) {
			if want := map[string]int{"bad": 2, "gone": 2, "hard": 2, "taken": 2}[i.Name]; i.Status != city.CityRefused || i.LeftoverSessions != want && i.Name != "mute" {
				t.Errorf("%+v", i)
			}
		}
		r, err := l.s.Unregister(t.Context(), "gone")
		if err != nil || !strings.Contains(r.Message, "; 2 sessions from an earlier run were stopped") || !slices.Equal(ended(), []string{"/c/gone"}) {
			t.Errorf("%v, %v, %v", r, err, ended())
		}
		l.stop()
		l.want("bad stopping, busy stopped, hard stopping, mute stopping, taken stopping")
		err = <-l.end
		if err == nil || strings.Count(err.Error(), "\n") != 1 || !strings.Contains(err.Error(), "hard (/c/hard): agents from an earlier run might still be running: one does not exit") ||
			!strings.Contains(err.Error(), "mute (/c/mute): the city's agents might still be running: the city's folder does not respond") {
			t.Errorf("%v", err)
		}
		if got := ended(); !slices.Equal(got, []string{"/c/bad", "/c/gone", "/c/hard", "/c/taken"}) {
			t.Errorf("%q", got)
		}
		close(hang)
		time.Sleep(time.Second) // on the bubble's fake clock; lets the city close
	})
}

// Leave stops no sessions, not even those of a city that cannot be opened.
func TestLeaveWithUnopenableCity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		ended := l.leaves(nil)
		l.wrong["/c/bad"] = errors.New("no")
		l.begin("/c/a", "/c/bad")
		tick()
		l.city("/c/a").fails <- errors.New("once")
		tick()
		l.s.Leave()
		l.over("")
		if got := ended(); len(got) > 0 {
			t.Errorf("sessions of %q were stopped", got)
		}
	})
}

// If a city has crashed and cannot be opened again, its agents stop together with the supervisor.
func TestStopOfUnopenableCityAfterCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		ended := l.leaves(nil)
		l.begin("/c/odd")
		tick()
		l.city("/c/odd").fails <- errors.New("once")
		tick()
		l.mu.Lock()
		l.wrong["/c/odd"] = errors.New("no")
		l.mu.Unlock()
		l.over("")
		if got := ended(); !slices.Equal(got, []string{"/c/odd"}) {
			t.Errorf("%q", got)
		}
	})
}

// Sessions that another controller takes over no longer count as left behind.
func TestLeftoverSessionsAreAdopted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.leaves(map[string]error{"/c/bad": errBusy})
		left := func(want int) {
			t.Helper()
			synctest.Wait()
			if all := must(l.s.Cities(t.Context())); len(all) != 1 || all[0].Status != city.CityRefused || all[0].LeftoverSessions != want {
				t.Errorf("%+v", all)
			}
		}
		l.wrong["/c/bad"] = errors.New("no")
		l.begin("/c/bad")
		left(2)
		l.mu.Lock()
		l.wrong["/c/bad"] = errBusy
		l.mu.Unlock()
		l.s.Reload()
		left(0)
		l.over("")
	})
}

// Unregister does not claim that a city has stopped if another controller keeps running it.
func TestUnregisterCityOfAnotherController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.leaves(map[string]error{"/c/taken": errBusy})
		l.wrong["/c/busy"], l.wrong["/c/taken"] = errBusy, errors.New("no")
		l.begin("/c/busy", "/c/taken")
		tick()
		for _, name := range []string{"busy", "taken"} {
			want := name + " is no longer registered. The supervisor did not stop it: " + errBusy.Error()
			if r, err := l.s.Unregister(t.Context(), name); err != nil || r.Message != want {
				t.Errorf("got %q, %v; want %q", r.Message, err, want)
			}
		}
		l.over("")
	})
}

// If a user has stopped a city, the supervisor does not stop sessions that were started there later.
func TestStopOfCityStoppedByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		ended := l.leaves(nil)
		l.begin("/c/a", "/c/b")
		tick()
		for _, p := range []string{"/c/a", "/c/b"} {
			l.city(p).fails <- nil
		}
		tick()
		l.want("a stopped, b stopped")
		if _, err := l.s.Unregister(t.Context(), "b"); err != nil {
			t.Error(err)
		}
		l.over("")
		if got := ended(); len(got) > 0 {
			t.Errorf("sessions of %q were stopped", got)
		}
	})
}

// If too many counts do not return, the log says that a city's sessions were not counted.
func TestUncountedSessionsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		l.leaves(nil)
		l.s.o.StopLeftovers = nil
		l.s.leftovers = deadline.New[int](0)
		l.wrong["/c/bad"] = errors.New("no")
		l.begin("/c/bad")
		time.Sleep(time.Second)
		l.over("")
		if !strings.Contains(l.logs.String(), "cannot count the sessions from an earlier run") {
			t.Errorf("the log:\n%s", &l.logs)
		}
	})
}
