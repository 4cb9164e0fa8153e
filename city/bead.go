package city

import (
	"context"
	"errors"
	"fmt"
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

// GetBead returns the bead with this ID. Errors are *Error.
func GetBead(ctx context.Context, c Control, id string) (beads.Bead, error) {
	if beads.CheckID(id) != nil {
		return beads.Bead{}, WorkError(beads.NotFound(id))
	}
	b, err := c.Bead(ctx, id)
	return b, WorkError(err)
}

// StoreReader is a Control that can find the store of a bead. The prefix of the bead's ID does not determine the store,
// because a rig's store can contain beads with any prefix.
type StoreReader interface {
	// Locate returns the bead with this ID and the store that contains it.
	Locate(ctx context.Context, id string) (Located, error)
	// BeadsIn is like Control.Beads, for the store of a rig, or of the city if rig is "".
	BeadsIn(ctx context.Context, rig string, q beads.Query) ([]beads.Bead, error)
}

// Located is a bead and its store.
type Located struct {
	beads.Bead
	Rig string `json:"rig,omitempty"` // the bead is in the store of this rig; "" = the city's store
}

// Locate returns the bead with this ID and the store that contains it. Errors are *Error.
func Locate(ctx context.Context, c Control, id string) (Located, error) {
	if beads.CheckID(id) != nil {
		return Located{}, WorkError(beads.NotFound(id))
	}
	if s, ok := c.(StoreReader); ok {
		return s.Locate(ctx, id)
	}
	return Located{}, Errorf(Unsupported, "this city cannot find the store of a bead")
}

// BeadsIn lists the work in one store: that of a rig, or of the city if rig is "". Errors are *Error.
func BeadsIn(ctx context.Context, c Control, rig string, q beads.Query) ([]beads.Bead, error) {
	if s, ok := c.(StoreReader); ok {
		found, err := s.BeadsIn(ctx, rig, q)
		return found, WorkError(err)
	}
	return nil, Errorf(Unsupported, "this city cannot list the work of a single rig")
}

// BeadPrefix returns the prefix of a bead's ID, or "". It does not determine the bead's store; see StoreReader.
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
