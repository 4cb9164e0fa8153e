package tui

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/events"
	"gcity/tui/terminal"
)

// scripted is a city whose terminals follow a script.
type scripted struct {
	*fakeCity
	watch func(ctx context.Context, agent string, yield func(city.Frame, error) bool)
}

func (s *scripted) Watch(ctx context.Context, agent string) iter.Seq2[city.Frame, error] {
	return func(yield func(city.Frame, error) bool) { s.watch(ctx, agent, yield) }
}

// viewing runs a viewer on fake time until the test's body returns.
func viewing(t *testing.T, script func(ctx context.Context, agent string, yield func(city.Frame, error) bool), body func(v *viewer, b *mailbox)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := newMailbox()
		c := &scripted{newFakeCity(epoch), script}
		r := &runner{ctx: ctx, city: c, box: b, log: slog.New(slog.DiscardHandler), viewer: newViewer(c, b, terminal.NewScreen), fail: cancel}
		r.spawn("pane", r.viewer.run)
		body(r.viewer, b)
		cancel()
		r.wait()
		if err := r.failure(); err != nil {
			t.Error(err)
		}
	})
}

// seen is what the mailbox holds of the pane once everything has come to rest.
func seen(t *testing.T, b *mailbox) terminal.News {
	t.Helper()
	synctest.Wait()
	n, _ := b.take(time.Now())
	if n.pane == nil {
		t.Fatal("nothing was seen")
	}
	return *n.pane
}

func screenText(p terminal.News) string {
	if p.Screen == nil {
		return ""
	}
	return strings.TrimSpace(strings.Join(p.Screen.Lines(80, 24), "\n"))
}

func TestViewerShowsTheLastTargetOnly(t *testing.T) {
	opened := []string{}
	viewing(t, func(ctx context.Context, agent string, yield func(city.Frame, error) bool) {
		opened = append(opened, agent)
		yield(city.Frame{Reset: true, Cols: 60, Rows: 20, Data: []byte("I am " + agent)}, nil)
		<-ctx.Done()
	}, func(v *viewer, b *mailbox) {
		for _, name := range []string{"a", "b", "c"} {
			v.look(watch{agent: name, session: "1", running: true})
		}
		time.Sleep(settle + time.Millisecond) // fake time
		if p := seen(t, b); p.Agent != "c" || screenText(p) != "I am c" {
			t.Errorf("seen %+v", p)
		}
		v.look(watch{agent: "c", session: "1", running: true, focused: true}) // the same
		v.look(watch{agent: "d", session: "1", running: true})
		time.Sleep(settle + time.Millisecond)
		if p := seen(t, b); screenText(p) != "I am d" {
			t.Errorf("seen %q", screenText(p))
		}
		v.look(watch{})
		time.Sleep(time.Hour)
	})
	if got := fmt.Sprint(opened); got != "[c d]" {
		t.Errorf("opened %s", got)
	}
}

func TestViewerFollowsResetsAndSizes(t *testing.T) {
	viewing(t, func(ctx context.Context, _ string, yield func(city.Frame, error) bool) {
		yield(city.Frame{Reset: true, Cols: 60, Rows: 20, Data: []byte("old\r\nlines")}, nil)
		yield(city.Frame{Cols: 70, Rows: 21, Data: []byte(" more\r\n")}, nil)
		yield(city.Frame{Reset: true, Data: []byte("anew\r\n")}, nil)
		<-ctx.Done()
	}, func(v *viewer, b *mailbox) {
		v.look(watch{agent: "a", session: "1", running: true})
		time.Sleep(settle + time.Millisecond)
		p := seen(t, b)
		if cols, rows := p.Screen.Size(); cols != 70 || rows != 21 || screenText(p) != "anew" || p.Fed != 3 {
			t.Errorf("%dx%d %q, fed %d", cols, rows, screenText(p), p.Fed)
		}
	})
}

func TestViewerKeepsLastWords(t *testing.T) {
	opened := 0
	viewing(t, func(_ context.Context, _ string, yield func(city.Frame, error) bool) {
		opened++
		yield(city.Frame{Reset: true, Data: []byte("good bye")}, nil)
	}, func(v *viewer, b *mailbox) {
		v.look(watch{agent: "a", session: "1", running: true})
		time.Sleep(settle + time.Millisecond)
		v.look(watch{agent: "a", session: "1"}) // the city has noticed
		time.Sleep(time.Hour)
		if p := seen(t, b); screenText(p) != "good bye" || !p.Ended {
			t.Errorf("seen %q, ended %v", screenText(p), p.Ended)
		}
	})
	if opened != 1 {
		t.Errorf("an ended session was opened %d times", opened)
	}
}

func TestViewerAsksForKeptOutput(t *testing.T) {
	viewing(t, func(_ context.Context, agent string, yield func(city.Frame, error) bool) {
		yield(city.Frame{}, &city.Error{Code: city.Unavailable, Message: agent + " has no session"})
	}, func(v *viewer, b *mailbox) {
		v.look(watch{agent: "scout"})
		time.Sleep(time.Minute)
		if p := seen(t, b); len(p.Text) != 2 || p.Problem != "" {
			t.Errorf("seen %+v", p)
		}
		v.look(watch{agent: "zeta"})
		time.Sleep(time.Minute)
		if p := seen(t, b); p.Text != nil || p.Problem != "zeta has no session" {
			t.Errorf("seen %+v", p)
		}
	})
}

