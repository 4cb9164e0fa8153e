package citytest

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
)

// Directory is the cities of a machine that exists only in memory. They come and go, crash and hang as a test says. Its
// methods, and those of its cities, may be called from several goroutines.
type Directory struct {
	mu      sync.Mutex
	members map[string]*entry
	gone    error
	asked   map[string]int // how often each city was given out
	streams map[string]int // streams of each city that are read just now
	changed chan struct{}  // closed and renewed by every change
}

var (
	_ city.Directory = (*Directory)(nil)
	_ city.Registrar = (*Directory)(nil)
)

type entry struct {
	info  city.Info
	inner city.Control
	hangs bool // no call is answered
}

// NewDirectory makes a directory of cities that run, by the names and paths of their snapshots.
func NewDirectory(cities ...*Fake) *Directory {
	d := &Directory{members: map[string]*entry{}, asked: map[string]int{}, streams: map[string]int{}, changed: make(chan struct{})}
	for _, f := range cities {
		d.Add(f.snap.Name, f.snap.Path, f)
	}
	return d
}

func (d *Directory) change(edit func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	edit()
	close(d.changed)
	d.changed = make(chan struct{})
}

// Add registers a city that runs.
func (d *Directory) Add(name, path string, inner city.Control) {
	d.change(func() {
		d.members[name] = &entry{inner: inner, info: city.Info{Name: name, Path: path, Running: true, Status: city.CityRunning, Since: time.Now()}}
	})
}

// Set changes what the list says of a city; one that does not run there answers nothing.
func (d *Directory) Set(name string, edit func(*city.Info)) {
	d.change(func() { edit(&d.members[name].info) })
}

// Crash breaks a city's loop.
func (d *Directory) Crash(name, why string) {
	d.Set(name, func(i *city.Info) {
		until := time.Now().Add(10 * time.Second)
		i.Running, i.Status, i.Error, i.Since, i.Until, i.Crashes = false, city.CityCrashed, why, time.Now(), &until, i.Crashes+1
	})
}

// Refuse has a city that cannot be opened.
func (d *Directory) Refuse(name, why string) {
	d.Set(name, func(i *city.Info) { i.Running, i.Status, i.Error, i.Since = false, city.CityRefused, why, time.Now() })
}

// Hang has a city answer nobody, or everybody again.
func (d *Directory) Hang(name string, hangs bool) { d.change(func() { d.members[name].hangs = hangs }) }

// Fail ends the directory: Cities and Watch fail from now on; nil brings it back.
func (d *Directory) Fail(err error) { d.change(func() { d.gone = err }) }

// Asked is how often a city was given out.
func (d *Directory) Asked(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked[name]
}

// Streams is how many streams of a city are read just now, and how many of them are not of its snapshots.
func (d *Directory) Streams(name string) (all, others int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.streams[name], d.streams[name] - d.streams[name+" snapshots"]
}

func (d *Directory) list() ([]city.Info, chan struct{}, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]city.Info, 0, len(d.members))
	for _, m := range d.members {
		all = append(all, m.info)
	}
	slices.SortFunc(all, func(a, b city.Info) int { return cmp.Compare(a.Name, b.Name) })
	return all, d.changed, d.gone
}

// Cities implements city.Directory.
func (d *Directory) Cities(context.Context) ([]city.Info, error) {
	all, _, err := d.list()
	return all, err
}

