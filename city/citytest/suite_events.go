package citytest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"gcity/city"
	"gcity/events"
)

// The event that a receipt names is in the log (L9).
func testEmit(t *testing.T, ctx context.Context, ctl city.Control) {
	e := events.Event{Type: "deploy.done", Actor: "operator", Subject: "site", Message: "größer",
		Payload: []byte(`{"n":1}`)}
	r := do(t, ctx, ctl, city.Emit{Event: e})
	found, err := ctl.History(ctx, events.Query{After: r.Seq - 1, Limit: 1})
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	if f := found[0]; f.Seq != r.Seq || f.Type != e.Type || f.Actor != e.Actor ||
		f.Subject != e.Subject ||
		f.Message != e.Message || string(f.Payload) != string(e.Payload) || f.TS.IsZero() {
		t.Errorf("%+v", f)
	}
	_, err = ctl.Do(ctx, city.Emit{})
	wantCode(t, "an event without a type", err, city.Invalid)
}

func emit(t *testing.T, ctx context.Context, ctl city.Control, n int) (last uint64) {
	t.Helper()
	for i := range n {
		last = do(t, ctx, ctl, city.Emit{Event: events.Event{Type: "test.tick",
			Subject: fmt.Sprint(i)}}).Seq
	}
	return last
}

func testEvents(t *testing.T, ctx context.Context, ctl city.Control) {
	last := emit(t, ctx, ctl, 5)
	var next uint64 = 1
	for e, err := range ctl.Events(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq != next {
			t.Fatalf("got event %d, want %d", e.Seq, next)
		}
		next++
		if e.Seq == last {
			last = emit(t, ctx, ctl, 1)
			if next > 20 {
				return
			}
		}
	}
	t.Error("the stream ended")
}

func testEventsResume(t *testing.T, ctx context.Context, ctl city.Control) {
	last := emit(t, ctx, ctl, 10)
	for e, err := range ctl.Events(ctx, last-3) {
		if err != nil || e.Seq != last-2 {
			t.Errorf("got %+v, %v, want event %d", e, err, last-2)
		}
		break
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for e, err := range ctl.Events(ended, 0) {
		if err == nil {
			t.Errorf("got an event after the context ended: %+v", e)
		}
	}
}

func testHistory(t *testing.T, ctx context.Context, ctl city.Control) {
	var seq []uint64
	for i := range 10 {
		seq = append(seq, do(t, ctx, ctl, city.Emit{Event: events.Event{Type: "test.tick",
			Subject: fmt.Sprint(i)}}).Seq)
	}
	last := seq[9]
	tick := []string{"test.*"}
	for _, c := range []struct {
		name  string
		q     events.Query
		n     int
		first uint64
	}{
		{"newest first", events.Query{Types: tick, Limit: 3}, 3, last},
		{"all", events.Query{Types: tick}, 10, last},
		{"after a seq", events.Query{Types: tick, After: seq[7]}, 2, seq[8]},
		{"forward", events.Query{Types: tick, Forward: true, Limit: 2}, 2, seq[0]},
		{"before a seq", events.Query{Types: tick, Before: last, Limit: 1}, 1, seq[8]},
		{"by actor", events.Query{Actor: "operator", Limit: 100}, 10, last},
		{"by subject", events.Query{Types: []string{"no.such", "test.tick"}, Subject: "4"}, 1,
			seq[4]},
		{"nothing", events.Query{Types: []string{"no.such"}}, 0, 0},
		{"too new", events.Query{Types: tick, Since: time.Now().Add(time.Hour)}, 0, 0},
	} {
		found, err := ctl.History(ctx, c.q)
		if err != nil || len(found) != c.n || c.n > 0 && found[0].Seq != c.first {
			t.Errorf("%s: got %v, %+v, want %d events from %d", c.name, err, found, c.n, c.first)
		}
	}
}

func testConcurrent(t *testing.T, ctx context.Context, ctl city.Control) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 10 {
				if _, err := ctl.Snapshot(ctx); err != nil {
					t.Error(err)
				}
				if _, err := ctl.Do(ctx, city.Emit{Event: events.Event{Type: "test.storm",
					Subject: fmt.Sprint(i)}}); err != nil {
					t.Error(err)
				}
				if _, err := ctl.Output(ctx, Worker, 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	found, err := ctl.History(ctx, events.Query{Types: []string{"test.storm"}, Limit: 1000})
	if err != nil || len(found) != 80 {
		t.Errorf("%d events, %v", len(found), err)
	}
}
