package controller

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/controller/machine"
	"gcity/controller/memory"
	"gcity/controller/perform"
	"gcity/internal/shutdown"
	"gcity/session"
)

// Past is the state from which Observe starts.
type Past struct {
	machine.InitialState
	// Execute executes effects that read automations or run their checks. It returns nil for any other effect.
	Execute func(context.Context, effect.Effect) effect.Input
}

// Observe returns the state of a city that has no controller. It executes only effects that read data or run checks.
// The caller need not hold the city's lock. Observe uses only the options Dir, Provider, Host and Stores.
func Observe(ctx context.Context, o Options, c *config.City, now time.Time,
	past Past) (*city.Snapshot, error) {
	_, measures := o.Provider.(session.Meter)
	conf := (&Controller{o: o}).translate(c)
	past.Measures = measures
	if all, err := memory.ReadHistories(o.Dir); err == nil {
		past.Histories = all.WithoutCrashes()
	}
	m := machine.New(past.InitialState)
	runner := NewRunner(o, c, func() *city.Snapshot { return withStores(m.Snapshot(now)) })
	defer runner.Cancel()
	var unlisted error
	settle(m, now, func(f effect.Effect) effect.Input {
		in := past.Execute(ctx, f)
		if _, check := f.(effect.CheckCondition); in != nil || check {
			return in // if Execute skipped a check, Now must not run it either
		}
		in = runner.Now(ctx, f)
		if l, ok := in.(effect.Listed); ok && l.Err != nil {
			if _, partly := effect.FailedProviders(l.Err); !partly {
				unlisted = l.Err
			}
		}
		return in
	}, effect.Loaded{Revision: c.Revision, Conf: conf}, effect.Tick{}, effect.SnapshotsWatched{})
	if unlisted != nil {
		return nil, unlisted
	}
	s := m.Snapshot(now)
	s.Path = o.Dir
	return s, nil
}

// Forecast returns the state of a city after a controller has applied this configuration. execute returns the simulated
// result of an effect, or nil.
func Forecast(now time.Time, conf *effect.Configuration, past effect.Histories,
	execute func(effect.Effect) effect.Input) *city.Snapshot {
	m := machine.New(machine.InitialState{Histories: past})
	settle(m, now, execute, effect.Loaded{Revision: conf.Revision, Conf: conf}, effect.Tick{})
	return m.Snapshot(now)
}

func settle(m *machine.Machine, now time.Time, execute func(effect.Effect) effect.Input,
	all ...effect.Input) {
	for _, in := range all {
		for waiting := []effect.Input{in}; len(waiting) > 0; waiting = waiting[1:] {
			waiting = append(waiting, executed(m.Step(now, waiting[0]), execute)...)
		}
	}
}

const checksAtOnce = 8

// executed runs checks concurrently, because each can take as long as its timeout.
func executed(all []effect.Effect, one func(effect.Effect) effect.Input) []effect.Input {
	inputs := make([]effect.Input, len(all))
	var checks errgroup.Group
	checks.SetLimit(checksAtOnce)
	for i, f := range all {
		if _, slow := f.(effect.CheckCondition); !slow {
			inputs[i] = one(f)
			continue
		}
		checks.Go(func() error {
			inputs[i] = one(f)
			return nil
		})
	}
	_ = checks.Wait() // a check's error is part of its result
	return slices.DeleteFunc(inputs, func(in effect.Input) bool { return in == nil })
}

// NewRunner returns a runner that executes effects for a city that has no controller. snapshot returns the state of the
// city. The caller must call Cancel.
func NewRunner(o Options, c *config.City, snapshot func() *city.Snapshot) *perform.Runner {
	return perform.New(perform.World{
		Options: Options{Dir: o.Dir, Provider: o.Provider, Host: o.Host, Stores: o.Stores,
			Logger:           slog.New(slog.DiscardHandler),
			ShutdownDeadline: shutdown.New(ShutdownLimit)},
		// nothing reads the reports that stores send here
		Inbox:    make(chan effect.Input, 256),
		InForce:  func() *effect.Configuration { return &effect.Configuration{Source: c} },
		Snapshot: snapshot})
}

func withStores(s *city.Snapshot) *city.Snapshot {
	s.Rigs = slices.DeleteFunc(s.Rigs, func(r city.Rig) bool { return r.Problem != "" })
	return s
}
