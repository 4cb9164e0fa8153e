package controller

import (
	"errors"
	"fmt"
	"time"

	"gcity/controller/effect"
	"gcity/controller/perform"
	"gcity/events"
	"gcity/internal/recovery"
	"gcity/internal/screen"
)

func (c *Controller) recordPanic(err error) {
	select {
	case c.faults <- err:
	default: // keep only the first panic
	}
}

func (l *loop) runCatchingPanics(run func() error) (err, fault error) {
	fault = recovery.Catch(func() { err = run() })
	return err, fault
}

// crash saves no state and leaves the agents running, because the controller's memory is unreliable.
func (c *Controller) crash(fault error) error {
	var stack []byte
	if p, ok := errors.AsType[*recovery.Panic](fault); ok {
		stack = p.Stack()
	}
	c.o.Logger.Error("the city's controller crashed; its agents keep "+
		"running", "err", fault, "stack",
		string(stack))
	why, _ := screen.FirstItem(fault.Error())
	end := recovery.Group{OnPanic: func(again error) {
		c.o.Logger.Error("some operations in progress did not end cleanly", "err", again)
	}}
	end.Go(func() {
		if _, err := c.o.Log.Append(events.Event{TS: time.Now(), Type: events.CityCrashed,
			Actor: effect.ActorController, Message: why}); err != nil {
			c.o.Logger.Warn("cannot write events", "err", err)
		}
	})
	end.Go(c.runner.Abandon)
	// the panic might have left a mutex locked, so the wait has a limit
	if !end.WaitFor(perform.BreakLimit + time.Second) {
		c.o.Logger.Error("some operations in progress have not ended")
		c.runner.Cancel()
	}
	c.emptyInbox(func(effect.Input) {})
	return fmt.Errorf("the city's controller crashed: %w; its agents keep running, and the "+
		"next controller will adopt them", fault)
}

func (c *Controller) shutdownPanic() error {
	select {
	case err := <-c.faults:
		c.o.Logger.Error("a panic during the shutdown", "err", err)
		return err
	default:
		return nil
	}
}
