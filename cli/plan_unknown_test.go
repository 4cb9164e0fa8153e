package cli

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"gcity/cli/sessions"
	"gcity/session"
)

// unhurried is a mixture of which each takes its time to say whether it could run anything.
type unhurried struct {
	session.Provider
	takes time.Duration
}

func (unhurried) LimitsOf(string) session.Limits { return session.Limits{} }

func (u unhurried) CheckOf(ctx context.Context, _ string) error {
	t := time.NewTimer(u.takes)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A plan and the doctor give a provider the time that a controller gives it: else they would say of one that is slow, and
// well, that nothing could be started by it.
func TestVettingHasTheTimeOfAController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := sessions.VetProvider(t.Context(), unhurried{takes: session.CheckLimit - time.Second}, "slow", nil); err != nil {
			t.Error(err)
		}
		if err := sessions.VetProvider(t.Context(), unhurried{takes: session.CheckLimit + time.Second}, "slow", nil); err == nil {
			t.Error("who does not respond in time could run something")
		}
	})
}
