package effect

import (
	"errors"

	"gcity/beads"
)

// Untrusted is the error for a configuration that the user does not trust yet. The user can trust it later without
// changing the files.
type Untrusted struct{ Err error }

func (u *Untrusted) Error() string { return u.Err.Error() }

func (u *Untrusted) Unwrap() error { return u.Err }

// Unclosable reports whether err is a problem with a single record rather than with its store.
func Unclosable(err error) bool {
	var invalid *beads.Invalid
	return errors.As(err, &invalid) || errors.Is(err, beads.ErrUnreadable) ||
		errors.Is(err, beads.ErrConflict)
}
