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
	// LookGap is the minimum time between two snapshots of a city that is not shown, and between two lists.
	LookGap = time.Second
	// LookPulse is how often a city is checked for an answer, because the stream of an idle city is silent.
	LookPulse = 5 * time.Second
	// LookDeadline is the time limit for the answer to such a check.
	LookDeadline = 2 * time.Second
)

// FleetWatcher maintains the list of cities with the state of each city. Each city has its own goroutines and stream,
// so a city that hangs does not delay other cities.
type FleetWatcher struct {
	r      *Runner
	cities Directory

	Mu           sync.Mutex
	Watched      map[string]*CityWatch // by name
	Infos        []city.Info
	gone         string
	Heard        bool // the directory has answered
	listed       bool // it has returned a list at least once
	unmaintained bool // currently no process maintains the list
	To           *Mailbox
	Last         *fleet.List
	wake         chan struct{}
}

// CityWatch is the state of watching one city.
type CityWatch struct {
	path   string
	cancel context.CancelFunc // nil = the city is not watched
	known  bool
	brief  fleet.Brief
	mute   string
	heard  time.Time
}

func NewFleetWatcher(r *Runner) *FleetWatcher {
	return &FleetWatcher{r: r, cities: r.Cities, Watched: map[string]*CityWatch{},
		wake: make(chan struct{}, 1)}
}

// SetMailbox sets the mailbox that receives the list.
func (l *FleetWatcher) SetMailbox(to *Mailbox) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.To = to
	if l.Last != nil {
		to.putFleet(l.Last)
	}
}

