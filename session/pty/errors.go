package pty

import (
	"encoding/json"
	"fmt"

	"gcity/session"
	"gcity/session/pty/internal/wire"
)

type failure struct {
	text string
	kind error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.kind }

func fail(verb, name string, kind error, format string, args ...any) error {
	return &failure{fmt.Sprintf("cannot %s %q: ", verb, name) + fmt.Sprintf(format, args...), kind}
}

func refusal(verb, name string, data []byte) error {
	var f wire.Failure
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("cannot %s %q: its holder sent an invalid response: %w", verb,
			name, err)
	}
	return fail(verb, name, kindOf(f.Cause), "%s", f.Message)
}

func kindOf(c wire.Cause) error {
	switch c {
	case wire.NotAlive:
		return session.ErrNotFound
	case wire.Exists:
		return session.ErrExists
	case wire.Rejected:
		return session.ErrRejected
	case wire.Command:
		return session.ErrCommand
	case wire.Busy:
		return session.ErrBusy
	case wire.Held:
		return errHeld
	case wire.Exhausted:
		return session.ErrExhausted
	}
	return errOther
}

func missing(verb, name string) error {
	return fail(verb, name, session.ErrNotFound, "no session with this name is alive")
}
