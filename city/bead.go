package city

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gcity/beads"
)

// RunType is the type of a run's bead. What a formula run makes bears the same label, and other types.
const RunType = "run"

// Getter is a Control that looks a bead up by its id, at the cost of one. GetBead asks it.
type Getter interface {
	Bead(ctx context.Context, id string) (beads.Bead, error)
}

// GetBead gives the bead of an id. A city that is no Getter is asked for all its work. Errors are *Error.
func GetBead(ctx context.Context, c Control, id string) (beads.Bead, error) {
	if beads.CheckID(id) != nil {
		return beads.Bead{}, noBead(id)
	}
	if g, ok := c.(Getter); ok {
		return g.Bead(ctx, id)
	}
	all, err := c.Beads(ctx, beads.Query{Limit: -1})
	if err != nil {
		return beads.Bead{}, WorkError(err)
	}
	if i := slices.IndexFunc(all, func(b beads.Bead) bool { return b.ID == id }); i >= 0 {
		return all[i], nil
	}
	return beads.Bead{}, noBead(id)
}

func noBead(id string) error {
	return &Error{Code: NotFound, Message: fmt.Sprintf("no bead has the id %.60q", id)}
}

// WorkError makes an *Error of what a store of beads says; nil stays nil, and an *Error what it is.
func WorkError(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	e := &Error{Code: Unavailable, Message: err.Error()}
	_, wrong := errors.AsType[*beads.Invalid](err)
	switch {
	case wrong:
		e.Code = Invalid
	case errors.Is(err, beads.ErrNotFound):
		e.Code = NotFound
	case errors.Is(err, beads.ErrConflict):
		e.Code = Conflict
	}
	return e
}
