package foreign

import (
	"context"
	"slices"

	"gcity/beads"
)

// Found contains the records that a query selects.
type Found struct {
	Beads      []beads.Bead
	Unreadable []Record
}

// Record is a record that is not a valid bead.
type Record struct {
	// Only the ID, the status and the links are used. A link that the record lacks is empty, and so is an unknown ID.
	Partial beads.Bead
	Why     error
}

// Ready returns the ready beads. An unreadable bead is never ready, but other beads can wait for it.
func (f Found) Ready() []beads.Bead {
	return slices.DeleteFunc(beads.Ready(f.all()), f.isUnreadable)
}

func (f Found) all() []beads.Bead {
	all := slices.Clip(f.Beads)
	for _, r := range f.Unreadable {
		all = append(all, r.Partial)
	}
	return all
}

func (f Found) isUnreadable(b beads.Bead) bool {
	return slices.ContainsFunc(f.Unreadable, func(r Record) bool { return r.Partial.ID == b.ID })
}

// byID omits records without an ID, because no bead can link to them.
func (f Found) byID() map[string]beads.Bead {
	by := make(map[string]beads.Bead, len(f.Beads)+len(f.Unreadable))
	for _, b := range f.all() {
		if b.ID != "" {
			by[b.ID] = b
		}
	}
	return by
}

// Unreadable implements beads.Auditor.
func (s *Store) Unreadable(ctx context.Context) ([]beads.Unreadable, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	found, err := s.backend.Find(ctx, beads.Query{})
	var all []beads.Unreadable
	for _, r := range found.Unreadable {
		all = append(all, beads.Unreadable{ID: r.Partial.ID, Reason: r.Why.Error(),
			ParentID: r.Partial.ParentID, Closed: r.Partial.Status == beads.StatusClosed})
	}
	return all, err
}