func TestViewerOpensABrokenStreamAgain(t *testing.T) {
	opened := 0
	viewing(t, func(ctx context.Context, _ string, yield func(city.Frame, error) bool) {
		if opened++; opened < 4 {
			yield(city.Frame{}, &city.Error{Code: city.Unavailable, Message: "not yet"})
			return
		}
		yield(city.Frame{Reset: true, Data: []byte("here I am")}, nil)
		<-ctx.Done()
	}, func(v *viewer, b *mailbox) {
		v.look(watch{agent: "a", session: "1", running: true})
		time.Sleep(time.Minute)
		if p := seen(t, b); screenText(p) != "here I am" || p.Ended || p.Problem != "" {
			t.Errorf("seen %+v", p)
		}
	})
}

// The model does not listen for an hour, as during an attach: nothing grows, nobody waits, the newest is kept.
func TestMailboxNeverWaits(t *testing.T) {
	b := newMailbox()
	for i := range 10 * maxPending {
		b.putEvent(events.Event{Seq: uint64(i + 1)})
		b.putSnapshot(&city.Snapshot{Rev: uint64(i + 1)})
		b.putPane(terminal.News{Fed: uint64(i + 1)})
	}
	n, _ := b.take(epoch)
	if last := n.events[len(n.events)-1].Seq; len(n.events) < maxPending || len(n.events) > 2*maxPending || last != 10*maxPending {
		t.Errorf("%d events up to %d", len(n.events), last)
	}
	if n.snap.Rev != 10*maxPending || n.pane.Fed != 10*maxPending {
		t.Errorf("snapshot %d, pane %d", n.snap.Rev, n.pane.Fed)
	}
	if n, _ := b.take(epoch); !n.empty() {
		t.Error("taken twice")
	}
}

func TestMailboxPacesThePane(t *testing.T) {
	b := newMailbox()
	b.pace(500 * time.Millisecond)
	look := func(at time.Duration, urgent bool) (bool, time.Time) {
		b.putPane(terminal.News{Urgent: urgent})
		n, next := b.take(epoch.Add(at))
		return n.pane != nil, next
	}
	if ok, _ := look(0, false); !ok {
		t.Error("the first look waits")
	}
	if ok, next := look(100*time.Millisecond, false); ok || !next.Equal(epoch.Add(500*time.Millisecond)) {
		t.Errorf("too early: %v, next %v", ok, next)
	}
	if ok, _ := look(200*time.Millisecond, true); !ok {
		t.Error("the first sight of a session waits")
	}
	if ok, _ := look(time.Second, false); !ok {
		t.Error("it is due")
	}
}

// The pump sends at most once per gap, and the time every second.
func TestPump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := &runner{ctx: ctx, box: newMailbox(), log: slog.New(slog.DiscardHandler), fail: cancel}
		var sent, full atomic.Int64
		r.spawn("pump", func(ctx context.Context) {
			r.pump(ctx, 100*time.Millisecond, func(_ time.Time, n news) {
				sent.Add(1)
				full.Add(int64(len(n.events)))
			})
		})
		for i := range 1000 { // ten seconds of an event every 10 ms
			r.box.putEvent(events.Event{Seq: uint64(i + 1)})
			time.Sleep(10 * time.Millisecond)
		}
		if n := sent.Swap(0); n < 90 || n > 101 || full.Load() < 980 {
			t.Errorf("%d messages with %d events in 10 s", n, full.Load())
		}
		time.Sleep(10 * time.Second)
		if n := sent.Load(); n < 9 || n > 12 {
			t.Errorf("%d messages in 10 s of rest", n)
		}
		cancel()
		r.wait()
	})
}

// A city that comes back is found again, and no event is missed or told twice.
func TestBridgeFindsTheCityAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := &flickering{fakeCity: newFakeCity(epoch)}
		r := &runner{ctx: ctx, city: c, box: newMailbox(), log: slog.New(slog.DiscardHandler), fail: cancel}
		r.spawn("snapshots", r.snapshots)
		r.spawn("events", r.events)
		time.Sleep(50 * time.Millisecond)
		n, _ := r.box.take(time.Now())
		if n.gone == nil || *n.gone != "the controller has ended" {
			t.Errorf("gone: %v", n.gone)
		}
		time.Sleep(time.Minute)
		m, _ := r.box.take(time.Now())
		var seqs []uint64
		for _, e := range append(n.events, m.events...) {
			seqs = append(seqs, e.Seq)
		}
		if m.gone == nil || *m.gone != "" || m.snap == nil {
			t.Errorf("it is not found again: %v %v", m.gone, m.snap)
		}
		for i, s := range seqs {
			if s != uint64(i+1) {
				t.Fatalf("events %v", seqs)
			}
		}
		if len(seqs) != len(c.fakeCity.events) {
			t.Errorf("%d of %d events", len(seqs), len(c.fakeCity.events))
		}
		cancel()
		r.wait()
	})
}

// flickering breaks every stream twice before it lets it live.
type flickering struct {
	*fakeCity
	snaps, tails int
}

func (f *flickering) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	if f.snaps++; f.snaps < 3 {
		return func(yield func(*city.Snapshot, error) bool) {}
	}
	return f.fakeCity.Snapshots(ctx)
}

func (f *flickering) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	f.tails++
	cut := f.tails < 3
	return func(yield func(events.Event, error) bool) {
		n := 0
		for e, err := range f.fakeCity.Events(ctx, after) {
			if n++; cut && n > 4 {
				yield(events.Event{}, &city.Error{Code: city.Unavailable, Message: "gone"})
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
