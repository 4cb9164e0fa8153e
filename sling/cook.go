package sling

import (
	"cmp"
	"context"
	"maps"

	"gcity/beads"
	"gcity/city"
	"gcity/formula"
)

func (s *Slinger) cook(name, rig string, vars func(*formula.Formula) map[string]string) (
	formula.Molecule, error) {
	f, err := s.FindFormula(name, rig)
	if err != nil {
		return formula.Molecule{}, city.Errorf(city.Invalid, "%v", err)
	}
	m, err := formula.Cook(f, vars(f))
	if err != nil {
		return m, city.Errorf(city.Invalid, "%v", err)
	}
	return m, nil
}

func given(vars map[string]string) func(*formula.Formula) map[string]string {
	return func(*formula.Formula) map[string]string { return vars }
}

func valuesFor(b beads.Bead, req city.SlingRequest) func(*formula.Formula) map[string]string {
	return func(f *formula.Formula) map[string]string {
		vars := map[string]string{}
		for _, v := range f.Vars {
			if v.Name == "bead" || v.Name == "issue" {
				vars[v.Name] = b.ID
			}
			if v.Name == "title" {
				vars[v.Name] = b.Title
			}
		}
		maps.Copy(vars, req.Vars)
		return vars
	}
}

type moleculeOrder struct {
	name, rig string
	vars      func(*formula.Formula) map[string]string
	shape     func(*beads.Bead)
}

func (s *Slinger) molecule(ctx context.Context, store beads.Store,
	o moleculeOrder) (beads.Bead, error) {
	m, err := s.cook(o.name, o.rig, o.vars)
	if err != nil {
		return beads.Bead{}, err
	}
	batch, ok := store.(beads.Batcher)
	if !ok {
		return beads.Bead{}, city.Errorf(city.Unavailable, "formulas cannot be cooked, because "+
			"this store cannot create several beads in one transaction")
	}
	all := Molecule(m, []string{city.WispLabel})
	o.shape(&all[0])
	whole, err := batch.CreateAll(ctx, all)
	if err != nil {
		return beads.Bead{}, err
	}
	return whole[0], nil
}

func (s *Slinger) attach(ctx context.Context, of locatedBead, name string, j job) (
	root string, err error) {
	b, req := of.bead, j.req
	shape := func(root *beads.Bead) {
		root.ParentID = b.ID
		// without req.Bead, the title and the description belong to the bead that this request has created
		if req.Bead != "" {
			root.Title = cmp.Or(req.Title, root.Title)
			root.Description = cmp.Or(req.Description, root.Description)
		}
	}
	whole, err := s.molecule(ctx, of.store, moleculeOrder{name, j.to.rig, valuesFor(b, req), shape})
	if err != nil {
		return "", err
	}
	j.out.created = append(j.out.created, createdBeads{whole, b, of.store, of.rig})
	j.out.Events = append(j.out.Events, city.BeadEvent(nil, city.Located{Bead: whole, Rig: of.rig},
		req.By, req.Depth))
	return whole.ID, nil
}

// Molecule converts a cooked formula to beads for a Batcher. Only the root has the labels, because a single agent does
// all steps.
func Molecule(m formula.Molecule, labels []string) []beads.Bead {
	const root = "$root"
	step := func(ref string) string { return "$step." + ref }
	out := []beads.Bead{{
		ID: root, Type: beads.TypeMolecule, Ref: m.Root.Ref, Title: m.Root.Title,
		Description: m.Root.Description, Labels: labels,
	}}
	for _, s := range m.Steps {
		b := beads.Bead{ID: step(s.Ref), ParentID: root, Ref: s.Ref, Title: s.Title,
			Description: s.Description}
		for _, need := range s.Needs {
			b.Needs = append(b.Needs, step(need))
		}
		out = append(out, b)
	}
	return out
}
