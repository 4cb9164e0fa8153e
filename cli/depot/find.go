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

func (d *Store) route(id string) []workstore.Place {
	prefix := city.BeadPrefix(id)
	rank := func(p workstore.Place) int {
		switch {
		case d.explicit && p == d.Place:
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
		return cmp.Compare(rank(x), rank(y))
	})
	return out
}

// Find returns a bead and its store. It searches all stores.
func Find(ctx context.Context, e *env.Env, d *Store, id string) (_ beads.Bead, has *Store,
	err error) {
	var lost []string
	for _, p := range d.route(id) {
		var b beads.Bead
		at, err := d.At(e, p)
		if err == nil {
			b, err = at.Get(ctx, id)
		}
		switch {
		case err == nil:
			return b, at, nil
		case at != nil && ctx.Err() != nil:
			return b, d, err
		case !errors.Is(err, beads.ErrNotFound):
			lost = append(lost, fmt.Sprintf("cannot read the work of %s: %v", p.Title(), err))
		}
	}
	return beads.Bead{}, d, notFound(id, d.Places, lost)
}

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
		// not beads.NotFound, because the bead might be in a store that could not be searched
		return fmt.Errorf("bead %q not found%s", id, text)
	}
	return fmt.Errorf("%w%s", beads.NotFound(id), text)
}

// AllStores lists and counts the beads of all stores of a city. Other operations use only the first store.
type AllStores struct {
	workstore.Store
	others []*Store
}

func all(e *env.Env, d *Store) *Store {
	entry := &AllStores{Store: d.Store}
	for _, p := range d.Places {
		if p == d.Place {
			continue
		}
		s, err := d.At(e, p)
		if err != nil {
			e.Warn(fmt.Sprintf("the work of %s cannot be read, so this output omits it: %v",
				p.Title(), err))
			continue
		}
		entry.others = append(entry.others, s)
	}
	return &Store{Store: entry, Place: d.Place, City: d.City, Places: d.Places}
}

// WithAll calls run with d or, for --all, with all of the city's stores.
func WithAll(e *env.Env, c *cobra.Command, d *Store, everything bool,
	run func(*Store) error) error {
	switch {
	case !everything:
		return run(d)
	case c.Flags().Changed("rig"):
		return exit.Usage("--all and --rig are mutually exclusive; use only one of them")
	}
	return run(all(e, d))
}

// List implements beads.Store. It returns beads from all stores, newest first.
func (e *AllStores) List(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
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
	if most := q.MaxResults(); most >= 0 && len(out) > most {
		out = out[:most]
	}
	return out, err
}

// Count implements beads.Counter.
func (e *AllStores) Count(ctx context.Context, q beads.Query) (int, error) {
	n, err := (&Store{Store: e.Store}).Count(ctx, q)
	for _, d := range e.others {
		more, moreErr := d.Count(ctx, q)
		n, err = n+more, errors.Join(err, moreErr)
	}
	return n, err
}
