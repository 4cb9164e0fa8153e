package depot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/workstore"
)

// route returns the order in which stores are searched for a bead: the named one, the one with the ID's prefix, the
// current one, and then all others, because a prefix may have changed.
func (d *Depot) route(id string) []workstore.Place {
	prefix := city.BeadPrefix(id)
	rank := func(p workstore.Place) int {
		switch {
		case d.meant && p == d.Place:
			return 0
		case p.Prefix == prefix:
			return 1
		case p == d.Place:
			return 2
		}
		return 3
	}
	out := slices.Clone(d.Places)
	slices.SortStableFunc(out, func(x, y workstore.Place) int {
		return cmp.Compare(rank(x),
			rank(y))
	})
	return out
}

// Find returns a bead from the first store on its route that has it. A store that fails does not hide a bead of
// another one. closeOther closes the depot that has it, unless that is d.
func Find(ctx context.Context, e *env.Env, d *Depot, id string) (_ beads.Bead, has *Depot,
	closeOther func(), err error) {
	nothing := func() {}
	var lost []string
	for _, p := range d.route(id) {
		at, done := d, nothing
		if p != d.Place {
			s, openErr := e.Store(p)
			if openErr != nil {
				lost = append(lost, fmt.Sprintf("cannot read the work of %s: %v", p.Title(),
					openErr))
				continue
			}
			// writes are durable before Close, so its error does not matter
			at, done = &Depot{Store: s, Place: p, City: d.City, Places: d.Places},
				func() { _ = s.Close() }
		}
		b, err := at.Get(ctx, id)
		switch {
		case err == nil:
			return b, at, done, nil
		case ctx.Err() != nil:
			done()
			return b, d, nothing, err
		case !errors.Is(err, beads.ErrNotFound):
			lost = append(lost, fmt.Sprintf("cannot read the work of %s: %v", p.Title(), err))
		}
		done()
	}
	return beads.Bead{}, d, nothing, notFound(id, d.Places, lost)
}

// notFound returns the error that no store has a bead, with the known prefixes if its own is unknown, and with the
// stores that could not be searched.
func notFound(id string, places []workstore.Place, lost []string) error {
	text := ""
	if known := slices.ContainsFunc(places,
		func(p workstore.Place) bool { return p.Prefix == city.BeadPrefix(id) }); !known {
		prefixes := make([]city.Prefix, len(places))
		for i, p := range places {
			prefixes[i] = city.Prefix{Rig: p.Rig, Prefix: p.Prefix}
		}
		text = "; " + city.PrefixText(prefixes)
	}
	for _, l := range lost {
		text += "; " + l
	}
	if len(lost) > 0 {
		// the bead may be in one of those stores
		return fmt.Errorf("bead %q was not found%s", id, text)
	}
	return fmt.Errorf("bead %q: %w%s", id, beads.ErrNotFound, text)
}

// Every is the work of all stores of a city, for reading. Operations that change something go to the first store.
type Every struct {
	workstore.Store // the first
	others          []*Depot
}

// all opens the other stores of the city too. It warns about a store that cannot be opened, and leaves it out.
func all(e *env.Env, d *Depot) *Depot {
	entry := &Every{Store: d.Store}
	for _, p := range d.Places {
		if p == d.Place {
			continue
		}
		s, err := e.Store(p)
		if err != nil {
			e.Warn(fmt.Sprintf("the work of %s is left out: %v", p.Title(), err))
			continue
		}
		entry.others = append(entry.others, &Depot{Store: s, Place: p})
	}
	return &Depot{Store: entry, Place: d.Place, City: d.City, Places: d.Places}
}

// WithAll calls a function with one store, or with all stores of the city.
func WithAll(e *env.Env, c *cobra.Command, d *Depot, everything bool,
	run func(*Depot) error) (err error) {
	switch {
	case !everything:
		return run(d)
	case c.Flags().Changed("rig"):
		return exit.Usage("--all and --rig exclude each other: use one of them")
	}
	d = all(e, d)
	defer func() { err = errors.Join(err, d.Store.(*Every).close()) }()
	return run(d)
}

// List implements beads.Store: the beads of all stores, newest first.
func (e *Every) List(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	out, err := e.Store.List(ctx, q)
	for _, d := range e.others {
		if err != nil {
			return nil, err
		}
		var more []beads.Bead
		if more, err = d.List(ctx, q); err != nil {
			err = fmt.Errorf("cannot read the work of %s: %w", d.Title(), err)
		}
		out = append(out, more...)
	}
	slices.SortStableFunc(out, func(x, y beads.Bead) int {
		return y.CreatedAt.Compare(x.CreatedAt)
	})
	if most := q.Most(); most >= 0 && len(out) > most {
		out = out[:most]
	}
	return out, err
}

// Count implements beads.Counter.
func (e *Every) Count(ctx context.Context, q beads.Query) (int, error) {
	n, err := (&Depot{Store: e.Store}).Count(ctx, q)
	for _, d := range e.others {
		more, moreErr := d.Count(ctx, q)
		n, err = n+more, errors.Join(err, moreErr)
	}
	return n, err
}

// close closes the other stores; the caller that opened the first one closes that.
func (e *Every) close() error {
	var err error
	for _, d := range e.others {
		err = errors.Join(err, d.Close())
	}
	return err
}
