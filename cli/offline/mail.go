package offline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"gcity/agent"
	"gcity/beads"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/folder"
	"gcity/events"
	"gcity/formula"
	"gcity/sling"
)

// Bead implements city.Getter. If one store fails, beads of the other stores are still found.
func (b *City) Bead(ctx context.Context, id string) (beads.Bead, error) {
	if err := b.workless(); err != nil {
		return beads.Bead{}, err
	}
	var lost error
	for _, d := range b.stores {
		found, err := d.Get(ctx, id)
		switch {
		case err == nil:
			return found, nil
		case !errors.Is(err, beads.ErrNotFound) && lost == nil:
			lost = fmt.Errorf("cannot read the work of %s: %w", d.Title(), err)
		}
	}
	if lost == nil {
		lost = &city.Error{Code: city.NotFound, Message: fmt.Sprintf("unknown bead %q", id)}
	}
	return beads.Bead{}, city.WorkError(lost)
}

// doWork creates, changes or assigns work, and writes the same events as a controller would.
func (b *City) doWork(ctx context.Context, c city.Command) (city.Receipt, error) {
	if err := b.workless(); err != nil {
		return city.Receipt{}, err
	}
	if _, hands := c.(city.SlingWork); hands && b.refused != nil {
		return city.Receipt{}, b.refused
	}
	var out sling.Slung
	var err error
	switch c := c.(type) {
	case city.CreateBead:
		var d *depot.Depot
		if d, err = b.depotOf(c.Rig); err != nil {
			break
		}
		if out.Bead, err = d.Create(ctx, c.Bead); err == nil {
			out.Events = []events.Event{city.BeadEvent(nil, out.Bead, "", 0)}
		}
	case city.UpdateBead:
		out, err = b.updateBead(ctx, c)
	case city.SlingWork:
		out, err = b.sling(ctx, c.SlingRequest)
	}
	seq, untold := uint64(0), error(nil)
	for _, e := range out.Events {
		if e.Type == "" {
			continue
		}
		if seq, untold = folder.AppendEvent(b.Dir, e); untold != nil {
			untold = fmt.Errorf("the change is done, but the event %s of %s cannot be written: %w",
				e.Type, e.Subject, untold)
			break
		}
		if out.Message == "" {
			_, verb, _ := strings.Cut(e.Type, ".")
			out.Message = verb + " " + out.Bead.ID
		}
	}
	if err != nil {
		return city.Receipt{}, city.WorkError(err)
	}
	if out.Message == "" {
		out.Message = out.Bead.ID + " has these values already"
	}
	return city.Receipt{Seq: seq, Message: out.Message, Bead: &out.Bead}, untold
}

// depotOf returns the store of a rig, or the city's store if rig is "".
func (b *City) depotOf(rig string) (*depot.Depot, error) {
	i := slices.IndexFunc(b.stores, func(d *depot.Depot) bool { return d.Rig == rig })
	switch {
	case i >= 0:
		return b.stores[i], nil
	case b.config == nil || b.config.Rig(rig) == nil:
		return nil, &city.Error{Code: city.NotFound,
			Message: fmt.Sprintf("unknown rig %q", rig)}
	}
	return nil, &city.Error{Code: city.Unavailable,
		Message: fmt.Sprintf("the work of rig %s cannot be reached; `gcity rig list` shows why",
			rig)}
}

func (b *City) storeOf(rig string) (beads.Store, error) {
	d, err := b.depotOf(rig)
	if err != nil {
		return nil, err
	}
	return d.Store, nil
}

// updateBead changes a bead in its store.
func (b *City) updateBead(ctx context.Context, c city.UpdateBead) (sling.Slung, error) {
	var lost error
	for _, d := range b.stores {
		was, err := d.Get(ctx, c.ID)
		if err == nil {
			if err := c.Allowed(ctx, d); err != nil {
				return sling.Slung{}, err
			}
			p := c.Patch
			if p.IfRev == nil {
				p.IfRev = &was.Rev // the event then describes exactly this change
			}
			now, err := d.Update(ctx, c.ID, p)
			if errors.Is(err, beads.ErrConflict) && c.Patch.IfRev == nil {
				now, err = d.Update(ctx, c.ID, c.Patch)
			}
			if err != nil {
				return sling.Slung{}, err
			}
			out := sling.Slung{Bead: now,
				Events:  []events.Event{city.BeadEvent(&was, now, "", 0)},
				Message: city.ChangeText(&was, now)}
			before, convoy, closed, err := city.CloseConvoy(ctx, d, was, now)
			// an error here is ignored, as in a controller: the convoy must then be closed by hand
			if err == nil && closed {
				out.Events = append(out.Events, city.BeadEvent(&before, convoy, "", 0))
			}
			return out, nil
		}
		if !errors.Is(err, beads.ErrNotFound) && lost == nil {
			lost = err
		}
	}
	if lost == nil {
		lost = &city.Error{Code: city.NotFound, Message: fmt.Sprintf("unknown bead %q", c.ID)}
	}
	return sling.Slung{}, lost
}

// sling assigns work according to the configuration on disk.
func (b *City) sling(ctx context.Context, req city.SlingRequest) (sling.Slung, error) {
	if err := b.grant.Err(); err != nil { // a sling_query of the target may run a program
		return sling.Slung{}, err
	}
	snap, err := b.Snapshot(ctx)
	if err != nil {
		return sling.Slung{}, err
	}
	s := sling.Slinger{
		Config: b.config, City: snap, Host: agent.Host{Environ: os.Environ(),
			BinDir: folder.BinDir(b.Dir)},
		Store: b.storeOf,
		Recipe: func(name, rig string) (*formula.Formula, error) {
			layers, err := folder.LayersOf(b.config)
			if err != nil {
				return nil, err
			}
			all, err := formula.Resolve(slices.DeleteFunc(layers,
				func(l formula.Layer) bool { return l.Rig != "" && l.Rig != rig }))
			if err != nil {
				return nil, err
			}
			return folder.FindRecipe(b.config, name, rig, all)
		},
	}
	for _, d := range b.stores {
		s.Scopes = append(s.Scopes, d.Rig)
	}
	return s.Sling(ctx, req)
}
