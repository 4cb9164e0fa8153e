package offline

import (
	"context"
	"iter"
	"slices"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/folder"
	"gcity/cli/workstore"
	"gcity/controller"
	"gcity/controller/perform"
)

func (b *City) openStores() error {
	var all []workstore.Place
	switch {
	case b.config != nil:
		all = workstore.Places(b.config)
	case b.known != nil:
		all = slices.DeleteFunc(workstore.PlacesOf(b.Dir, b.known.Snapshot(b.Dir)),
			workstore.Place.Gone)
	}
	for _, p := range all {
		if b.config != nil {
			if r := b.config.Rig(p.Rig); r != nil && r.Problem != "" {
				continue
			}
		}
		s, err := workstore.OpenTrusted(p)
		if err != nil {
			return err
		}
		b.stores = append(b.stores, &depot.Store{Store: s, Place: p, City: b.Dir,
			Config: b.config})
	}
	return nil
}

func (b *City) checkStores() error {
	if b.invalid == nil || b.known != nil {
		return nil
	}
	return folder.NeedsFile(b.invalid, folder.UnknownWork)
}

// Beads implements city.Control. It searches all of the city's stores.
func (b *City) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	if err := b.checkStores(); err != nil {
		return nil, err
	}
	r := b.runner(nil)
	defer r.Cancel()
	return r.Stores.Beads(ctx, q)
}

// runner accepts nil if only the stores are needed.
func (b *City) runner(s *city.Snapshot) *perform.Runner {
	if s == nil {
		s = &city.Snapshot{}
		if b.config != nil {
			s.Name = b.config.Workspace.Name
		}
		for _, d := range b.stores {
			if d.Rig != "" {
				s.Rigs = append(s.Rigs, city.Rig{Name: d.Rig, Prefix: d.Prefix})
			}
		}
	}
	// a rig without a usable folder has no store
	s.Rigs = slices.DeleteFunc(s.Rigs, func(r city.Rig) bool {
		return !slices.ContainsFunc(b.stores, func(d *depot.Store) bool { return d.Rig == r.Name })
	})
	return controller.NewRunner(b.options(), b.config, func() *city.Snapshot { return s })
}

// RunOutput implements city.Control. It yields the output stored in the run's record. The output of an interrupted run
// is lost.
func (b *City) RunOutput(ctx context.Context, run string) iter.Seq2[city.Piece, error] {
	return func(yield func(city.Piece, error) bool) {
		r, err := city.GetRun(ctx, b, run)
		yield(city.Piece{Text: r.Output}, err)
	}
}

// RunsOf returns the query for the newest runs of an automation, or of all automations if scoped is "".
func RunsOf(scoped string, limit int) beads.Query {
	q := beads.Query{Type: workstore.TypeRun, Limit: limit}
	if scoped != "" {
		q.Labels = []string{city.RunLabel + scoped}
	}
	return q
}
