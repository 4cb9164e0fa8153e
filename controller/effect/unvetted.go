package effect

import (
	"errors"

	"gcity/beads"
)

// Unvetted is the error of a configuration that may come into force without a change of its files: as soon as the
// user trusts it.
type Unvetted struct{ Err error }

func (u *Unvetted) Error() string { return u.Err.Error() }

func (u *Unvetted) Unwrap() error { return u.Err }

// Unclosable tells the fault of one record, which is not the store's.
func Unclosable(err error) bool {
	var invalid *beads.Invalid
	return errors.As(err, &invalid) || errors.Is(err, beads.ErrAside) ||
		errors.Is(err, beads.ErrConflict)
}
