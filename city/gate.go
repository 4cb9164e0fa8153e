package city

import (
	"context"

	"gcity/beads"
)

// GateType is the type of a gate. A gate is a bead that blocks other beads until a user or an automation run closes it.
const GateType = "gate"

// AwaitingGate is the status text of a blocked bead.
const AwaitingGate = "awaiting gate"

// Gates maps IDs to open gates.
type Gates map[string]beads.Bead

// GatesIn returns the open gates in a list of beads.
func GatesIn(all []beads.Bead) Gates {
	gates := Gates{}
	for _, b := range all {
		if b.Type == GateType && b.Status != beads.StatusClosed {
			gates[b.ID] = b
		}
	}
	return gates
}

// GatesFor returns the open gates in a store, or none if no bead in waiting can be blocked by a gate.
func GatesFor(ctx context.Context, list func(context.Context, beads.Query) ([]beads.Bead, error),
	waiting []beads.Bead) (Gates, error) {
	for _, b := range waiting {
		if b.Status != beads.StatusClosed && len(b.Needs) > 0 {
			all, err := list(ctx, beads.Query{Type: GateType,
				Status: beads.Unclosed(), Limit: -1})
			return GatesIn(all), err
		}
	}
	return nil, nil
}

// Block returns the first gate that blocks a bead. ok is false if no gate does.
func (g Gates) Block(b beads.Bead) (gate beads.Bead, ok bool) {
	if b.Status == beads.StatusClosed {
		return gate, false
	}
	for _, id := range b.Needs {
		if gate, ok = g[id]; ok {
			return gate, true
		}
	}
	return gate, false
}
