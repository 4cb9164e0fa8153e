package feed

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"gcity/city"
	"gcity/events"
)

// largeEvents is a city with 900 events. A page of its history contains at most half of the requested events.
type largeEvents struct{ city.Control }

func (largeEvents) History(_ context.Context, q events.Query) (found []events.Event, _ error) {
	for seq := min(q.Before-1, 1000); seq > 100 && len(found) < q.Limit/2; seq-- {
		found = append(found, events.Event{Seq: seq})
	}
	return found, nil
}

// A page with fewer events than requested does not mean that there are no older events.
func TestShortPageOfHistory(t *testing.T) {
	r := &Runner{Ctx: t.Context(), City: largeEvents{}, Mailbox: NewMailbox(), Log: slog.New(slog.DiscardHandler)}
	load := func(before uint64) LoadedHistory {
		r.Start(LoadHistory{ID: 1, Before: before})
		r.Goroutines.Wait()
		news, _ := r.Mailbox.Take(time.Now())
		pages := news.HistoryPages
		if len(pages) != 1 || pages[0].Problem != "" {
			t.Fatalf("before %d: %+v", before, pages)
		}
		return pages[0]
	}
	if p := load(1000); p.Complete || len(p.Events) != HistoryPageSize/2 {
		t.Errorf("short page: got %d events, complete: %t", len(p.Events), p.Complete)
	}
	if p := load(101); !p.Complete || len(p.Events) != 0 {
		t.Errorf("empty page: got %d events, complete: %t", len(p.Events), p.Complete)
	}
}
