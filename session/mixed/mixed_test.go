package mixed_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gcity/internal/eventually"
	"gcity/session"
	"gcity/session/fake"
	"gcity/session/mixed"
	"gcity/session/sessiontest"
)

// house holds a city's providers by name. A new mixed provider gets the same providers, with their sessions.
type house struct {
	dir    string
	kept   map[string]session.Provider
	broken map[string]error
	opened []string
	lists  atomic.Int64
}

func newHouse(t *testing.T, names ...string) *house {
	h := &house{dir: t.TempDir(), kept: map[string]session.Provider{}, broken: map[string]error{}}
	for _, name := range names {
		h.kept[name] = fake.New()
	}
	return h
}

func (h *house) fake(name string) *fake.Provider { return h.kept[name].(*fake.Provider) }

func (h *house) open(name string) (session.Provider, func(), error) {
	h.opened = append(h.opened, name)
	if err := h.broken[name]; err != nil {
		return nil, nil, err
	}
	p, ok := h.kept[name]
	if !ok {
		return nil, nil, fmt.Errorf("there is no provider %q", name)
	}
	if f, ok := p.(*fake.Provider); ok {
		return counted{f, &h.lists}, func() {}, nil
	}
	return p, func() {}, nil
}

type counted struct {
	*fake.Provider
	n *atomic.Int64
}

func (c counted) List(ctx context.Context) ([]session.Status, error) {
	c.n.Add(1)
	return c.Provider.List(ctx)
}

func (h *house) mix(t *testing.T, observe bool) *mixed.Provider {
	t.Helper()
	p, err := mixed.New(mixed.Options{Dir: h.dir, DefaultProvider: "pty", Open: h.open, Observe: observe})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func (h *house) marks(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.dir, mixed.MarksFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), "\n", " ")
}

var ids atomic.Int64

func spec(name, provider string) session.Spec {
	return session.Spec{Name: name, Agent: name, City: "/city", ID: fmt.Sprintf("id-%d", ids.Add(1)), Command: "cat", Dir: "/", Provider: provider}
}

