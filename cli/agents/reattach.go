package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
)

const (
	// reattachFor is how long a terminal is asked for again whose controller has gone, reattachEvery how often.
	reattachFor   = 10 * time.Second
	reattachEvery = 200 * time.Millisecond
)

// stay keeps a terminal attached, also when the controller goes through which it came: agents outlive that. It is had
// again from the next controller, or without one from whoever holds it. left says that the session goes on.
func stay(ctx context.Context, e *env.Env, at *attachment, l *env.Link, name string) (left bool,
	err error) {
	for {
		left, err = at.copy(ctx)
		if !l.Live || !controllerLost(err) || ctx.Err() != nil {
			return left, err
		}
		// a terminal that is gone fails in copy
		_, _ = io.WriteString(at.out, sane+"the controller of this city has gone; attaching to "+
			output.SafeLine(name)+" again\r\n")
		next, far, err := reattach(ctx, e, at, l.Dir, name)
		if err != nil {
			return false, err
		}
		defer next.Close() // few: each time a controller has died
		l, at.far = next, far
	}
}

// controllerLost reports that it was not the session that ended, but what passed its terminal on.
func controllerLost(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, syscall.ECONNRESET)
}

// reattach asks for a terminal until it is given, for a while.
func reattach(ctx context.Context, e *env.Env, at *attachment, dir, name string) (*env.Link,
	city.Terminal, error) {
	limit, cancel := context.WithTimeout(ctx, reattachFor)
	defer cancel()
	tick := time.NewTicker(reattachEvery)
	defer tick.Stop()
	for {
		l, far, live, err := tryAttach(limit, e, at, dir, name)
		if err == nil {
			return l, far, nil
		}
		// A controller that answers no more just now says nothing of the session.
		if code, _ := exit.Verdict(err); code == exit.CodeNotRunning && !live ||
			limit.Err() != nil {
			return nil, nil, &exit.Failure{Code: code,
				Err: fmt.Errorf("the controller of this city has gone, and so is the terminal of "+
					"%s: %w; `gcity status` tells what runs, `gcity --headless` begins anew", name,
					err)}
		}
		select {
		case <-tick.C:
		case <-limit.Done():
		}
	}
}

// tryAttach asks for a terminal once; live says whether a controller was asked for it.
func tryAttach(ctx context.Context, e *env.Env, at *attachment, dir, name string) (_ *env.Link,
	far city.Terminal, live bool, err error) {
	cols, rows, err := output.TerminalSize(at.out)
	if err != nil {
		return nil, nil, false, err
	}
	l, err := e.Reach(ctx, dir)
	if err != nil {
		return nil, nil, false, err
	}
	if far, err = l.Attach(ctx, name, city.Viewer{Cols: cols, Rows: rows,
		Raw: at.raw}); err != nil {
		l.Close()
		return nil, nil, l.Live, err
	}
	return l, far, l.Live, nil
}
