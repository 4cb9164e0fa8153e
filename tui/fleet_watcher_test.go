package tui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/city/citytest"
	"gcity/tui/feed"
	"gcity/tui/fleet"
)

// unreadable is a directory whose list of cities cannot be read.
type unreadable struct {
	city.Directory
	why atomic.Pointer[error]
}

func (u *unreadable) Watch(context.Context) iter.Seq2[[]city.Info, error] {
	return func(yield func([]city.Info, error) bool) { yield(nil, *u.why.Load()) }
}

func TestWhyTheListCannotBeReadIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var log bytes.Buffer
		r := &feed.Runner{Ctx: ctx, Mailbox: feed.NewMailbox(), Log: slog.New(slog.NewTextHandler(&log, nil)), Fail: cancel}
		d := &unreadable{}
		fails := func(text string) {
			err := errors.New(text)
			d.why.Store(&err)
			time.Sleep(10 * time.Minute)
			synctest.Wait()
		}
		r.Cities.Directory = d
		l := feed.NewFleetWatcher(r)
		err := errors.New("the socket is gone")
		d.why.Store(&err)
		r.Spawn("cities", l.Run)
		fails("the socket is gone")
		fails("supervisor.json is damaged")
		if n := strings.Count(log.String(), "the stream of city lists ended"); n != 2 {
			t.Errorf("got %d log lines for two reasons:\n%.1000s", n, log.String())
		}
		cancel()
		r.Goroutines.Wait()
	})
}

// relay is a directory with one city, which the test can connect to another controller.
type relay struct {
	city.Directory
	relayed
	lists     chan []city.Info
	refreshes atomic.Int64
}

func (r *relay) Refresh() { r.refreshes.Add(1) }

// relayed is the city of a relay.
type relayed struct {
	city.Control
	to    atomic.Pointer[citytest.Fake] // nil = the controller's socket is gone
	fails atomic.Int64
}

func (r *relay) City(string) (city.Control, error) { return &r.relayed, nil }

func (r *relay) Watch(ctx context.Context) iter.Seq2[[]city.Info, error] {
	return func(yield func([]city.Info, error) bool) {
		for {
			select {
			case <-ctx.Done():
				return
			case infos := <-r.lists:
				if !yield(infos, nil) {
					return
				}
			}
		}
	}
}

var errNoSocket = errors.New("connection refused")

func (r *relayed) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	if f := r.to.Load(); f != nil {
		return f.Snapshot(ctx)
	}
	r.fails.Add(1)
	return nil, errNoSocket
}

func (r *relayed) Snapshots(context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(yield func(*city.Snapshot, error) bool) { yield(r.Snapshot(context.Background())) }
}

// Refresh reaches the directory. The list that follows is sent without a delay.
func TestTheListIsSentAtOnceAfterARefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := &relay{lists: make(chan []city.Info)}
		r := &feed.Runner{Ctx: ctx, Mailbox: feed.NewMailbox(), Log: slog.New(slog.DiscardHandler), Fail: cancel}
		r.Cities.Directory = d
		l := feed.NewFleetWatcher(r)
		r.Spawn("cities", l.Run)
		d.lists <- []city.Info{{Name: "alpha", Path: "/alpha"}}
		synctest.Wait()
		l.Refresh()
		d.lists <- []city.Info{{Name: "alpha", Path: "/alpha"}, {Name: "beta", Path: "/beta"}}
		synctest.Wait()
		l.Mu.Lock()
		if n := len(l.Published.Rows); n != 2 || d.refreshes.Load() != 1 {
			t.Errorf("%d cities after %d refreshes", n, d.refreshes.Load())
		}
		l.Mu.Unlock()
		cancel()
		r.Goroutines.Wait()
	})
}

// A summary from a controller is not shown for its successor. A city whose controller has just exited is called
// unresponsive only after its requests have failed for a while.
func TestTheListForgetsTheSummaryOfAFormerController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := &relay{lists: make(chan []city.Info)}
		r := &feed.Runner{Ctx: ctx, Mailbox: feed.NewMailbox(), Log: slog.New(slog.DiscardHandler), Fail: cancel}
		r.Cities.Directory = d
		l := feed.NewFleetWatcher(r)
		r.Spawn("cities", l.Run)
		info := city.Info{Name: "alpha", Path: "/alpha", Running: true, Status: city.CityRunning, Mode: "headless", PID: 7, Since: time.Now()}
		row := func() *fleet.City {
			time.Sleep(feed.FleetRefreshGap + feed.FleetRefreshGap/5)
			synctest.Wait()
			l.Mu.Lock()
			defer l.Mu.Unlock()
			return l.Published.Find("alpha")
		}
		first := citytest.NewFake("alpha", city.Agent{Name: "one", Running: true})
		first.Set(func(s *city.Snapshot) { s.ShutDown = true })
		d.to.Store(first)
		d.lists <- []city.Info{info}
		if c := row(); !c.Responded || !c.Summary.Stopping {
			t.Fatalf("the first controller: %+v", c)
		}
		d.to.Store(nil)
		time.Sleep(feed.FleetRefreshGap)
		if c := row(); d.fails.Load() == 0 || c.Unresponsive != "" {
			t.Errorf("after %d failed requests: got %+v", d.fails.Load(), c)
		}
		info.PID, info.Since = 8, time.Now()
		d.lists <- []city.Info{info}
		if c := row(); c.Responded || c.Summary.Stopping || c.Summary.Name != "alpha" || c.Unresponsive != "" {
			t.Errorf("before the new controller responds: got %+v", c)
		}
		time.Sleep(feed.SilenceGrace)
		if c := row(); c.Unresponsive == "" {
			t.Errorf("after the time limit: got %+v", c)
		}
		d.to.Store(citytest.NewFake("alpha", city.Agent{Name: "one", Running: true}))
		info.PID, info.Since = 9, time.Now()
		d.lists <- []city.Info{info} // the list connects again without waiting for the next try
		if c := row(); !c.Responded || c.Summary.Stopping || c.Unresponsive != "" {
			t.Errorf("the third controller: %+v", c)
		}
		cancel()
		r.Goroutines.Wait()
	})
}

