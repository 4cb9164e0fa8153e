package session

import "errors"

// Errors that callers decide on; providers wrap them with the session's name and the cause.
var (
	ErrNotFound    = errors.New("no such session")
	ErrExists      = errors.New("a session of this name is alive")
	ErrRefused     = errors.New("refused")
	ErrUnsupported = errors.New("this session provider cannot do that")
	// ErrCommand marks a start that failed for a reason of the agent's own: command, folder, permissions.
	ErrCommand = errors.New("cannot be started")
	// ErrLeave is the cause with which a controller cancels a launch that its successor will carry on: the session lives.
	ErrLeave = errors.New("the controller leaves")
)