// Run reads the directory until ctx ends.
func (l *FleetWatcher) Run(ctx context.Context) {
	l.r.Spawn("fleet", l.publish)
	logged := "" // the last logged reason, so that a lasting reason is logged once
	for tries := 0; ; tries++ {
		var cause error
		for infos, err := range l.cities.Dir.Watch(ctx) {
			if err != nil {
				cause = err
				break
			}
			tries, logged = 0, ""
			l.enlist(ctx, infos)
		}
		if ctx.Err() != nil {
			return
		}
		nobody, why := errors.Is(cause, city.ErrNoSupervisor), unreachableReason(cause)
		l.change(func() { l.gone, l.Heard, l.unmaintained = why, true, nobody })
		if why != logged && (l.listed || !nobody) {
			l.r.Log.Warn("the stream of the list of cities ended", "error", cause)
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
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// enlist handles a list from the directory. It watches only the cities that run.
func (l *FleetWatcher) enlist(ctx context.Context, infos []city.Info) {
	infos = slices.Clone(infos)
	for i := range infos {
		// this process runs this city; the supervisor's entry says that it cannot run
		if in := &infos[i]; l.cities.Own != nil && in.Path == l.cities.OwnAt {
			in.Running, in.Status, in.Error, in.Until = true, city.CityRunning, "", nil
		}
	}
	l.change(func() {
		l.Infos, l.gone, l.Heard, l.listed = infos, "", true, true
		there := map[string]bool{}
		for i := range infos {
			in := &infos[i]
			there[in.Name] = true
			b := l.Watched[in.Name]
			if b != nil && b.path != in.Path {
				b.End()
				b = nil
			}
			if b == nil {
				b = &CityWatch{path: in.Path}
				l.Watched[in.Name] = b
			}
			switch {
			case in.Running && b.cancel == nil:
				while, cancel := context.WithCancel(ctx)
				b.cancel, b.mute = cancel, ""
				name := in.Name
				l.r.Spawn("city", func(context.Context) { l.follow(while, name, b) })
				l.r.Spawn("city", func(context.Context) { l.poll(while, name, b) })
			case !in.Running:
				b.End()
			}
		}
		for name, b := range l.Watched {
			if !there[name] {
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

// owned returns the city if this program runs it, or nil.
func (l *FleetWatcher) owned(b *CityWatch) city.Control {
	if l.cities.Own != nil && b.path == l.cities.OwnAt {
		return l.cities.Own
	}
	return nil
}

// follow reads a city's snapshots until ctx ends, with a pause between them.
func (l *FleetWatcher) follow(ctx context.Context, name string, b *CityWatch) {
	c := l.owned(b)
	for tries := 0; ; tries++ {
		var err error
		if c == nil {
			c, err = l.cities.Dir.City(name)
		}
		if err == nil {
			for s, broken := range c.Snapshots(ctx) {
				if err = broken; err != nil {
					break
				}
				tries = 0
				l.Take(ctx, b, s, false)
				if !pause(ctx, LookGap) {
					return
				}
			}
		}
		if ctx.Err() != nil {
			return
		}
		l.silence(ctx, b, unreachableReason(err))
		if !waitToRetry(ctx, tries+2) {
			return
		}
	}
}

// poll polls a city to check that it still answers and to get the time of its last patrol.
func (l *FleetWatcher) poll(ctx context.Context, name string, b *CityWatch) {
	c := l.owned(b)
	for {
		var s *city.Snapshot
		var err error
		if c == nil {
			c, err = l.cities.Dir.City(name)
		}
		if err == nil {
			ask, cancel := context.WithTimeout(ctx, LookDeadline)
			s, err = c.Snapshot(ask)
			cancel()
		}
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, context.DeadlineExceeded):
			l.silence(ctx, b, "no answer within "+LookDeadline.String())
		case err != nil:
			l.silence(ctx, b, unreachableReason(err))
		default:
			l.Take(ctx, b, s, true)
		}
		if !pause(ctx, LookPulse) {
			return
		}
	}
}

// Take records a snapshot. answer reports whether the snapshot is the answer to a request. Only an answer has the
// current time of the last patrol.
func (l *FleetWatcher) Take(ctx context.Context, b *CityWatch, s *city.Snapshot, answer bool) {
	now := l.r.Now()
	fresh := fleet.BriefOf(s, now)
	l.change(func() {
		if ctx.Err() == nil {
			if !answer {
				fresh.Late = b.brief.Late
			}
			b.brief, b.known, b.mute, b.heard = fresh, true, "", now
		}
	})
}

func (l *FleetWatcher) silence(ctx context.Context, b *CityWatch, why string) {
	l.change(func() {
		if ctx.Err() == nil {
			b.mute = why
		}
	})
}

// publish sends the list when it has changed, at most once a second. Until every running city has answered once, it
// sends more often.
func (l *FleetWatcher) publish(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		}
		gap := LookGap
		if l.TellNews() {
			gap = LookGap / 10
		}
		if !pause(ctx, gap) {
			return
		}
	}
}

// TellNews sends the list if it has changed. It reports whether a running city has not answered yet.
func (l *FleetWatcher) TellNews() (early bool) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if !l.Heard {
		return true
	}
	f := l.list()
	for i := range f.Rows {
		early = early || f.Rows[i].Info.Running && !f.Rows[i].Known && f.Rows[i].Mute == ""
	}
	if l.Last != nil && reflect.DeepEqual(f, l.Last) {
		return early
	}
	if l.Last = f; l.To != nil {
		l.To.putFleet(f)
	}
	return early
}

// list returns the current list. The caller must hold l.Mu.
func (l *FleetWatcher) list() *fleet.List {
	f := &fleet.List{Gone: l.gone, None: l.unmaintained && !l.listed,
		Rows: make([]fleet.City, len(l.Infos))}
	for i, in := range l.Infos {
		c := &f.Rows[i]
		c.Info, c.Shown = in, widget.Plain(in.Name)
		if b := l.Watched[in.Name]; b != nil {
			c.Brief, c.Known, c.Mute = b.brief, b.known, b.mute
			if !in.Running {
				c.Mute = ""
			}
			if c.Mute != "" || !in.Running {
				c.Heard = b.heard
			}
		}
	}
	return f
}

func (b *Mailbox) putFleet(f *fleet.List) { b.Put(func(n *News) { n.Fleet = f }) }
