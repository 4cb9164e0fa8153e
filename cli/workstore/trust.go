package workstore

import (
	"context"
	"errors"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/folder"
	"gcity/trust"
)

// inForce returns the grant for a store: that of the running controller if the controller uses the store, otherwise
// that of the user.
func inForce(p Place) trust.Grant {
	g := folder.Trusted(p.City, nil)
	if g.Err() == nil {
		return g
	}
	ctx, cancel := context.WithTimeout(context.Background(), folder.ReadTimeout)
	defer cancel()
	if s, err := folder.AskController(ctx, p.City); err == nil && s.Store == p.By {
		return trust.Running()
	}
	return g
}

// shutStore is a store with a program that may not run. All its operations fail.
type shutStore struct{ why error }

var _ Store = shutStore{}

func (s shutStore) Get(context.Context, string) (beads.Bead, error) { return beads.Bead{}, s.why }

func (s shutStore) List(context.Context, beads.Query) ([]beads.Bead, error) { return nil, s.why }

func (s shutStore) Create(context.Context, beads.Bead) (beads.Bead, error) {
	return beads.Bead{}, s.why
}

func (s shutStore) CreateAll(context.Context, []beads.Bead) ([]beads.Bead, error) {
	return nil, s.why
}

func (s shutStore) Update(context.Context, string, beads.Patch) (beads.Bead, error) {
	return beads.Bead{}, s.why
}

func (s shutStore) Close() error { return nil }

// OpenTrusted is OpenStore, except that for a program that may not run it returns a store with operations that
// fail.
func OpenTrusted(p Place) (Store, error) {
	s, err := OpenStore(p)
	if _, untrusted := errors.AsType[*trust.Refusal](err); untrusted {
		return shutStore{&city.Error{Code: city.Unavailable, Message: Unopened(err).Error()}}, nil
	}
	return s, err
}

// Unopened returns a short form of the error for a program that may not run, for the status of one provider.
func Unopened(err error) error {
	if r, untrusted := errors.AsType[*trust.Refusal](err); untrusted {
		return errors.New("the program that stores the work does not run " +
			"before you run `" + r.Command() + "`")
	}
	return err
}
