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
	"gcity/controller/perform"
	"gcity/internal/shutdown"
	"gcity/session"
)

// Observe returns the state of a city that has no controller. It uses the machine and the effects of a controller,
// but performs only effects that read. The caller needs no lock. Of the options, Observe uses Dir, Provider, Host
// and Stores.
func Observe(ctx context.Context, o Options, c *config.City, now time.Time,
	about machine.Observation) (*city.Snapshot, error) {
	_, measures := o.Provider.(session.Meter)
	conf := (&Controller{o: o}).translate(c)
	m := machine.New(machine.InitialState{Measures: measures, Observes: &about})
	runner := perform.New(perform.World{Dir: o.Dir, Provider: o.Provider, Stores: o.Stores,
		Logger: slog.New(slog.DiscardHandler), Last: shutdown.New(ShutdownLimit),
		Inbox:    make(chan effect.Input, 256), // receives reports about stores; nothing reads them
		Snapshot: func() *city.Snapshot { return withStores(m.Snapshot(now)) }})
	defer runner.Cancel()
	for _, next := range []effect.Input{
		effect.Loaded{Revision: c.Revision, Conf: conf}, effect.Tick{}, effect.SnapshotsWatched{},
	} {
		for waiting := []effect.Input{next}; len(waiting) > 0; waiting = waiting[1:] {
			if in, ok := waiting[0].(effect.Listed); ok {
				if _, partly := effect.Unanswered(in.Err); in.Err != nil && !partly {
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

// withStores removes the rigs that have no store, because their folder cannot be used.
func withStores(s *city.Snapshot) *city.Snapshot {
	s.Rigs = slices.DeleteFunc(s.Rigs, func(r city.Rig) bool { return r.Problem != "" })
	return s
}
