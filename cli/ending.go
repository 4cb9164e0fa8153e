package cli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"gcity/city"
)

const (
	// sayAfter is how long something may take without a word.
	sayAfter = time.Second
	// sayEvery is how often it is looked at what a stop waits for.
	sayEvery = 250 * time.Millisecond
	// deafAfter is after what silence it is said that a loop does not turn; its last words are no silence.
	deafAfter = 10 * time.Second
)

// sayEnding says on stderr what the stop of a city waits for, from a moment after now until done is called.
func (a *app) sayEnding(ctx context.Context, c city.Control) (done func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		var told city.Telling
		heard, deaf := a.Now(), false
		for wait := sayAfter; pause(ctx, wait); wait = sayEvery {
			look, cancel := context.WithTimeout(ctx, deafAfter)
			s, err := c.Snapshot(look)
			cancel()
			switch {
			case ctx.Err() != nil:
				return
			case err == nil && s.Patrol.Age(a.Now()) < deafAfter:
				heard, deaf = a.Now(), false
				for _, line := range told.Of(s) {
					a.Murmur(line)
				}
			case !deaf && a.Now().Sub(heard) > deafAfter:
				deaf = true
				a.Murmur("the controller does not answer for now; a second TERM to its process ends its agents at once")
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

// saySettling says on stderr whom a city waits for that is brought once to what its configuration says.
func (a *app) saySettling(ctx context.Context, c city.Control) (done func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		var told city.Telling
		for wait := 2 * sayAfter; pause(ctx, wait); wait = sayEvery {
			s, err := c.Snapshot(ctx)
			if err != nil {
				continue
			}
			for _, line := range told.Unsettled(s) {
				a.Murmur(line)
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}

// slowly says what is waited for, and until when at most, if it takes its time, until done is called.
type slowly func(ctx context.Context, what string, most time.Duration) (done func())

// saySlow says so on stderr, after a moment.
func (a *app) saySlow(ctx context.Context, what string, most time.Duration) (done func()) {
	return a.sayLater(ctx, sayAfter, what, most)
}

// sayVerySlow says so of what usually takes a while.
func (a *app) sayVerySlow(ctx context.Context, what string, most time.Duration) (done func()) {
	return a.sayLater(ctx, 5*sayAfter, what, most)
}

func (a *app) sayLater(ctx context.Context, after time.Duration, what string, most time.Duration) (done func()) {
	ctx, cancel := context.WithCancel(ctx)
	by := a.Now().Add(most)
	var wg sync.WaitGroup
	wg.Go(func() {
		if pause(ctx, after) {
			a.Murmur(fmt.Sprintf("waits for %s, until %s at most", what, a.Clock(by)))
		}
	})
	return func() { cancel(); wg.Wait() }
}

// pause waits, and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
