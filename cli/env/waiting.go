package env

import (
	"context"
	"fmt"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/internal/deadline"
	"gcity/internal/proc"
)

const (
	// SayAfter is how long an operation runs before its first message.
	SayAfter = time.Second
	// SayEvery is the time between two polls of a city's state.
	SayEvery = 250 * time.Millisecond
)

// InBackground calls run in a goroutine. done cancels its context and waits for it.
func InBackground(ctx context.Context, run func(context.Context)) (done func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { run(ctx) })
	return func() { cancel(); wg.Wait() }
}

// SayEnding prints in the background, on stderr, what a stopping city is waiting for. done stops it.
func SayEnding(ctx context.Context, e *Env, c city.Control) (done func()) {
	return InBackground(ctx, func(ctx context.Context) {
		var told city.StopReport
		var waves city.Waves
		progress := e.NewProgress()
		defer progress.Clear()
		responded, silent := e.Now(), false
		for wait := SayAfter; deadline.Pause(ctx, wait); wait = SayEvery {
			look, cancel := context.WithTimeout(ctx, folder.HangsAfter)
			s, err := c.Snapshot(look)
			cancel()
			switch {
			case ctx.Err() != nil:
				return
			case err == nil && s.Patrol.Age(e.Now()) < folder.HangsAfter:
				responded, silent = e.Now(), false
				progress.lines(told.NewLines(s))
				progress.wave(waves.See(s))
			case !silent && e.Now().Sub(responded) > folder.HangsAfter:
				silent = true
				progress.Clear()
				e.Note("the controller is not responding; a second TERM to its " +
					"process kills its agents immediately")
			}
		}
	})
}

// SaySettling prints in the background, on stderr, which agents a starting city is waiting for. done stops it.
func SaySettling(ctx context.Context, e *Env, c city.Control) (done func()) {
	return InBackground(ctx, func(ctx context.Context) {
		var told city.StopReport
		var waves city.Waves
		progress := e.NewProgress()
		defer progress.Clear()
		for wait := 2 * SayAfter; deadline.Pause(ctx, wait); wait = SayEvery {
			s, err := c.Snapshot(ctx)
			if err != nil {
				continue
			}
			progress.lines(told.Unsettled(s))
			progress.wave(waves.See(s))
		}
	})
}

// SayProgress shows in the background, on stderr, the result of text for the newest state. done stops it.
func SayProgress(ctx context.Context, e *Env, c city.Control,
	text func(*city.Snapshot) string) (done func()) {
	return InBackground(ctx, func(ctx context.Context) {
		progress := e.NewProgress()
		defer progress.Clear()
		for deadline.Pause(ctx, SayAfter) {
			if s, err := c.Snapshot(ctx); err == nil {
				progress.Show(text(s))
			}
		}
	})
}

// Slowly reports what a slow operation is waiting for. most is the maximum wait. The caller must call done afterwards.
type Slowly func(ctx context.Context, what string, most time.Duration) (done func())

// SaySlow prints on stderr what an operation waits for, if it takes longer than SayAfter.
func (e *Env) SaySlow(ctx context.Context, what string, most time.Duration) (done func()) {
	return sayLater(ctx, e, SayAfter, what, most)
}

// SayVerySlow is like SaySlow, for operations that usually take longer.
func (e *Env) SayVerySlow(ctx context.Context, what string, most time.Duration) (done func()) {
	return sayLater(ctx, e, 5*SayAfter, what, most)
}

func sayLater(ctx context.Context, e *Env, after time.Duration, what string,
	most time.Duration) (done func()) {
	by := e.Now().Add(most)
	return InBackground(ctx, func(ctx context.Context) {
		if deadline.Pause(ctx, after) {
			e.Note(fmt.Sprintf("waiting for %s, until %s at the latest", what,
				e.Clock(by)))
		}
	})
}

// Interruptible returns a context that is canceled on SIGINT or SIGTERM.
func Interruptible(ctx context.Context) (context.Context, func()) {
	return signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
}

// RequireForeground returns an error if this process runs in the background of its terminal. If it then used the
// terminal, the kernel would stop it, and only SIGKILL would end it. It waits half a second for the foreground, because
// some shells make a program the foreground process only after they have started it.
func RequireForeground(ctx context.Context, e *Env, what string) error {
	for tries := 0; proc.InBackground(e.In.Fd()); tries++ {
		if tries == 50 || !deadline.Pause(ctx, 10*time.Millisecond) {
			return exit.Usage("%s needs the terminal, but runs in the background; run it in the "+
				"foreground (with timeout: `timeout --foreground`)", what)
		}
	}
	return nil
}
