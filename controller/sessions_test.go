package controller

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/config"
	"gcity/events"
	"gcity/session"
	"gcity/session/fake"
	"gcity/session/mixed"
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

// FirstList's channel is closed only after the first response to a list of sessions.
func TestLooked(t *testing.T) {
	for name, answer := range map[string]error{"the sessions are listed": nil,
		"the list fails": errors.New("broken")} {
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

// When a platform becomes unreachable or responds again, its agents change state without a patrol.
func TestLossNeedsNoPatrol(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		defer w.begin()()
		synctest.Wait()
		w.fake.Lose(errors.New("no route to host"))
		synctest.Wait() // no time passes
		if a, b := w.state("a"), w.state("b"); a != "unknown" || b != "unknown" {
			t.Errorf("a is %s, b is %s", a, b)
		}
		w.fake.Lose(nil)
		synctest.Wait()
		if a, b := w.state("a"), w.state("b"); a != "running" || b != "running" {
			t.Errorf("a is %s, b is %s", a, b)
		}
		w.expectOneStart()
	})
}

func (w *town) expectOneStart() {
	w.t.Helper()
	for _, name := range []string{"a", "b"} {
		if n := w.fake.Started(name); n != 1 {
			w.t.Errorf("%s was started %d times", name, n)
		}
	}
}

// tardy is a provider whose calls are slow but succeed.
type tardy struct {
	*fake.Provider
	takes time.Duration
	looks atomic.Int64 // duration of one List
}

func (s *tardy) Patience(string) time.Duration { return time.Minute }

func after(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// brisk makes List faster, because a stopping city waits only briefly for a list.
func (s *tardy) brisk() { s.looks.Store(int64(time.Second)) }

func (s *tardy) List(ctx context.Context) ([]session.Status, error) {
	if err := after(ctx, time.Duration(s.looks.Load())); err != nil {
		return nil, err
	}
	return s.Provider.List(ctx)
}

func (s *tardy) Send(ctx context.Context, name, text string) error {
	return errors.Join(after(ctx, s.takes), s.Provider.Send(ctx, name, text))
}

func (s *tardy) SetMeta(ctx context.Context, name, key, value string) error {
	return errors.Join(after(ctx, s.takes), s.Provider.SetMeta(ctx, name, key, value))
}

func (s *tardy) Stop(ctx context.Context, name string, grace time.Duration) error {
	if err := after(ctx, s.takes+grace); err != nil {
		return err
	}
	return s.Provider.Stop(ctx, name, grace)
}

const quickAndSlow = `
[[agents]]
name = "quick"
start_command = "run quick"
[[agents]]
name = "slow"
start_command = "run slow"
session = "tmux"
`

func newMixedTown(t *testing.T, toml string) (*town, *tardy) {
	w := newTown(t, toml)
	s := &tardy{Provider: fake.New(), takes: 25 * time.Second}
	s.looks.Store(int64(20 * time.Second))
	w.runBy(s)
	return w, s
}

func (w *town) runBy(other session.Provider) {
	w.t.Helper()
	p, err := mixed.New(mixed.Options{Dir: filepath.Join(w.dir, ".gc"), DefaultProvider: "pty",
		Open: func(name string) (session.Provider, func(), error) {
			if name == "tmux" {
				return other, func() {}, nil
			}
			return w.fake, func() {}, nil
		}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(p.Close)
	o := w.o
	o.Provider = p
	if w.Controller, err = New(o, w.first); err != nil {
		w.t.Fatal(err)
	}
}

// A slow provider gets the time that it requests. Agents of other providers are not delayed.
func TestASlowProviderHasItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newMixedTown(t, quickAndSlow)
		end := w.begin()
		synctest.Wait()
		if q, l := w.state("quick"), w.state("slow"); q != "running" || l != "running" {
			t.Fatalf("quick is %s, slow is %s", q, l)
		}
		time.Sleep(29 * time.Second) // just before a patrol
		began := time.Now()
		w.fake.Vanish("quick")
		s.Vanish("slow")
		for w.fake.Started("quick") < 2 || s.Started("slow") < 2 {
			if since := time.Since(began); since > 3*time.Minute {
				t.Fatalf("after %s: got %d starts of quick and %d of slow, want 2 each", since,
					w.fake.Started("quick"), s.Started("slow"))
			}
			time.Sleep(time.Second)
			synctest.Wait()
			snap, err := w.Snapshot(t.Context())
			if err != nil || len(snap.Degraded) > 0 {
				t.Fatalf("%q, %v", snap.Degraded, err)
			}
			if s.Started("slow") == 2 && w.fake.Started("quick") < 2 {
				t.Fatal("quick was not restarted before slow")
			}
		}
		if _, err := w.Do(t.Context(), city.Nudge{Agent: "slow", Text: "take your time"}); err !=
			nil {
			t.Error(err)
		}
		if text, err := s.Output(t.Context(), s.name(t), 0); err != nil ||
			text != "take your time" {
			t.Errorf("%q, %v", text, err)
		}
		s.brisk()
		end()
		all, err := s.Provider.List(t.Context())
		if err != nil || len(all) != 0 {
			t.Errorf("left behind: got %+v, %v", all, err)
		}
		// one event for the lost session, and one for the stop at the end
		if n := strings.Count(w.types(), events.AgentStopped+" slow"); n != 2 {
			t.Errorf("end events of slow: got %d, want 2:\n%s", n, w.types())
		}
	})
}

