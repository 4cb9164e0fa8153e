package workstore

import (
	"context"
	"errors"
	"strings"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/folder"
	"gcity/trust"
)

// inForce also returns a grant if other programs wait for the user's trust, but the controller uses the same store.
func inForce(p Place) trust.Grant {
	g := folder.Trusted(p.City, nil)
	if g.Err() == nil {
		return g
	}
	line, _ := strings.CutPrefix(p.By.Provider, "exec:")
	r, refused := errors.AsType[*trust.Refusal](g.Err())
	if refused && r.OfLine(line) != nil {
		return g
	}
	ctx, cancel := context.WithTimeout(context.Background(), folder.ReadTimeout)
	defer cancel()
	if s, err := folder.AskController(ctx, p.City); err == nil && s.Store == p.By {
		return trust.Running(nil)
	}
	return g
}

// untrustedStore replaces a store if the store's program is not allowed to run. All methods except Close fail.
type untrustedStore struct{ why error }

var _ Store = untrustedStore{}

func (s untrustedStore) Get(context.Context, string) (beads.Bead, error) {
	return beads.Bead{}, s.why
}

func (s untrustedStore) List(context.Context, beads.Query) ([]beads.Bead, error) {
	return nil, s.why
}

func (s untrustedStore) Create(context.Context, beads.Bead) (beads.Bead, error) {
	return beads.Bead{}, s.why
}

func (s untrustedStore) CreateAll(context.Context, []beads.Bead) ([]beads.Bead, error) {
	return nil, s.why
}

func (s untrustedStore) Update(context.Context, string, beads.Patch) (beads.Bead, error) {
	return beads.Bead{}, s.why
}

func (s untrustedStore) Close() error { return nil }

// OpenTrusted is like OpenStore, but if the store's program is not allowed to run, it returns a store that rejects all
// operations.
func OpenTrusted(p Place) (Store, error) {
	s, err := OpenStore(p)
	if _, untrusted := errors.AsType[*trust.Refusal](err); untrusted {
		return untrustedStore{
			city.Errorf(city.Unavailable, "%v", Unopened(err))}, nil
	}
	return s, err
}

// Unopened shortens the error for a program that is not allowed to run. It returns other errors unchanged.
func Unopened(err error) error {
	if r, untrusted := errors.AsType[*trust.Refusal](err); untrusted {
		return errors.New("its program will not run until you run `" + r.Command() + "`")
	}
	return err
}
