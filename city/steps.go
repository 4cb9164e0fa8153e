package city

import (
	"context"
	"slices"
	"strings"

	"gcity/beads"
)

// MoleculeKey is a bead's metadata key for the ID of the molecule that describes the bead.
const MoleculeKey = "molecule_id"

// Lister lists beads, like Store.List.
type Lister func(ctx context.Context, q beads.Query) ([]beads.Bead, error)

// routed reports whether a bead itself is assigned to an agent or a pool. Otherwise, a step belongs to the assignee of
// its molecule, or of the bead that the molecule describes.
func routed(b beads.Bead) bool {
	return b.Assignee != "" || slices.ContainsFunc(b.Labels, func(l string) bool {
		return strings.HasPrefix(l, PoolLabel)
	})
}

// WithoutAssigned removes beads that are part of assigned work.
func WithoutAssigned(ctx context.Context, list Lister, ready []beads.Bead) ([]beads.Bead, error) {
	part := func(b beads.Bead) bool { return b.ParentID != "" && !routed(b) }
	if !slices.ContainsFunc(ready, part) {
		return ready, nil
	}
	all, err := list(ctx, beads.Query{Status: beads.Unclosed(), NotType: NotWork(), Limit: -1})
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*beads.Bead, len(all))
	for i := range all {
		byID[all[i].ID] = &all[i]
	}
	isAssigned := func(root *beads.Bead) bool {
		of := byID[root.ParentID]
		return of != nil && of.Metadata[MoleculeKey] == root.ID && routed(*of)
	}
	return slices.DeleteFunc(slices.Clone(ready), func(b beads.Bead) bool {
		if !part(b) {
			return false
		}
		if b.Type == beads.TypeMolecule {
			return isAssigned(&b)
		}
		root := byID[b.ParentID]
		return root != nil && root.Type == beads.TypeMolecule && (routed(*root) || isAssigned(root))
	}), nil
}

// StepsOf returns the ready beads of an agent's work: steps in order of creation, and molecules with only closed steps.
func StepsOf(ctx context.Context, list Lister, agent string) ([]beads.Bead, error) {
	unclosed := beads.Unclosed()
	mine, err := list(ctx, beads.Query{Assignee: agent, Status: unclosed, NotType: NotWork(),
		Limit: -1})
	if err != nil {
		return nil, err
	}
	var out []beads.Bead
	// a molecule can be found twice
	seen := map[string]bool{}
	for _, b := range mine {
		root, of := b.ID, beads.Query{Parent: b.ID, Type: beads.TypeMolecule, Ready: true,
			Limit: -1}
		if b.Type != beads.TypeMolecule {
			root = b.Metadata[MoleculeKey]
		}
		if root == "" || seen[root] {
			continue
		}
		seen[root] = true
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