// Watch implements city.Directory.
func (d *Directory) Watch(ctx context.Context) iter.Seq2[[]city.Info, error] {
	return func(yield func([]city.Info, error) bool) {
		for {
			all, changed, err := d.list()
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(all, nil) {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// City implements city.Directory.
func (d *Directory) City(name string) (city.Control, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked[name]++
	if d.members[name] == nil {
		return nil, &city.Error{Code: city.NotFound, Message: fmt.Sprintf("no city is called %q", name)}
	}
	return &guest{d, name}, nil
}

// Register implements city.Registrar: the city in a folder is called like the folder, and empty.
func (d *Directory) Register(_ context.Context, path string) (city.Info, error) {
	name := filepath.Base(path)
	d.mu.Lock()
	known := d.members[name]
	d.mu.Unlock()
	switch {
	case known == nil:
		d.Add(name, path, NewFake(name))
	case known.info.Path != path:
		return city.Info{}, &city.Error{Code: city.Conflict, Message: fmt.Sprintf("%s is the name of %s", name, known.info.Path)}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.members[name].info, nil
}

// Unregister implements city.Registrar.
func (d *Directory) Unregister(_ context.Context, name string) (city.Receipt, error) {
	err := error(&city.Error{Code: city.NotFound, Message: fmt.Sprintf("no city is called %q", name)})
	d.change(func() {
		if d.members[name] != nil {
			delete(d.members, name)
			err = nil
		}
	})
	return city.Receipt{Message: name + " is stopped and no longer registered"}, err
}

// guest is a city as its directory gives it out: it is found anew with every call.
type guest struct {
	d    *Directory
	name string
}

// ask waits while the city hangs, and gives it, or says why it does not answer.
func (r *guest) ask(ctx context.Context) (city.Control, error) {
	for {
		r.d.mu.Lock()
		m, changed := r.d.members[r.name], r.d.changed
		var inner city.Control
		err := error(&city.Error{Code: city.Unavailable, Message: r.name + " is not registered any more"})
		hangs := false
		if m != nil {
			inner, err, hangs = m.inner, nil, m.hangs
			if !m.info.Running {
				err = &city.Error{Code: city.Unavailable, Message: cmp.Or(m.info.Error, r.name+" is "+string(m.info.Status))}
			}
		}
		r.d.mu.Unlock()
		if !hangs {
			return inner, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// until ends with ctx, and as soon as the city is gone, stopped or hung: a stream hears no more of it. Whoever got it ends it
// and waits for that.
func (r *guest) until(ctx context.Context) (while context.Context, end func()) {
	while, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for while.Err() == nil {
			r.d.mu.Lock()
			m, changed := r.d.members[r.name], r.d.changed
			quiet := m == nil || m.hangs || !m.info.Running
			r.d.mu.Unlock()
			if quiet {
				cancel()
			}
			select {
			case <-changed:
			case <-while.Done():
			}
		}
	})
	return while, func() { cancel(); wg.Wait() }
}

func (r *guest) count(kind string, n int) {
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	r.d.streams[r.name] += n
	r.d.streams[r.name+" "+kind] += n
}

// poured is a stream of a city that may hang and come back, and be stopped, meanwhile.
func poured[T any](ctx context.Context, r *guest, kind string, of func(ctx context.Context, c city.Control) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		r.count(kind, 1)
		defer r.count(kind, -1)
		var zero T
		for ctx.Err() == nil {
			c, err := r.ask(ctx)
			if err != nil {
				if ctx.Err() == nil {
					yield(zero, err)
				}
				return
			}
			while, end := r.until(ctx)
			over := false
			for v, err := range of(while, c) {
				if over = !yield(v, err) || err != nil; over {
					break
				}
			}
			over = over || while.Err() == nil
			end()
			if over {
				return
			}
		}
	}
}

// Snapshot implements city.Control. The loop of a city that answers turns.
func (r *guest) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	c, err := r.ask(ctx)
	if err != nil {
		return nil, err
	}
	s, err := c.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	fresh := *s
	fresh.Patrol.Last = time.Now()
	return &fresh, nil
}

// Snapshots implements city.Control.
func (r *guest) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return poured(ctx, r, "snapshots", func(ctx context.Context, c city.Control) iter.Seq2[*city.Snapshot, error] { return c.Snapshots(ctx) })
}

// Inspect implements city.Control.
func (r *guest) Inspect(ctx context.Context, agent string) (*city.Inspection, error) {
	c, err := r.ask(ctx)
	if err != nil {
		return nil, err
	}
	return c.Inspect(ctx, agent)
}

// Output implements city.Control.
func (r *guest) Output(ctx context.Context, agent string, lines int) (string, error) {
	c, err := r.ask(ctx)
	if err != nil {
		return "", err
	}
	return c.Output(ctx, agent, lines)
}

// History implements city.Control.
func (r *guest) History(ctx context.Context, q events.Query) ([]events.Event, error) {
	c, err := r.ask(ctx)
	if err != nil {
		return nil, err
	}
	return c.History(ctx, q)
}

// Events implements city.Control.
func (r *guest) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return poured(ctx, r, "events", func(ctx context.Context, c city.Control) iter.Seq2[events.Event, error] { return c.Events(ctx, after) })
}

// Beads implements city.Control.
func (r *guest) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	c, err := r.ask(ctx)
	if err != nil {
		return nil, err
	}
	return c.Beads(ctx, q)
}

// Watch implements city.Control.
func (r *guest) Watch(ctx context.Context, agent string) iter.Seq2[city.Frame, error] {
	return poured(ctx, r, "watch", func(ctx context.Context, c city.Control) iter.Seq2[city.Frame, error] { return c.Watch(ctx, agent) })
}

// RunOutput implements city.Control.
func (r *guest) RunOutput(ctx context.Context, run string) iter.Seq2[city.Piece, error] {
	return poured(ctx, r, "run", func(ctx context.Context, c city.Control) iter.Seq2[city.Piece, error] { return c.RunOutput(ctx, run) })
}

// Attach implements city.Control.
func (r *guest) Attach(ctx context.Context, agent string, cols, rows int) (city.Terminal, error) {
	c, err := r.ask(ctx)
	if err != nil {
		return nil, err
	}
	return c.Attach(ctx, agent, cols, rows)
}

// Do implements city.Control.
func (r *guest) Do(ctx context.Context, command city.Command) (city.Receipt, error) {
	c, err := r.ask(ctx)
	if err != nil {
		return city.Receipt{}, err
	}
	return c.Do(ctx, command)
}
