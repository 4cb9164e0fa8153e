package city

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gcity/beads"
)

// OpenSteps returns the open steps of a bead at all levels. Each step follows its parent.
func OpenSteps(ctx context.Context, list Lister, id string) ([]beads.Bead, error) {
	all, err := Steps(ctx, list, id)
	return slices.DeleteFunc(all, func(b beads.Bead) bool {
		return b.Status == beads.StatusClosed
	}), err
}

// Steps returns the steps of a bead at all levels. Each step follows its parent.
func Steps(ctx context.Context, list Lister, id string) (all []beads.Bead, err error) {
	seen := map[string]bool{id: true}
	for line := []string{id}; len(line) > 0; line = line[1:] {
		steps, err := list(ctx, beads.Query{Parent: line[0], Limit: -1})
		if err != nil {
			return nil, err
		}
		for i := len(steps) - 1; i >= 0; i-- {
			if b := steps[i]; !seen[b.ID] {
				seen[b.ID] = true
				line = append(line, b.ID)
				all = append(all, b)
			}
		}
	}
	return all, nil
}

const namedSteps = 5

// UnreadableSteps returns the records with one of these parents that the store cannot read and that are not closed. It
// returns none if the store is not a beads.Auditor.
func UnreadableSteps(ctx context.Context, s any, parents ...string) ([]beads.Unreadable, error) {
	a, ok := s.(beads.Auditor)
	if !ok {
		return nil, nil
	}
	all, err := a.Unreadable(ctx)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	return slices.DeleteFunc(all, func(u beads.Unreadable) bool {
		return u.Closed || !slices.Contains(parents, u.ParentID)
	}), err
}

// Closable returns an error if a molecule has open steps other than those with the given IDs, or unreadable ones.
func Closable(ctx context.Context, s interface {
	List(ctx context.Context, q beads.Query) ([]beads.Bead, error)
}, b beads.Bead, with ...string) error {
	if b.Type != beads.TypeMolecule || b.Status == beads.StatusClosed {
		return nil
	}
	all, err := Steps(ctx, s.List, b.ID)
	if err != nil {
		return err
	}
	parents, open := []string{b.ID}, []beads.Bead(nil)
	for _, step := range all {
		parents = append(parents, step.ID)
		if step.Status != beads.StatusClosed && !slices.Contains(with, step.ID) {
			open = append(open, step)
		}
	}
	if len(open) == 0 {
		lost, err := UnreadableSteps(ctx, s, parents...)
		if err == nil && len(lost) > 0 {
			err = Errorf(Conflict, "%s cannot be closed yet, because its step %s cannot be read "+
				"(%s); `gcity bead close %s --force` closes it anyway", b.ID, lost[0].ID,
				lost[0].Reason, b.ID)
		}
		return err
	}
	var names []string
	for i, s := range open {
		if i == namedSteps {
			names = append(names, fmt.Sprintf("and %d more", len(open)-i))
			break
		}
		names = append(names, s.ID+" "+s.Title)
	}
	return Errorf(Conflict, "%s cannot be closed yet: %s open (%s); "+
		"`gcity bead close %s --steps` also closes these steps, and --force leaves them open",
		b.ID, StepsOpen(len(open)), strings.Join(names, ", "), b.ID)
}

// StepsOpen returns the start of a sentence about n open steps.
func StepsOpen(n int) string {
	if n == 1 {
		return "1 step is"
	}
	return fmt.Sprintf("%d steps are", n)
}

// Allowed returns an error if the change would close a molecule that has open steps, unless Force is set. A missing
// bead is not an error.
func (c UpdateBead) Allowed(ctx context.Context, s interface {
	Get(ctx context.Context, id string) (beads.Bead, error)
	List(ctx context.Context, q beads.Query) ([]beads.Bead, error)
}) error {
	if c.Force || c.Patch.Status == nil || *c.Patch.Status != beads.StatusClosed {
		return nil
	}
	b, err := s.Get(ctx, c.ID)
	if errors.Is(err, beads.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return Closable(ctx, s, b)
}
