package tui

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

// runner owns every goroutine of the control room but Bubble Tea's.
type runner struct {
	ctx    context.Context
	city   city.Control
	box    *mailbox
	log    *slog.Logger
	viewer *viewer
	getenv func(string) string
	clock  func() time.Time // nil = time.Now
	tmux   bool             // the control room's terminal is one of tmux
	config ConfigFile       // nil = it cannot be edited
	wg     sync.WaitGroup
	root   *runner // that owns the goroutines and the terminal, nil = this one does
	tour   *tour   // of the root: the rooms of several cities

	dropped atomic.Bool // the terminal is gone
	handed  atomic.Bool // the terminal is somebody else's, or about to be
	asked   atomic.Bool // SIGTERM came
	broken  atomic.Bool // SIGINT came, and was not for whom the terminal was given to

	mu    sync.Mutex
	panic error
	fail  context.CancelFunc // ends the whole control room
}

// now is the time for the model.
func (r *runner) now() time.Time {
	if r.clock == nil {
		return time.Now()
	}
	return r.clock()
}

// spawn starts an owned goroutine; a panic in it ends the control room with the terminal restored, not the process.
func (r *runner) spawn(name string, f func(ctx context.Context)) { r.spawnIn(r.ctx, name, f) }

// spawnIn is spawn with a context of its own.
func (r *runner) spawnIn(ctx context.Context, name string, f func(ctx context.Context)) {
	r.top().wg.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				r.crashed(name, p)
			}
		}()
		f(ctx)
	})
}

// top is the runner that owns the goroutines and the terminal.
func (r *runner) top() *runner {
	if r.root != nil {
		return r.root
	}
	return r
}

// guard is to be deferred by what Run itself does between two stretches: a panic in it ends the room like any other.
func (r *runner) guard(where string) {
	if p := recover(); p != nil {
		r.crashed(where, p)
	}
}

func (r *runner) crashed(where string, p any) {
	r = r.top()
	r.log.Error("the control room panicked", "where", where, "panic", fmt.Sprint(p), "stack",
		string(debug.Stack()))
	r.mu.Lock()
	if r.panic == nil {
		r.panic = fmt.Errorf("the control room failed in its %s: %v; the city is not touched by "+
			"it, the log has the details", where, p)
	}
	r.mu.Unlock()
	r.fail()
}

func (r *runner) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.panic
}

// perform runs commands and puts their outcome into the mailbox.
func (r *runner) perform(p perform) {
	r.spawn("command", func(ctx context.Context) {
		receipts := make([]city.Receipt, len(p.commands))
		failed := make([]string, len(p.commands))
		var g errgroup.Group
		g.SetLimit(atOnce)
		for i, c := range p.commands {
			g.Go(func() error {
				defer func() {
					if v := recover(); v != nil {
						r.crashed("command", v)
					}
				}()
				if p.first != nil {
					if _, failed[i] = r.do(ctx, p.first[i]); failed[i] != "" {
						return nil
					}
				}
				receipts[i], failed[i] = r.do(ctx, c)
				return nil
			})
		}
		_ = g.Wait() // the functions report by index
		res := result{id: p.id, title: p.title, total: len(p.commands)}
		for i, c := range p.commands {
			if failed[i] != "" {
				res.failures = append(res.failures, failed[i])
				res.refused = append(res.refused, i)
				continue
			}
			res.receipts = append(res.receipts, receipts[i].Message)
			if n, ok := c.(city.Nudge); ok && receipts[i].Send != nil {
				res.letters = append(res.letters,
					letter{agent: n.Agent, text: n.Text, send: *receipts[i].Send})
			}
		}
		r.box.putResult(res)
	})
}

// do carries one command out, and says why it failed, "" = it did not. A receipt has a message.
func (r *runner) do(ctx context.Context, c city.Command) (receipt city.Receipt, failed string) {
	ctx, cancel := context.WithTimeout(ctx, commandDeadline)
	defer cancel()
	receipt, err := r.city.Do(ctx, c)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return receipt, fmt.Sprintf("%s %s: no answer within %s; it may still happen, "+
			"see the events", c.Verb(), c.Target(), commandDeadline)
	case err != nil:
		r.log.Warn("command failed", "verb", c.Verb(), "target", c.Target(), "error", err)
		return receipt, err.Error()
	case receipt.Message == "":
		receipt.Message = fmt.Sprintf("%s %s: done", c.Verb(), c.Target())
	}
	return receipt, ""
}

// seekDeadline bounds one look at the beads.
const seekDeadline = 10 * time.Second

// seek asks for beads and puts the answer into the mailbox.
func (r *runner) seek(q seek) {
	r.spawn("work", func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, seekDeadline)
		defer cancel()
		f := found{id: q.id}
		var err error
		f.beads, err = r.city.Beads(ctx, q.query)
		if err == nil && q.query.Ready { // the steps of what somebody has go with that
			f.beads, err = city.Loose(ctx, r.city.Beads, f.beads)
		}
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			f.problem = fmt.Sprintf("the city did not say within %s", seekDeadline)
		case err != nil:
			f.problem = err.Error()
		}
		if err != nil {
			r.log.Warn("looking at the beads", "error", err)
		}
		r.box.putFound(f)
	})
}

// quitGrace bounds the wait for commands that do not mind their context.
const quitGrace = 3 * time.Second

// wait returns when every goroutine has ended, or says so in the log when one does not.
func (r *runner) wait() {
	done := make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		defer close(done)
		r.wg.Wait()
	})
	select {
	case <-done:
	case <-time.After(quitGrace):
		r.log.Error("a call into the city does not mind its context; leaving it behind")
	}
}
