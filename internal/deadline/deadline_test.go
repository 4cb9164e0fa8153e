package deadline

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const limit = time.Second

// callCounter counts calls. Calls with the prefix "/hung" block until the test releases them.
type callCounter struct {
	*Calls[string]
	started map[string]int
	answer  chan string
}

func (d *callCounter) see(name string) func() string {
	return func() string {
		d.mu.Lock()
		d.started[name]++
		d.mu.Unlock()
		if strings.HasPrefix(name, "/hung") {
			return <-d.answer
		}
		return name
	}
}

func (d *callCounter) at(name string) (string, bool) {
	return d.Do(context.Background(), name, time.Now(), limit, d.see(name))
}

func (d *callCounter) count(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.started[name]
}

// At most one call per name runs. A result is never older than its request.
func TestCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &callCounter{New[string](2), map[string]int{}, make(chan string)}
		for range 3 {
			if saw, ok := d.at("/hung"); ok || saw != "" {
				t.Errorf("%q, %v", saw, ok)
			}
		}
		if saw, ok := d.at("/well"); !ok || saw != "/well" {
			t.Errorf("%q, %v", saw, ok)
		}
		if _, ok := d.at("/hung2"); ok || d.count("/hung") != 1 {
			t.Errorf("%v, %d", ok, d.count("/hung"))
		}
		if _, ok := d.at("/well"); ok || d.count("/well") != 1 {
			t.Errorf("Do above the limit: got %v, %d", ok, d.count("/well"))
		}
		if err := d.Start("/well", d.see("/well")); !errors.Is(err, ErrTooMany) {
			t.Errorf("Start above the limit: got %v", err)
		}
		if err := d.Start("/hung", d.see("/hung")); err != nil || d.count("/hung") != 1 {
			t.Errorf("a pending call: got %v, %d", err, d.count("/hung"))
		}
		d.answer <- "/then"
		d.answer <- "/then"
		synctest.Wait()
		if saw, ok := d.at("/well"); !ok || saw != "/well" || d.Pending() != 0 {
			t.Errorf("%q, %v, %d", saw, ok, d.Pending())
		}

		if err := d.Start("/hung", d.see("/hung")); err != nil {
			t.Error(err)
		}
		time.Sleep(limit / 2) // on the bubble's fake clock
		seen := make(chan string)
		go func() {
			saw, _ := d.at("/hung")
			seen <- saw
		}()
		synctest.Wait()
		d.answer <- "/stale"
		d.answer <- "/now"
		if saw := <-seen; saw != "/now" {
			t.Errorf("%q", saw)
		}
	})
}

// Without a limit, a caller waits as long as its context allows.
func TestCallsUntilTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &callCounter{New[string](2), map[string]int{}, make(chan string)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		if _, ok := d.Do(ctx, "/hung", began, 0, d.see("/hung")); ok || time.Since(began) != time.Hour {
			t.Errorf("%v after %s", ok, time.Since(began))
		}
		go func() { d.answer <- "/then"; d.answer <- "/now" }()
		if saw, ok := d.Do(t.Context(), "/hung", time.Now(), 0, d.see("/hung")); !ok || saw != "/now" {
			t.Errorf("%q, %v", saw, ok)
		}
	})
}
