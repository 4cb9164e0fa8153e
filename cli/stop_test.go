package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
)

// stoppingCity is a controller that responds to a request for its state only after a command to stop.
type stoppingCity struct {
	city.Control
	t       *testing.T
	mode    string
	stopped chan struct{}
}

func (c stoppingCity) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	select {
	case <-c.stopped:
		return &city.Snapshot{Mode: c.mode}, nil
	case <-ctx.Done():
		c.t.Error("stop waits for a snapshot")
		return nil, ctx.Err()
	}
}

func (c stoppingCity) Do(context.Context, city.Command) (city.Receipt, error) {
	close(c.stopped)
	return city.Receipt{}, nil
}

// A stop does not wait until the controller has said how the city runs. Its message says how to start the city again.
func TestStopDoesNotWaitForASnapshot(t *testing.T) {
	for mode, want := range map[string]string{
		"console":  "`gcity --city ",
		"headless": "`gcity --city ",
		"settle":   "`gcity start --standalone --city ",
	} {
		home := t.TempDir()
		e := &env.Env{Printer: output.Printer{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Now: time.Now,
			Getenv: func(name string) string { return map[string]string{"GC_HOME": home}[name] }}}
		c := stoppingCity{t: t, mode: mode, stopped: make(chan struct{})}
		l := &env.Link{Control: c, Dir: t.TempDir(), Live: true, Close: func() {}}
		if what, err := stopRunning(t.Context(), e, l); err != nil || !strings.Contains(what, want) {
			t.Errorf("%s: %q, %v", mode, what, err)
		}
	}
}
