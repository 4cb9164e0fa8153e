package fleet

import (
	"context"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/city/citytest"
	"gcity/cli/env"
	"gcity/cli/output"
)

type countingCity struct {
	*citytest.Fake
	requests int
}

func (c *countingCity) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	c.requests++
	return c.Fake.Snapshot(ctx)
}

// A start waits until no agent has been starting or stopping for settleQuiet. It does not poll the city.
func TestAwaitSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &countingCity{Fake: citytest.NewFake("town", city.Agent{Name: "a", State: city.Starting})}
		began := time.Now()
		for _, change := range []struct {
			after time.Duration
			to    city.State
		}{{time.Second, city.Running}, {settleQuiet / 2, city.Stopping}, {time.Second / 2, city.Running}} {
			began = began.Add(change.after)
			time.AfterFunc(time.Until(began), func() {
				c.Set(func(s *city.Snapshot) { s.Agents[0].State = change.to })
			})
		}
		e := &env.Env{Printer: output.Printer{Getenv: os.Getenv, Now: time.Now, Err: io.Discard}}
		s, err := awaitSettled(t.Context(), e, c)
		if err != nil || s.Agents[0].State != city.Running {
			t.Errorf("got %+v, %v", s, err)
		}
		if got := time.Since(began); got != settleQuiet {
			t.Errorf("returned %s after the last change, want %s", got, settleQuiet)
		}
		if c.requests > 0 {
			t.Errorf("polled the city %d times", c.requests)
		}
	})
}
