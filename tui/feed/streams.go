package feed

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"gcity/city"
)

const backlog = 500

func waitToRetry(ctx context.Context, tries int) bool {
	return pause(ctx, min(200*time.Millisecond<<min(tries, 5), 5*time.Second))
}

// waitForCity is like waitToRetry, but waits at most one second, so that the room finds a new controller soon.
func waitForCity(ctx context.Context, tries int) bool { return waitToRetry(ctx, min(tries, 2)) }

// StreamSnapshots puts the city's snapshots into the mailbox until ctx ends.
func (r *Runner) StreamSnapshots(ctx context.Context) {
	logged := ""
	for tries := 0; ; tries++ {
		var cause error
		for s, err := range r.City.Snapshots(ctx) {
			if err != nil {
				cause = err
				break
			}
			tries, logged = 0, ""
			if ctx.Err() == nil {
				r.Mailbox.PutSnapshot(s)
			}
		}
		if ctx.Err() != nil {
			return
		}
		why := unreachableReason(cause)
		r.Mailbox.Put(func(n *News) { n.Unreachable = &why })
		if why != logged {
			r.Log.Warn("the snapshot stream ended", "error", cause)
			logged = why
		}
		if !waitForCity(ctx, tries) {
			return
		}
	}
}

// Reasons why a city without a controller is unreachable.
const (
	Exited     = "the controller has exited"
	NotRunning = "no controller is running"
)

func unreachableReason(err error) string {
	var absent *city.NotRunning
	var e *city.Error
	var broken *net.OpError
	switch {
	case err == nil:
		return Exited
	case errors.As(err, &absent):
		return absent.Reason()
	case errors.As(err, &e):
		return e.Message
	case errors.As(err, &broken), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was lost"
	}
	return err.Error()
}

// StreamEvents puts the city's events into the mailbox, starting with the backlog. Each event arrives once.
func (r *Runner) StreamEvents(ctx context.Context) {
	after, logged := r.Mailbox.lastEvent(), ""
	for tries := 0; ; tries++ {
		if s, err := r.City.Snapshot(ctx); err == nil {
			if s.Seq < after { // the city has a new event log
				r.Mailbox.restartEvents()
				after = 0
			}
			if after == 0 && s.Seq > backlog {
				after = s.Seq - backlog
			}
			for e, err := range r.City.Events(ctx, after) {
				if err != nil {
					if why := err.Error(); why != logged {
						r.Log.Warn("the event stream ended", "error", err)
						logged = why
					}
					break
				}
				if city.IsInsertedGap(&e) && e.Seq < after { // the city has a new event log
					r.Mailbox.restartEvents()
					after = 0
					break
				}
				tries, logged = 0, ""
				after = max(after, e.Seq)
				r.Mailbox.PutEvent(e)
			}
		}
		if ctx.Err() != nil || !waitForCity(ctx, tries) {
			return
		}
	}
}

// FollowPreferences passes changed preferences to take(), until ctx ends or the channel is closed.
func (r *Runner) FollowPreferences(ctx context.Context, changes <-chan Preferences,
	take func(Preferences)) {
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

// pollSnapshots requests snapshots, because only a requested snapshot has an up-to-date time of the last patrol.
func (r *Runner) pollSnapshots(ctx context.Context, interval time.Duration) {
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		request, cancel := context.WithTimeout(ctx, 2*time.Second)
		s, err := r.City.Snapshot(request)
		cancel()
		if ctx.Err() == nil && err == nil {
			r.Mailbox.PutSnapshot(s)
		}
	}
}

// Pump sends the contents of the mailbox and, once a second, the time. Between two sends, it waits at least gap. send
// must not block after the program has ended.
func (r *Runner) Pump(ctx context.Context, gap time.Duration, send func(at time.Time, n News)) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	gapTimer := time.NewTimer(0)
	defer gapTimer.Stop()
	var last time.Time
	tick := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-second.C:
			tick = true
		case <-r.Mailbox.wake:
		case <-gapTimer.C:
		}
		now := time.Now()
		if due := last.Add(gap); now.Before(due) {
			gapTimer.Reset(due.Sub(now))
			continue
		}
		n, next := r.Mailbox.Take(now)
		if !next.IsZero() {
			gapTimer.Reset(next.Sub(now))
		}
		if n.Empty() && !tick {
			continue
		}
		last, tick = now, false
		send(r.Now(), n)
	}
}
