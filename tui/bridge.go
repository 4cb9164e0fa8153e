package tui

import (
	"context"
	"errors"
	"time"

	"gcity/city"
)

// backlog is how many events from before the start are shown.
const backlog = 500

// again waits before a broken stream is read anew, longer each time up to a limit; it reports whether to go on. A city
// that comes back (its controller was restarted) is found again; the person sees meanwhile that it is gone.
func again(ctx context.Context, tries int) bool {
	return pause(ctx, min(200*time.Millisecond<<min(tries, 5), 5*time.Second))
}

// snapshots carries the city's snapshots into the mailbox until ctx ends.
func (r *runner) snapshots(ctx context.Context) {
	for tries := 0; ; tries++ {
		var cause error
		for s, err := range r.city.Snapshots(ctx) {
			if err != nil {
				cause = err
				break
			}
			tries = 0
			if ctx.Err() == nil {
				r.box.putSnapshot(s)
			}
		}
		if ctx.Err() != nil {
			return
		}
		r.box.putGone(whyGone(cause))
		r.log.Warn("the stream of snapshots broke", "error", cause)
		if !again(ctx, tries) {
			return
		}
	}
}

// whyGone says in a person's words why nothing is heard of the city.
func whyGone(err error) string {
	var e *city.Error
	switch {
	case err == nil:
		return "the controller has ended"
	case errors.As(err, &e):
		return e.Message
	}
	return err.Error()
}

// events carries the city's events into the mailbox until ctx ends, from the newest backlog on, none twice.
func (r *runner) events(ctx context.Context) {
	after := r.box.last()
	known := after > 0
	for tries := 0; ; tries++ {
		if !known {
			if s, err := r.city.Snapshot(ctx); err == nil {
				known = true
				if s.Seq > backlog {
					after = s.Seq - backlog
				}
			}
		}
		if known {
			for e, err := range r.city.Events(ctx, after) {
				if err != nil {
					r.log.Warn("the stream of events broke", "error", err)
					break
				}
				tries = 0
				after = max(after, e.Seq)
				r.box.putEvent(e)
			}
		}
		if ctx.Err() != nil || !again(ctx, tries) {
			return
		}
	}
}

// persons carries changed preferences into the mailbox until ctx ends, or there are no more.
func (r *runner) persons(ctx context.Context, changes <-chan Person) {
	for {
		select {
		case <-ctx.Done():
			return
		case p, ok := <-changes:
			if !ok {
				return
			}
			if r.tour != nil {
				r.tour.putPerson(p)
				continue
			}
			r.box.putPerson(p)
		}
	}
}

// pulse asks for the snapshot now and then: the loop's age is fresh in an answer, not in the stream.
func (r *runner) pulse(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		ask, cancel := context.WithTimeout(ctx, 2*time.Second)
		s, err := r.city.Snapshot(ask)
		cancel()
		if ctx.Err() == nil && err == nil {
			r.box.putSnapshot(s)
		}
	}
}

// pump sends what is in the mailbox, at most once per gap, and the time at every full second. It ends with ctx; send
// must return once the program has ended.
func (r *runner) pump(ctx context.Context, gap time.Duration, send func(at time.Time, n news)) {
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
		case <-r.box.wake:
		case <-pace.C:
		}
		now := time.Now()
		if due := last.Add(gap); now.Before(due) {
			pace.Reset(due.Sub(now))
			continue
		}
		n, next := r.box.take(now)
		if !next.IsZero() {
			pace.Reset(next.Sub(now))
		}
		if n.empty() && !tick {
			continue
		}
		last, tick = now, false
		send(r.now(), n)
	}
}
