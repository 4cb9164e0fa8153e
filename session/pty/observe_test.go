package pty

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"gcity/internal/proc"
	"gcity/session"
	"gcity/session/pty/internal/wire"
)

func observer(t *testing.T, city string) *Provider {
	t.Helper()
	o, err := New(Options{City: city, Binary: os.Args[0], Observe: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o
}

// observed opens observers, lists the sessions and closes the observers again, until stop is called or the test ends.
func observed(t *testing.T, city string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for ctx.Err() == nil {
				o, err := New(Options{City: city, Binary: os.Args[0], Observe: true})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := o.List(context.Background()); err != nil {
					t.Error(err)
				}
				o.Close()
			}
		})
	}
	stop = func() { cancel(); wg.Wait() }
	t.Cleanup(stop)
	return stop
}

func startAll(t *testing.T, p *Provider, wave []session.Spec) map[string]int {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	pids := map[string]int{}
	for _, s := range wave {
		wg.Go(func() {
			st, err := p.Start(context.Background(), s)
			if err != nil {
				t.Errorf("%s: %v", s.Name, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			pids[s.Name] = st.PID
		})
	}
	wg.Wait()
	return pids
}

// Observers do not affect sessions that are starting, being adopted or stopping.
func TestObserversDuringStartsAndStops(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	t.Parallel()
	city := t.TempDir()
	observed(t, city)
	for round := range 3 {
		p := newProvider(t, city)
		var wave []session.Spec
		for i := range 10 {
			wave = append(wave, spec(city, fmt.Sprintf("a%d", i), "exec sleep 1000"))
		}
		pids := startAll(t, p, wave)
		p.Close()
		p = newProvider(t, city)
		list, err := p.List(t.Context())
		if err != nil || len(list) != len(wave) {
			t.Fatalf("round %d: adopted %d of %d, %v", round, len(list), len(wave), err)
		}
		for _, st := range list {
			if !st.Alive || st.PID != pids[st.Name] {
				t.Errorf("round %d: adopted %+v, want pid %d", round, st, pids[st.Name])
			}
		}
		endAll(t, p)
	}
	if log, err := os.ReadFile(filepath.Join(city, ".gc/sessions/holders.log")); err != nil || len(log) > 0 {
		t.Errorf("log of the holders: got %s, %v", log, err)
	}
}

// A new holder that has no socket yet is not mistaken for one that has lost its socket.
func TestStartingSessionIsLeftAlone(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	gate := filepath.Join(city, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	plain := p.launcher.env
	p.launcher.env = append(p.launcher.env[:len(p.launcher.env):len(p.launcher.env)], "GATE="+gate)
	result := make(chan error, 1)
	s := spec(city, "a", "exec cat")
	go func() {
		_, err := p.Start(context.Background(), s)
		result <- err
	}()
	opened := make(chan error, 1)
	var f *os.File
	go func() { // OpenFile returns when the holder opens the fifo
		var err error
		f, err = os.OpenFile(gate, os.O_WRONLY, 0)
		opened <- err
	}()
	select {
	case err := <-opened:
		if err != nil {
			t.Fatal(err)
		}
	case err := <-result:
		t.Fatalf("Start returned too early: %v", err)
	}
	observer(t, city).Close()
	other, err := New(Options{City: city, Binary: os.Args[0]})
	if err != nil {
		t.Fatal(err)
	}
	other.Close()
	if err := p.files.restoreSockets(t.Context()); err != nil {
		t.Error(err)
	}
	f.Close()
	if err := <-result; err != nil {
		t.Error(err)
	}
	p.launcher.env = plain
}

// An idle holder is reused even after observers have connected. After its controller exits, an observer does not keep
// it alive.
func TestIdleHolderWithObservers(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	end := func() {
		t.Helper()
		s := spec(city, "a", "exit 3")
		start(t, p, s)
		nextExit(t, p)
		if err := p.Acknowledge(t.Context(), "a", s.ID); err != nil {
			t.Fatal(err)
		}
	}
	end()
	holder := holderOf(t, p, "a")
	stop := observed(t, city)
	for range 5 {
		observer(t, city).Close()
		end()
		if got := holderOf(t, p, "a"); got != holder {
			t.Errorf("holder of the next session: got %d, want %d", got, holder)
		}
	}
	stop()
	observer(t, city)
	p.Close()
	until(t, "the exit of the idle holder", func() bool { return !alive(holder) })
}

// An exit that no controller has acknowledged is kept for the next one, even if observers have read it.
func TestUnacknowledgedExitWithObservers(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	s := spec(city, "a", "exit 3")
	start(t, p, s)
	nextExit(t, p)
	p.Close()
	for range 3 {
		o := observer(t, city)
		list, err := o.List(t.Context())
		if err != nil || len(list) != 1 || list[0].Exit == nil || list[0].Exit.Code != 3 {
			t.Fatalf("%+v, %v", list, err)
		}
		if _, err := o.Capture(t.Context(), "a", s.ID); err != nil {
			t.Error(err)
		}
		o.Close()
	}
	next := newProvider(t, city)
	if _, err := next.Capture(t.Context(), "a", s.ID); err != nil {
		t.Error(err)
	}
}

// Without a controller, an observer can stop a session and acknowledge its exit.
func TestObserverStops(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	s := spec(city, "a", "exec cat")
	start(t, p, s)
	holder := holderOf(t, p, "a")
	p.Close()
	o := observer(t, city)
	if err := o.Stop(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	if x := nextExit(t, o); x.ID != s.ID || !x.Asked || x.Lost {
		t.Errorf("%+v", x)
	}
	if _, err := o.Capture(t.Context(), "a", s.ID); err != nil {
		t.Errorf("the holder exited before its agent's exit was recorded: %v", err)
	}
	if err := o.Acknowledge(t.Context(), "a", s.ID); err != nil {
		t.Error(err)
	}
	until(t, "the exit of the holder", func() bool { return !alive(holder) })
	if _, err := os.Stat(p.files.dir + "/a"); err == nil {
		t.Error("the session's folder was not removed")
	}
}

// An observer does not restore a missing folder or socket.
func TestObserverRestoresNothing(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", "exec cat"))
	sock := p.files.path("a", wire.SocketFile)
	o := observer(t, city)
	if err := os.Remove(sock); err != nil {
		t.Fatal(err)
	}
	if err := o.Send(t.Context(), "a", "x"); err == nil {
		t.Error("an observer reached a holder without a socket")
	}
	observer(t, city).Close()
	if _, err := os.Stat(sock); err == nil {
		t.Error("an observer made the holder create its socket again")
	}
	if err := p.Send(t.Context(), "a", "x"); err != nil {
		t.Error(err)
	}
	ino := func() uint64 {
		_, ino, err := proc.Inode(sock)
		if err != nil {
			t.Error(err)
		}
		return ino
	}
	before := ino()
	if err := syscall.Kill(holderOf(t, p, "a"), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(t.Context(), "a", 0); err != nil {
		t.Error(err)
	}
	if after := ino(); after != before {
		t.Error("a holder replaced its socket")
	}
}

// Without the holders' log, for example on a read-only file system, sessions can still be listed and stopped.
func TestWithoutHolderLog(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	pids := startAll(t, p, []session.Spec{spec(city, "a", "exec sleep 1000")})
	p.Close()
	log := filepath.Join(city, ".gc/sessions/holders.log")
	if err := errors.Join(os.Remove(log), os.Mkdir(log, 0o700)); err != nil {
		t.Fatal(err)
	}
	p = newProvider(t, city)
	list, err := p.List(t.Context())
	if err != nil || len(list) != 1 || !list[0].Alive || list[0].PID != pids[list[0].Name] {
		t.Fatalf("%+v, %v", list, err)
	}
	endAll(t, p)
}

func TestObserverListsHiddenSessions(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	s := spec(city, "hidden", "exec sleep 100")
	s.Env = append(s.Env, "GC_AGENT="+s.Agent)
	began := start(t, p, s)
	if err := os.RemoveAll(filepath.Join(city, ".gc")); err != nil {
		t.Fatal(err)
	}
	all, err := observer(t, city).List(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	got := all[0]
	if got.Name != began.Name || got.Agent != began.Agent || got.ID != began.ID || got.PID != began.PID || !got.Alive ||
		got.Started.Sub(began.Started).Abs() > 5*time.Second {
		t.Errorf("%+v, want %+v", got, began)
	}
}

// An observer creates nothing in a folder that is not a city yet.
func TestObserverCreatesNothing(t *testing.T) {
	city := t.TempDir()
	if list, err := observer(t, city).List(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("got %v, %v", list, err)
	}
	if left, err := os.ReadDir(city); err != nil || len(left) > 0 {
		t.Errorf("the observer created %v, %v", left, err)
	}
}
