package env

import (
	"context"
	"fmt"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"gcity/city"
	"gcity/cli/folder"
)

const (
	// SayAfter is how long something may take without a word.
	SayAfter = time.Second
	// SayEvery is how often it is looked at what a stop waits for.
	SayEvery = 250 * time.Millisecond
)

// SayEnding says on stderr what the stop of a city waits for, from a moment after now until done is called.
func SayEnding(ctx context.Context, e *Env, c city.Control) (done func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		var told city.StopReport
		heard, deaf := e.Now(), false
		for wait := SayAfter; folder.Pause(ctx, wait); wait = SayEvery {
			look, cancel := context.WithTimeout(ctx, folder.DeafAfter)
			s, err := c.Snapshot(look)
			cancel()
			switch {
			case ctx.Err() != nil:
				return
			case err == nil && s.Patrol.Age(e.Now()) < folder.DeafAfter:
				heard, deaf = e.Now(), false
				for _, line := range told.Of(s) {
					e.Murmur(line)
				}
			case !deaf && e.Now().Sub(heard) > folder.DeafAfter:
				deaf = true
				e.Murmur("the controller does not answer for now; a second TERM to its process " +
					"ends its agents at once")
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

// SaySettling says on stderr whom a city waits for that is brought once to what its configuration says.
func SaySettling(ctx context.Context, e *Env, c city.Control) (done func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		var told city.StopReport
		for wait := 2 * SayAfter; folder.Pause(ctx, wait); wait = SayEvery {
			s, err := c.Snapshot(ctx)
			if err != nil {
				continue
			}
			for _, line := range told.Unsettled(s) {
				e.Murmur(line)
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

// Slowly says what is waited for, and until when at most, if it takes its time, until done is called.
type Slowly func(ctx context.Context, what string, most time.Duration) (done func())

// SaySlow says so on stderr, after a moment.
func (e *Env) SaySlow(ctx context.Context, what string, most time.Duration) (done func()) {
	return sayLater(ctx, e, SayAfter, what, most)
}

// SayVerySlow says so of what usually takes a while.
func (e *Env) SayVerySlow(ctx context.Context, what string, most time.Duration) (done func()) {
	return sayLater(ctx, e, 5*SayAfter, what, most)
}

func sayLater(ctx context.Context, e *Env, after time.Duration, what string,
	most time.Duration) (done func()) {
	ctx, cancel := context.WithCancel(ctx)
	by := e.Now().Add(most)
	var wg sync.WaitGroup
	wg.Go(func() {
		if folder.Pause(ctx, after) {
			e.Murmur(fmt.Sprintf("waits for %s, until %s at most", what, e.Clock(by)))
		}
	})
	return func() { cancel(); wg.Wait() }
}

// Interruptible ends the context at an INT or TERM. The caller calls the second result when done.
func Interruptible(ctx context.Context) (context.Context, func()) {
	return signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
}
