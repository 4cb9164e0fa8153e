package controller

import "gcity/config"

// allowed returns an *unvetted error if the programs of a configuration may not run.
func (r *runner) allowed(c *config.City) error {
	if r.c.o.Vet == nil {
		return nil
	}
	if err := r.c.o.Vet(c); err != nil {
		return &unvetted{err}
	}
	return nil
}

// unvetted is the error of a configuration that may come into force without a change of its files: as soon as the
// user trusts it.
type unvetted struct{ error }

func (u *unvetted) Unwrap() error { return u.error }
