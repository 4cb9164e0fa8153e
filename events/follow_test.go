package events

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"gcity/internal/eventually"
)

func collect(t testing.TB, follow func(context.Context, uint64) iter.Seq2[Event, error], n int) <-chan []Event {
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Timeout)
	out := make(chan []Event, 1)
	go func() {
		defer cancel()
		var got []Event
		defer func() { out <- got }()
		for e, err := range follow(ctx, 0) {
			if err != nil {
				t.Errorf("follow: %v", err)
				return
			}
			if got = append(got, e); len(got) == n {
				return
			}
		}
	}()
	return out
}

// A slow follower continues in the files across rotations, and catches up without gaps or duplicates.
func TestSlowFollowerAcrossRotations(t *testing.T) {
	if testing.Short() {
		t.Skip("writes many events")
	}
	const total = 3 * recentEvents
	l := open(t, t.TempDir(), Options{SegmentSize: 100_000, datasync: noSync.datasync})
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Timeout)
	defer cancel()
	appendN(t, l, 10)
	want := uint64(1)
	for e, err := range l.Follow(ctx, 0) {
		if err != nil || e.Seq != want {
			t.Fatalf("got %d, %v, want %d", e.Seq, err, want)
		}
		if want == 5 {
			appendN(t, l, total-20)
			if _, _, reaches := l.recent.since(want, nil); reaches {
				t.Fatal("the events are still in memory, so nothing is tested")
			}
		}
		if want == total {
			break
		}
		if want++; want > total-10 {
			appendN(t, l, 1)
		}
	}
	if ctx.Err() != nil {
		t.Fatalf("stuck before %d", want)
	}
}

// A page of the newest events spans several segments. Paging back with Before returns each event once.
func TestPagingAcrossSegments(t *testing.T) {
	const total = 2000
	l := open(t, t.TempDir(), Options{SegmentSize: 10_000, datasync: noSync.datasync})
	appendN(t, l, total)
	next := uint64(total)
	for q := (Query{Limit: 333}); ; q.Before = next + 1 {
		page, err := l.Find(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			if e.Seq != next {
				t.Fatalf("got %d, want %d", e.Seq, next)
			}
			next--
		}
		if len(page) == 0 {
			break
		}
	}
	if next != 0 {
		t.Fatalf("paging ended before event %d", next)
	}
	for after := uint64(0); after < total; after += 77 { // any segment can contain the cursor
		page, err := l.Find(t.Context(), Query{After: after, Forward: true, Limit: 3})
		if err != nil || len(page) == 0 || page[0].Seq != after+1 {
			t.Fatalf("page after %d: got %v, %v", after, seqsOf(page), err)
		}
	}
}

// The channel of Changed is closed when there is a new event. Close ends followers with ErrClosed (L9).
func TestChangedAndClose(t *testing.T) {
	l := open(t, t.TempDir(), Options{})
	ch := l.Changed(0)
	select {
	case <-ch:
		t.Fatal("the channel was closed without a new event")
	default:
	}
	appendN(t, l, 1)
	<-ch
	<-l.Changed(0)
	ended := make(chan error, 1)
	started := make(chan struct{})
	go func() {
		for e, err := range l.Follow(t.Context(), 0) {
			if e.Seq == 1 {
				close(started)
			}
			if err != nil {
				ended <- err
			}
		}
		close(ended)
	}()
	<-started
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Fatalf("end of Follow: got %v", err)
	}
	if _, more := <-ended; more {
		t.Fatal("Follow did not end")
	}
	if _, err := l.Append(Event{Type: "a.b"}); !errors.Is(err, ErrClosed) {
		t.Fatalf("Append after Close: got %v", err)
	}
}

// Lines that another process appends wake waiters in this process.
func TestForeignLinesWake(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	other := open(t, dir, Options{})
	for i := range uint64(3) {
		ch := l.Changed(i)
		appendN(t, other, 1)
		eventually.Receive(t, "a wake-up", ch)
	}
	if last := appendN(t, l, 1); last != 4 {
		t.Fatalf("seq %d, want 4", last)
	}
	gapless(t, all(t, dir), 1)
}

// In a synctest bubble with a fake clock, a log works as usual, and Close leaves no goroutine behind (L10).
func TestInBubble(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan Event)
		go func() {
			defer close(got)
			for e, err := range l.Follow(t.Context(), 0) {
				if err != nil {
					return
				}
				got <- e
			}
		}()
		other, err := Open(dir, Options{Poll: -1})
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(4) {
			writer := l
			if i%2 == 1 {
				writer = other
			}
			start := time.Now()
			if _, err := writer.Append(Event{Type: "test.ping"}); err != nil {
				t.Fatal(err)
			}
			if e := <-got; e.Seq != i+1 || !e.TS.Equal(start) || time.Since(start) > time.Second {
				t.Fatalf("got %+v after %s", e, time.Since(start))
			}
		}
		for _, l := range []*Log{l, other} {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if _, more := <-got; more {
			t.Fatal("an event was not written")
		}
	})
}
