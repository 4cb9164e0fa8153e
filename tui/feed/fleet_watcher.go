package feed

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	"gcity/city"
	"gcity/tui/fleet"
	"gcity/tui/widget"
)

const (
	// FleetRefreshGap is the minimum time between two snapshots of a hidden city, and between two updates of the list.
	FleetRefreshGap = time.Second
	// FleetPollInterval is how often a city is polled. Only a poll shows whether an idle city responds.
	FleetPollInterval = 5 * time.Second
	// FleetPollTimeout is the time limit for a poll.
	FleetPollTimeout = 2 * time.Second
	// SilenceGrace is how long requests to a city can fail before the list calls the city unresponsive. It exceeds
	// the time after which the list shows a new controller.
	SilenceGrace = 3 * time.Second
)

// FleetWatcher maintains the list of cities. A city that hangs does not delay the others.
type FleetWatcher struct {
	r      *Runner
	cities Cities

	Mu           sync.Mutex
	Watched      map[string]*CityWatch // by name
	Infos        []city.Info
	problem      string
	Responded    bool // the directory has responded at least once
	listed       bool // the directory has returned a list at least once
	unmaintained bool
	Mailbox      *Mailbox
	Published    *fleet.List
	wake         chan struct{}
	hurry        chan struct{} // ends the delay before the next update of the list
	refreshed    time.Time
}

// CityWatch is what the watcher knows about one city.
type CityWatch struct {
	path         string
	cancel       context.CancelFunc // nil = the city is not watched
	responded    bool
	summary      fleet.Summary
	started      time.Time // of the summary's controller
	rev          uint64    // revision of the summary's snapshot
	unresponsive string
	failingSince time.Time // time of the first failed request since the last response
	lastResponse time.Time
	controller   controllerID
}

// controllerID identifies a run of a city's controller. It is empty if the city is not running or a supervisor runs it.
type controllerID struct {
	pid     int
	started int64 // in nanoseconds; two values of [time.Time] for the same time can differ
}

func controllerOf(in *city.Info, before controllerID) controllerID {
	switch {
	case in.Mode == "":
		return controllerID{}
	case in.PID == 0: // the controller does not respond
		return before
	}
	return controllerID{in.PID, in.Since.UnixNano()}
}

func (b *CityWatch) forget() {
	b.summary = fleet.Summary{Name: b.summary.Name, Color: b.summary.Color}
	b.responded, b.unresponsive, b.lastResponse = false, "", time.Time{}
	b.started, b.rev = time.Time{}, 0
}

func NewFleetWatcher(r *Runner) *FleetWatcher {
	return &FleetWatcher{r: r, cities: r.Cities, Watched: map[string]*CityWatch{},
		wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1)}
}

// Refresh makes the directory read the list immediately.
func (l *FleetWatcher) Refresh() {
	if d, ok := l.cities.Directory.(city.Refresher); ok {
		d.Refresh()
	}
	l.Mu.Lock()
	l.refreshed = l.r.Now()
	l.Mu.Unlock()
	wake(l.hurry)
}

// SetMailbox sets the mailbox that receives the list.
func (l *FleetWatcher) SetMailbox(to *Mailbox) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.Mailbox = to
	if l.Published != nil {
		to.putFleet(l.Published)
	}
}

// Run reads the directory until ctx ends.
func (l *FleetWatcher) Run(ctx context.Context) {
	l.r.Spawn("fleet", l.publish)
	logged := ""
	for tries := 0; ; tries++ {
		var cause error
		for infos, err := range l.cities.Directory.Watch(ctx) {
			if err != nil {
				cause = err
				break
			}
			tries, logged = 0, ""
			l.setCities(ctx, infos)
		}
		if ctx.Err() != nil {
			return
		}
		unmaintained, why := errors.Is(cause, city.ErrNoSupervisor), unreachableReason(cause)
		l.change(func() { l.problem, l.Responded, l.unmaintained = why, true, unmaintained })
		if why != logged && (l.listed || !unmaintained) {
			l.r.Log.Warn("the stream of city lists ended", "error", cause)
			logged = why
		}
		if !waitToRetry(ctx, tries) {
			return
		}
	}
}

func (l *FleetWatcher) change(edit func()) {
	l.Mu.Lock()
	edit()
	l.Mu.Unlock()
	wake(l.wake)
}

func (l *FleetWatcher) setCities(ctx context.Context, infos []city.Info) {
	infos = slices.Clone(infos)
	for i := range infos {
		// this process runs the city, so the supervisor cannot run it
		if in := &infos[i]; l.cities.Own != nil && in.Path == l.cities.OwnPath {
			in.Running, in.Status, in.Error, in.Until = true, city.CityRunning, "", nil
		}
	}
	l.change(func() {
		starter, ok := l.cities.Directory.(city.Starter)
		l.Infos, l.problem, l.Responded, l.listed = infos, "", true, true
		l.unmaintained = ok && !starter.Supervised()
		listed := map[string]bool{}
		for i := range infos {
			in := &infos[i]
			listed[in.Name] = true
			b := l.Watched[in.Name]
			if b != nil && b.path != in.Path {
				b.End()
				b = nil
			}
			if b == nil {
				b = &CityWatch{path: in.Path}
				l.Watched[in.Name] = b
			}
			if is := controllerOf(in, b.controller); in.Running && is != b.controller {
				b.End()
				b.controller = is
			}
			switch {
			case in.Running && b.cancel == nil:
				watchCtx, cancel := context.WithCancel(ctx)
				b.forget()
				b.cancel = cancel
				name := in.Name
				l.r.Spawn("city", func(context.Context) { l.follow(watchCtx, name, b) })
				l.r.Spawn("city", func(context.Context) { l.poll(watchCtx, name, b) })
			case !in.Running:
				b.End()
			}
		}
		for name, b := range l.Watched {
			if !listed[name] {
				b.End()
				delete(l.Watched, name)
			}
		}
	})
}

