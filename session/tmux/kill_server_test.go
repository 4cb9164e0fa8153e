package tmux

import "testing"

// A dismissed server exits when it has no sessions, and not earlier.
func TestDismissed(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	begun := func() (server int) {
		start(t, p, spec(city, "a", "exec sleep 999"))
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.tmux.server.PID
	}
	over := func() {
		t.Helper()
		if err := p.Stop(t.Context(), "a", 0); err != nil {
			t.Fatal(err)
		}
		ack(t, p, nextExit(t, p))
	}
	dismiss := func() {
		t.Helper()
		if err := p.Dismiss(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	first := begun()
	dismiss()
	if st, err := p.List(t.Context()); err != nil || len(st) != 1 || !st[0].Alive {
		t.Fatalf("%+v, %v", st, err)
	}
	over()
	if !p.tmux.isServer(first) {
		t.Fatal("the server exited before Dismiss")
	}
	dismiss()
	until(t, "the exit of the empty server", func() bool { return !lives(first) })
	second := begun()
	if second == first || !lives(second) {
		t.Fatalf("server of the next session: got %d, same as the first: %d", second, first)
	}
	over()
}

// A server with another program's session keeps running.
func TestDismissedWithAnotherProcess(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", "exec sleep 999"))
	if _, err := p.tmux.run(t.Context(), nil, "new-session", "-d", "-s", "somebody", "exec sleep 999"); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	ack(t, p, nextExit(t, p))
	for range 2 {
		if err := Dismiss(t.Context(), city); err != nil {
			t.Fatal(err)
		}
	}
	out, err := p.tmux.once(t.Context(), nil, "list-sessions", "-F", "#{session_name}")
	if err != nil || out != "somebody\n" {
		t.Fatalf("sessions of the server: got %q, %v", out, err)
	}
	if _, err := p.tmux.once(t.Context(), nil, "set-option", "-s", "exit-empty", "off", ";", "kill-session", "-t", "=somebody"); err != nil {
		t.Fatal(err)
	}
	if !p.tmux.serverLives() {
		t.Fatal("the server exited on its own")
	}
	if err := Dismiss(t.Context(), city); err != nil {
		t.Fatal(err)
	}
	until(t, "the exit of the empty server", func() bool { return !p.tmux.serverLives() })
	if err := Dismiss(t.Context(), city); err != nil {
		t.Errorf("Dismiss of a server that has exited: got %v", err)
	}
	if err := Dismiss(t.Context(), t.TempDir()); err != nil {
		t.Errorf("Dismiss in a city without a server: got %v", err)
	}
}
