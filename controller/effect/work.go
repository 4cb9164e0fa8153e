package effect

import (
	"slices"

	"gcity/city"
	"gcity/events"
)

// Leaver is a member that has permanently left its pool.
type Leaver struct{ Agent, Pool string }

// Returned is a bead that was returned to a pool.
type Returned struct {
	Leaver
	Bead  string
	Event events.Event
}

// Holding is the unfinished work of an assignee.
type Holding struct {
	IDs []string // IDs of some of the beads; beads in progress are first
	N   int
}

// Same reports whether two holdings are equal.
func (h Holding) Same(o Holding) bool { return h.N == o.N && slices.Equal(h.IDs, o.IDs) }

// With returns the sum of two holdings.
func (h Holding) With(o Holding) Holding {
	h.N += o.N
	h.IDs = slices.Concat(h.IDs, o.IDs[:min(len(o.IDs), city.StrandedIDs-len(h.IDs))])
	return h
}
