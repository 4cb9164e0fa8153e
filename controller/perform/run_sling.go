package perform

import (
	"context"
	"fmt"

	"gcity/automation"
	"gcity/beads"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/formula"
	"gcity/sling"
)

// sling assigns work according to the configuration in force.
func (wr *workRunner) sling(ctx context.Context, req city.SlingRequest,
	in *effect.BeadChanged) error {
	conf := wr.w.InForce()
	if conf == nil || conf.Source == nil {
		return &city.Error{Code: city.Unavailable, Message: "work cannot be assigned yet, " +
			"because the configuration is still being read"}
	}
	source := conf.Source
	s := sling.Slinger{
		Config: source, City: wr.w.Snapshot(), Host: wr.w.Host, Scopes: wr.Stores.scopes(),
		Store: func(rig string) (beads.Store, error) { return wr.Stores.Store(rig) },
		FindFormula: func(name, rig string) (f *formula.Formula, err error) {
			d := automation.Definition{Formula: name, Rig: rig}
			if !wr.inBackground(ctx, "formula "+name, 0, func() func() {
				found, failed := wr.au.findFormula(source, d)
				return func() { f, err = found, failed }
			}) {
				return nil, fmt.Errorf("the formula's folder %w", errUnresponsive)
			}
			return f, err
		},
	}
	out, err := s.Sling(ctx, req)
	in.Bead, in.Events, in.Message = out.Bead, out.Events, out.Message
	return err
}
