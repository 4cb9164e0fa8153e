package host

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"gcity/api"
	"gcity/api/socket"
	"gcity/city"
	"gcity/internal/recovery"
)

const retryInterval = 2 * time.Second

type tenantSockets struct {
	wants  chan map[string]api.Tenant
	cities city.Directory
	o      api.Options
	open   map[string]tenantSocket
	failed map[string]string // the last logged error, by tenant
}

type tenantSocket struct {
	of  api.Tenant
	end func() // closes the socket and waits for its requests to finish
}

func (s *tenantSockets) keep(ctx context.Context) {
	s.open, s.failed = map[string]tenantSocket{}, map[string]string{}
	defer func() {
		for _, one := range s.open {
			one.end()
		}
	}()
	var want map[string]api.Tenant
	again := time.NewTicker(retryInterval)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case want = <-s.wants:
		case <-again.C:
		}
		for name, one := range s.open {
			if t, still := want[name]; !still || !t.Same(one.of) {
				one.end()
				delete(s.open, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if _, is := s.open[name]; !is && want[name].Socket != "" {
				s.start(ctx, name, want[name])
			}
		}
	}
}

func (s *tenantSockets) start(ctx context.Context, name string, t api.Tenant) {
	log := s.o.Log.With(slog.String("tenant", name), slog.String("socket", t.Socket))
	l, err := socket.Listen(t.Socket)
	if err != nil {
		if s.failed[name] != err.Error() {
			log.Warn("cannot open a tenant's socket; the supervisor will retry", "err", err)
		}
		s.failed[name] = err.Error()
		return
	}
	delete(s.failed, name)
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() { // tenantSocket.end waits for this goroutine
		defer close(over)
		var renewals sync.WaitGroup
		renewals.Go(func() { keepBound(ctx, l, "a tenant's socket", log) })
		defer renewals.Wait()
		defer cancel()
		var served error
		fault := recovery.Catch(func() { served = api.ServeTenant(ctx, l, t, s.cities, s.o) })
		if err := errors.Join(fault, served); err != nil && ctx.Err() == nil {
			log.Error("a tenant's socket has failed", "err", err)
		}
	}()
	s.open[name] = tenantSocket{of: t, end: func() { cancel(); <-over }}
}
