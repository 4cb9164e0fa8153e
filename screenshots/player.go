package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
)

// player plays back a recorded city. Only seek changes its time.
type player struct {
	tape *recording

	mu    sync.Mutex
	at    time.Time
	moved chan struct{} // closed and replaced at every seek
}

func newPlayer(t *recording, at time.Time) *player {
	return &player{tape: t, at: at, moved: make(chan struct{})}
}

func (p *player) now() time.Time {
	at, _ := p.look()
	return at
}

func (p *player) look() (at time.Time, moved chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at, p.moved
}

func (p *player) seek(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = at
	close(p.moved)
	p.moved = make(chan struct{})
}

// Snapshot implements city.Control.
func (p *player) Snapshot(context.Context) (*city.Snapshot, error) { return p.state(p.now()), nil }

func (p *player) state(at time.Time) *city.Snapshot {
	s := upTo(p.tape.States, at)
	if s == nil {
		s = p.tape.States[0].It
	}
	fresh := *s
	fresh.Patrol.Last = at
	return &fresh
}

// Snapshots implements city.Control. It yields one snapshot for each seek.
func (p *player) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(yield func(*city.Snapshot, error) bool) {
		for at, moved := p.look(); yield(p.state(at), nil); at, moved = p.look() {
			select {
			case <-ctx.Done():
				return
			case <-moved:
			}
		}
	}
}

// Inspect implements city.Control.
func (p *player) Inspect(_ context.Context, agent string) (*city.Inspection, error) {
	if a := upTo(p.tape.About[agent], p.now()); a != nil {
		return a, nil
	}
	return nil, &city.Error{Code: city.NotFound, Message: "agent " + agent + " not found"}
}

// Output implements city.Control.
func (p *player) Output(_ context.Context, agent string, _ int) (string, error) {
	if text := upTo(p.tape.Words[agent], p.now()); text != "" {
		return text, nil
	}
	return "", &city.Error{Code: city.NotFound, Message: "no output from " + agent +
		" is recorded"}
}

func (p *player) eventsUntil(at time.Time) []events.Event {
	n, _ := slices.BinarySearchFunc(p.tape.Events, at, func(e events.Event, at time.Time) int {
		if e.TS.After(at) {
			return 1
		}
		return -1
	})
	return p.tape.Events[:n]
}

// History implements city.Control.
func (p *player) History(_ context.Context, q events.Query) ([]events.Event, error) {
	limit := q.Limit
	if limit == 0 {
		limit = events.DefaultLimit
	}
	var found []events.Event
	for _, e := range p.eventsUntil(p.now()) {
		if q.Match(&e) {
			found = append(found, e)
		}
	}
	if q.Forward || q.After > 0 {
		return found[:min(len(found), limit)], nil
	}
	slices.Reverse(found)
	return found[:min(len(found), limit)], nil
}

// Events implements city.Control.
func (p *player) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		for {
			at, moved := p.look()
			for _, e := range p.eventsUntil(at) {
				if e.Seq <= after {
					continue
				}
				after = e.Seq
				if !yield(e, nil) {
					return
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-moved:
			}
		}
	}
}

// Beads implements city.Control.
func (p *player) Beads(_ context.Context, q beads.Query) ([]beads.Bead, error) {
	var found []beads.Bead
	for _, b := range upTo(p.tape.Work, p.now()) {
		if q.Match(b) {
			found = append(found, b)
		}
	}
	if most := q.MaxResults(); most >= 0 {
		found = found[:min(len(found), most)]
	}
	return found, nil
}

// Bead implements city.Control.
func (p *player) Bead(ctx context.Context, id string) (beads.Bead, error) {
	all, err := p.Beads(ctx, beads.Query{Limit: -1})
	if i := slices.IndexFunc(all, func(b beads.Bead) bool { return b.ID == id }); i >= 0 {
		return all[i], nil
	}
	return beads.Bead{}, cmp.Or(err, city.WorkError(beads.NotFound(id)))
}

// Watch implements city.Control. It yields the current screen first.
func (p *player) Watch(ctx context.Context, agent string) iter.Seq2[city.Frame, error] {
	return func(yield func(city.Frame, error) bool) {
		all := p.tape.Frames[agent]
		at, moved := p.look()
		next := until(all, at, func(s timedFrame) time.Time { return s.At })
		f, open := opening(all[:next])
		if !open {
			yield(city.Frame{}, &city.Error{Code: city.Unavailable,
				Message: agent + " has no session"})
			return
		}
		for yield(f, nil) {
			for f = (city.Frame{}); f.Cols == 0 && len(f.Data) == 0; {
				if next < len(all) && !all[next].At.After(at) {
					if all[next].End {
						return
					}
					f = all[next].Frame
					next++
					continue
				}
				select {
				case <-ctx.Done():
					return
				case <-moved:
				}
				at, moved = p.look()
			}
		}
	}
}

func until[T any](all []T, at time.Time, when func(T) time.Time) int {
	n := slices.IndexFunc(all, func(t T) bool { return when(t).After(at) })
	if n < 0 {
		return len(all)
	}
	return n
}

// opening joins a terminal's output since its last start into one frame.
func opening(all []timedFrame) (f city.Frame, open bool) {
	for _, s := range all {
		switch {
		case s.End:
			open = false
		case s.Frame.Reset:
			f, open = s.Frame, true
			f.Data = bytes.Clone(f.Data)
		default:
			f.Data = append(f.Data, s.Frame.Data...)
			if s.Frame.Cols > 0 {
				f.Cols, f.Rows = s.Frame.Cols, s.Frame.Rows
			}
		}
	}
	return f, open
}

// RunOutput implements city.Control.
func (p *player) RunOutput(ctx context.Context, run string) iter.Seq2[city.Piece, error] {
	return func(yield func(city.Piece, error) bool) {
		all, known := p.tape.Runs[run]
		if !known {
			yield(city.Piece{}, &city.Error{Code: city.NotFound,
				Message: "run " + run + " not found"})
			return
		}
		for next := 0; ; {
			at, moved := p.look()
			to := until(all, at, func(s printed) time.Time { return s.At })
			var text strings.Builder
			for _, s := range all[next:to] {
				text.WriteString(s.Piece.Text)
			}
			if (to > next || next == 0) && !yield(city.Piece{Text: text.String()}, nil) {
				return
			}
			if next = to; to > 0 && all[to-1].End {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-moved:
			}
		}
	}
}

// Attach implements city.Control.
func (p *player) Attach(context.Context, string, city.Viewer) (city.Terminal, error) {
	return nil, &city.Error{Code: city.Unavailable, Message: "this is a recording; there is no " +
		"terminal to attach to"}
}

// Do implements city.Control. It waits for the recorded time and returns the recorded receipt.
func (p *player) Do(ctx context.Context, c city.Command) (city.Receipt, error) {
	body, err := city.Encode(c)
	if err != nil {
		return city.Receipt{}, err
	}
	for _, s := range p.tape.Said {
		if s.Verb != c.Verb() || s.Target != c.Target() || !bytes.Equal(s.Body, body) {
			continue
		}
		for at, moved := p.look(); at.Before(s.At); at, moved = p.look() {
			select {
			case <-ctx.Done():
				return city.Receipt{}, ctx.Err()
			case <-moved:
			}
		}
		return s.Receipt, nil
	}
	return city.Receipt{}, &city.Error{Code: city.Conflict,
		Message: fmt.Sprintf("the recording does not contain %s %s", c.Verb(), c.Target())}
}
