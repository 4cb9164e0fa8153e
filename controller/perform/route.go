package perform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gcity/beads"
	"gcity/beads/guard"
	"gcity/city"
	"gcity/config"
)

// Stores opens the stores of a city: its own, and one for each rig. It is safe for concurrent use.
type Stores struct {
	open func(rig string) (beads.Store, error) // nil = the city has no stores
	// checkFolder returns an error while the city's folder is not at its path
	checkFolder func() error
	snapshot    func() *city.Snapshot
	guards      *guard.Guards
}

// Route returns the scopes in the order in which they are searched for a bead. The rig with the prefix of the ID
// comes first. All other scopes follow, because prefixes may have changed.
func (s *Stores) Route(id string) []string {
	scopes, prefix := s.scopes(), city.BeadPrefix(id)
	for _, rig := range s.snapshot().Rigs {
		if i := slices.Index(scopes, rig.Name); rig.Prefix == prefix && i > 0 {
			return append([]string{rig.Name}, slices.Delete(scopes, i, i+1)...)
		}
	}
	return scopes
}

// noBead returns the error for a bead that does not exist. If no scope has the ID's prefix, it lists the known
// prefixes.
func (s *Stores) noBead(id string) error {
	now := s.snapshot()
	own := config.City{Workspace: config.Workspace{Name: now.Name}}
	all := []city.Prefix{{Prefix: own.Prefix()}}
	for _, rig := range now.Rigs {
		all = append(all, city.Prefix{Rig: rig.Name, Prefix: rig.Prefix})
	}
	err := beads.NotFound(id)
	if slices.ContainsFunc(all, func(p city.Prefix) bool {
		return p.Prefix == city.BeadPrefix(id)
	}) {
		return err
	}
	return fmt.Errorf("%w; %s", err, city.PrefixText(all))
}

// elsewhere extends the error for a rejected link if the linked bead is in a different store of the city.
func (s *Stores) elsewhere(ctx context.Context, scope string, err error, links ...string) error {
	invalid, ok := errors.AsType[*beads.Invalid](err)
	if !ok {
		return err
	}
	for _, id := range links {
		if id == "" || !strings.Contains(invalid.Field, fmt.Sprintf("%q", id)) {
			continue
		}
		for _, other := range s.Route(id) {
			if other == scope {
				continue
			}
			store, openErr := s.Store(other)
			if openErr != nil {
				continue
			}
			if _, getErr := store.Get(ctx, id); getErr == nil {
				return fmt.Errorf("%w in the store of %s: %s is work of %s, and links stay "+
					"within one store", err, beads.ScopeTitle(scope), id, beads.ScopeTitle(other))
			}
		}
	}
	return err
}

// linksOf returns the IDs of the beads that a change links to.
func linksOf(p beads.Patch) []string {
	var out []string
	if p.Needs != nil {
		out = append(out, *p.Needs...)
	}
	if p.ParentID != nil {
		out = append(out, *p.ParentID)
	}
	return out
}
