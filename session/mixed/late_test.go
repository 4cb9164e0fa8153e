package mixed_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gcity/session"
	"gcity/session/fake"
	"gcity/session/mixed"
)

type tardy struct {
	*fake.Provider
	looks int
}

func (s *tardy) Patience(name string) time.Duration {
	if name == "odd" {
		return time.Hour
	}
	return time.Minute
}

func (s *tardy) List(ctx context.Context) ([]session.Status, error) {
	s.looks++
	select {
	case <-time.After(20 * time.Second):
		return s.Provider.List(ctx)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// List does not wait longer for a slow provider than for others. session.Await waits for the result of the slow call.
func TestLateList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "pty")
		s := &tardy{Provider: fake.New()}
		h.kept["slow"] = s
		p := h.mix(t, false)
		start(t, p, "b", "")
		start(t, p, "a", "slow")
		start(t, p, "c", "slow")
		for range 2 {
			began := time.Now()
			all, err := p.List(t.Context())
			partial, ok := errors.AsType[*session.PartialError](err)
			// time.Since uses the fake clock of the synctest bubble
			if !ok || len(all) != 1 || time.Since(began) > 6*time.Second {
				t.Fatalf("got %+v, %v after %s", all, err, time.Since(began))
			}
			if _, late := errors.AsType[*session.LateError](partial.Unknown["slow"]); !late {
				t.Errorf("%v", err)
			}
		}
		all, err := p.List(t.Context())
		all, err = session.Await(t.Context(), all, err)
		if err != nil || len(all) != 3 || all[0].Name != "a" || all[0].Provider != "slow" || all[1].Name != "b" {
			t.Errorf("%+v, %v", all, err)
		}
		if s.looks != 1 {
			t.Errorf("%d List calls", s.looks)
		}
		if p.Patience("b") != 0 || p.Patience("a") != time.Minute || p.Patience("") != time.Minute || p.Patience("odd") != time.Hour {
			t.Errorf("got patience %s, %s, %s, %s",
				p.Patience("b"), p.Patience("a"), p.Patience(""), p.Patience("odd"))
		}
		all, err = p.List(t.Context()) // canceled when the provider is closed
		p.Close()
		if _, err := session.Await(t.Context(), all, err); err == nil {
			t.Error("a List call was not canceled by Close")
		}
	})
}

// A lookup of a session's provider waits for a slow List until the caller's deadline.
func TestLookupWaitsForSlowList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "pty")
		h.kept["slow"] = &tardy{Provider: fake.New()}
		start(t, h.mix(t, false), "a", "slow")
		p := h.mix(t, false)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := p.Send(ctx, "a", "x"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if err := p.Send(t.Context(), "a", "x"); err != nil {
			t.Error(err)
		}
	})
}

// While a provider is being opened, List does not wait longer for it than for a slow provider.
func TestSlowOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "pty", "slow")
		start(t, h.mix(t, false), "a", "slow")
		free := make(chan struct{})
		var block atomic.Bool
		p, err := mixed.New(mixed.Options{Dir: h.dir, DefaultProvider: "pty",
			Open: func(name string) (session.Provider, func(), error) {
				switch {
				case block.Load():
					<-free
				case name == "slow":
					return nil, nil, errors.New("not yet")
				}
				return h.kept[name], func() {}, nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		block.Store(true)
		began := time.Now()
		all, err := p.List(t.Context())
		partial, ok := errors.AsType[*session.PartialError](err)
		// time.Since uses the fake clock of the synctest bubble
		if !ok || len(all) != 0 || time.Since(began) > 6*time.Second {
			t.Fatalf("got %+v, %v after %s", all, err, time.Since(began))
		}
		if _, late := errors.AsType[*session.LateError](partial.Unknown["slow"]); !late {
			t.Errorf("%v", err)
		}
		close(free)
		if all, err = session.Await(t.Context(), all, err); err != nil || len(all) != 1 || all[0].Provider != "slow" {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

// A late list returns the error of the call that it waits for. It does not open the provider again.
func TestSlowOpeningFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "pty", "slow")
		start(t, h.mix(t, false), "a", "slow")
		fail := make(chan struct{})
		opens := 0
		p, err := mixed.New(mixed.Options{Dir: h.dir, DefaultProvider: "pty",
			Open: func(name string) (session.Provider, func(), error) {
				if name == "pty" {
					return h.kept[name], func() {}, nil
				}
				if opens++; opens > 1 {
					<-fail
				}
				return nil, nil, errors.New("not yet")
			}})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		all, err := p.List(t.Context())
		close(fail)
		synctest.Wait()
		if _, err = session.Await(t.Context(), all, err); err == nil || !strings.Contains(err.Error(), "not yet") || opens != 2 {
			t.Errorf("got %v after %d calls of Open, want 2", err, opens)
		}
	})
}

