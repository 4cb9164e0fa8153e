package feed

import (
	"context"
	"errors"
	"time"

	"gcity/city"
)

// backlog is how many events from before the start of the room are loaded.
const backlog = 500

// again waits before a broken stream is reopened. The wait grows with each try up to a limit. It returns false if
// ctx ends.
func again(ctx context.Context, tries int) bool {
	return pause(ctx, min(200*time.Millisecond<<min(tries, 5), 5*time.Second))
}

// Snapshots puts the city's snapshots into the mailbox until ctx ends.
func (r *Runner) Snapshots(ctx context.Context) {
	for tries := 0; ; tries++ {
		var cause error
		for s, err := range r.City.Snapshots(ctx) {
			if err != nil {
				cause = err
				break
			}
			tries = 0
			if ctx.Err() == nil {
				r.Box.PutSnapshot(s)
			}
		}
		if ctx.Err() != nil {
			return
		}
		r.Box.putGone(whyGone(cause))
		r.Log.Warn("the stream of snapshots ended", "error", cause)
		if !again(ctx, tries) {
			return
		}
	}
}

// whyGone returns why the city does not answer, for the user.
func whyGone(err error) string {
	var e *city.Error
	switch {
	case err == nil:
		return "the controller has exited"
	case errors.As(err, &e):
		return e.Message
	}
	return err.Error()
}

// Events puts the city's events into the mailbox until ctx ends, starting with the backlog. Each event arrives once.
func (r *Runner) Events(ctx context.Context) {
	after := r.Box.last()
	known := after > 0
	for tries := 0; ; tries++ {
		if !known {
			if s, err := r.City.Snapshot(ctx); err == nil {
				known = true
				if s.Seq > backlog {
					after = s.Seq - backlog
				}
			}
		}
		if known {
			for e, err := range r.City.Events(ctx, after) {
				if err != nil {
					r.Log.Warn("the stream of events ended", "error", err)
					break
				}
				tries = 0
				after = max(after, e.Seq)
				r.Box.PutEvent(e)
			}
		}
		if ctx.Err() != nil || !again(ctx, tries) {
			return
		}
	}
}

// Persons calls take with each change of the preferences, until ctx ends or changes is closed.
func (r *Runner) Persons(ctx context.Context, changes <-chan Person,
	take func(Person)) {
	for {
		select {
		case <-ctx.Done():
			return
		case p, ok := <-changes:
			if !ok {
				return
			}
			take(p)
		}
	}
}

// pulse requests a snapshot periodically, because only a requested snapshot has the current time of the last patrol.
// Snapshots from the stream may be older.
func (r *Runner) pulse(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		ask, cancel := context.WithTimeout(ctx, 2*time.Second)
		s, err := r.City.Snapshot(ask)
		cancel()
		if ctx.Err() == nil && err == nil {
			r.Box.PutSnapshot(s)
		}
	}
}

// Pump sends the content of the mailbox at most once per gap, and the time at every full second. It ends with ctx.
// send must return once the program has ended.
func (r *Runner) Pump(ctx context.Context, gap time.Duration, send func(at time.Time, n News)) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	pace := time.NewTimer(0)
	defer pace.Stop()
	var last time.Time
	tick := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-second.C:
			tick = true
		case <-r.Box.wake:
		case <-pace.C:
		}
		now := time.Now()
		if due := last.Add(gap); now.Before(due) {
			pace.Reset(due.Sub(now))
			continue
		}
		n, next := r.Box.Take(now)
		if !next.IsZero() {
			pace.Reset(next.Sub(now))
		}
		if n.Empty() && !tick {
			continue
		}
		last, tick = now, false
		send(r.Now(), n)
	}
}
