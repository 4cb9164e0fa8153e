package controller

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/controller/machine"
	"gcity/controller/memory"
	"gcity/controller/perform"
	"gcity/internal/shutdown"
	"gcity/session"
)

// Observe returns the state of a city that has no controller. It uses the machine and the effects of a controller,
// but executes only effects that read. The caller need not hold the city's lock. Observe uses only the options Dir,
// Provider, Host and Stores.
func Observe(ctx context.Context, o Options, c *config.City, now time.Time,
	about machine.Observation) (*city.Snapshot, error) {
	_, measures := o.Provider.(session.Meter)
	conf := (&Controller{o: o}).translate(c)
	past := machine.InitialState{Measures: measures, Observes: &about}
	if all, err := memory.ReadHistories(o.Dir); err == nil {
		past.Histories = all.WithoutCrashes()
	}
	m := machine.New(past)
	runner := NewRunner(o, c, func() *city.Snapshot { return withStores(m.Snapshot(now)) })
	defer runner.Cancel()
	for _, next := range []effect.Input{
		effect.Loaded{Revision: c.Revision, Conf: conf}, effect.Tick{}, effect.SnapshotsWatched{},
	} {
		for waiting := []effect.Input{next}; len(waiting) > 0; waiting = waiting[1:] {
			if in, ok := waiting[0].(effect.Listed); ok {
				if _, partly := effect.FailedProviders(in.Err); in.Err != nil && !partly {
					return nil, in.Err
				}
			}
			for _, f := range m.Step(now, waiting[0]) {
				if in := runner.Now(ctx, f); in != nil {
					waiting = append(waiting, in)
				}
			}
		}
	}
	s := m.Snapshot(now)
	s.Path = o.Dir
	return s, nil
}

// NewRunner returns a runner that executes effects for a city that has no controller. snapshot returns the state of
// the city. The caller must call Cancel.
func NewRunner(o Options, c *config.City, snapshot func() *city.Snapshot) *perform.Runner {
	return perform.New(perform.World{Dir: o.Dir, Provider: o.Provider, Host: o.Host,
		Stores: o.Stores, Logger: slog.New(slog.DiscardHandler),
		ShutdownDeadline: shutdown.New(ShutdownLimit),
		// receives reports about stores; nothing reads them
		Inbox:    make(chan effect.Input, 256),
		InForce:  func() *effect.Configuration { return &effect.Configuration{Source: c} },
		Snapshot: snapshot})
}

// withStores removes the rigs that have no store, because their folder cannot be used.
func withStores(s *city.Snapshot) *city.Snapshot {
	s.Rigs = slices.DeleteFunc(s.Rigs, func(r city.Rig) bool { return r.Problem != "" })
	return s
}
