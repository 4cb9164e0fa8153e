package agents

import (
	"context"
	"errors"
	"io"
	"syscall"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/internal/deadline"
)

const (
	reattachFor   = 10 * time.Second
	reattachEvery = 200 * time.Millisecond
)

// stayAttached runs an attached terminal. It reconnects the terminal after the controller exits, and after a shell
// continues this process.
func stayAttached(ctx context.Context, e *env.Env, at *attachment, l *env.Link,
	name string) (left bool,
	err error) {
	for {
		left, err = at.copy(ctx)
		var next *env.Link
		var far city.Terminal
		switch {
		case ctx.Err() != nil && isJobControl(err):
			return left, nil
		case ctx.Err() != nil:
			return left, err
		case isJobControl(err):
			if err = at.takeTerminal(errors.Is(err, errStop)); err == nil {
				next, far, err = attachAgain(ctx, e, at, l, name)
			}
			// a shell sends SIGHUP or SIGTERM together with SIGCONT
			if err != nil && ctx.Err() != nil {
				return left, nil
			}
		case l.Live && controllerLost(err):
			next, far, err = reattach(ctx, e, at, l.Dir, name)
		default:
			return left, err
		}
		if err != nil {
			return false, err
		}
		// a defer in this loop is fine, because the loop rarely runs more than once
		defer next.Close()
		l, at.far = next, far
	}
}

func isJobControl(err error) bool {
	return errors.Is(err, errStop) || errors.Is(err, errContinue)
}

// attachAgain attaches so that the agent's screen is redrawn. The controller might have exited meanwhile.
func attachAgain(ctx context.Context, e *env.Env, at *attachment, l *env.Link, name string) (
	*env.Link, city.Terminal, error) {
	limit, cancel := context.WithTimeout(ctx, reattachFor)
	defer cancel()
	next, far, live, err := tryAttach(limit, e, at, l.Dir, name)
	if err != nil && l.Live && !live {
		return reattach(ctx, e, at, l.Dir, name)
	}
	return next, far, err
}

func controllerLost(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, syscall.ECONNRESET) || exit.IsInterrupted(err)
}

func reattach(ctx context.Context, e *env.Env, at *attachment, dir, name string) (*env.Link,
	city.Terminal, error) {
	limit, cancel := context.WithTimeout(ctx, reattachFor)
	defer cancel()
	// if this fails because the user's terminal was closed, the next copy fails, too
	_, _ = io.WriteString(at.out, resetModes+"this city's controller has exited; attaching to "+
		output.SafeLine(name)+" again\r\n")
	for {
		l, far, live, err := tryAttach(limit, e, at, dir, name)
		if err == nil {
			return l, far, nil
		}
		// the session might be running even if the controller does not respond, so keep trying
		if code, _ := exit.Verdict(err); code == exit.CodeNotRunning && !live ||
			limit.Err() != nil {
			return nil, nil, exit.Errorf(code, "this city's controller has exited, and the "+
				"terminal of %s cannot be reached: %w; `gcity status` shows what is running, and "+
				"`gcity --headless` starts a controller", name, err)
		}
		deadline.Pause(limit, reattachEvery)
	}
}

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
