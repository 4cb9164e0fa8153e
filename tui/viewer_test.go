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
	"gcity/tui/feed"
	"gcity/tui/terminal"
)

// scripted is a city with terminals that follow a script.
type scripted struct {
	*fakeCity
	watch func(ctx context.Context, agent string, yield func(city.Frame, error) bool)
}

func (s *scripted) Watch(ctx context.Context, agent string) iter.Seq2[city.Frame, error] {
	return func(yield func(city.Frame, error) bool) { s.watch(ctx, agent, yield) }
}

// viewing runs a viewer on fake time until the test's body returns.
func viewing(t *testing.T, script func(ctx context.Context, agent string, yield func(city.Frame, error) bool), body func(v *feed.Viewer, b *feed.Mailbox)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := feed.NewMailbox()
		c := &scripted{newFakeCity(epoch), script}
		r := &feed.Runner{Ctx: ctx, City: c, Mailbox: b, Log: slog.New(slog.DiscardHandler), Viewer: feed.NewViewer(c, b, terminal.NewScreen), Fail: cancel}
		r.Spawn("pane", r.Viewer.Run)
		body(r.Viewer, b)
		cancel()
		r.Wait()
		if err := r.PanicError(); err != nil {
			t.Error(err)
		}
	})
}

// seen returns the news about the pane in the mailbox, once all goroutines are idle.
func seen(t *testing.T, b *feed.Mailbox) terminal.News {
	t.Helper()
	synctest.Wait()
	n, _ := b.Take(time.Now())
	if n.Pane == nil {
		t.Fatal("the mailbox has no news about the pane")
	}
	return *n.Pane
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
	}, func(v *feed.Viewer, b *feed.Mailbox) {
		for _, name := range []string{"a", "b", "c"} {
			v.Show(feed.Watch{Agent: name, Session: "1", Running: true})
		}
		time.Sleep(feed.SettleDelay + time.Millisecond) // fake time
		if p := seen(t, b); p.Agent != "c" || screenText(p) != "I am c" {
			t.Errorf("seen %+v", p)
		}
		// this is the same session, which is not opened again
		v.Show(feed.Watch{Agent: "c", Session: "1", Running: true, Focused: true})
		v.Show(feed.Watch{Agent: "d", Session: "1", Running: true})
		time.Sleep(feed.SettleDelay + time.Millisecond)
		if p := seen(t, b); screenText(p) != "I am d" {
			t.Errorf("seen %q", screenText(p))
		}
		v.Show(feed.Watch{})
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
	}, func(v *feed.Viewer, b *feed.Mailbox) {
		v.Show(feed.Watch{Agent: "a", Session: "1", Running: true})
		time.Sleep(feed.SettleDelay + time.Millisecond)
		p := seen(t, b)
		if cols, rows := p.Screen.Size(); cols != 70 || rows != 21 || screenText(p) != "anew" || p.LinesReceived != 3 {
			t.Errorf("%dx%d %q, received %d", cols, rows, screenText(p), p.LinesReceived)
		}
	})
}

// A stream that is opened again repeats the output. Only output that is really new counts as received.
func TestViewerCountsRepeatedOutputOnce(t *testing.T) {
	opened := 0
	viewing(t, func(ctx context.Context, _ string, yield func(city.Frame, error) bool) {
		text := []string{"a\r\nb\r\n", "a\r\nb\r\n", "a\r\nb\r\nc\r\nd"}[opened]
		opened++
		yield(city.Frame{Reset: true, Cols: 60, Rows: 20, Data: []byte(text)}, nil)
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
			yield(city.Frame{}, &city.Error{Code: city.Unavailable, Message: "gone"})
		}
	}, func(v *feed.Viewer, b *feed.Mailbox) {
		v.Show(feed.Watch{Agent: "a", Session: "1", Running: true})
		time.Sleep(feed.SettleDelay + time.Second)
		for i, want := range []uint64{2, 2, 3} {
			if p := seen(t, b); p.LinesReceived != want {
				t.Errorf("stream %d: received %d lines, want %d", i+1, p.LinesReceived, want)
			}
			if i < 2 {
				time.Sleep(time.Minute + time.Second)
			}
		}
	})
}

