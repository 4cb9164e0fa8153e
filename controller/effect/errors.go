package effect

import (
	"errors"

	"gcity/beads"
	"gcity/session"
)

// CanceledError is the error for a run that a user canceled.
type CanceledError struct{ By string }

func (h *CanceledError) Error() string { return "ended by " + h.By }

func IsCanceled(err error) bool {
	_, ok := errors.AsType[*CanceledError](err)
	return ok
}

// Abandoned is the error text of a run that was still active when its controller exited.
const Abandoned = "the controller exited during the run"

// FailedProviders returns the providers that failed to list their sessions, with their errors. The second result is
// false if err is not a session.PartialError.
func FailedProviders(err error) (unknown map[string]error, partly bool) {
	if p, ok := errors.AsType[*session.PartialError](err); ok {
		return p.Unknown, true
	}
	return nil, false
}

func IsLate(err error) bool {
	_, late := errors.AsType[*session.LateError](err)
	return late
}

// Untrusted is the error for a configuration that the user does not trust yet.
type Untrusted interface {
	error
	Command() string // the command with which the user can trust it
}

// Unclosable reports whether err is a problem with a single record rather than with its store.
func Unclosable(err error) bool {
	var invalid *beads.Invalid
	return errors.As(err, &invalid) || errors.Is(err, beads.ErrUnreadable) ||
		errors.Is(err, beads.ErrConflict)
}
