package beads

import "slices"

// Ready returns the open beads without unmet needs, in the given order. A missing bead counts as purged, so the
// argument must contain every bead that is not closed.
func Ready(all []Bead) []Bead {
	unclosed := unclosed(all)
	var ready []Bead
	for _, b := range all {
		if b.Status == StatusOpen && needsClosed(b, unclosed) {
			ready = append(ready, b)
		}
	}
	return ready
}

// Next returns the next step of a molecule: the first open step without unmet needs. The argument is in List's order.
// Needs outside the molecule count as met.
func Next(molecule []Bead) (Bead, bool) {
	steps := slices.DeleteFunc(slices.Clone(molecule), func(b Bead) bool {
		return b.Type == TypeMolecule
	})
	unclosed := unclosed(steps)
	slices.Reverse(steps)
	slices.SortStableFunc(steps, func(a, b Bead) int { return a.CreatedAt.Compare(b.CreatedAt) })
	i := slices.IndexFunc(steps, func(b Bead) bool {
		return b.Status == StatusOpen && needsClosed(b, unclosed)
	})
	if i < 0 {
		return Bead{}, false
	}
	return steps[i], true
}

func unclosed(all []Bead) map[string]bool {
	ids := map[string]bool{}
	for _, b := range all {
		if b.Status != StatusClosed {
			ids[b.ID] = true
		}
	}
	return ids
}

func needsClosed(b Bead, unclosed map[string]bool) bool {
	return !slices.ContainsFunc(b.Needs, func(id string) bool { return unclosed[id] })
}
