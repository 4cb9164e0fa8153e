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

// RunType is the type of the bead that records a run.
const RunType = "run"

// ConvoyType is the type of a bead that groups its children.
const ConvoyType = "convoy"

// NotWork lists the types of beads that are not work.
func NotWork() []string { return []string{RunType, mail.Type, ConvoyType, DigestType, GateType} }

// Getter is a Control that returns one bead without listing all beads.
type Getter interface {
	Bead(ctx context.Context, id string) (beads.Bead, error)
}

// GetBead returns the bead with this ID. Errors are *Error.
func GetBead(ctx context.Context, c Control, id string) (beads.Bead, error) {
	if beads.CheckID(id) != nil {
		return beads.Bead{}, WorkError(beads.NotFound(id))
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
	return beads.Bead{}, WorkError(beads.NotFound(id))
}

// BeadPrefix returns the prefix of a bead's ID, or "".
func BeadPrefix(id string) string { return id[:max(0, strings.LastIndexByte(id, '-'))] }

// Prefix is the prefix of a rig's bead IDs. Rig "" is the city.
type Prefix struct{ Rig, Prefix string }

const prefixesMost = 12

// PrefixText returns a sentence that lists the prefixes of bead IDs.
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
	return "bead IDs of this city start with " + strings.Join(parts, ", ")
}

// WorkError converts a bead store's error to an *Error. If err is nil, it returns nil. If err contains an *Error, it
// returns that one.
func WorkError(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	e := Errorf(Unavailable, "%v", err)
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
