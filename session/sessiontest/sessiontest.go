// Package sessiontest is what every session provider must pass: a list of small stories about the promises of
// session.Provider and of the optional interfaces that the provider has.
package sessiontest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/internal/eventually"
	"gcity/session"
)

// Harness makes a provider and its agents available to the suite.
type Harness struct {
	// New makes a provider of an empty city and clears up with t.Cleanup.
	New func(t *testing.T) session.Provider
	// Spec describes an agent of that city, with a fresh ID, that needs no settling and shows each line that is typed
	// into it.
	Spec func(t *testing.T, p session.Provider, name string) session.Spec
	// Crash lets the agent of a session end with exit code 7, by itself.
	Crash func(t *testing.T, p session.Provider, name string)

	// Work lets the agent of a session begin to take processor time in a child process, and stay as it is otherwise.
	Work func(t *testing.T, p session.Provider, name string)

	// Draft types as a viewer: keys, which leave a draft on the line or end it. nil = through session.Attacher.
	Draft func(t *testing.T, p session.Provider, name, keys string, draft bool)
	// ASCII says why other text than ASCII does not come back as it was typed; "" = it does.
	ASCII string

	// Remote says that sessions are processes of another machine: they have no process number here.
	Remote bool

	// Adopt makes another provider of p's city, as the next controller would, once p is gone. nil = sessions do not
	// outlive their provider.
	Adopt func(t *testing.T, p session.Provider) session.Provider
}

// Case is one story.
type Case struct {
	Name string
	Run  func(t *testing.T, h Harness)
}

// Run runs all cases, each as a subtest.
func Run(t *testing.T, h Harness) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			c.Run(t, h)
		})
	}
}

// Cases lists the suite.
func Cases() []Case {
	return []Case{
		{"a start is listed", startIsListed},
		{"a name is alive once", aliveOnce},
		{"names are in order", namesInOrder},
		{"a stop is reported and kept until acknowledged", stopIsKept},
		{"stopping what is not there succeeds", stopOfNothing},
		{"a stop can be hastened", stopIsHastened},
		{"a crash is reported once", crashIsToldOnce},
		{"acknowledging another life does nothing", acknowledgeOther},
		{"a next life is a new session", nextLife},
		{"what is typed is shown", typing},
		{"what is dead takes nothing", deadTakesNothing},
		{"marks", marks},
		{"ready by mark", readyByMark},
		{"a drain is listed", drainIsListed},
		{"a drain ends with the session", drainEndsWithSession},
		{"an invalid drain is ignored", nonsenseIsNoDrain},
		{"a drain outlives the provider", drainOutlivesProvider},
		{"what sessions take", usage},
		{"the output of two lives is kept", capture},
		{"what is printed is counted", printed},
		{"clear", clearOutput},
		{"many at once", manyAtOnce},
		{"attach", attach},
		{"watch", watch},
		{"a draft is seen", draftIsSeen},
		{"a polite text waits for a draft", politeText},
	}
}

var wait = eventually.True

func start(t *testing.T, h Harness, p session.Provider, name string) (session.Spec,
	session.Status) {
	t.Helper()
	s := h.Spec(t, p, name)
	st, err := p.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return s, st
}

