package feed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"gcity/city"
)

// commandDeadline bounds one command: a stop with its grace, and some more.
const commandDeadline = 60 * time.Second

// atOnce bounds the commands in flight for one action on many agents.
const atOnce = 8

// Runner owns every goroutine of the control room but Bubble Tea's.
type Runner struct {
	Ctx        context.Context
	City       city.Control
	Box        *Mailbox
	Log        *slog.Logger
	Viewer     *Viewer
	Getenv     func(string) string
	Clock      func() time.Time // nil = time.Now
	Tmux       bool             // the control room's terminal is one of tmux
	Config     ConfigFile       // nil = it cannot be edited
	Goroutines sync.WaitGroup
	root       *Runner     // that owns the goroutines and the terminal, nil = this one does
	Cities     Directory   // of the root
	Missed     []*Delivery // what its room has not heard of yet

	dropped atomic.Bool // the terminal is gone
	Handed  atomic.Bool // the terminal is somebody else's, or about to be
	asked   atomic.Bool // SIGTERM came
	broken  atomic.Bool // SIGINT came, and was not for whom the terminal was given to

	mu    sync.Mutex
	panic error
	Fail  context.CancelFunc // ends the whole control room
}

// Now is the time for the model.
func (r *Runner) Now() time.Time {
	if r.Clock == nil {
		return time.Now()
	}
	return r.Clock()
}

// Spawn starts an owned goroutine; a panic in it ends the control room with the terminal restored, not the process.
func (r *Runner) Spawn(name string, f func(ctx context.Context)) { r.spawnIn(r.Ctx, name, f) }

// spawnIn is spawn with a context of its own.
func (r *Runner) spawnIn(ctx context.Context, name string, f func(ctx context.Context)) {
	r.Top().Goroutines.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				r.Crashed(name, p)
			}
		}()
		f(ctx)
	})
}

// Top is the runner that owns the goroutines and the terminal.
func (r *Runner) Top() *Runner {
	if r.root != nil {
		return r.root
	}
	return r
}

// Guard is to be deferred by what Run itself does between two stretches: a panic in it ends the room like any other.
func (r *Runner) Guard(where string) {
	if p := recover(); p != nil {
		r.Crashed(where, p)
	}
}

func (r *Runner) Crashed(where string, p any) {
	r = r.Top()
	r.Log.Error("the control room panicked", "where", where, "panic", fmt.Sprint(p), "stack",
		string(debug.Stack()))
	r.mu.Lock()
	if r.panic == nil {
		r.panic = fmt.Errorf("the control room failed in its %s: %v; the city is not touched by "+
			"it, the log has the details", where, p)
	}
	r.mu.Unlock()
	r.Fail()
}

func (r *Runner) Failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.panic
}

// Perform runs commands and puts their outcome into the mailbox.
func (r *Runner) Perform(p Perform) {
	r.Spawn("command", func(ctx context.Context) {
		receipts := make([]city.Receipt, len(p.Commands))
		failed := make([]string, len(p.Commands))
		var g errgroup.Group
		g.SetLimit(atOnce)
		for i, c := range p.Commands {
			g.Go(func() error {
				defer func() {
					if v := recover(); v != nil {
						r.Crashed("command", v)
					}
				}()
				if p.First != nil {
					if _, failed[i] = r.do(ctx, p.First[i]); failed[i] != "" {
						return nil
					}
				}
				receipts[i], failed[i] = r.do(ctx, c)
				return nil
			})
		}
		_ = g.Wait() // the functions report by index
		res := Result{ID: p.ID, Title: p.Title, Total: len(p.Commands)}
		for i, c := range p.Commands {
			if failed[i] != "" {
				res.Failures = append(res.Failures, failed[i])
				res.Refused = append(res.Refused, i)
				continue
			}
			res.Receipts = append(res.Receipts, receipts[i].Message)
			if n, ok := c.(city.Nudge); ok && receipts[i].Send != nil {
				res.Letters = append(res.Letters,
					Letter{Agent: n.Agent, Text: n.Text, Send: *receipts[i].Send})
			}
		}
		r.Box.putResult(res)
	})
}

// do carries one command out, and says why it failed, "" = it did not. A receipt has a message.
func (r *Runner) do(ctx context.Context, c city.Command) (receipt city.Receipt, failed string) {
	ctx, cancel := context.WithTimeout(ctx, commandDeadline)
	defer cancel()
	receipt, err := r.City.Do(ctx, c)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return receipt, fmt.Sprintf("%s %s: no answer within %s; it may still happen, "+
			"see the events", c.Verb(), c.Target(), commandDeadline)
	case err != nil:
		r.Log.Warn("command failed", "verb", c.Verb(), "target", c.Target(), "error", err)
		return receipt, err.Error()
	case receipt.Message == "":
		receipt.Message = fmt.Sprintf("%s %s: done", c.Verb(), c.Target())
	}
	return receipt, ""
}

// seekDeadline bounds one look at the beads.
const seekDeadline = 10 * time.Second

// Seek asks for beads and puts the answer into the mailbox.
func (r *Runner) Seek(q QueryBeads) {
	r.Spawn("work", func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, seekDeadline)
		defer cancel()
		f := FoundBeads{ID: q.ID}
		var err error
		f.Beads, err = r.City.Beads(ctx, q.Query)
		if err == nil && q.Query.Ready { // the steps of what somebody has go with that
			f.Beads, err = city.Loose(ctx, r.City.Beads, f.Beads)
		}
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			f.Problem = fmt.Sprintf("the city did not say within %s", seekDeadline)
		case err != nil:
			f.Problem = err.Error()
		}
		if err != nil {
			r.Log.Warn("looking at the beads", "error", err)
		}
		r.Box.putFound(f)
	})
}

// QuitGrace bounds the wait for commands that do not mind their context.
const QuitGrace = 3 * time.Second

// Wait returns when every goroutine has ended, or says so in the log when one does not.
func (r *Runner) Wait() {
	done := make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		defer close(done)
		r.Goroutines.Wait()
	})
	select {
	case <-done:
	case <-time.After(QuitGrace):
		r.Log.Error("a call into the city does not mind its context; leaving it behind")
	}
}
