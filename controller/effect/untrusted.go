package effect

import (
	"errors"

	"gcity/beads"
)

// Untrusted is the error of a configuration that the user does not trust yet. The user can give trust without a
// change of the files.
type Untrusted struct{ Err error }

func (u *Untrusted) Error() string { return u.Err.Error() }

func (u *Untrusted) Unwrap() error { return u.Err }

// Unclosable reports whether err is a problem of a single record, and not of its store.
func Unclosable(err error) bool {
	var invalid *beads.Invalid
	return errors.As(err, &invalid) || errors.Is(err, beads.ErrUnreadable) ||
		errors.Is(err, beads.ErrConflict)
}