func list(t *testing.T, p session.Provider) []session.Status {
	t.Helper()
	all, err := p.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// needs skips a story about something that the provider cannot do, and names that.
func needs(t *testing.T, p session.Provider, a session.Ability) {
	t.Helper()
	if !session.Can(p, a) {
		t.Skipf("this provider cannot %s", a)
	}
}

// optional returns an interface that not every provider has, and what goes with it, or skips.
func optional[T any](t *testing.T, p session.Provider, with ...session.Ability) T {
	t.Helper()
	for _, a := range with {
		needs(t, p, a)
	}
	q, ok := p.(T)
	if !ok {
		t.Skipf("this provider does not implement %T", (*T)(nil))
	}
	return q
}

// nextExit waits for the end of a session: the provider reports it, or the session list shows it.
func nextExit(t *testing.T, p session.Provider) session.Exit {
	t.Helper()
	if !session.Can(p, session.Telling) {
		var x session.Exit
		wait(t, "the end of a session", func() bool {
			all := list(t, p)
			i := slices.IndexFunc(all, func(st session.Status) bool { return st.Exit != nil })
			if i >= 0 {
				x = *all[i].Exit
			}
			return i >= 0
		})
		return x
	}
	return eventually.Receive(t, "a reported exit", p.(session.Notifier).Exits())
}

func dead(t *testing.T, p session.Provider, name string) session.Status {
	t.Helper()
	var st session.Status
	wait(t, "the end of "+name, func() bool {
		all := list(t, p)
		i := slices.IndexFunc(all, func(st session.Status) bool { return st.Name == name })
		if i < 0 || all[i].Alive {
			return false
		}
		st = all[i]
		return true
	})
	return st
}

func startIsListed(t *testing.T, h Harness) {
	p := h.New(t)
	if all := list(t, p); len(all) != 0 {
		t.Fatalf("an empty city has %+v", all)
	}
	s := h.Spec(t, p, "a")
	s.Fingerprint = session.NewFingerprint(map[string]string{"command": "x"})
	before := time.Now()
	st, err := p.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	all := list(t, p)
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	for _, got := range []session.Status{st, all[0]} {
		if got.Name != "a" || got.Agent != s.Agent || got.ID != s.ID || !got.Alive ||
			got.Exit != nil || !got.Ready || got.PID == 0 && !h.Remote {
			t.Errorf("%+v", got)
		}
		if got.Started.Before(before.Add(-time.Second)) ||
			got.Started.After(time.Now().Add(time.Second)) {
			t.Errorf("started at %v", got.Started)
		}
		if drift := got.Fingerprint.Drift(s.Fingerprint); !got.Fingerprint.Known() ||
			len(drift) > 0 {
			t.Errorf("fingerprint %+v", got.Fingerprint)
		}
	}
}

func aliveOnce(t *testing.T, h Harness) {
	p := h.New(t)
	_, st := start(t, h, p, "a")
	if _, err := p.Start(t.Context(), h.Spec(t, p, "a")); !errors.Is(err, session.ErrExists) {
		t.Errorf("a second start: %v", err)
	}
	if all := list(t, p); len(all) != 1 || all[0].ID != st.ID || all[0].PID != st.PID {
		t.Errorf("%+v", all)
	}
}

func namesInOrder(t *testing.T, h Harness) {
	p := h.New(t)
	for _, name := range []string{"b", "c", "a", "a_sb"} {
		start(t, h, p, name)
	}
	var names []string
	for _, st := range list(t, p) {
		names = append(names, st.Name)
	}
	if !slices.IsSorted(names) || len(names) != 4 {
		t.Errorf("%v", names)
	}
}

func stopIsKept(t *testing.T, h Harness) {
	p := h.New(t)
	s, _ := start(t, h, p, "a")
	if err := p.Stop(t.Context(), "a", time.Second); err != nil {
		t.Fatal(err)
	}
	st := dead(t, p, "a")
	if st.Exit == nil || !st.Exit.Asked || st.Exit.ID != s.ID || st.Exit.Agent != s.Agent {
		t.Errorf("%+v", st.Exit)
	}
	if x := nextExit(t, p); x != *st.Exit && !x.At.Equal(st.Exit.At) {
		t.Errorf("told %+v, kept %+v", x, *st.Exit)
	}
	ack := optional[session.Acknowledger](t, p)
	for range 2 {
		if err := ack.Acknowledge(t.Context(), "a", s.ID); err != nil {
			t.Error(err)
		}
	}
	if all := list(t, p); len(all) != 0 {
		t.Errorf("after the acknowledgement: %+v", all)
	}
	start(t, h, p, "a")
}

func stopOfNothing(t *testing.T, h Harness) {
	p := h.New(t)
	if err := p.Stop(t.Context(), "a", time.Second); err != nil {
		t.Error(err)
	}
	start(t, h, p, "a")
	for range 2 {
		if err := p.Stop(t.Context(), "a", 0); err != nil {
			t.Error(err)
		}
	}
}

func stopIsHastened(t *testing.T, h Harness) {
	p := h.New(t)
	needs(t, p, session.Running)
	s := h.Spec(t, p, "a")
	s.Command = "trap 'echo interrupted' INT; echo deaf; while :; do sleep 1; done"
	if _, err := p.Start(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	says := func(word string) {
		t.Helper()
		wait(t, word, func() bool {
			text, err := p.Output(t.Context(), "a", 10)
			return err == nil && strings.Contains(text, word)
		})
	}
	says("deaf")
	patiently := make(chan error, 1)
	go func() { patiently <- p.Stop(t.Context(), "a", time.Hour) }()
	says("interrupted")
	if err := p.Stop(t.Context(), "a", 0); err != nil {
		t.Error(err)
	}
	if err := eventually.Receive(t, "the stop that had more time ends", patiently); err != nil {
		t.Error(err)
	}
	if st := dead(t, p, "a"); st.Exit == nil || !st.Exit.Asked {
		t.Errorf("%+v", st)
	}
}

func crashIsToldOnce(t *testing.T, h Harness) {
	p := h.New(t)
	s, _ := start(t, h, p, "a")
	h.Crash(t, p, "a")
	code := 7
	if !session.Can(p, session.Explaining) {
		code = -1
	}
	x := nextExit(t, p)
	if x.ID != s.ID || x.Name != "a" || x.Code != code || x.Signal != "" || x.Asked || x.Lost ||
		x.Uptime < 0 || x.At.IsZero() {
		t.Errorf("%+v", x)
	}
	if st := dead(t, p, "a"); st.Exit == nil || st.Exit.Code != code || st.Ready && st.Alive {
		t.Errorf("%+v", st)
	}
	if !session.Can(p, session.Telling) {
		return
	}
	select {
	case x := <-p.(session.Notifier).Exits():
		t.Errorf("reported again: %+v", x)
	default:
	}
}

func acknowledgeOther(t *testing.T, h Harness) {
	p := h.New(t)
	ack := optional[session.Acknowledger](t, p)
	s, _ := start(t, h, p, "a")
	h.Crash(t, p, "a")
	dead(t, p, "a")
	for _, c := range [][2]string{{"a", "another"}, {"b", s.ID}} {
		if err := ack.Acknowledge(t.Context(), c[0], c[1]); err != nil {
			t.Error(err)
		}
	}
	if all := list(t, p); len(all) != 1 || all[0].Exit == nil {
		t.Fatalf("%+v", all)
	}
	next, _ := start(t, h, p, "a")
	if err := ack.Acknowledge(t.Context(), "a", s.ID); err != nil {
		t.Error(err)
	}
	if all := list(t, p); len(all) != 1 || !all[0].Alive || all[0].ID != next.ID {
		t.Errorf("%+v", all)
	}
}

func nextLife(t *testing.T, h Harness) {
	p := h.New(t)
	first, _ := start(t, h, p, "a")
	if m, ok := p.(session.Marker); ok {
		if err := m.SetMeta(t.Context(), "a", "K", "v"); err != nil {
			t.Error(err)
		}
	}
	h.Crash(t, p, "a")
	nextExit(t, p)
	second, st := start(t, h, p, "a")
	if st.ID == first.ID || st.ID != second.ID || st.Exit != nil {
		t.Errorf("%+v", st)
	}
	if m, ok := p.(session.Marker); ok {
		if v, err := m.Meta(t.Context(), "a", "K"); v != "" || err != nil {
			t.Errorf("a mark from the previous life: %q, %v", v, err)
		}
	}
}
