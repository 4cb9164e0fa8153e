package agents

import (
	"context"
	"testing"

	"github.com/creack/pty"

	"gcity/city"
	"gcity/city/citytest"
	"gcity/cli/env"
	"gcity/cli/exit"
)

// dying is a controller that accepts a connection and exits before it answers a request.
type dying struct{ city.Control }

func (dying) Attach(context.Context, string, city.Viewer) (city.Terminal, error) {
	return nil, exit.NotRunning("no controller is running")
}

// If a controller exits during a reattach, reattach retries through the next controller or without one.
func TestReattachPastADyingController(t *testing.T) {
	_, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	f := citytest.NewFake("town", city.Agent{Name: "shell", Running: true})
	asked, closed := 0, 0
	a := &env.Env{Reach: func(context.Context, string) (*env.Link, error) {
		l := &env.Link{Control: f, Close: func() { closed++ }}
		if asked++; asked < 3 {
			l.Control, l.Live = dying{f}, true
		}
		return l, nil
	}}
	l, far, err := reattach(t.Context(), a, &attachment{out: tty}, "/town", "shell")
	if err != nil || l.Live || asked != 3 || closed != 2 {
		t.Fatalf("got %d open calls, %d close calls: %v", asked, closed, err)
	}
	if err := far.Close(); err != nil {
		t.Error(err)
	}
	a.Reach = func(context.Context, string) (*env.Link, error) {
		asked++
		return &env.Link{Control: dying{f}, Close: func() {}}, nil
	}
	if _, _, err := reattach(t.Context(), a, &attachment{out: tty}, "/town", "shell"); err == nil ||
		asked != 4 {
		t.Errorf("got %d open calls: %v", asked, err)
	}
}
