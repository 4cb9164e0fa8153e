package beads

import "slices"

// Ready picks, in the order given, the open beads whose needs are all met. A need is met when its bead is closed, or is
// no longer there: only closed beads are ever purged. So all must hold every bead that is not closed, and may hold
// more.
func Ready(all []Bead) []Bead {
	unclosed := unclosed(all)
	var ready []Bead
	for _, b := range all {
		if b.Status == StatusOpen && met(b, unclosed) {
			ready = append(ready, b)
		}
	}
	return ready
}

// Next is the first step of a molecule that is open and has all its needs met; none if there is none, because all are
// done or under way, or something is in the way. It takes the molecule's steps as List returns them, with or without
// the root; needs outside of them count as met.
func Next(molecule []Bead) (Bead, bool) {
	steps := slices.DeleteFunc(slices.Clone(molecule), func(b Bead) bool {
		return b.Type == TypeMolecule
	})
	unclosed := unclosed(steps)
	slices.Reverse(steps)
	slices.SortStableFunc(steps, func(a, b Bead) int { return a.CreatedAt.Compare(b.CreatedAt) })
	i := slices.IndexFunc(steps, func(b Bead) bool {
		return b.Status == StatusOpen && met(b, unclosed)
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

func met(b Bead, unclosed map[string]bool) bool {
	return !slices.ContainsFunc(b.Needs, func(id string) bool { return unclosed[id] })
}
