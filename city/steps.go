package city

import (
	"context"
	"slices"
	"strings"

	"gcity/beads"
)

// MoleculeKey is the key of a bead's metadata that says by which molecule it is done.
const MoleculeKey = "molecule_id"

// Lister lists work as a store does.
type Lister func(ctx context.Context, q beads.Query) ([]beads.Bead, error)

// The steps of a molecule are whose the molecule is: nobody else is to find them. So is a molecule by which a bead
// is done, with its steps, whose that bead is. A step that is assigned to somebody, or has a pool's label, is that
// one's.

// routed reports whether a bead is somebody's: an agent's or a pool's.
func routed(b beads.Bead) bool {
	return b.Assignee != "" || slices.ContainsFunc(b.Labels, func(l string) bool {
		return strings.HasPrefix(l, PoolLabel)
	})
}

// Loose leaves out of ready work what goes with other work that somebody has.
func Loose(ctx context.Context, list Lister, ready []beads.Bead) ([]beads.Bead, error) {
	part := func(b beads.Bead) bool { return b.ParentID != "" && !routed(b) }
	if !slices.ContainsFunc(ready, part) {
		return ready, nil
	}
	all, err := list(ctx, beads.Query{Status: []beads.Status{beads.StatusOpen,
		beads.StatusInProgress}, NotType: NotWork(), Limit: -1})
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*beads.Bead, len(all))
	for i := range all {
		byID[all[i].ID] = &all[i]
	}
	goes := func(root *beads.Bead) bool { // with the bead that is done by it
		of := byID[root.ParentID]
		return of != nil && of.Metadata[MoleculeKey] == root.ID && routed(*of)
	}
	return slices.DeleteFunc(slices.Clone(ready), func(b beads.Bead) bool {
		if !part(b) {
			return false
		}
		if b.Type == beads.TypeMolecule {
			return goes(&b)
		}
		root := byID[b.ParentID]
		return root != nil && root.Type == beads.TypeMolecule && (routed(*root) || goes(root))
	}), nil
}

// StepsOf is what goes with the work that an agent has, and is ready: steps, in the order in which they were made,
// and a molecule by which work is done once all its steps are.
func StepsOf(ctx context.Context, list Lister, agent string) ([]beads.Bead, error) {
	unclosed := []beads.Status{beads.StatusOpen, beads.StatusInProgress}
	mine, err := list(ctx, beads.Query{Assignee: agent, Status: unclosed, NotType: NotWork(),
		Limit: -1})
	if err != nil {
		return nil, err
	}
	var out []beads.Bead
	// at molecules: one may be had both by itself and with what is done by it
	looked := map[string]bool{}
	for _, b := range mine {
		root, of := b.ID, beads.Query{Parent: b.ID, Type: beads.TypeMolecule, Ready: true,
			Limit: -1}
		if b.Type != beads.TypeMolecule {
			root = b.Metadata[MoleculeKey]
		}
		if root == "" || looked[root] {
			continue
		}
		looked[root] = true
		if b.Type != beads.TypeMolecule {
			left, err := list(ctx, beads.Query{Parent: root, Status: unclosed, Limit: 1})
			if err != nil {
				return nil, err
			}
			if len(left) == 0 {
				whole, err := list(ctx, of)
				if err != nil {
					return nil, err
				}
				out = append(out, slices.DeleteFunc(whole, func(m beads.Bead) bool {
					return m.ID != root || routed(m)
				})...)
				continue
			}
		}
		steps, err := list(ctx, beads.Query{Parent: root, Ready: true, NotType: NotWork(),
			Limit: -1})
		if err != nil {
			return nil, err
		}
		slices.Reverse(steps)
		out = append(out, slices.DeleteFunc(steps, routed)...)
	}
	return out, nil
}