func TestViewerKeepsTheLastOutput(t *testing.T) {
	opened := 0
	viewing(t, func(_ context.Context, _ string, yield func(city.Frame, error) bool) {
		opened++
		yield(city.Frame{Reset: true, Data: []byte("good bye")}, nil)
	}, func(v *feed.Viewer, b *feed.Mailbox) {
		v.Show(feed.Watch{Agent: "a", Session: "1", Running: true})
		time.Sleep(feed.SettleDelay + time.Millisecond)
		v.Show(feed.Watch{Agent: "a", Session: "1"}) // the city reports that the agent has ended
		time.Sleep(time.Hour)
		if p := seen(t, b); screenText(p) != "good bye" || !p.Ended {
			t.Errorf("seen %q, ended %v", screenText(p), p.Ended)
		}
	})
	if opened != 1 {
		t.Errorf("an ended session was opened %d times", opened)
	}
}

// A session that was reported as ended, but runs after all, is watched again.
func TestViewerContinuesASessionThatRunsAgain(t *testing.T) {
	opened := 0
	viewing(t, func(ctx context.Context, _ string, yield func(city.Frame, error) bool) {
		opened++
		yield(city.Frame{Reset: true, Data: fmt.Appendf(nil, "output %d", opened)}, nil)
		if opened > 1 {
			<-ctx.Done()
		}
	}, func(v *feed.Viewer, b *feed.Mailbox) {
		v.Show(feed.Watch{Agent: "a", Session: "1", Running: true})
		time.Sleep(feed.SettleDelay + time.Millisecond)
		v.Show(feed.Watch{Agent: "a", Session: "1"}) // a new controller does not know the session yet
		time.Sleep(time.Hour)
		v.Show(feed.Watch{Agent: "a", Session: "1", Running: true})
		time.Sleep(time.Minute)
		if p := seen(t, b); screenText(p) != "output 2" || p.Ended {
			t.Errorf("seen %q, ended %v", screenText(p), p.Ended)
		}
	})
	if opened != 2 {
		t.Errorf("the stream was opened %d times", opened)
	}
}

func TestViewerAsksForKeptOutput(t *testing.T) {
	viewing(t, func(_ context.Context, agent string, yield func(city.Frame, error) bool) {
		yield(city.Frame{}, &city.Error{Code: city.Unavailable, Message: agent + " has no session"})
	}, func(v *feed.Viewer, b *feed.Mailbox) {
		v.Show(feed.Watch{Agent: "scout"})
		time.Sleep(time.Minute)
		if p := seen(t, b); len(p.Text) != 2 || p.Problem != "" {
			t.Errorf("seen %+v", p)
		}
		v.Show(feed.Watch{Agent: "late"}) // the output is stored after the end is reported
		time.Sleep(time.Minute)
		if p := seen(t, b); len(p.Text) != 1 {
			t.Errorf("late output: got %q", p.Text)
		}
		v.Show(feed.Watch{Agent: "zeta"})
		time.Sleep(time.Minute)
		if p := seen(t, b); p.Text != nil || p.Problem != "zeta has no session" {
			t.Errorf("seen %+v", p)
		}
	})
}

// If the output of a stopped agent could not be requested, the pane says so.
func TestPaneSaysWhyStoredOutputIsMissing(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("release-notes")
	s.hear(feed.News{Pane: &terminal.News{Agent: "release-notes", Problem: "the connection was lost", Ended: true}})
	s.shows("Nothing to show: the connection was lost")
	s.hear(feed.News{Pane: &terminal.News{Agent: "release-notes", Ended: true}})
	s.shows("it has no stored output")
}

// outage is a city that does not respond until the given time.
type outage struct {
	*fakeCity
	until time.Time
	kept  string // the stored output of all agents
}

func (o *outage) fails() error {
	if time.Now().Before(o.until) {
		return &city.NotRunning{Program: "controller"}
	}
	return nil
}

func (o *outage) Watch(_ context.Context, agent string) iter.Seq2[city.Frame, error] {
	return func(yield func(city.Frame, error) bool) {
		if err := o.fails(); err != nil {
			yield(city.Frame{}, err)
			return
		}
		yield(city.Frame{}, &city.Error{Code: city.Unavailable, Message: agent + " has no session"})
	}
}

func (o *outage) Output(context.Context, string, int) (string, error) { return o.kept, o.fails() }

