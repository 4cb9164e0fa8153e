package controller

import (
	"context"
	"errors"
	"strings"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
	"gcity/internal/suggest"
)

func (c *Controller) checkSender(cmd city.Command, p city.Peer) error {
	by := ""
	switch cmd := cmd.(type) {
	case city.Fire:
		by = cmd.By
	case city.EndRun:
		by = cmd.By
	case city.Acknowledge:
		by = cmd.By
	case city.CreateBead:
		if p.Agent {
			by = cmd.Sender()
		}
	}
	if by == "" || by == p.Actor || p == (city.Peer{}) {
		return nil
	}
	if _, isAgent := c.snap.Load().Agent(by); !isAgent {
		return nil
	}
	return city.Errorf(city.Forbidden, "this command comes from %s, "+
		"so it cannot name agent %q as its sender; omit the name", p, by)
}

const confirmTime = 5 * time.Second

// confirm rejects a client's event about a bead if it contradicts the store. If the store fails, confirm accepts the
// event.
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
			return city.Errorf(city.Conflict, "bead %s is %s, not closed, so no event was written",
				b.ID, b.Status)
		}
		return nil
	}
	return city.WorkError(suggest.NoSuch(suggest.Bead, e.Event.Subject).Then(
		"the event " + e.Event.Type + " was not written").As(beads.ErrNotFound))
}
