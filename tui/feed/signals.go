package feed

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// ExitReason returns the Exit of a control room that ended without the user's choice. The error reports a panic.
func (r *Runner) ExitReason() (Exit, error) {
	switch err := r.PanicError(); {
	case r.hungUp.Load():
		return Hangup, nil
	case err != nil:
		return Ended, err
	case r.interrupted.Load():
		return Interrupted, nil
	case r.terminated.Load():
		return Terminated, nil
	}
	return Ended, nil
}

// EnvLookup returns a lookup function for a list of name=value pairs.
func EnvLookup(list []string) func(string) string {
	return func(name string) string {
		for i := len(list) - 1; i >= 0; i-- {
			if value, ok := strings.CutPrefix(list[i], name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// HandleSignals ends the control room when the terminal is closed or a signal arrives. The kernel and the shell each
// send a SIGHUP, so it ignores the second one.
func (r *Runner) HandleSignals(ctx context.Context, interrupts <-chan os.Signal) {
	hangup, end := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	signal.Notify(end, syscall.SIGTERM)
	defer signal.Stop(end)
	if interrupts == nil {
		own := make(chan os.Signal, 1)
		signal.Notify(own, syscall.SIGINT)
		defer signal.Stop(own)
		interrupts = own
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-hangup:
			r.Log.Info("the terminal hung up")
			r.HangUp()
		case <-end:
			r.Log.Info("received SIGTERM")
			r.terminated.Store(true)
			r.Fail()
		case <-interrupts:
			if r.TerminalLent.Load() {
				// ctrl+c was meant for the program that is about to use the terminal
				continue
			}
			r.Log.Info("interrupted")
			r.interrupted.Store(true)
			r.Fail()
		}
	}
	if !r.hungUp.Load() {
		signal.Stop(hangup)
	}
}

// HangUp ends the control room because its terminal was closed.
func (r *Runner) HangUp() {
	r.Root().hungUp.Store(true)
	r.Fail()
}

func (w Watch) start(r *Runner) {
	gap := 500 * time.Millisecond
	if w.Focused {
		gap = 0
	}
	r.Mailbox.SetPaneGap(gap)
	if r.Viewer != nil { // the all-cities room has no viewer
		r.Viewer.Show(w)
	}
}

// WatchedInput is the terminal's input. It calls Gone when the input ends, because Bubble Tea ignores that.
type WatchedInput struct {
	*os.File
	Gone func()
}

// Read implements io.Reader.
func (w *WatchedInput) Read(p []byte) (int, error) {
	n, err := w.File.Read(p)
	if n == 0 && len(p) > 0 && (err == nil || !errors.Is(err, os.ErrDeadlineExceeded)) {
		w.Gone()
	}
	return n, err
}
