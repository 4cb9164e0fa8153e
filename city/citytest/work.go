package citytest

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"gcity/beads"
	"gcity/beads/fake"
	"gcity/city"
	"gcity/events"
)

// Store returns the store of a Fake. Changes made directly to the store do not affect the snapshot's counts.
func (f *Fake) Store() *fake.Store { return f.store }

// Beads implements city.Control.
func (f *Fake) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	found, err := f.store.List(ctx, q)
	return found, city.WorkError(err)
}

// Bead implements city.Getter.
func (f *Fake) Bead(ctx context.Context, id string) (beads.Bead, error) {
	b, err := f.store.Get(ctx, id)
	return b, city.WorkError(err)
}

// Locate implements city.StoreReader. A Fake has only one store. The prefix of a bead's ID determines
// its rig.
func (f *Fake) Locate(ctx context.Context, id string) (city.Located, error) {
	b, err := f.Bead(ctx, id)
	return city.Located{Bead: b, Rig: f.rigOf(id)}, err
}

// BeadsIn implements city.StoreReader.
func (f *Fake) BeadsIn(ctx context.Context, rig string, q beads.Query) ([]beads.Bead, error) {
	all := q
	all.Limit = -1
	found, err := f.Beads(ctx, all)
	found = slices.DeleteFunc(found, func(b beads.Bead) bool { return f.rigOf(b.ID) != rig })
	if most := q.MaxResults(); most >= 0 && len(found) > most {
		found = found[:most]
	}
	return found, err
}

func (f *Fake) rigOf(id string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, rig := range f.snap.Rigs {
		if rig.Prefix == city.BeadPrefix(id) {
			return rig.Name
		}
	}
	return ""
}

// RunOutput implements city.Control. It yields the recorded output, because a Fake has no runs in progress.
func (f *Fake) RunOutput(ctx context.Context, run string) iter.Seq2[city.Piece, error] {
	return func(yield func(city.Piece, error) bool) {
		r, err := city.GetRun(ctx, f, run)
		yield(city.Piece{Text: r.Output}, err)
	}
}

func (f *Fake) createBead(ctx context.Context, c city.CreateBead) (city.Receipt, error) {
	b, err := f.store.Create(ctx, c.Bead)
	if err != nil {
		return city.Receipt{}, city.WorkError(err)
	}
	return f.worked(nil, b), nil
}

func (f *Fake) updateBead(ctx context.Context, c city.UpdateBead) (city.Receipt, error) {
	before, err := f.store.Get(ctx, c.ID)
	if err != nil {
		return city.Receipt{}, city.WorkError(err)
	}
	if err := c.Allowed(ctx, f.store); err != nil {
		return city.Receipt{}, city.WorkError(err)
	}
	b, err := f.store.Update(ctx, c.ID, c.Patch)
	if err != nil {
		return city.Receipt{}, city.WorkError(err)
	}
	return f.worked(&before, b), nil
}

func (f *Fake) worked(was *beads.Bead, b beads.Bead) city.Receipt {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := city.BeadEvent(was, city.Located{Bead: b}, "", 0)
	e.Type = cmp.Or(e.Type, events.BeadUpdated)
	seq := f.publish(e)
	_, verb, _ := strings.Cut(e.Type, ".")
	return city.Receipt{Seq: seq, Message: cmp.Or(city.ChangeText(was, b), verb+" "+b.ID), Bead: &b}
}
