// Package sessiontest implements the conformance suite for session providers. It tests the guarantees of
// session.Provider, and those of the optional interfaces that a provider implements.
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

// Harness contains the functions with which the suite creates and controls a provider and its agents.
type Harness struct {
	// New creates a provider for an empty city, and registers its cleanup with t.Cleanup.
	New func(t *testing.T) session.Provider
	// Spec returns a specification with a new ID, for an agent that is ready immediately and echoes typed lines.
	Spec func(t *testing.T, p session.Provider, name string) session.Spec
	// Crash makes a session's agent exit with code 7. If Crash is nil, the suite types the line "crash"; see Agent.
	Crash func(t *testing.T, p session.Provider, name string)

	// Work makes a session's agent start a child process that uses processor time. If Work is nil, the suite types the
	// line "work"; see Agent.
	Work func(t *testing.T, p session.Provider, name string)

	// Draft types keys as a viewer; draft says whether the keys leave unsubmitted text. If Draft is nil, the suite uses
	// session.Attacher.
	Draft func(t *testing.T, p session.Provider, name, keys string, draft bool)
	// ASCII says why the agent does not echo non-ASCII text unchanged; "" means that it does.
	ASCII string

	// Parallel means that the cases can run at the same time.
	Parallel bool

	// Remote means that sessions run on another machine, so their statuses have no PID.
	Remote bool

	// Lose makes the sessions' platform unreachable until restore is called. It is nil if the provider has no such
	// platform.
	Lose func(t *testing.T, p session.Provider) (restore func())

	// Adopt closes p and returns a new provider for the same city. If Adopt is nil, sessions end with their provider.
	Adopt func(t *testing.T, p session.Provider) session.Provider
}

// Agent is the command of an agent that echoes typed lines. The line "crash" ends it with code 7, and the line "work"
// makes it start a child process that uses processor time.
const Agent = `while read -r line; do case $line in
	crash) exit 7 ;;
	work) (while :; do :; done) & ;;
	*) printf '%s\n' "$line" ;;
esac; done`

// Idle makes a shell wait forever without losing a trapped signal. dash discards a signal that arrives while it starts
// a process.
const Idle = "sleep 100000 & while :; do wait; done"

type testCase struct {
	name string
	run  func(t *testing.T, h Harness)
}

// Run runs all cases, each as a subtest.
func Run(t *testing.T, h Harness) {
	if h.Crash == nil {
		h.Crash = func(t *testing.T, p session.Provider, name string) { Send(t, p, name, "crash") }
	}
	if h.Work == nil {
		h.Work = func(t *testing.T, p session.Provider, name string) { Send(t, p, name, "work") }
	}
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			if h.Parallel {
				t.Parallel()
			}
			c.run(t, h)
		})
	}
}

// Send sends text to a session. If that fails, the test fails.
func Send(t *testing.T, p session.Provider, name, text string) {
	t.Helper()
	if err := p.Send(t.Context(), name, text); err != nil {
		t.Fatal(err)
	}
}

