package protocol

import (
	"context"
	"errors"
	"net/http"

	"gcity/session"
)

// Error is a failed call as it crosses the socket. Its kind is what a caller decides on.
type Error struct {
	Kind    string  `json:"kind"` // a word of kinds, or "failed"
	Message string  `json:"message"`
	Ability Ability `json:"ability,omitempty"` // of kind "unsupported": what is lacking
}

func (e *Error) Error() string { return e.Message }

// kind is a word for an error that callers decide on.
type kind struct {
	word   string
	err    error
	status int
}

// kinds are the words of the protocol, the most specific ones first.
func kinds() []kind {
	return []kind{
		{"not_found", session.ErrNotFound, http.StatusNotFound},
		{"exists", session.ErrExists, http.StatusConflict},
		{"busy", session.ErrBusy, http.StatusConflict},
		{"refused", session.ErrRefused, http.StatusUnprocessableEntity},
		{"unsupported", session.ErrUnsupported, http.StatusNotImplemented},
		{"command", session.ErrCommand, http.StatusUnprocessableEntity},
		{"missing", session.ErrMissing, http.StatusFailedDependency},
		{"timeout", context.DeadlineExceeded, http.StatusGatewayTimeout},
	}
}

// Is lets errors.Is find the error of package session that the kind stands for.
func (e *Error) Is(target error) bool {
	for _, k := range kinds() {
		if k.word == e.Kind {
			return target == k.err
		}
	}
	return false
}

// wireError describes an error for the socket, with the HTTP status that goes with it.
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