func (o *outage) RunOutput(ctx context.Context, run string) iter.Seq2[city.Piece, error] {
	return func(yield func(city.Piece, error) bool) {
		if err := o.fails(); err != nil {
			yield(city.Piece{}, err)
			return
		}
		yield(city.Piece{Text: run + " printed this\n"}, nil)
	}
}

// Output that is first requested during an outage is requested again, also for agents and runs that have ended.
func TestViewerRequestsOutputAgainAfterAnOutage(t *testing.T) {
	for _, c := range []struct {
		name  string
		watch feed.Watch
		kept  string
		want  string
	}{
		{"stored output", feed.Watch{Agent: "a"}, "good bye\n", "good bye"},
		{"no stored output", feed.Watch{Agent: "a"}, "", ""},
		{"a run", feed.Watch{Run: "r-1"}, "", "r-1 printed this"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				o := &outage{newFakeCity(epoch), time.Now().Add(10 * time.Minute), c.kept}
				b := feed.NewMailbox()
				r := &feed.Runner{Ctx: ctx, City: o, Mailbox: b, Log: slog.New(slog.DiscardHandler), Fail: cancel}
				r.Viewer = feed.NewViewer(o, b, terminal.NewScreen)
				r.Spawn("pane", r.Viewer.Run)
				r.Viewer.Show(c.watch)
				time.Sleep(time.Minute) // fake time
				if p := seen(t, b); p.Problem != feed.NotRunning || len(p.Text) > 0 {
					t.Errorf("during the outage: %+v", p)
				}
				time.Sleep(10 * time.Minute)
				if p := seen(t, b); p.Problem != "" || strings.Join(p.Text, "") != c.want || !p.Ended {
					t.Errorf("after the outage: %+v", p)
				}
				cancel()
				r.Wait()
			})
		})
	}
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
	}, func(v *feed.Viewer, b *feed.Mailbox) {
		v.Show(feed.Watch{Agent: "a", Session: "1", Running: true})
		time.Sleep(time.Minute)
		if p := seen(t, b); screenText(p) != "here I am" || p.Ended || p.Problem != "" {
			t.Errorf("seen %+v", p)
		}
	})
}

// If the model does not read, the mailbox stays small, and no sender blocks.
func TestMailboxNeverWaits(t *testing.T) {
	b := feed.NewMailbox()
	for i := range 10 * feed.MaxPending {
		b.PutEvent(events.Event{Seq: uint64(i + 1)})
		b.PutSnapshot(&city.Snapshot{Rev: uint64(i + 1)})
		b.PutPane(terminal.News{LinesReceived: uint64(i + 1)})
	}
	n, _ := b.Take(epoch)
	if last := n.Events[len(n.Events)-1].Seq; len(n.Events) < feed.MaxPending || len(n.Events) > 2*feed.MaxPending || last != 10*feed.MaxPending {
		t.Errorf("got %d events up to %d", len(n.Events), last)
	}
	if n.Snap.Rev != 10*feed.MaxPending || n.Pane.LinesReceived != 10*feed.MaxPending {
		t.Errorf("snapshot %d, pane %d", n.Snap.Rev, n.Pane.LinesReceived)
	}
	if n, _ := b.Take(epoch); !n.Empty() {
		t.Error("the news is delivered twice")
	}
}

func TestMailboxPacesThePane(t *testing.T) {
	b := feed.NewMailbox()
	b.SetPaneGap(500 * time.Millisecond)
	look := func(at time.Duration, urgent bool) (bool, time.Time) {
		b.PutPane(terminal.News{Immediate: urgent})
		n, next := b.Take(epoch.Add(at))
		return n.Pane != nil, next
	}
	if ok, _ := look(0, false); !ok {
		t.Error("the first update is delayed")
	}
	if ok, next := look(100*time.Millisecond, false); ok || !next.Equal(epoch.Add(500*time.Millisecond)) {
		t.Errorf("update too early: got %v, next %v", ok, next)
	}
	if ok, _ := look(200*time.Millisecond, true); !ok {
		t.Error("the first output of a session is delayed")
	}
	if ok, _ := look(time.Second, false); !ok {
		t.Error("an update that is due is delayed")
	}
}

