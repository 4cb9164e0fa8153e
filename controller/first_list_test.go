package controller

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"gcity/agent"
	"gcity/config"
	"gcity/events"
	"gcity/session"
	"gcity/session/fake"
)

// deliberate is a provider whose List blocks until the test sends a result.
type deliberate struct {
	*fake.Provider
	let chan error
}

func (p deliberate) List(ctx context.Context) ([]session.Status, error) {
	select {
	case err := <-p.let:
		if err != nil {
			return nil, err
		}
		return p.Provider.List(ctx)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Looked is closed only after the first answer to a list of sessions. Therefore clients of the socket never see a
// running agent as absent.
func TestLooked(t *testing.T) {
	for name, answer := range map[string]error{"who runs is known": nil,
		"the look fails": errors.New("broken")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTown(t, two)
				p := deliberate{w.fake, make(chan error)}
				cfg, err := config.Load(w.dir)
				if err != nil {
					t.Fatal(err)
				}
				log, err := events.Open(t.TempDir(), events.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer log.Close()
				c, err := New(Options{Dir: w.dir, Provider: p, Log: log,
					Host: agent.Host{Environ: []string{"PATH=/bin"}, BinDir: "/gc/bin"}}, cfg)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- c.Run(ctx) }()
				synctest.Wait()
				select {
				case <-c.FirstList():
					t.Error("no list was requested")
				default:
				}
				p.let <- answer
				synctest.Wait()
				select {
				case <-c.FirstList():
				default:
					t.Error("a list was requested")
				}
				close(p.let)
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
