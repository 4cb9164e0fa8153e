package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gcity/city"
	"gcity/internal/recovery"
)

const (
	countLimit = 10 * time.Second
	endLimit   = 90 * time.Second
)

func (w *worker) countLeftovers() {
	if w.s.o.CountLeftovers == nil {
		return
	}
	err := w.s.leftovers.Start(w.path, func() int {
		ctx, cancel := context.WithTimeout(w.s.lifetime(), countLimit)
		defer cancel()
		n, err := w.s.o.CountLeftovers(ctx, w.path)
		if err == nil {
			w.set(func() { w.lives = n })
		}
		return n
	})
	if err != nil {
		w.s.o.Logger.Warn("cannot count the sessions from an earlier run", "path", w.path,
			"why", err)
	}
}

// endUnopened ends a worker while its city is not open. If necessary, it also stops sessions from an earlier run.
func (w *worker) endUnopened(err error, broken bool) {
	if w.isLeaving() {
		w.discardOpening()
		return
	}
	// a user has stopped the city; sessions that exist now were started by someone else, and keep running
	if err == nil && !broken {
		w.setState(city.CityStopped, "", time.Time{})
		return
	}
	w.setState(city.CityStopping, "", time.Time{})
	w.discardOpening()
	switch {
	case err != nil && w.s.o.Busy(err):
		w.set(func() { w.other = err })
		err = nil
	case errors.Is(err, errUnresponsive):
		err = fmt.Errorf("the city's agents might still be running: %w", err)
	case w.s.o.StopLeftovers != nil:
		err = w.stopLeftovers()
	case broken && err != nil:
		err = fmt.Errorf("the city's agents keep running, because the city cannot be opened again "+
			"to stop them: %w", err)
	default:
		err = nil
	}
	w.end(err)
}

func (w *worker) stopLeftovers() error {
	ctx, cancel := context.WithTimeout(w.s.lifetime(), endLimit)
	defer cancel()
	over := make(chan error, 1)
	go func() { // not in a WaitGroup, because it might never return
		over <- recovery.Try(func() error {
			n, err := w.s.o.StopLeftovers(ctx, w.path)
			w.set(func() { w.ended = n })
			return err
		})
	}()
	err := errUnresponsive
	select {
	case err = <-over:
	case <-time.After(endLimit + closeLimit):
	}
	if err == nil {
		return nil
	}
	if w.s.o.Busy(err) {
		w.set(func() { w.other = err })
		return nil
	}
	return fmt.Errorf("agents from an earlier run might still be running: %w", err)
}