func cases() []testCase {
	return []testCase{
		{"started session is listed", startIsListed},
		{"second start of a live session fails", secondStartFails},
		{"list is sorted by name", namesInOrder},
		{"exit of a stopped session is reported until it is acknowledged", stopIsKept},
		{"stopping a missing session succeeds", stopOfMissing},
		{"second stop ends the grace period of the first", stopIsCutShort},
		{"crash is reported once", crashIsReportedOnce},
		{"acknowledgement with another ID does nothing", acknowledgeOther},
		{"loss and return of the platform are signaled", lossIsSignaled},
		{"restart creates a new session", restartIsNewSession},
		{"typed text is shown", typing},
		{"dead session accepts no input", deadAcceptsNoInput},
		{"marks can be read back", marks},
		{"ready mark makes a session ready", readyByMark},
		{"drain is listed", drainIsListed},
		{"drain ends with the session", drainEndsWithSession},
		{"invalid drain is ignored", invalidDrainIsIgnored},
		{"drain outlives the provider", drainOutlivesProvider},
		{"resource usage is measured", usage},
		{"output of the previous session is retained", capture},
		{"printed bytes are counted", printed},
		{"clear drops the output", clearOutput},
		{"concurrent starts and stops", manyAtOnce},
		{"attached viewer can type", attach},
		{"watcher receives old and new output", watch},
		{"List reports a draft", draftIsListed},
		{"SendPolitely fails while there is a draft", politeText},
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

func needs(t *testing.T, p session.Provider, a session.Ability) {
	t.Helper()
	if !session.Can(p, a) {
		t.Skipf("this provider cannot %s", a)
	}
}

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

func nextExit(t *testing.T, p session.Provider) session.Exit {
	t.Helper()
	if !session.Can(p, session.ReportingExits) {
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
		t.Fatalf("List in an empty city: got %+v", all)
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
			t.Errorf("start time: got %v", got.Started)
		}
		if drift := got.Fingerprint.Drift(s.Fingerprint); !got.Fingerprint.Known() ||
			len(drift) > 0 {
			t.Errorf("fingerprint %+v", got.Fingerprint)
		}
	}
}

func secondStartFails(t *testing.T, h Harness) {
	p := h.New(t)
	_, st := start(t, h, p, "a")
	if _, err := p.Start(t.Context(), h.Spec(t, p, "a")); !errors.Is(err, session.ErrExists) {
		t.Errorf("second Start: got %v", err)
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
		t.Errorf("reported exit %+v, listed exit %+v", x, *st.Exit)
	}
	ack := optional[session.Acknowledger](t, p)
	for range 2 {
		if err := ack.Acknowledge(t.Context(), "a", s.ID); err != nil {
			t.Error(err)
		}
	}
	if all := list(t, p); len(all) != 0 {
		t.Errorf("List after the acknowledgement: got %+v", all)
	}
	start(t, h, p, "a")
}

func stopOfMissing(t *testing.T, h Harness) {
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

func stopIsCutShort(t *testing.T, h Harness) {
	p := h.New(t)
	needs(t, p, session.RunningPrograms)
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
	if err := eventually.Receive(t, "the end of the first stop", patiently); err != nil {
		t.Error(err)
	}
	if st := dead(t, p, "a"); st.Exit == nil || !st.Exit.Asked {
		t.Errorf("%+v", st)
	}
}

func crashIsReportedOnce(t *testing.T, h Harness) {
	p := h.New(t)
	s, _ := start(t, h, p, "a")
	h.Crash(t, p, "a")
	code := 7
	if !session.Can(p, session.ExplainingExits) {
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
	if !session.Can(p, session.ReportingExits) {
		return
	}
	select {
	case x := <-p.(session.Notifier).Exits():
		t.Errorf("exit reported again: %+v", x)
	default:
	}
}

func lossIsSignaled(t *testing.T, h Harness) {
	p := h.New(t)
	if h.Lose == nil {
		t.Skip("this provider cannot lose its platform")
	}
	changes := optional[session.Changer](t, p).Changes()
	s, _ := start(t, h, p, "a")
	known := func() bool {
		all, err := p.List(t.Context())
		return err == nil && len(all) == 1 && all[0].ID == s.ID && all[0].Alive &&
			all[0].Silent.IsZero()
	}
	restore := h.Lose(t, p)
	for eventually.Receive(t, "a signal that the session is lost", changes); known(); {
		eventually.Receive(t, "another signal that the session is lost", changes)
	}
	restore()
	for eventually.Receive(t, "a signal that the session is back", changes); !known(); {
		eventually.Receive(t, "another signal that the session is back", changes)
	}
	if n, ok := p.(session.Notifier); ok {
		select {
		case x := <-n.Exits():
			t.Errorf("got exit %+v, want none", x)
		default:
		}
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

func restartIsNewSession(t *testing.T, h Harness) {
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
			t.Errorf("mark of the previous session: got %q, %v", v, err)
		}
	}
}
