package tui

import (
	"context"
	"sync/atomic"
	"syscall"
	"testing"

	"gcity/city"
)

// unanswered is a city that never responds to an attach.
type unanswered struct{ *fakeCity }

func (unanswered) Attach(ctx context.Context, _ string, _ city.Viewer) (city.Terminal, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// restarting is a city whose controller is not running during the second attach.
type restarting struct {
	*fakeCity
	attached atomic.Int32
}

func (r *restarting) Attach(ctx context.Context, agent string, v city.Viewer) (city.Terminal,
	error) {
	if r.attached.Add(1) == 2 {
		return nil, city.Errorf(city.Unavailable, "the city is not running: it is starting")
	}
	return r.fakeCity.Attach(ctx, agent, v)
}

// While an attach waits for a response, ctrl+c and ctrl+q cancel the attach and nothing else.
func TestTerminalAttachUnanswered(t *testing.T) {
	t.Parallel()
	c := open(t, "hosting unanswered", 100, 30)
	c.sees("prober")
	c.keys("jjjjjj")
	c.sees("0 builder")
	for _, key := range []string{"\x03", "\x11"} {
		c.keys("a")
		c.sees("attaching to builder; ctrl+c cancels")
		c.signal(syscall.SIGINT) // like ctrl+c before the terminal is in raw mode
		c.keys("lost" + key)
		c.sees("canceled attaching to builder")
		c.keys("j")
		c.sees("0 chatty")
		c.keys("k")
		c.sees("0 builder")
	}
	c.signal(syscall.SIGINT)
	c.ends("interrupted <nil>")
}
