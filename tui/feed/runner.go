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

const maxConcurrent = 8

// Runner owns all goroutines of the control room except Bubble Tea's.
type Runner struct {
	Ctx        context.Context
	City       city.Control
	Mailbox    *Mailbox
	Log        *slog.Logger
	LogFile    string // the file that Log writes to; "" = unknown
	Viewer     *Viewer
	Getenv     func(string) string
	Clock      func() time.Time // nil = time.Now
	Config     ConfigFile       // nil = the configuration cannot be edited
	Goroutines sync.WaitGroup
	root       *Runner     // the runner that owns the goroutines and the terminal; nil = this one
	Cities     Cities      // set in the root runner
	Missed     []*Delivery // deliveries that the room has not processed yet
	saves      roomSaves   // used in the root runner

	hungUp       atomic.Bool
	TerminalLent atomic.Bool // another program uses the terminal, or is about to use it
	terminated   atomic.Bool
	interrupted  atomic.Bool

	mu    sync.Mutex
	panic error
	Fail  context.CancelFunc // ends the control room
}

// Now returns the time for the model.
func (r *Runner) Now() time.Time {
	if r.Clock == nil {
		return time.Now()
	}
	return r.Clock()
}

// Spawn starts a goroutine that the runner owns. A panic in it ends the control room but not the process.
func (r *Runner) Spawn(name string, f func(ctx context.Context)) { r.spawnIn(r.Ctx, name, f) }

// spawnWithin is like Spawn, but f has a time limit.
func (r *Runner) spawnWithin(limit time.Duration, name string, f func(ctx context.Context)) {
	r.Spawn(name, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		f(ctx)
	})
}

func (r *Runner) spawnIn(ctx context.Context, name string, f func(ctx context.Context)) {
	r.Root().Goroutines.Go(func() {
		defer r.RecoverPanic(name)
		f(ctx)
	})
}

// Root returns the runner that owns the goroutines and the terminal.
func (r *Runner) Root() *Runner {
	if r.root != nil {
		return r.root
	}
	return r
}

// RecoverPanic treats a panic like a panic in one of the runner's goroutines. It must be deferred.
func (r *Runner) RecoverPanic(where string) {
	if p := recover(); p != nil {
		r.RecordPanic(where, p)
	}
}

func (r *Runner) RecordPanic(where string, p any) {
	r = r.Root()
	r.Log.Error("the control room panicked", "where", where, "panic", fmt.Sprint(p), "stack",
		string(debug.Stack()))
	r.mu.Lock()
	if r.panic == nil {
		details := ""
		if r.LogFile != "" {
			details = "; see " + r.LogFile + " for details"
		}
		r.panic = fmt.Errorf("the control room panicked in %s: %v; the city is not affected%s",
			where, p, details)
	}
	r.mu.Unlock()
	r.Fail()
}

func (r *Runner) PanicError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.panic
}

func (p SendCommands) start(r *Runner) {
	r.Spawn("command", func(ctx context.Context) {
		outcomes := make([]outcome, len(p.Commands))
		var g errgroup.Group
		g.SetLimit(maxConcurrent)
		for i, c := range p.Commands {
			g.Go(func() error {
				defer r.RecoverPanic("command")
				if p.Prerequisites != nil {
					outcomes[i] = r.sendCommand(ctx, p.Prerequisites[i])
				}
				if outcomes[i].failed == "" {
					outcomes[i] = r.sendCommand(ctx, c)
				}
				return nil
			})
		}
		_ = g.Wait() // goroutines store their results by index and return no errors
		res := Result{ID: p.ID, Title: p.Title, Total: len(p.Commands)}
		for i, c := range p.Commands {
			o := &outcomes[i]
			if o.unsendRejected {
				res.RejectedUnsends = append(res.RejectedUnsends, i)
			}
			if o.failed != "" {
				res.Failures = append(res.Failures, o.failed)
				res.FailedIndexes = append(res.FailedIndexes, i)
				continue
			}
			res.Receipts = append(res.Receipts, o.receipt.Message)
			if _, ok := c.(city.CreateBead); ok && o.receipt.Bead != nil {
				res.Created = o.receipt.Bead.ID
			}
			if n, ok := c.(city.Nudge); ok && o.receipt.Send != nil {
				res.Sent = append(res.Sent,
					SentText{Agent: n.Agent, Text: n.Text, Send: *o.receipt.Send})
			}
		}
		r.Mailbox.putResult(res)
	})
}

// SendLast sends commands after the control room has ended. It waits for their results, but no longer than QuitGrace.
func (r *Runner) SendLast(commands []city.Command) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Ctx), QuitGrace)
	defer cancel()
	for _, c := range commands {
		if _, err := r.City.Do(ctx, c); err != nil {
			r.Log.Warn("a command failed", "verb", c.Verb(), "target", c.Target(), "error", err)
		}
	}
}

// outcome is the result of one command.
type outcome struct {
	receipt        city.Receipt
	failed         string // "" = it succeeded
	unsendRejected bool   // it is an Unsend, and the city responded that it did not carry it out
}

func (r *Runner) sendCommand(ctx context.Context, c city.Command) (o outcome) {
	limit := city.ResponseLimit(c)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var err error
	o.receipt, err = r.City.Do(ctx, c)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		o.failed = fmt.Sprintf("%s %s: no response within %s; the command might still take "+
			"effect; see the events", c.Verb(), c.Target(), limit)
	case err != nil:
		r.Log.Warn("a command failed", "verb", c.Verb(), "target", c.Target(), "error", err)
		_, unsends := c.(city.Unsend)
		o.unsendRejected = unsends && city.HasCode(err, city.Conflict)
		o.failed = err.Error()
	case o.receipt.Message == "":
		o.receipt.Message = fmt.Sprintf("%s %s: done", c.Verb(), c.Target())
	}
	return o
}

// logFailure logs the error of a request, if there is one, and returns it as text for the user.
func (r *Runner) logFailure(err error, limit time.Duration, message string, args ...any) string {
	if err == nil {
		return ""
	}
	r.Log.Warn(message, append(args, "error", err)...)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("no response from the city within %s", limit)
	}
	return err.Error()
}

// report puts the result of a single operation into the mailbox. failure is "" if it succeeded.
func (r *Runner) report(id int, title, receipt, failure string) {
	res := Result{ID: id, Title: title, Total: 1}
	if failure != "" {
		res.Failures = []string{failure}
	} else {
		res.Receipts = []string{receipt}
	}
	r.Mailbox.putResult(res)
}

const queryDeadline = 10 * time.Second

func (q QueryBeads) start(r *Runner) {
	r.spawnWithin(queryDeadline, "work", func(ctx context.Context) {
		f := FoundBeads{ID: q.ID}
		var err error
		f.Beads, err = r.City.Beads(ctx, q.Query)
		if err == nil && q.Unassigned {
			f.Beads, err = city.WithoutAssigned(ctx, r.City.Beads, f.Beads)
		}
		f.Problem = r.logFailure(err, queryDeadline, "cannot query beads")
		r.Mailbox.Put(func(n *News) { n.Found = append(n.Found, f) })
	})
}

func (e Wake) start(r *Runner) {
	r.Spawn("wake", func(ctx context.Context) {
		if pause(ctx, e.After) {
			r.Mailbox.Put(func(n *News) { n.Woken = true })
		}
	})
}

// QuitGrace is the time limit for calls that ignore their context.
const QuitGrace = 3 * time.Second

// Wait waits until every goroutine has ended, but no longer than QuitGrace.
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
		r.Log.Error("a call to the city did not return after its context was canceled; quitting " +
			"without waiting for it")
	}
}
