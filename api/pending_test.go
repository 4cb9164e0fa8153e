package api

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"gcity/api/wire"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/events"
)

type lateCity struct {
	city.Control
	free  chan struct{}
	asked int
}

func (l *lateCity) History(context.Context, events.Query) ([]events.Event, error) {
	l.asked++
	<-l.free
	return nil, nil
}

// After a call was abandoned, the city is not called again until that call ends.
func TestPendingCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lateCity{Control: citytest.NewFake("a"), free: make(chan struct{})}
		m := citytest.NewDirectory()
		m.Add("a", "/a", l)
		c, err := limitedDirectory{m, &pendingCalls{}}.City("a")
		if err != nil {
			t.Fatal(err)
		}
		ask := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err, ok := inTime(ctx, func() error { _, err := c.History(ctx, events.Query{}); return err })
			if !ok {
				err = ctx.Err()
			}
			synctest.Wait()
			return err
		}
		for range 2 { // a call that has hung only briefly does not block another call
			if err := ask(); err != context.DeadlineExceeded {
				t.Error(err)
			}
		}
		time.Sleep(2 * snapshotTime)
		if err := ask(); wire.ErrorOf(err).Message != "a has not responded to an earlier request yet" || l.asked != 2 {
			t.Errorf("%v, after %d calls", err, l.asked)
		}
		close(l.free)
		synctest.Wait()
		if err := ask(); err != nil {
			t.Error(err)
		}
	})
}
