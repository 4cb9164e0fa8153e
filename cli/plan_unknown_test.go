package cli

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"gcity/cli/sessions"
	"gcity/session"
)

// unhurried is a combined provider with checks that take the given time.
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

// plan and doctor give a provider's check as much time as the controller does.
func TestVettingHasTheTimeOfAController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := sessions.VetProvider(t.Context(), unhurried{takes: session.CheckLimit - time.Second}, "slow", nil); err != nil {
			t.Error(err)
		}
		if err := sessions.VetProvider(t.Context(), unhurried{takes: session.CheckLimit + time.Second}, "slow", nil); err == nil {
			t.Error("a provider that does not respond in time was accepted")
		}
	})
}