// lagging is a city whose stream lags behind the responses to polls. The number of agents is the revision.
type lagging struct{ relayed }

func lagged(rev int) *city.Snapshot {
	return &city.Snapshot{Name: "alpha", Rev: uint64(rev), Agents: make([]city.Agent, rev)}
}

func (*lagging) Snapshot(context.Context) (*city.Snapshot, error) { return lagged(30), nil }

func (*lagging) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(yield func(*city.Snapshot, error) bool) {
		for rev := 1; ctx.Err() == nil && yield(lagged(min(rev, 40)), nil); rev++ {
			time.Sleep(feed.FleetRefreshGap)
		}
	}
}

// laggingDirectory is a relay whose city lags.
type laggingDirectory struct {
	relay
	city lagging
}

func (d *laggingDirectory) City(string) (city.Control, error) { return &d.city, nil }

// A snapshot from a stream never replaces a newer one from a poll.
func TestTheListNeverGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := &laggingDirectory{relay: relay{lists: make(chan []city.Info)}}
		r := &feed.Runner{Ctx: ctx, Mailbox: feed.NewMailbox(), Log: slog.New(slog.DiscardHandler), Fail: cancel}
		r.Cities.Directory = d
		l := feed.NewFleetWatcher(r)
		r.Spawn("cities", l.Run)
		d.lists <- []city.Info{{Name: "alpha", Path: "/alpha", Running: true, Status: city.CityRunning, Mode: "headless", PID: 7, Since: time.Now()}}
		time.Sleep(feed.FleetPollInterval)
		for n, last := 0, 30; n < 60; n++ {
			time.Sleep(feed.FleetRefreshGap)
			synctest.Wait()
			l.Mu.Lock()
			got := l.Published.Find("alpha").Summary.Agents
			l.Mu.Unlock()
			if got < last {
				t.Fatalf("after %d s: revision %d follows %d", n, got, last)
			}
			last = got
		}
		cancel()
		r.Goroutines.Wait()
	})
}

// A snapshot of a former controller that a stream delivers late does not replace that of the new controller.
func TestTheListIgnoresLateSnapshotsOfAFormerController(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := &feed.Runner{Ctx: ctx, Mailbox: feed.NewMailbox(), Log: slog.New(slog.DiscardHandler), Fail: cancel}
	l := feed.NewFleetWatcher(r)
	b := &feed.CityWatch{}
	l.Mailbox, l.Responded = r.Mailbox, true
	l.Infos, l.Watched["alpha"] = []city.Info{{Name: "alpha", Running: true}}, b
	snap := func(started time.Time, rev uint64, agents int) *city.Snapshot {
		return &city.Snapshot{Started: started, Rev: rev, Agents: make([]city.Agent, agents)}
	}
	for i, step := range []struct {
		snap   *city.Snapshot
		polled bool
		want   int
	}{
		{snap(epoch.Add(time.Hour), 1, 1), true, 1},
		{snap(epoch, 50, 2), false, 1},
		{snap(epoch.Add(time.Hour), 2, 3), false, 3},
		{snap(epoch.Add(2*time.Hour), 1, 4), false, 4},
	} {
		l.Take(ctx, b, step.snap, step.polled)
		l.PublishChanges()
		if got := l.Published.Find("alpha").Summary.Agents; got != step.want {
			t.Errorf("step %d: %d agents, want %d", i, got, step.want)
		}
	}
}

// If a new list contains the same controller, the city's streams continue, even if the start time has a UTC offset.
func TestTheSameControllerIsRecognizedInEachList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := &relay{lists: make(chan []city.Info)}
		r := &feed.Runner{Ctx: ctx, Mailbox: feed.NewMailbox(), Log: slog.New(slog.DiscardHandler), Fail: cancel}
		r.Cities.Directory = d
		l := feed.NewFleetWatcher(r)
		r.Spawn("cities", l.Run)
		d.to.Store(citytest.NewFake("alpha", city.Agent{Name: "one", Running: true}))
		send := func() bool {
			var infos []city.Info
			if err := json.Unmarshal([]byte(`[{"name":"alpha","path":"/alpha","running":true,"status":"running",
				"mode":"headless","pid":7,"since":"2031-05-06T07:08:09+03:17"}]`), &infos); err != nil {
				t.Fatal(err)
			}
			d.lists <- infos
			time.Sleep(2 * feed.FleetRefreshGap)
			synctest.Wait()
			l.Mu.Lock()
			defer l.Mu.Unlock()
			return l.Published.Find("alpha").Responded
		}
		if !send() {
			t.Fatal("the city does not respond")
		}
		d.to.Store(nil) // a new stream would not get a snapshot
		if !send() {
			t.Error("the list forgot the city's summary")
		}
		cancel()
		r.Goroutines.Wait()
	})
}
