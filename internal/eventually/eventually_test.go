package eventually

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

type victim struct {
	testing.TB
	said string
}

func (v *victim) Fatalf(format string, args ...any) {
	v.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (v *victim) Helper() {}

// A wait succeeds even if the result comes late. Without a result, the test fails with a description.
func TestEventually(t *testing.T) {
	never := "not within 2m0s: the end\nit is five"
	state := func() string { return "it is five" }
	for name, c := range map[string]struct {
		wait func(t testing.TB, end <-chan int)
		in   time.Duration
		said string
	}{
		"true at once": {func(t testing.TB, end <-chan int) { True(t, "the end", func() bool { return true }, state) }, time.Hour, ""},
		"true later":   {func(t testing.TB, end <-chan int) { True(t, "the end", func() bool { return len(end) > 0 }, state) }, time.Minute, ""},
		"never true":   {func(t testing.TB, end <-chan int) { True(t, "the end", func() bool { return len(end) > 0 }, state) }, time.Hour, never},
		"a value":      {func(t testing.TB, end <-chan int) { got(t, end, state) }, time.Minute, ""},
		"no value":     {func(t testing.TB, end <-chan int) { got(t, end, state) }, time.Hour, never},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v, end, over := &victim{TB: t}, make(chan int, 1), make(chan struct{})
				time.AfterFunc(c.in, func() { end <- 7 })
				go func() {
					defer close(over)
					c.wait(v, end)
				}()
				<-over
				if v.said != c.said {
					t.Errorf("Fatalf got %q, want %q", v.said, c.said)
				}
			})
		})
	}
}

// An expensive condition is polled twice per second, and after each change.
func TestPollOnChange(t *testing.T) {
	for name, c := range map[string]struct {
		change, met time.Duration // 0 = never
		polls       int
	}{
		"change":              {change: 100 * time.Millisecond, met: 100 * time.Millisecond, polls: 2},
		"no change":           {met: 10 * time.Second, polls: 21},
		"change, not met yet": {change: 600 * time.Millisecond, met: time.Second, polls: 4},
		"never met":           {polls: 242},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, polls := time.Now(), 0
				since := func(d time.Duration) bool { return d > 0 && time.Since(began) >= d }
				got := PollOnChange(func() int64 {
					if since(c.change) {
						return 1
					}
					return 0
				}, func() bool { polls++; return since(c.met) })
				if got != (c.met > 0) || polls != c.polls {
					t.Errorf("got %v after %d polls, want %d", got, polls, c.polls)
				}
			})
		})
	}
}

func got(t testing.TB, end <-chan int, state func() string) {
	if n := Receive(t, "the end", end, state); n != 7 {
		t.Errorf("got %d", n)
	}
}
