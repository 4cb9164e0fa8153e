package offline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/folder"
	"gcity/controller/effect"
	"gcity/internal/suggest"
)

// Bead implements city.Control. If one store fails, it still finds beads in the others.
func (b *City) Bead(ctx context.Context, id string) (beads.Bead, error) {
	if err := b.checkStores(); err != nil {
		return beads.Bead{}, err
	}
	r := b.runner(nil)
	defer r.Cancel()
	return r.Stores.Bead(ctx, id)
}

func (b *City) doWork(ctx context.Context, c city.Command) (city.Receipt, error) {
	if err := b.checkStores(); err != nil {
		return city.Receipt{}, err
	}
	var state *city.Snapshot
	var err error
	switch c := c.(type) {
	case city.CreateBead:
		_, err = b.storeOf(c.Rig)
	case city.SlingWork:
		if err = cmp.Or(b.invalid, b.grant.Err()); err == nil {
			state, err = b.Snapshot(ctx)
		}
	}
	if err != nil {
		return city.Receipt{}, err
	}
	r := b.runner(state)
	defer r.Cancel()
	change := effect.ChangeBead{Cmd: c, By: city.PeerOf(ctx).Name()}
	out := r.Now(ctx, change).(effect.BeadChanged)
	seq, unwritten := uint64(0), error(nil)
	for _, e := range out.Events {
		if e.Actor == effect.ActorController { // no controller is running
			e.Actor = city.PeerOf(ctx).Name()
		}
		if seq, unwritten = folder.AppendEvent(b.Dir, e); unwritten != nil {
			unwritten = fmt.Errorf("the change was made, but the event %s for %s cannot be "+
				"written: %w", e.Type, e.Subject, unwritten)
			break
		}
		if out.Message == "" {
			_, verb, _ := strings.Cut(e.Type, ".")
			out.Message = verb + " " + out.Bead.ID
		}
	}
	if out.Err != nil {
		return city.Receipt{}, out.Err
	}
	if out.Message == "" {
		out.Message = out.Bead.ID + " already has these values"
	}
	return city.Receipt{Seq: seq, Message: out.Message, Bead: &out.Bead}, unwritten
}

func (b *City) storeOf(rig string) (beads.Store, error) {
	i := slices.IndexFunc(b.stores, func(d *depot.Store) bool { return d.Rig == rig })
	switch {
	case i >= 0:
		return b.stores[i].Store, nil
	case b.config == nil || b.config.Rig(rig) == nil:
		return nil, city.Missing(suggest.NoSuch(suggest.Rig, rig))
	}
	return nil, city.Errorf(city.Unavailable, "the work of rig %s cannot be reached; `gcity rig "+
		"list` shows why", rig)
}
