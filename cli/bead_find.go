package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/exit"
)

// route is the order in which stores are asked for a bead: the one that somebody named, that whose ids begin so, the
// one at hand, and then all others, since a prefix may have been another one once.
func (d *depot) route(id string) []place {
	prefix := city.BeadPrefix(id)
	rank := func(p place) int {
		switch {
		case d.meant && p == d.place:
			return 0
		case p.prefix == prefix:
			return 1
		case p == d.place:
			return 2
		}
		return 3
	}
	out := slices.Clone(d.places)
	slices.SortStableFunc(out, func(x, y place) int { return cmp.Compare(rank(x), rank(y)) })
	return out
}

// find gets a bead from the first store on its route that has it. A store that fails does not hide a bead of another
// one. The depot that has it is closed by closeOther, which does nothing if it is d.
func (a *app) find(ctx context.Context, d *depot, id string) (_ beads.Bead, has *depot,
	closeOther func(), err error) {
	nothing := func() {}
	var lost []string
	for _, p := range d.route(id) {
		at, done := d, nothing
		if p != d.place {
			s, openErr := a.store(p)
			if openErr != nil {
				lost = append(lost, fmt.Sprintf("the work of %s cannot be read: %v", p.title(),
					openErr))
				continue
			}
			// what was written is safe before
			at, done = &depot{store: s, place: p, city: d.city, places: d.places},
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
			lost = append(lost, fmt.Sprintf("the work of %s cannot be read: %v", p.title(), err))
		}
		done()
	}
	return beads.Bead{}, d, nothing, notFound(id, d.places, lost)
}

// notFound says that no store has a bead, which prefixes there are if none has its, and which stores could not be
// asked.
func notFound(id string, places []place, lost []string) error {
	text := ""
	if known := slices.ContainsFunc(places,
		func(p place) bool { return p.prefix == city.BeadPrefix(id) }); !known {
		prefixes := make([]city.Prefix, len(places))
		for i, p := range places {
			prefixes[i] = city.Prefix{Rig: p.rig, Prefix: p.prefix}
		}
		text = "; " + city.PrefixText(prefixes)
	}
	for _, l := range lost {
		text += "; " + l
	}
	if len(lost) > 0 {
		return fmt.Errorf("bead %q was not found%s", id, text) // it may be there
	}
	return fmt.Errorf("bead %q: %w%s", id, beads.ErrNotFound, text)
}

// every is the work of all stores of a city, for looking at. It is a store of which all that changes something is the
// first's.
type every struct {
	store  // the first
	others []*depot
}

// all opens the other stores of the city, too. A store that cannot be opened is told of, and left out.
func (a *app) all(d *depot) *depot {
	e := &every{store: d.store}
	for _, p := range d.places {
		if p == d.place {
			continue
		}
		s, err := a.store(p)
		if err != nil {
			a.Warn(fmt.Sprintf("the work of %s is left out: %v", p.title(), err))
			continue
		}
		e.others = append(e.others, &depot{store: s, place: p})
	}
	return &depot{store: e, place: d.place, city: d.city, places: d.places}
}

// withAll has something done with one store, or with all of the city.
func (a *app) withAll(c *cobra.Command, d *depot, all bool, run func(*depot) error) (err error) {
	switch {
	case !all:
		return run(d)
	case c.Flags().Changed("rig"):
		return exit.Usage("--all is the work of the city and of all its rigs, and --rig that of one; give one of them")
	}
	d = a.all(d)
	defer func() { err = errors.Join(err, d.store.(*every).close()) }()
	return run(d)
}

// List implements beads.Store: of all, the newest first.
func (e *every) List(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	out, err := e.store.List(ctx, q)
	for _, d := range e.others {
		if err != nil {
			return nil, err
		}
		var more []beads.Bead
		if more, err = d.List(ctx, q); err != nil {
			err = fmt.Errorf("the work of %s cannot be read: %w", d.title(), err)
		}
		out = append(out, more...)
	}
	slices.SortStableFunc(out, func(x, y beads.Bead) int { return y.CreatedAt.Compare(x.CreatedAt) })
	if most := q.Most(); most >= 0 && len(out) > most {
		out = out[:most]
	}
	return out, err
}

// Count implements beads.Counter.
func (e *every) Count(ctx context.Context, q beads.Query) (int, error) {
	n, err := (&depot{store: e.store}).Count(ctx, q)
	for _, d := range e.others {
		more, moreErr := d.Count(ctx, q)
		n, err = n+more, errors.Join(err, moreErr)
	}
	return n, err
}

// close closes the others; who opened the first closes that.
func (e *every) close() error {
	var err error
	for _, d := range e.others {
		err = errors.Join(err, d.Close())
	}
	return err
}
