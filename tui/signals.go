package tui

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// whatEnded is the exit of a room that nobody has left.
func (r *runner) whatEnded() (Exit, error) {
	switch err := r.failure(); {
	case r.dropped.Load():
		return Hangup, nil
	case err != nil:
		return Ended, err
	case r.broken.Load():
		return Interrupted, nil
	case r.asked.Load():
		return Terminated, nil
	}
	return Ended, nil
}

// environment looks a name up in a list of name=value.
func environment(list []string) func(string) string {
	return func(name string) string {
		for i := len(list) - 1; i >= 0; i-- {
			if value, ok := strings.CutPrefix(list[i], name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// signals ends the control room when the terminal is gone or somebody asks the process to end. After a hangup SIGHUP
// stays caught: the kernel and the shell each send one, and the second must not end a city that goes on headless.
func (r *runner) signals(ctx context.Context, interrupts <-chan os.Signal) {
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
			r.log.Info("the terminal hung up")
			r.lineDropped()
		case <-end:
			r.log.Info("asked to end")
			r.asked.Store(true)
			r.fail()
		case <-interrupts:
			if r.handed.Load() {
				// ctrl+c between the room and whom the terminal was given to: it was not meant for the city
				continue
			}
			r.log.Info("interrupted")
			r.broken.Store(true)
			r.fail()
		}
	}
	if !r.dropped.Load() {
		signal.Stop(hangup)
	}
}

// lineDropped ends the control room: its terminal is gone.
func (r *runner) lineDropped() {
	r.top().dropped.Store(true)
	r.fail()
}

// watch points the pane.
func (r *runner) watch(w watch) {
	gap := 500 * time.Millisecond
	if w.focused {
		gap = 0
	}
	r.box.pace(gap)
	if r.viewer != nil { // in the room of all cities there is nothing to be seen
		r.viewer.look(w)
	}
}

// watchedInput notices the end of the terminal, which Bubble Tea takes for silence.
type watchedInput struct {
	*os.File
	gone func()
}

// Read implements io.Reader.
func (w *watchedInput) Read(p []byte) (int, error) {
	n, err := w.File.Read(p)
	if n == 0 && len(p) > 0 && (err == nil || !errors.Is(err, os.ErrDeadlineExceeded)) {
		w.gone()
	}
	return n, err
}
