package city

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gcity/beads"
	"gcity/mail"
)

// RunType is the type of a run's bead. What a formula run makes bears the same label, and other types.
const RunType = "run"

// ConvoyType is the type of a bead that stands for others: its children, which may be anybody's.
const ConvoyType = "convoy"

// NotWork are the types of beads that nobody is to do: a store's records and messages, and what only stands for others.
// Whoever asks for work gives them as NotType.
func NotWork() []string { return []string{RunType, mail.Type, ConvoyType, DigestType, GateType} }

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

// BeadPrefix is what the ids of a store begin with, as one of them says it; "" if it has none.
func BeadPrefix(id string) string { return id[:max(0, strings.LastIndexByte(id, '-'))] }

// Prefix is what the ids of the work of the city (Rig "") or a rig begin with.
type Prefix struct{ Rig, Prefix string }

// prefixesMost is how many prefixes are named.
const prefixesMost = 12

// PrefixText says which prefixes there are.
func PrefixText(all []Prefix) string {
	var parts []string
	for i, p := range all {
		if i == prefixesMost {
			parts = append(parts, "…")
			break
		}
		whose := "the city"
		if p.Rig != "" {
			whose = "rig " + p.Rig
		}
		parts = append(parts, fmt.Sprintf("%s- (%s)", p.Prefix, whose))
	}
	return "work begins with " + strings.Join(parts, ", ") + " here"
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