// Close waits for a provider that is being opened, and closes it. The start that waits for it fails.
func TestCloseDuringOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "pty", "slow")
		free := make(chan struct{})
		closed := 0
		p, err := mixed.New(mixed.Options{Dir: h.dir, DefaultProvider: "pty",
			Open: func(name string) (session.Provider, func(), error) {
				if name == "pty" {
					return h.kept[name], func() {}, nil
				}
				<-free
				return h.kept[name], func() { closed++ }, nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		started := make(chan error, 1)
		go func() { _, err := p.Start(t.Context(), spec("a", "slow")); started <- err }()
		synctest.Wait()
		over := make(chan struct{})
		go func() { p.Close(); close(over) }()
		synctest.Wait()
		close(free)
		<-over
		if err := <-started; err == nil || closed != 1 {
			t.Errorf("start: got %v; the provider was closed %d times, want once", err, closed)
		}
	})
}

// The first start with a provider that opens slowly does not delay starts with other providers.
func TestSlowFirstStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "pty", "slow")
		free := make(chan struct{})
		p, err := mixed.New(mixed.Options{Dir: h.dir, DefaultProvider: "pty",
			Open: func(name string) (session.Provider, func(), error) {
				if name == "slow" {
					<-free
				}
				return h.kept[name], func() {}, nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		started := make(chan error, 1)
		go func() { _, err := p.Start(t.Context(), spec("a", "slow")); started <- err }()
		synctest.Wait()
		start(t, p, "b", "")
		if all, err := p.List(t.Context()); err != nil || len(all) != 1 {
			t.Errorf("%+v, %v", all, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Start(ctx, spec("c", "slow")); !errors.Is(err, session.ErrMissing) {
			t.Errorf("%v", err)
		}
		close(free)
		if err := <-started; err != nil {
			t.Error(err)
		}
	})
}

// A provider whose opening hangs blocks neither calls without a context, nor New, nor Close.
func TestHungOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "pty", "slow")
		start(t, h.mix(t, false), "a", "slow")
		free, closed := make(chan struct{}), 0
		p, err := mixed.New(mixed.Options{Dir: h.dir, DefaultProvider: "pty",
			Open: func(name string) (session.Provider, func(), error) {
				if name != "pty" {
					<-free
				}
				return h.kept[name], func() { closed++ }, nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.List(t.Context())
		partial, ok := errors.AsType[*session.PartialError](err)
		if !ok {
			t.Fatalf("list: got %v", err)
		}
		if _, late := errors.AsType[*session.LateError](partial.Unknown["slow"]); !late {
			t.Errorf("list: got %v", err)
		}
		if p.IsLocal("slow") || len(p.LimitsOf("slow").Lacks) > 0 {
			t.Error("the abilities of a provider that is being opened are known")
		}
		p.Close()
		before := closed
		close(free)
		synctest.Wait()
		if before != 1 || closed != 2 {
			t.Errorf("Close closed %d providers, and later %d", before, closed-before)
		}
	})
}

type hasty struct{ *fake.Provider }

func (hasty) Patience(string) time.Duration { return 0 }

func (h hasty) List(ctx context.Context) ([]session.Status, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return h.Provider.List(ctx)
}

func TestFastProviderIsNotLate(t *testing.T) {
	h := newHouse(t, "pty")
	h.kept["hasty"] = hasty{fake.New()}
	start(t, h.mix(t, false), "a", "hasty")
	if all, err := h.mix(t, false).List(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

var _ session.Patient = (*mixed.Provider)(nil)
