package protocol

import (
	"context"
	"errors"
	"net/http"

	"gcity/session"
)

// Error is the error from a failed call.
type Error struct {
	Kind    string  `json:"kind"` // one of the words in kinds, or "failed"
	Message string  `json:"message"`
	Ability Ability `json:"ability,omitempty"` // the missing ability if the kind is "unsupported"
}

func (e *Error) Error() string { return e.Message }

type kind struct {
	word   string
	err    error
	status int
}

// kinds returns the kinds of errors, most specific first.
func kinds() []kind {
	return []kind{
		{"not_found", session.ErrNotFound, http.StatusNotFound},
		{"exists", session.ErrExists, http.StatusConflict},
		{"busy", session.ErrBusy, http.StatusConflict},
		{"refused", session.ErrRejected, http.StatusUnprocessableEntity},
		{"unsupported", session.ErrUnsupported, http.StatusNotImplemented},
		{"command", session.ErrCommand, http.StatusUnprocessableEntity},
		{"missing", session.ErrMissing, http.StatusFailedDependency},
		{"exhausted", session.ErrExhausted, http.StatusInsufficientStorage},
		{"timeout", context.DeadlineExceeded, http.StatusGatewayTimeout},
	}
}

// Is reports whether target is the error of package session that corresponds to the kind.
func (e *Error) Is(target error) bool {
	for _, k := range kinds() {
		if k.word == e.Kind {
			return target == k.err
		}
	}
	return false
}

func wireError(err error) (*Error, int) {
	var own *Error
	if errors.As(err, &own) {
		err = own
	}
	out := &Error{Kind: "failed", Message: err.Error()}
	status := http.StatusInternalServerError
	for _, k := range kinds() {
		if errors.Is(err, k.err) {
			out.Kind, status = k.word, k.status
			break
		}
	}
	if lack, ok := errors.AsType[*session.LackError](err); ok {
		out.Ability = abilities()[lack.Ability]
	}
	return out, status
}
