package feed

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/events"
)

func TestUnreachableReasonHasNoSocket(t *testing.T) {
	err := fmt.Errorf("cannot join: %w", &city.NotRunning{Program: "controller", Socket: "/a/b.sock"})
	if got := unreachableReason(err); got != NotRunning {
		t.Errorf("got %q, want %q", got, NotRunning)
	}
}

// replacedLog is a city that gets a new event log while a client follows its events.
type replacedLog struct {
	city.Control
	streams int
}

func (*replacedLog) Snapshot(context.Context) (*city.Snapshot, error) {
	return &city.Snapshot{Seq: 2}, nil
}

func (c *replacedLog) Events(ctx context.Context, _ uint64) iter.Seq2[events.Event, error] {
	c.streams++
	found := []events.Event{{Seq: 1}, {Seq: 2}, {Seq: 3}}
	if c.streams == 1 {
		found = []events.Event{{Seq: 1000}, city.BeyondLog("1000", 2), {Seq: 3}}
	}
	return func(yield func(events.Event, error) bool) {
		for _, e := range found {
			if !yield(e, nil) {
				return
			}
		}
		<-ctx.Done()
	}
}

// If a stream reports that the city has a new event log, the control room shows the events of the new log.
func TestStreamEventsOfANewLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Runner{Ctx: t.Context(), City: &replacedLog{}, Mailbox: NewMailbox(), Log: slog.New(slog.DiscardHandler)}
		r.Spawn("events", r.StreamEvents)
		time.Sleep(time.Minute) // the stream is reopened after a pause
		synctest.Wait()
		news, _ := r.Mailbox.Take(time.Now())
		var got []uint64
		for _, e := range news.Events {
			got = append(got, e.Seq)
		}
		if want := []uint64{1, 2, 3}; !news.EventsRestarted || !slices.Equal(got, want) {
			t.Errorf("got events %d, restarted: %t; want %d", got, news.EventsRestarted, want)
		}
	})
}
