package session

import (
	"errors"
	"strconv"
	"strings"
)

// Errors that callers distinguish. Providers wrap them in an error that names the session and the cause.
var (
	ErrNotFound    = errors.New("no such session")
	ErrExists      = errors.New("a session with this name is alive")
	ErrRejected    = errors.New("refused")
	ErrUnsupported = errors.New("the session provider does not support that")
	ErrBusy        = errors.New("another user is typing")
	// ErrCommand is the error from a start that failed because of the agent's settings: its command, its folder or file
	// permissions.
	ErrCommand = errors.New("cannot be started")
	// ErrMissing is the error from a start that needs a program that is not installed. No process of the session has
	// run.
	ErrMissing = errors.New("not found")
	// ErrExhausted is the error from a start without enough resources, such as disk space or processes. No process of
	// the session has run.
	ErrExhausted = errors.New("out of resources")
	// ErrLeave is the cancellation cause of a launch if the controller is exiting. The next controller completes the
	// launch.
	ErrLeave = errors.New("the controller is exiting")
)

// Missing converts an error to an ErrMissing with the same text.
func Missing(err error) error { return &kindError{err, ErrMissing} }

// Exhausted converts an error to an ErrExhausted with the same text.
func Exhausted(err error) error { return &kindError{err, ErrExhausted} }

// kindError is an error that is also of a kind, which its text does not contain.
type kindError struct {
	error
	kind error
}

func (e *kindError) Unwrap() []error { return []error{e.error, e.kind} }

// ForAgent replaces the quoted name of a session in a provider's error by the agent's name.
func ForAgent(err error, name, agent string) error {
	if err == nil || name == "" || name == agent {
		return err
	}
	text := err.Error()
	known := strings.ReplaceAll(text, strconv.Quote(name), strconv.Quote(agent))
	if known == text {
		return err
	}
	return &agentError{error: err, text: known}
}

type agentError struct {
	error
	text string
}

func (a *agentError) Error() string { return a.text }

func (a *agentError) Unwrap() error { return a.error }
