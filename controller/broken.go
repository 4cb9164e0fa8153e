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

// broke hears of a panic in a goroutine that works for the city; from any goroutine.
func (c *Controller) broke(err error) {
	select {
	case c.faults <- err:
	default: // it is broken already
	}
}

// whole runs the loop, and tells of a panic in it or in whatever works for it.
func (l *loop) whole(run func() error) (err, fault error) {
	fault = recovery.Catch(func() { err = run() })
	return err, fault
}

// crash ends a controller whose memory may be anything: nothing of it is written, and no agent is touched. A
// successor takes the agents up as after a SIGKILL.
func (c *Controller) crash(fault error) error {
	var stack []byte
	if p, ok := errors.AsType[*recovery.Panic](fault); ok {
		stack = p.Stack()
	}
	c.o.Logger.Error("the city's controller has broken; its agents run on", "err", fault, "stack",
		string(stack))
	why, _ := screen.Lead(fault.Error())
	end := recovery.Group{OnPanic: func(again error) {
		c.o.Logger.Error("what was in flight was not ended well", "err", again)
	}}
	end.Go(func() {
		if _, err := c.o.Log.Append(events.Event{TS: time.Now(), Type: events.CityCrashed,
			Actor: effect.ActorController, Message: why}); err != nil {
			c.o.Logger.Warn("events are not written", "err", err)
		}
	})
	end.Go(c.runner.Abandon)
	// what broke may have had a lock that nobody gives back
	if !end.WaitFor(perform.BreakLimit + time.Second) {
		c.o.Logger.Error("what was in flight is not ended")
		c.runner.Cancel()
	}
	c.refuseAll()
	return fmt.Errorf("the city's controller has broken; its agents run on, and the next "+
		"controller takes them up: %w", fault)
}

// late gives a panic that nobody has heard of yet.
func (c *Controller) late() error {
	select {
	case err := <-c.faults:
		c.o.Logger.Error("something broke at the end", "err", err)
		return err
	default:
		return nil
	}
}
