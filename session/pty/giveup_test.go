package pty

import (
	"context"
	"testing"
	"time"
)

// Canceling a start at any time leaves nothing running (L10). The name is free for the next start.
func TestCanceledStart(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	given := 0
	for i := range 30 {
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(time.Duration(i)*200*time.Microsecond, cancel)
		_, err := p.Start(ctx, spec(city, "given-up", "exec sleep 1000"))
		timer.Stop()
		cancel()
		if err != nil {
			given++
			start(t, p, spec(city, "given-up", "exec sleep 1000"))
		}
		if err := p.Stop(t.Context(), "given-up", 0); err != nil {
			t.Fatal(err)
		}
	}
	if given == 0 {
		t.Error("every start finished before it was canceled, so nothing was tested")
	}
}
