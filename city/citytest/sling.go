package citytest

import (
	"cmp"
	"context"
	"strings"

	"gcity/beads"
	"gcity/city"
	"gcity/mail"
)

// sling assigns work. A formula creates one bead with the formula's name.
func sling(ctx context.Context, f *Fake, c city.SlingWork) (city.Receipt, error) {
	if err := c.Check(); err != nil {
		return city.Receipt{}, err
	}
	snap, err := f.Snapshot(ctx)
	if err != nil {
		return city.Receipt{}, err
	}
	to, err := snap.Address(c.SlingRequest.Target)
	if err != nil {
		return city.Receipt{}, err
	}
	var p beads.Patch
	if pool, is := strings.CutPrefix(to, mail.PoolPrefix); is {
		p = beads.Patch{Assignee: new(""), AddLabels: []string{city.PoolLabel + pool}}
	} else if _, known := snap.Agent(to); known {
		p.Assignee = &to
	} else {
		return city.Receipt{}, refuse(city.NotFound, "agent, pool or rig %q not found", to)
	}
	id := c.Bead
	if id == "" {
		b := beads.Bead{Title: cmp.Or(c.Title, c.Formula), Description: c.Description}
		if c.Formula != "" {
			b.Type, b.Ref = beads.TypeMolecule, c.Formula
		}
		r, err := f.createBead(ctx, city.CreateBead{Bead: b})
		if err != nil {
			return r, err
		}
		id = r.Bead.ID
	}
	was, err := f.store.Get(ctx, id)
	switch {
	case err != nil:
		return city.Receipt{}, city.WorkError(err)
	case was.Status == beads.StatusClosed:
		return city.Receipt{}, refuse(city.Conflict, "%s is closed", id)
	case was.Assignee != "" && was.Assignee != to && !c.Force:
		return city.Receipt{}, refuse(city.Conflict, "%s is assigned to %s", id, was.Assignee)
	}
	for _, l := range was.Labels {
		if strings.HasPrefix(l, city.PoolLabel) && l != city.PoolLabel+
			strings.TrimPrefix(to, mail.PoolPrefix) {
			p.RemoveLabels = append(p.RemoveLabels, l)
		}
	}
	r, err := f.updateBead(ctx, city.UpdateBead{ID: id, Patch: p})
	if err == nil {
		r.Message = "handed " + id + " to " + to
	}
	return r, err
}
