package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gcity/city"
	"gcity/internal/recovery"
)

// What an earlier run of a city has left: sessions that nobody watches, since the city cannot be opened.

const (
	leftLimit = 10 * time.Second // for a count of them
	endLimit  = 90 * time.Second // for their end
)

// countLeft has them counted, beside the ward.
func (w *ward) countLeft() {
	if w.s.o.Left == nil {
		return
	}
	w.s.lefts.Start(w.path, func() int {
		ctx, cancel := context.WithTimeout(w.s.lifetime(), leftLimit)
		defer cancel()
		n, err := w.s.o.Left(ctx, w.path)
		if err == nil {
			w.set(func() { w.lives = n })
		}
		return n
	})
}

// unopened ends a ward whose city is not opened any more. Unless agents are to stay, those that live of it are
// ended without it.
func (w *ward) unopened(err error, broken bool) {
	if w.leaves() {
		w.letGo()
		return
	}
	if err == nil && !broken { // it was stopped: who runs since then is somebody else's
		w.be(city.CityStopped, "", time.Time{})
		return
	}
	w.be(city.CityStopping, "", time.Time{})
	w.letGo()
	switch {
	case err != nil && w.s.o.Busy(err):
		err = nil
	case errors.Is(err, errMute):
		err = fmt.Errorf("nobody knows whether agents of it run on: %w", err)
	case w.s.o.End != nil:
		err = w.endLeft()
	case broken && err != nil:
		err = fmt.Errorf("its agents run on, since it cannot be taken up again to end them: %w",
			err)
	default:
		err = nil
	}
	w.end(err)
}

// endLeft ends what an earlier run has left.
func (w *ward) endLeft() error {
	ctx, cancel := context.WithTimeout(w.s.lifetime(), endLimit)
	defer cancel()
	over := make(chan error, 1)
	go func() { // as long as it takes, and nobody can wait for that
		over <- recovery.Try(func() error {
			n, err := w.s.o.End(ctx, w.path)
			w.set(func() { w.ended = n })
			return err
		})
	}()
	late := time.NewTimer(endLimit + closeLimit)
	defer late.Stop()
	err := errMute
	select {
	case err = <-over:
	case <-late.C:
	}
	if err == nil || w.s.o.Busy(err) {
		return nil
	}
	return fmt.Errorf("agents of an earlier run may live on: %w", err)
}
