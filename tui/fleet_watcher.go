package tui

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
	// lookGap is the least time between two snapshots of a city that is not on the screen, and between two lists of
	// them.
	lookGap = time.Second
	// lookPulse is how often a city is asked whether it answers: streams of a city where nothing happens are silent.
	lookPulse = 5 * time.Second
	// lookDeadline is how long its answer may take.
	lookDeadline = 2 * time.Second
)

// lookout keeps the list of the cities, with what is known of each. A city has goroutines of its own there, and a
// stream of its own: one that hangs slows nobody.
type lookout struct {
	r   *runner
	dir city.Directory

	own   city.Control // that this program runs, nil = none
	ownAt string       // its folder

	mu      sync.Mutex
	watched map[string]*beat // by name
	infos   []city.Info
	gone    string
	heard   bool // of the directory
	listed  bool // it has given a list
	nobody  bool // keeps it now
	to      *mailbox
	last    *fleet.List
	wake    chan struct{}
}

// beat is the watch over one city.
type beat struct {
	path   string
	cancel context.CancelFunc // nil = nobody asks it anything
	known  bool
	brief  fleet.Brief
	mute   string
	heard  time.Time
}

func newLookout(r *runner, dir city.Directory) *lookout {
	return &lookout{r: r, dir: dir, watched: map[string]*beat{}, wake: make(chan struct{}, 1)}
}

// tell has the list told to another mailbox from now on, at once.
func (l *lookout) tell(to *mailbox) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = to
	if l.last != nil {
		to.putFleet(l.last)
	}
}

// run reads the directory until ctx ends.
func (l *lookout) run(ctx context.Context) {
	l.r.spawn("fleet", l.publish)
	logged := "" // why it cannot be read, which may be so for a night
	for tries := 0; ; tries++ {
		var cause error
		for infos, err := range l.dir.Watch(ctx) {
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
		nobody, why := errors.Is(cause, city.ErrNobody), whyGone(cause)
		l.change(func() { l.gone, l.heard, l.nobody = why, true, nobody })
		if why != logged && (l.listed || !nobody) {
			l.r.log.Warn("the list of the cities broke", "error", cause)
			logged = why
		}
		if !again(ctx, tries) {
			return
		}
	}
}

func (l *lookout) change(edit func()) {
	l.mu.Lock()
	edit()
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// enlist takes a list of the directory: who runs is watched, who does not is left alone.
func (l *lookout) enlist(ctx context.Context, infos []city.Info) {
	infos = slices.Clone(infos)
	for i := range infos {
		// nobody else can run it, and says so
		if in := &infos[i]; l.own != nil && in.Path == l.ownAt {
			in.Running, in.Status, in.Error, in.Until = true, city.CityRunning, "", nil
		}
	}
	l.change(func() {
		l.infos, l.gone, l.heard, l.listed = infos, "", true, true
		there := map[string]bool{}
		for i := range infos {
			in := &infos[i]
			there[in.Name] = true
			b := l.watched[in.Name]
			if b != nil && b.path != in.Path {
				b.end()
				b = nil
			}
			if b == nil {
				b = &beat{path: in.Path}
				l.watched[in.Name] = b
			}
			switch {
			case in.Running && b.cancel == nil:
				while, cancel := context.WithCancel(ctx)
				b.cancel, b.mute = cancel, ""
				name := in.Name
				l.r.spawn("city", func(context.Context) { l.follow(while, name, b) })
				l.r.spawn("city", func(context.Context) { l.feel(while, name, b) })
			case !in.Running:
				b.end()
			}
		}
		for name, b := range l.watched {
			if !there[name] {
				b.end()
				delete(l.watched, name)
			}
		}
	})
}

func (b *beat) end() {
	if b.cancel != nil {
		b.cancel()
		b.cancel = nil
	}
}

// owned is the city if this program runs it, else nil.
func (l *lookout) owned(b *beat) city.Control {
	if l.own != nil && b.path == l.ownAt {
		return l.own
	}
	return nil
}

// follow reads a city's snapshots until ctx ends, some seconds apart.
func (l *lookout) follow(ctx context.Context, name string, b *beat) {
	c := l.owned(b)
	for tries := 0; ; tries++ {
		var err error
		if c == nil {
			c, err = l.dir.City(name)
		}
		if err == nil {
			for s, broken := range c.Snapshots(ctx) {
				if err = broken; err != nil {
					break
				}
				tries = 0
				l.take(ctx, b, s, false)
				if !pause(ctx, lookGap) {
					return
				}
			}
		}
		if ctx.Err() != nil {
			return
		}
		l.silence(ctx, b, whyGone(err))
		if !again(ctx, tries+2) {
			return
		}
	}
}

// feel asks a city now and then whether it still answers, and how old its loop is.
func (l *lookout) feel(ctx context.Context, name string, b *beat) {
	c := l.owned(b)
	for {
		var s *city.Snapshot
		var err error
		if c == nil {
			c, err = l.dir.City(name)
		}
		if err == nil {
			ask, cancel := context.WithTimeout(ctx, lookDeadline)
			s, err = c.Snapshot(ask)
			cancel()
		}
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, context.DeadlineExceeded):
			l.silence(ctx, b, "no answer within "+lookDeadline.String())
		case err != nil:
			l.silence(ctx, b, whyGone(err))
		default:
			l.take(ctx, b, s, true)
		}
		if !pause(ctx, lookPulse) {
			return
		}
	}
}

// take takes a snapshot in. How old the loop is one learns only from an answer: what a stream brings may be old,
// and true.
func (l *lookout) take(ctx context.Context, b *beat, s *city.Snapshot, answer bool) {
	now := l.r.now()
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

func (l *lookout) silence(ctx context.Context, b *beat, why string) {
	l.change(func() {
		if ctx.Err() == nil {
			b.mute = why
		}
	})
}

// publish tells what has changed, once a second at most; as long as some city has still to be heard for the first time,
// more often.
func (l *lookout) publish(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		}
		gap := lookGap
		if l.tellNews() {
			gap = lookGap / 10
		}
		if !pause(ctx, gap) {
			return
		}
	}
}

// tellNews tells the list if it has changed, and reports whether a city that runs has not been heard yet.
func (l *lookout) tellNews() (early bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.heard {
		return true
	}
	f := l.list()
	for i := range f.Rows {
		early = early || f.Rows[i].Info.Running && !f.Rows[i].Known && f.Rows[i].Mute == ""
	}
	if l.last != nil && reflect.DeepEqual(f, l.last) {
		return early
	}
	if l.last = f; l.to != nil {
		l.to.putFleet(f)
	}
	return early
}

// list is what is known now; l.mu is held.
func (l *lookout) list() *fleet.List {
	f := &fleet.List{Gone: l.gone, None: l.nobody && !l.listed,
		Rows: make([]fleet.City, len(l.infos))}
	for i, in := range l.infos {
		c := &f.Rows[i]
		c.Info, c.Shown = in, widget.Plain(in.Name)
		if b := l.watched[in.Name]; b != nil {
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

func (b *mailbox) putFleet(f *fleet.List) { b.put(func(n *news) { n.fleet = f }) }