// The pump waits between two sends, and sends the time every second.
func TestPump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := &feed.Runner{Ctx: ctx, Mailbox: feed.NewMailbox(), Log: slog.New(slog.DiscardHandler), Fail: cancel}
		var sent, full atomic.Int64
		r.Spawn("pump", func(ctx context.Context) {
			r.Pump(ctx, 100*time.Millisecond, func(_ time.Time, n feed.News) {
				sent.Add(1)
				full.Add(int64(len(n.Events)))
			})
		})
		for i := range 1000 { // ten seconds with an event every 10 ms
			r.Mailbox.PutEvent(events.Event{Seq: uint64(i + 1)})
			time.Sleep(10 * time.Millisecond)
		}
		if n := sent.Swap(0); n < 90 || n > 101 || full.Load() < 980 {
			t.Errorf("got %d messages with %d events in 10 s", n, full.Load())
		}
		time.Sleep(10 * time.Second)
		if n := sent.Load(); n < 9 || n > 12 {
			t.Errorf("got %d messages in 10 idle seconds", n)
		}
		cancel()
		r.Wait()
	})
}

// After an interruption of the streams, no event is missed or delivered twice.
func TestStreamsReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := &flickering{fakeCity: newFakeCity(epoch)}
		r := &feed.Runner{Ctx: ctx, City: c, Mailbox: feed.NewMailbox(), Log: slog.New(slog.DiscardHandler), Fail: cancel}
		r.Spawn("snapshots", r.StreamSnapshots)
		r.Spawn("events", r.StreamEvents)
		time.Sleep(50 * time.Millisecond)
		n, _ := r.Mailbox.Take(time.Now())
		if n.Unreachable == nil || *n.Unreachable != "the controller has exited" {
			t.Errorf("without a controller: %v", n.Unreachable)
		}
		time.Sleep(time.Minute)
		m, _ := r.Mailbox.Take(time.Now())
		var seqs []uint64
		for _, e := range append(n.Events, m.Events...) {
			seqs = append(seqs, e.Seq)
		}
		if m.Unreachable == nil || *m.Unreachable != "" || m.Snap == nil {
			t.Errorf("the streams do not continue: %v %v", m.Unreachable, m.Snap)
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
		r.Wait()
	})
}

// After a city was created anew, its events have lower numbers. An open room shows them.
func TestEventsOfANewLog(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("5")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := &recreated{fakeCity: newFakeCity(epoch), ended: make(chan struct{})}
		c.events = nil
		for i := range 50 {
			c.events = append(c.events, events.Event{Seq: uint64(i + 1), TS: epoch, Type: events.AgentStarted, Subject: "before"})
		}
		c.snap.Seq = 50
		r := &feed.Runner{Ctx: ctx, City: c, Mailbox: feed.NewMailbox(), Log: slog.New(slog.DiscardHandler), Fail: cancel}
		r.Spawn("events", r.StreamEvents)
		synctest.Wait()
		n, _ := r.Mailbox.Take(time.Now())
		s.m.Events.Reset()
		s.hear(n)
		if got := len(s.m.Events.Rows); got != 50 {
			t.Errorf("before: %d events", got)
		}
		c.change(func(n *city.Snapshot) { c.events, n.Seq = nil, 0 })
		close(c.ended)
		time.Sleep(time.Minute)
		c.change(func(n *city.Snapshot) {
			for i := range 3 {
				c.events = append(c.events, events.Event{Seq: uint64(i + 1), TS: epoch, Type: events.AgentStarted, Subject: "after"})
			}
			n.Seq = 3
		})
		synctest.Wait()
		n, _ = r.Mailbox.Take(time.Now())
		s.hear(n)
		if rows := s.m.Events.Rows; len(rows) != 3 || rows[0].Subject != "after" {
			t.Errorf("afterwards: %d events: %+v", len(rows), rows[:min(3, len(rows))])
		}
		cancel()
		r.Wait()
	})
}

// recreated is a city whose first event stream breaks when ended is closed.
type recreated struct {
	*fakeCity
	streams int
	ended   chan struct{}
}

func (c *recreated) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	if c.streams++; c.streams > 1 {
		return c.fakeCity.Events(ctx, after)
	}
	return func(yield func(events.Event, error) bool) {
		_, all, _ := c.look()
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
		<-c.ended
	}
}

// flickering is a city on which every stream breaks twice before it works.
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
