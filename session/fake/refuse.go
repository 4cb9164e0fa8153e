package fake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gcity/session"
)

// Refuser rejects every start with the reason Why.
type Refuser struct{ Why string }

var (
	_ session.Provider = Refuser{}
	_ session.Limiter  = Refuser{}
)

// Start implements session.Provider.
func (r Refuser) Start(_ context.Context, s session.Spec) (session.Status, error) {
	return session.Status{}, fmt.Errorf("cannot start %q: %w", s.Name, errors.New(r.Why))
}

// Interrupt implements session.Provider.
func (Refuser) Interrupt(_ context.Context, name string) error { return notFound(name) }

// Stop implements session.Provider.
func (Refuser) Stop(context.Context, string, time.Duration) error { return nil }

// List implements session.Provider.
func (Refuser) List(context.Context) ([]session.Status, error) { return nil, nil }

// Send implements session.Provider.
func (Refuser) Send(_ context.Context, name, _ string) error { return notFound(name) }

// Output implements session.Provider.
func (Refuser) Output(_ context.Context, name string, _ int) (string, error) {
	return "", notFound(name)
}

// Limits implements session.Limiter.
func (r Refuser) Limits() session.Limits {
	return session.Limits{Lacks: []session.Ability{session.RunningPrograms}, Why: r.Why}
}

func notFound(name string) error { return fmt.Errorf("session %s: %w", name, session.ErrNotFound) }

// Limits implements session.Limiter.
func (*Provider) Limits() session.Limits {
	return session.Limits{Lacks: []session.Ability{session.RunningPrograms},
		Why: "the provider simulates all sessions, for testing"}
}

// Check implements session.Checker.
func (r Refuser) Check(context.Context) error { return errors.New(r.Why) }
