package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
)

// checkSender refuses a command that names an agent as its sender but comes from another peer.
func (c *Controller) checkSender(cmd city.Command, p city.Peer) error {
	by := ""
	switch cmd := cmd.(type) {
	case city.Fire:
		by = cmd.By
	case city.EndRun:
		by = cmd.By
	case city.Acknowledge:
		by = cmd.By
	}
	if by == "" || by == p.Actor || p == (city.Peer{}) {
		return nil
	}
	if _, isAgent := c.snap.Load().Agent(by); !isAgent {
		return nil
	}
	return &city.Error{Code: city.Forbidden, Message: fmt.Sprintf("this command comes from %s "+
		"and cannot name the agent %q; leave out the name", p, by)}
}

// confirmTime is the timeout for confirm to read the store.
const confirmTime = 5 * time.Second

// confirm refuses a client's report of a bead's change that the store does not show. If the store fails, confirm
// accepts the report, so that the event of a real change is not lost.
func (c *Controller) confirm(ctx context.Context, cmd city.Command) error {
	e, ok := cmd.(city.Emit)
	if !ok || !strings.HasPrefix(e.Event.Type, "bead.") || e.Event.Type == events.BeadImported ||
		c.o.Stores == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, confirmTime)
	defer cancel()
	for _, rig := range c.runner.Stores.Route(e.Event.Subject) {
		store, err := c.runner.Stores.Store(rig)
		if err != nil {
			return nil
		}
		b, err := store.Get(ctx, e.Event.Subject)
		switch {
		case errors.Is(err, beads.ErrNotFound):
			continue
		case err == nil && e.Event.Type == events.BeadClosed && b.Status != beads.StatusClosed:
			return &city.Error{Code: city.Conflict,
				Message: fmt.Sprintf("bead %s is %s, not closed: no event is written", b.ID,
					b.Status)}
		}
		return nil
	}
	return &city.Error{Code: city.NotFound, Message: fmt.Sprintf("no bead is called %q: event %s "+
		"is not written", e.Event.Subject, e.Event.Type)}
}