func start(t *testing.T, p session.Provider, name, provider string) session.Status {
	t.Helper()
	st, err := p.Start(t.Context(), spec(name, provider))
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// A mixed provider passes the suite, both with a single provider and with some sessions in a second one.
func TestConformance(t *testing.T) {
	for _, others := range []bool{false, true} {
		t.Run(fmt.Sprintf("others %t", others), func(t *testing.T) {
			var h *house
			sessiontest.Run(t, sessiontest.Harness{
				New: func(t *testing.T) session.Provider {
					h = newHouse(t, "pty", "other")
					return h.mix(t, false)
				},
				Spec: func(_ *testing.T, _ session.Provider, name string) session.Spec {
					s := spec(name, "")
					if others && (name == "a" || name == "gone" || name == "c") {
						s.Provider = "other"
					}
					return s
				},
				Draft: func(t *testing.T, _ session.Provider, name, _ string, draft bool) {
					if !h.fake("pty").Draft(name, draft) && !h.fake("other").Draft(name, draft) {
						t.Fatalf("%s is not alive", name)
					}
				},
				Crash: func(t *testing.T, _ session.Provider, name string) {
					if !h.fake("pty").Crash(name, 7, "") && !h.fake("other").Crash(name, 7, "") {
						t.Fatalf("%s is not alive", name)
					}
				},
				Lose: func(*testing.T, session.Provider) func() {
					name := "pty"
					if others {
						name = "other"
					}
					h.fake(name).Lose(errors.New("no route to host"))
					return func() { h.fake(name).Lose(nil) }
				},
				Work: func(t *testing.T, _ session.Provider, name string) {
					u := session.Usage{CPU: time.Second, RSS: 1 << 20, Procs: 2}
					if !h.fake("pty").Take(name, u) && !h.fake("other").Take(name, u) {
						t.Fatalf("%s is not alive", name)
					}
				},
			})
		})
	}
}

// Only providers that are in use are opened and listed. The next controller lists them too (L11).
func TestMarksOutliveController(t *testing.T) {
	h := newHouse(t, "pty", "one", "two")
	p := h.mix(t, false)
	start(t, p, "a", "")
	if all, err := p.List(t.Context()); err != nil || len(all) != 1 || all[0].Provider != "pty" || h.lists.Load() != 1 || h.marks(t) != "" {
		t.Fatalf("got %+v, %v, %d lists, marks %q", all, err, h.lists.Load(), h.marks(t))
	}
	st := start(t, p, "b", "one")
	if st.Provider != "one" || h.marks(t) != "one " || !slices.Equal(h.opened, []string{"pty", "one"}) {
		t.Fatalf("got %+v, marks %q, opened %q", st, h.marks(t), h.opened)
	}
	p.Close()

	next := h.mix(t, false)
	all, err := next.List(t.Context())
	if err != nil || len(all) != 2 || all[1].ID != st.ID || all[1].Provider != "one" {
		t.Fatalf("%+v, %v", all, err)
	}
	if _, err := next.Start(t.Context(), spec("b", "two")); !errors.Is(err, session.ErrExists) || !strings.Contains(err.Error(), `"b" in two, because it is running in one`) {
		t.Errorf("start of a second copy: got %v", err)
	}
	if err := next.Stop(t.Context(), "b", 0); err != nil {
		t.Fatal(err)
	}
	second := start(t, next, "b", "two")
	all, err = next.List(t.Context())
	if err != nil || len(all) != 3 || all[1].Alive || !all[2].Alive || all[2].ID != second.ID {
		t.Fatalf("%+v, %v", all, err)
	}
	if err := next.Acknowledge(t.Context(), "b", st.ID); err != nil {
		t.Fatal(err)
	}
	before := h.lists.Load()
	if all, err = next.List(t.Context()); err != nil || len(all) != 2 || h.marks(t) != "two " {
		t.Fatalf("got %+v, %v, marks %q", all, err, h.marks(t))
	}
	if _, err = next.List(t.Context()); err != nil || h.lists.Load() != before+3+2 {
		t.Errorf("got %v; a provider without sessions was still listed: %d calls",
			err, h.lists.Load()-before)
	}
}

// If one provider fails, only its sessions are unknown. A session that might be running there is not started in another
// provider (L11).
func TestUnresponsiveProvider(t *testing.T) {
	h := newHouse(t, "pty", "one")
	p := h.mix(t, false)
	start(t, p, "a", "")
	start(t, p, "b", "one")
	h.fake("one").Blind(errors.New("no server"))
	for _, again := range []bool{false, true} {
		if again {
			p.Close()
			p = h.mix(t, false)
		}
		all, err := p.List(t.Context())
		var partial *session.PartialError
		if !errors.As(err, &partial) || len(partial.Unknown) != 1 || partial.Error() != "one: no server" || len(all) != 1 || all[0].Name != "a" {
			t.Fatalf("%+v, %v", all, err)
		}
	}
	if _, err := p.Start(t.Context(), spec("b", "")); err == nil || !strings.Contains(err.Error(), "might already be running in one") {
		t.Errorf("a session was started although a copy might be running: %v", err)
	}
	if err := p.Send(t.Context(), "b", "x"); err == nil || !strings.Contains(err.Error(), "no server") {
		t.Errorf("text was sent although the provider is unknown: %v", err)
	}
	if err := p.Send(t.Context(), "a", "x"); err != nil {
		t.Error(err)
	}
	h.fake("one").Blind(nil)
	if _, err := p.Start(t.Context(), spec("b", "")); !errors.Is(err, session.ErrExists) {
		t.Errorf("a second copy was started: %v", err)
	}
	if err := p.Send(t.Context(), "b", "x"); err != nil {
		t.Error(err)
	}
}

// A provider that cannot be opened is opened again later. Until then, only its own sessions are unknown.
func TestProviderCannotBeOpened(t *testing.T) {
	h := newHouse(t, "pty", "one")
	p := h.mix(t, false)
	start(t, p, "b", "one")
	p.Close()
	h.broken["one"] = errors.New("its program is gone")
	p = h.mix(t, false)
	if all, err := p.List(t.Context()); err == nil || !strings.Contains(err.Error(), "its program is gone") || len(all) != 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	if _, err := p.Start(t.Context(), spec("c", "one")); err == nil || !strings.Contains(err.Error(), "its program is gone") {
		t.Errorf("%v", err)
	}
	delete(h.broken, "one")
	if all, err := p.List(t.Context()); err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	if _, err := p.Start(t.Context(), spec("d", "none")); err == nil || !strings.Contains(err.Error(), `there is no provider "none"`) {
		t.Errorf("%v", err)
	}
}

func TestMissingAbilityIsNamed(t *testing.T) {
	h := newHouse(t, "pty")
	h.kept["plain"] = plain{fake.New()}
	h.kept["fail"] = fake.Refuser{Why: "it is a test"}
	p := h.mix(t, false)
	start(t, p, "a", "plain")
	_, err := p.Attach(t.Context(), "a", 80, 24)
	if !errors.Is(err, session.ErrUnsupported) || err.Error() != "the session provider plain cannot attach" {
		t.Errorf("attach: %v", err)
	}
	if err := p.SetMeta(t.Context(), "a", "K", "v"); !errors.Is(err, session.ErrUnsupported) {
		t.Errorf("set-meta: %v", err)
	}
	for _, err := range p.Watch(t.Context(), "a") {
		if !errors.Is(err, session.ErrUnsupported) {
			t.Errorf("watch: %v", err)
		}
	}
	if err := p.SendKeys(t.Context(), "a", "Up"); err == nil || err.Error() != "the session provider plain cannot press keys" {
		t.Errorf("keys: %v", err)
	}
	if lacks := p.LimitsOf("plain").Lacks; !slices.Contains(lacks, session.Marking) || !slices.Contains(lacks, session.ReportingExits) {
		t.Errorf("it lacks %q", lacks)
	}
	if text := p.LimitsOf("pty").String(); text != "cannot run programs: the provider simulates all sessions, for testing" {
		t.Errorf("a fake %s", text)
	}
	if _, err := p.Start(t.Context(), spec("f", "fail")); err == nil || err.Error() != `cannot start "f": it is a test` {
		t.Errorf("%v", err)
	}
}

type plain struct{ session.Provider }

type helped struct{ *fake.Provider }

func (helped) Forwards(pid int) bool { return pid == 4711 }

func TestForwardsForAnyProvider(t *testing.T) {
	h := newHouse(t, "pty")
	h.kept["helped"] = helped{fake.New()}
	p := h.mix(t, false)
	if p.Forwards(4711) {
		t.Error("the provider is not open yet, but a process forwards requests for it")
	}
	start(t, p, "a", "helped")
	if !p.Forwards(4711) || p.Forwards(4712) {
		t.Error("only the helper's process forwards requests")
	}
}

// An observer writes no marks, and starts nothing that would need a new mark.
func TestObserverWritesNothing(t *testing.T) {
	h := newHouse(t, "pty", "one")
	p := h.mix(t, false)
	st := start(t, p, "b", "one")
	looks := h.mix(t, true)
	if err := p.Stop(t.Context(), "b", 0); err != nil {
		t.Fatal(err)
	}
	if err := h.fake("one").Acknowledge(t.Context(), "b", st.ID); err != nil {
		t.Fatal(err)
	}
	if all, err := looks.List(t.Context()); err != nil || len(all) != 0 || h.marks(t) != "one " {
		t.Errorf("got %+v, %v, marks %q", all, err, h.marks(t))
	}
	if _, err := h.mix(t, true).Start(t.Context(), spec("x", "one")); err != nil {
		t.Error(err)
	}
	h.kept["two"] = fake.New()
	if _, err := looks.Start(t.Context(), spec("y", "two")); err == nil || h.fake("two").Started("y") != 0 {
		t.Errorf("an observer started a session: %v", err)
	}
}

// An exit in any provider is reported exactly once.
func TestExitsOfAllProviders(t *testing.T) {
	h := newHouse(t, "pty", "one")
	p := h.mix(t, false)
	start(t, p, "a", "")
	start(t, p, "b", "one")
	h.fake("one").Crash("b", 3, "")
	h.fake("pty").Crash("a", 4, "")
	got := map[string]int{}
	for range 2 {
		x := eventually.Receive(t, "two exits", p.Exits(), func() string { return fmt.Sprint(got) })
		got[x.Name] = x.Code
	}
	if got["a"] != 4 || got["b"] != 3 {
		t.Errorf("%v", got)
	}
	start(t, p, "b", "")
}

type courteous struct {
	*fake.Provider
	polite []string
}

func (c *courteous) SendPolitely(ctx context.Context, name, text string, quiet time.Duration) error {
	c.polite = append(c.polite, fmt.Sprint(name, " ", text, " ", quiet))
	return c.Send(ctx, name, text)
}

func (c *courteous) Look(context.Context, string) (session.Status, error) {
	return session.Status{ID: "looked"}, nil
}

// SendPolitely and Look use the provider's own methods if it has them, otherwise Send and List.
func TestSendPolitelyIfSupported(t *testing.T) {
	h := newHouse(t, "pty")
	c := &courteous{Provider: fake.New()}
	h.kept["one"] = c
	p := h.mix(t, false)
	st := start(t, p, "a", "")
	start(t, p, "b", "one")
	for _, name := range []string{"a", "b"} {
		if err := p.SendPolitely(t.Context(), name, "x", time.Second); err != nil {
			t.Error(err)
		}
		if out, err := p.Output(t.Context(), name, 0); out != "x" || err != nil {
			t.Errorf("output of %s: got %q, %v", name, out, err)
		}
	}
	if !slices.Equal(c.polite, []string{"b x 1s"}) {
		t.Errorf("%q", c.polite)
	}
	if got, err := p.Look(t.Context(), "a"); err != nil || got.ID != st.ID || got.Provider != "pty" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := p.Look(t.Context(), "b"); err != nil || got.ID != "looked" || got.Provider != "one" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := p.Look(t.Context(), "none"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

func TestConcurrentOpening(t *testing.T) {
	h := newHouse(t, "pty")
	if err := os.WriteFile(filepath.Join(h.dir, mixed.MarksFile), []byte("gone\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := h.mix(t, false)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				var partial *session.PartialError
				if _, err := p.List(t.Context()); !errors.As(err, &partial) || partial.Unknown["gone"] == nil {
					t.Errorf("%v", err)
				}
				if _, err := p.Start(t.Context(), session.Spec{Name: "a", Provider: "gone"}); err == nil || !strings.Contains(err.Error(), "no provider") {
					t.Errorf("%v", err)
				}
			}
		})
		all.Go(func() {
			for range 50 {
				// the fake measures nothing; the test checks concurrent access
				_, _ = p.Usage(t.Context())
				p.Limits()
				if l := p.LimitsOf("gone"); l.Lacks != nil {
					t.Errorf("%+v", l)
				}
			}
		})
	}
	all.Wait()
}

// A launch that waits for its agent asks only the agent's provider.
func TestLaunchAsksOneProvider(t *testing.T) {
	h := newHouse(t, "pty", "one", "two")
	p := h.mix(t, false)
	start(t, p, "a", "")
	start(t, p, "b", "two")
	s := spec("c", "one")
	s.Ready = session.Ready{Prefix: "> ", Deadline: 30 * time.Second}
	ready, launched := make(chan struct{}), make(chan error, 1)
	h.kept["one"] = slow{h.fake("one"), ready}
	go func() {
		_, err := session.Launch(t.Context(), p, s, nil)
		launched <- err
	}()
	<-ready
	before := h.lists.Load()
	for range 3 {
		<-ready
	}
	if n := h.lists.Load() - before; n != 0 {
		t.Errorf("%d lists", n)
	}
	if err := p.Stop(t.Context(), "c", 0); err != nil {
		t.Fatal(err)
	}
	for {
		select {
		case <-ready:
			continue
		case err := <-launched:
			if err == nil || !strings.Contains(err.Error(), "before it was ready") {
				t.Errorf("%v", err)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("the launch waits for an ended session")
		}
		return
	}
}

// slow is never ready. It sends a value on a channel whenever its screen is read.
type slow struct {
	*fake.Provider
	looked chan<- struct{}
}

func (s slow) Output(context.Context, string, int) (string, error) {
	s.looked <- struct{}{}
	return "", nil
}

// A damaged marks file is rebuilt by listing each provider. Only providers with sessions stay marked.
func TestDamagedMarks(t *testing.T) {
	for what, put := range map[string]func(path string) error{
		"cut":     func(path string) error { return os.WriteFile(path, []byte("oth"), 0o600) },
		"garbage": func(path string) error { return os.WriteFile(path, []byte("\x00\xff}{\nempty\n"), 0o600) },
		"folder":  func(path string) error { return os.Mkdir(path, 0o700) },
		"pipe":    func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link":    func(path string) error { return os.Symlink("/etc/hostname", path) },
	} {
		h := newHouse(t, "pty", "other", "empty")
		first := h.mix(t, false)
		spec := session.Spec{Name: "gc-a", Agent: "a", Provider: "other", Command: "run"}
		if _, err := first.Start(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		first.Close()
		path := filepath.Join(h.dir, mixed.MarksFile)
		if err := errors.Join(os.Remove(path), put(path)); err != nil {
			t.Fatal(err)
		}
		p, err := mixed.New(mixed.Options{Dir: h.dir, DefaultProvider: "pty", Open: h.open, FindProviders: func() []string { return []string{"other", "pty", "empty"} }})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := h.marks(t); got != "empty other " {
			t.Errorf("%s: marks before the first List: got %q", what, got)
		}
		all, err := p.List(t.Context())
		if err != nil || len(all) != 1 || all[0].Agent != "a" {
			t.Errorf("%s: %v, %v", what, all, err)
		}
		if got := h.marks(t); got != "other " {
			t.Errorf("%s: marks after the first List: got %q", what, got)
		}
		if _, err := os.Lstat(path + ".bad-1"); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		p.Close()
	}
}

// The start of a session whose provider cannot be marked as in use, because the disk is full, is not a crash.
func TestFullDisk(t *testing.T) {
	h := newHouse(t, "pty", "other")
	p := h.mix(t, false)
	fill, free := sessiontest.FillableDisk(t, h.dir)
	fill()
	if _, err := p.Start(t.Context(), spec("a", "other")); !errors.Is(err, session.ErrExhausted) {
		t.Fatalf("start: got %v, want an ErrExhausted", err)
	}
	free()
	start(t, p, "a", "other")
}