func (b *CityWatch) End() {
	if b.cancel != nil {
		b.cancel()
		b.cancel = nil
	}
}

func (l *FleetWatcher) follow(ctx context.Context, name string, b *CityWatch) {
	var c city.Control
	for tries := 0; ; tries++ {
		var err error
		if c == nil {
			c, err = l.cities.city(name, b.path)
		}
		if err == nil {
			for s, streamErr := range c.Snapshots(ctx) {
				if err = streamErr; err != nil {
					break
				}
				tries = 0
				l.Take(ctx, b, s, false)
				if !pause(ctx, FleetRefreshGap) {
					return
				}
			}
		}
		if ctx.Err() != nil {
			return
		}
		l.setUnresponsive(ctx, b, unreachableReason(err))
		if !waitToRetry(ctx, tries+2) {
			return
		}
	}
}

// poll checks that a city still responds and still patrols.
func (l *FleetWatcher) poll(ctx context.Context, name string, b *CityWatch) {
	var c city.Control
	for {
		var s *city.Snapshot
		var err error
		if c == nil {
			c, err = l.cities.city(name, b.path)
		}
		if err == nil {
			request, cancel := context.WithTimeout(ctx, FleetPollTimeout)
			s, err = c.Snapshot(request)
			cancel()
		}
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, context.DeadlineExceeded):
			l.setUnresponsive(ctx, b, "no response within "+FleetPollTimeout.String())
		case err != nil:
			l.setUnresponsive(ctx, b, unreachableReason(err))
		default:
			l.Take(ctx, b, s, true)
		}
		if !pause(ctx, FleetPollInterval) {
			return
		}
	}
}

// Take records a snapshot, unless a newer one was recorded. Only a polled snapshot has the current time of the last
// patrol.
func (l *FleetWatcher) Take(ctx context.Context, b *CityWatch, s *city.Snapshot, polled bool) {
	now := l.r.Now()
	fresh := fleet.Summarize(s, now)
	l.change(func() {
		// the stream might lag behind a response to a poll, also with snapshots from a former controller
		former := !polled && s.Started.Before(b.started)
		if ctx.Err() != nil || former || s.Started.Equal(b.started) && s.Rev < b.rev {
			return
		}
		if !polled {
			fresh.Overdue = b.summary.Overdue
		}
		b.started, b.rev = s.Started, s.Rev
		b.summary, b.responded, b.unresponsive, b.lastResponse = fresh, true, "", now
	})
}

func (l *FleetWatcher) setUnresponsive(ctx context.Context, b *CityWatch, why string) {
	l.change(func() {
		if ctx.Err() != nil {
			return
		}
		if b.unresponsive == "" {
			b.failingSince = l.r.Now()
			// when the grace ends, the list says that the city does not respond
			time.AfterFunc(SilenceGrace, func() { l.change(func() {}) })
		}
		b.unresponsive = why
	})
}

func (l *FleetWatcher) publish(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		}
		gap := FleetRefreshGap
		if l.PublishChanges() {
			gap = FleetRefreshGap / 10
		}
		select {
		case <-ctx.Done():
			return
		case <-l.hurry:
		case <-time.After(gap):
		}
	}
}

// PublishChanges sends the list if it has changed. It reports whether the next change is urgent.
func (l *FleetWatcher) PublishChanges() (early bool) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if !l.Responded {
		return true
	}
	f := l.list()
	early = l.r.Now().Sub(l.refreshed) < 2*FleetRefreshGap
	for i := range f.Rows {
		early = early || f.Rows[i].Info.Running && !f.Rows[i].Responded &&
			f.Rows[i].Unresponsive == ""
	}
	if l.Published != nil && reflect.DeepEqual(f, l.Published) {
		return early
	}
	if l.Published = f; l.Mailbox != nil {
		l.Mailbox.putFleet(f)
	}
	return early
}

// list returns the current list. The caller must hold l.Mu.
func (l *FleetWatcher) list() *fleet.List {
	f := &fleet.List{Problem: l.problem,
		Unmaintained: l.unmaintained && (!l.listed || l.problem == ""),
		Rows:         make([]fleet.City, len(l.Infos))}
	for i, in := range l.Infos {
		c := &f.Rows[i]
		c.Info, c.DisplayName = in, widget.Plain(in.Name)
		if b := l.Watched[in.Name]; b != nil {
			c.Summary, c.Responded, c.Unresponsive = b.summary, b.responded, b.unresponsive
			if !in.Running || l.r.Now().Sub(b.failingSince) < SilenceGrace {
				c.Unresponsive = ""
			}
			if c.Unresponsive != "" || !in.Running {
				c.LastResponse = b.lastResponse
			}
		}
	}
	fleet.Distinguish(f.Rows)
	return f
}

func (b *Mailbox) putFleet(f *fleet.List) { b.Put(func(n *News) { n.Fleet = f }) }