func (s *tardy) name(t *testing.T) string {
	t.Helper()
	all, err := s.Provider.List(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	return all[0].Name
}

// A provider that does not answer is reported after its own timeout. In the meantime, agents of other providers are
// restarted.
func TestOneThatNeverAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newMixedTown(t, quickAndSlow)
		end := w.begin()
		synctest.Wait()
		s.looks.Store(int64(time.Hour))
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		for range 60 { // the error stays while further lists start and time out
			snap, err := w.Snapshot(t.Context())
			if err != nil || len(snap.Degraded) != 1 ||
				!strings.Contains(snap.Degraded[0], "tmux: context deadline exceeded") {
				t.Fatalf("%q, %v", snap.Degraded, err)
			}
			if a, _ := snap.Agent("slow"); !strings.Contains(a.Reason, "cannot be listed") {
				t.Fatalf("%+v", a)
			}
			time.Sleep(time.Second)
		}
		w.fake.Vanish("quick")
		time.Sleep(36 * time.Second)
		if n := w.fake.Started("quick"); n != 2 {
			t.Errorf("quick was started %d times", n)
		}
		s.looks.Store(int64(20 * time.Second))
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if snap, err := w.Snapshot(t.Context()); err != nil || len(snap.Degraded) > 0 {
			t.Errorf("%q, %v", snap.Degraded, err)
		}
		if n := s.Started("slow"); n != 1 {
			t.Errorf("slow was started %d times", n)
		}
		s.brisk()
		end()
	})
}

// Agents that might already be running at a slow provider are not started until the provider has listed its sessions
// (L11). A controller in one-shot mode waits for the list.
func TestTheSlowAreAdopted(t *testing.T) {
	for _, settle := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w, s := newMixedTown(t, quickAndSlow)
			ctx, leave := context.WithCancel(t.Context())
			go func() { w.ended <- w.Run(ctx) }()
			synctest.Wait()
			if _, err := w.Do(t.Context(), city.Shutdown{Leave: true}); err != nil {
				t.Fatal(err)
			}
			if err := <-w.ended; err != nil {
				t.Fatal(err)
			}
			leave()
			next, err := New(w.o, w.first)
			if err != nil {
				t.Fatal(err)
			}
			w.Controller = next
			if !w.fake.Vanish("quick") {
				t.Error("quick is not running")
			}
			if settle {
				if err := w.RunOnce(t.Context()); err != nil {
					t.Error(err)
				}
			} else {
				end := w.begin()
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if n := w.fake.Started("quick"); n != 1 {
					t.Errorf("quick was started, although the slow provider might run it: got %d "+
						"starts", n)
				}
				time.Sleep(15 * time.Second)
				synctest.Wait()
				defer end()
			}
			s.brisk()
			if q, l := w.state("quick"), w.state("slow"); q != "running" || l != "running" {
				t.Errorf("quick is %s, slow is %s", q, l)
			}
			if q, l := w.fake.Started("quick"), s.Started("slow"); q != 2 || l != 1 {
				t.Errorf("settle %v: got %d starts of quick and %d of slow, want 2 and 1",
					settle, q, l)
			}
		})
	}
}

type prudent struct{ *tardy }

func (s *prudent) Check(ctx context.Context) error { return after(ctx, s.takes) }

// An agent can move from one slow provider to another if both stay within their timeouts.
func TestASwapBetweenSlowProviders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, from := newMixedTown(t, quickAndSlow)
		to := &prudent{&tardy{Provider: fake.New(), takes: 20 * time.Second}}
		to.looks.Store(int64(20 * time.Second))
		p, err := mixed.New(mixed.Options{Dir: filepath.Join(w.dir, ".gc"), DefaultProvider: "pty",
			Open: func(name string) (session.Provider, func(), error) {
				q := map[string]session.Provider{"tmux": from, "subprocess": to,
					"pty": w.fake}[name]
				return q, func() {}, nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		o := w.o
		o.Provider = p
		if w.Controller, err = New(o, w.first); err != nil {
			t.Fatal(err)
		}
		end := w.begin()
		defer func() { from.brisk(); to.brisk(); end() }()
		synctest.Wait()
		if n := from.Started("slow"); n != 1 {
			t.Fatalf("it was started %d times", n)
		}
		w.write(strings.Replace(quickAndSlow, `"tmux"`, `"subprocess"`, 1))
		for began := time.Now(); to.Started("slow") == 0; time.Sleep(time.Second) {
			if time.Since(began) > 10*time.Minute {
				snap, err := w.Snapshot(t.Context())
				a, _ := snap.Agent("slow")
				t.Fatalf("slow was not moved: %+v, %v", a, err)
			}
		}
	})
}

// Inspecting an agent waits only for that agent's provider.
func TestInspectWaitsForNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newMixedTown(t, quickAndSlow)
		end := w.begin()
		synctest.Wait()
		s.looks.Store(int64(time.Hour))
		time.Sleep(time.Minute)
		began := time.Now()
		about, err := w.Inspect(t.Context(), "quick")
		if err != nil || about.Life == "" && len(about.Problems) > 0 ||
			time.Since(began) > time.Second {
			t.Errorf("%+v, %v after %s", about, err, time.Since(began))
		}
		s.looks.Store(0)
		end()
	})
}
