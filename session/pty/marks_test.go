package pty

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"gcity/session"
	"gcity/session/pty/internal/wire"
	"gcity/session/sessiontest"
)

var told = session.Drain{Since: time.Unix(1_790_000_000, 0), By: "pool"}

func tell(t *testing.T, p *Provider, name string, d session.Drain) {
	t.Helper()
	if err := session.SetDrain(t.Context(), p, name, d); err != nil {
		t.Fatal(err)
	}
}

func named(t *testing.T, p *Provider, name string) session.Status {
	t.Helper()
	all, err := p.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(st session.Status) bool { return st.Name == name })
	if i < 0 {
		t.Fatalf("%s is not listed: %+v", name, all)
	}
	return all[i]
}

// A mark that one process sets appears in the lists of other processes, and survives a killed controller.
func TestDrainSurvivesAKilledController(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	controller := exec.Command(os.Args[0], "mini-controller", city)
	controller.Stderr = os.Stderr
	if err := controller.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		controller.Process.Kill() // after a failure, it would start agents forever
		controller.Wait()
		endAll(t, newProvider(t, city))
	})
	looker, err := New(Options{City: city, Binary: os.Args[0], Observe: true})
	if err != nil {
		t.Fatal(err)
	}
	defer looker.Close()
	until(t, "the agents", func() bool {
		all, err := looker.List(t.Context())
		return err == nil && len(all) == sessiontest.KillAgents && !slices.ContainsFunc(all, func(st session.Status) bool { return !st.Alive })
	})
	before := named(t, looker, "w-3")
	tell(t, looker, "w-3", told)
	if err := controller.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	controller.Wait()

	next := newProvider(t, city)
	if st := named(t, next, "w-3"); st.Drain != told || st.PID != before.PID {
		t.Errorf("drain in the next controller: got %+v", st)
	}
	if st := named(t, next, "w-4"); st.Drain.On() {
		t.Errorf("unexpected marks: %+v", st)
	}
	tell(t, next, "w-3", session.Drain{})
	if a, b := named(t, next, "w-3"), named(t, looker, "w-3"); a.Drain.On() || b.Drain.On() || a.PID != before.PID {
		t.Errorf("after the drain was canceled: got %+v, %+v", a, b)
	}
}

// An older holder keeps the marks, but its shorter record does not contain them.
func TestDrainInOlderHolder(t *testing.T) {
	city := t.TempDir()
	first := newProvider(t, city)
	st := start(t, first, spec(city, "a", "exec sleep 1000"))
	tell(t, first, "a", told)
	first.Close()
	age(t, first.files.path("a", ""))

	second := newProvider(t, city)
	if got := named(t, second, "a"); got.Drain != told || got.PID != st.PID || !got.Alive || !got.Ready {
		t.Errorf("adopted: %+v", got)
	}
	for _, d := range []session.Drain{{Since: told.Since, By: told.By, Acked: true}, {}, told} {
		tell(t, second, "a", d)
		if got := named(t, second, "a"); got.Drain != d {
			t.Errorf("listed %+v, want %+v", got.Drain, d)
		}
	}
	second.Close()
	third := newProvider(t, city)
	if got := named(t, third, "a"); got.Drain != told {
		t.Errorf("adopted again: %+v", got)
	}
	if err := third.Stop(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	if got := named(t, third, "a"); got.Drain.On() {
		t.Errorf("a drain after the exit: got %+v", got)
	}
}

// age gives a session's folder the files of an older build: an empty lock file and an activity record without a drain.
func age(t *testing.T, folder string) {
	t.Helper()
	lock := folder + wire.LockFile
	data, err := os.ReadFile(lock)
	if err != nil {
		t.Fatal(err)
	}
	a, ok := wire.DecodeActivity(data)
	if !ok || !a.Marked {
		t.Fatalf("%+v: not a record of this build", a)
	}
	a.Marked, a.Drain = false, wire.Drain{}
	old := a.Encode()
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(lock, nil, 0o600),
		os.WriteFile(folder+wire.OldActivityFile, old[:64], 0o600)); err != nil {
		t.Fatal(err)
	}
}

// The holder does not import package session, so it has its own copies of the mark names.
func TestMarkNames(t *testing.T) {
	for ours, theirs := range map[string]string{
		session.ReadyMark: wire.ReadyMark, session.DrainMark: wire.DrainMark,
		session.DrainByMark: wire.DrainByMark, session.DrainAckMark: wire.DrainAckMark,
	} {
		if ours != theirs {
			t.Errorf("got %q in package session, %q in the holder", ours, theirs)
		}
	}
	if session.MaxDrainBy != wire.MaxDrainBy {
		t.Errorf("got %d bytes in package session, %d in the holder",
			session.MaxDrainBy, wire.MaxDrainBy)
	}
}
