package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
)

// textOf reads the text of a bead from a file, or from standard input for "-". twice: it was written as a flag, too.
func (a *app) textOf(file string, twice bool) (string, error) {
	if twice {
		return "", exit.Usage("--description and --description-file are two descriptions; give one")
	}
	in := a.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", fmt.Errorf("cannot read the description: %w", err)
		}
		defer f.Close() // it is only read
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, beads.MaxText+1))
	if err != nil {
		return "", fmt.Errorf("cannot read the description: %w", err)
	}
	if len(data) > beads.MaxText {
		return "", exit.Usage("the description in %s has more than %d KiB, which is the most; keep what matters of it", file, beads.MaxText>>10)
	}
	return strings.TrimRight(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n"), nil
}

// owned finds the first of some ids whose bead is in a store of the city other than d, and whose that is; nil if none
// is.
func (a *app) owned(ctx context.Context, d *depot, ids []string) (id string, by *place, err error) {
	for i := range d.places {
		p := &d.places[i]
		theirs := slices.DeleteFunc(slices.Clone(ids),
			func(id string) bool { return p.prefix != city.BeadPrefix(id) })
		if *p == d.place || len(theirs) == 0 {
			continue
		}
		if id, err = a.firstIn(ctx, *p, theirs); id != "" || err != nil {
			return id, p, err
		}
	}
	return "", nil, nil
}

// firstIn is the first of some ids that a store has, "" = it has none.
func (a *app) firstIn(ctx context.Context, p place, ids []string) (_ string, err error) {
	s, err := a.store(p)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, id := range ids {
		switch _, err := s.Get(ctx, id); {
		case err == nil:
			return id, nil
		case !errors.Is(err, beads.ErrNotFound):
			return "", err
		}
	}
	return "", nil
}

// elsewhere adds to a store's refusal of a link that the bead is in another store of the city.
func (a *app) elsewhere(ctx context.Context, d *depot, err error, links []string) error {
	var invalid *beads.Invalid
	if !errors.As(err, &invalid) {
		return err
	}
	for _, id := range links {
		if !strings.Contains(invalid.Field, fmt.Sprintf("%q", id)) {
			continue
		}
		if _, has, closeOther, findErr := a.find(ctx, d, id); findErr == nil && has != d {
			closeOther()
			return exit.Usage("%v in the store of %s: %s is work of %s, and links stay within one store; make this bead there too, or write the id into its description",
				err, d.title(), id, has.title())
		}
	}
	return err
}

// guard refuses to take beads into a store that another store of the city has.
type guard struct {
	*depot
	a *app
}

// Restore implements beads.Restorer.
func (g *guard) Restore(ctx context.Context, all []beads.Bead) (beads.Restored, error) {
	ids := make([]string, len(all))
	for i, b := range all {
		ids[i] = b.ID
	}
	id, by, err := g.a.owned(ctx, g.depot, ids)
	if err != nil {
		return beads.Restored{}, err
	}
	if by != nil {
		return beads.Restored{}, exit.Usage("%s is a bead of %s already, and would be there twice; %s, or --force if it is to be", id, by.title(), by.importHint())
	}
	return g.depot.Restore(ctx, all)
}

// importHint is how to import into a store.
func (p place) importHint() string {
	if p.rig == "" {
		return "import into the city's store"
	}
	return "import with --rig " + p.rig
}

// closeSteps closes the open steps of a bead, and theirs, the lowest first.
func (a *app) closeSteps(ctx context.Context, d *depot, id string, p beads.Patch) error {
	_, has, closeOther, err := a.find(ctx, d, id)
	if err != nil {
		return err
	}
	defer closeOther()
	open, err := city.OpenSteps(ctx, has.List, id)
	if err != nil {
		return err
	}
	for i := len(open) - 1; i >= 0; i-- {
		if err := a.patchBead(ctx, has, open[i].ID, p); err != nil {
			return err
		}
	}
	return nil
}

// refuseOpen refuses to close a molecule with open steps, but for those that are closed with it.
func (a *app) refuseOpen(ctx context.Context, d *depot, id string, with []string) error {
	b, has, closeOther, err := a.find(ctx, d, id)
	if err != nil {
		return err
	}
	defer closeOther()
	return city.Closable(ctx, has.List, b, with...)
}

// tellOpenSteps says what is still to be done below a bead that was closed.
func (a *app) tellOpenSteps(ctx context.Context, d *depot, id string) error {
	if a.JSON {
		return nil
	}
	_, has, closeOther, err := a.find(ctx, d, id)
	if err != nil {
		return err
	}
	defer closeOther()
	open, err := city.OpenSteps(ctx, has.List, id)
	if err == nil && len(open) > 0 {
		a.Sayf("  %s still open: `gcity bead close %s --steps` closes them too",
			city.StepsOpen(len(open)), output.SafeLine(id))
	}
	return err
}
