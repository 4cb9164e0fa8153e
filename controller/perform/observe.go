package perform

import (
	"context"
	"errors"
	"maps"
	"time"

	"gcity/controller/effect"
	"gcity/session"
)

// Now executes an effect that reads, runs a check or changes a bead. It returns nil for any other effect.
func (r *Runner) Now(ctx context.Context, f effect.Effect) effect.Input {
	switch f := f.(type) {
	case effect.List:
		return r.Sessions.listNow(ctx, f)
	case effect.CountWork:
		ctx, cancel := context.WithTimeout(ctx, nowLimit)
		defer cancel()
		return r.work.count(ctx, f)
	case effect.ChangeBead:
		return r.work.bead(ctx, f)
	case effect.CheckCondition:
		return r.automations.checkCondition(ctx, f)
	case effect.Measure:
		return r.Sessions.measure(ctx)
	}
	return nil
}

const nowLimit = 3 * time.Second

// listNow reports a slow provider as failed.
func (sr *sessions) listNow(ctx context.Context, f effect.List) effect.Input {
	in := effect.Listed{Step: f.Step}
	in.Sessions, in.Err = sr.w.Provider.List(ctx)
	if unknown, partly := effect.FailedProviders(in.Err); partly {
		unknown = maps.Clone(unknown)
		for name, err := range unknown {
			unknown[name] = errors.New(err.Error())
		}
		in.Err = &session.PartialError{Unknown: unknown}
	}
	return in
}
