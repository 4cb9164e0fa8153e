package session

import "errors"

// Errors that callers decide on. Providers wrap them with the session's name and the cause.
var (
	ErrNotFound    = errors.New("no such session")
	ErrExists      = errors.New("a session of this name is alive")
	ErrRefused     = errors.New("refused")
	ErrUnsupported = errors.New("this session provider cannot do that")
	ErrBusy        = errors.New("another user is typing")
	// ErrCommand marks a start that failed because of the agent's settings: command, folder, permissions.
	ErrCommand = errors.New("cannot be started")
	// ErrMissing marks a start that was not tried because a program of the agent or of its provider is missing. No
	// process of it has run.
	ErrMissing = errors.New("not found")
	// ErrLeave is the cause with which a controller cancels a launch that its successor continues. The session
	// stays alive.
	ErrLeave = errors.New("the controller leaves")
)

// Missing converts an error to an ErrMissing with the same text.
func Missing(err error) error { return &absence{err} }

type absence struct{ error }

func (a *absence) Unwrap() error { return a.error }

func (a *absence) Is(target error) bool { return target == ErrMissing }
