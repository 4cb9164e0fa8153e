package citytest

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
)

// Directory is a city.Directory in memory. Its methods are safe for concurrent use.
type Directory struct {
	mu      sync.Mutex
	cities  map[string]*hostedCity
	folders map[string]*Fake // cities that Register can find, by path
	gone    error
	// open streams by city name; key NAME+snapshots counts only the snapshot streams
	streams map[string]int
	changed chan struct{} // closed and replaced at every change
}

var (
	_ city.Directory = (*Directory)(nil)
	_ city.Registrar = (*Directory)(nil)
	_ city.Previewer = (*Directory)(nil)
)

type hostedCity struct {
	info  city.Info
	city  city.Control
	hangs bool
	life  context.Context
	stop  context.CancelFunc
}

// NewDirectory returns a directory of running cities.
func NewDirectory(cities ...*Fake) *Directory {
	m := &Directory{cities: map[string]*hostedCity{}, folders: map[string]*Fake{},
		streams: map[string]int{}, changed: make(chan struct{})}
	for _, f := range cities {
		s := now(f)
		m.Add(s.Name, s.Path, f)
	}
	return m
}

func now(f *Fake) *city.Snapshot {
	s, _ := f.Snapshot(context.Background())
	return s
}

func (m *Directory) change(edit func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	edit()
	close(m.changed)
	m.changed = make(chan struct{})
}

// Add adds a running city, or replaces the one with the same name.
func (m *Directory) Add(name, path string, c city.Control) {
	m.change(func() { m.add(name, path, c) })
}

func (m *Directory) add(name, path string, c city.Control) {
	b := m.cities[name]
	if b == nil {
		b = &hostedCity{info: city.Info{Name: name}}
		m.cities[name] = b
	}
	b.info.Path = path
	b.begin(c)
}

// Folder sets the city that Register finds in a folder.
func (m *Directory) Folder(path string, f *Fake) { m.change(func() { m.folders[path] = f }) }

// SetCondition sets a city's condition.
func (m *Directory) SetCondition(name string, c city.Condition, why string) {
	m.change(func() {
		b := m.cities[name]
		if c == city.CityRunning || c == city.CitySuspended {
			b.begin(b.city)
		} else {
			b.end()
		}
		if b.info.Status, b.info.Error = c, why; c == city.CityCrashed {
			until := time.Now().Add(10 * time.Second)
			b.info.Until, b.info.Crashes = &until, b.info.Crashes+1
		}
	})
}

// Hang makes a city hang, or respond again.
func (m *Directory) Hang(name string, hangs bool) {
	m.change(func() { m.cities[name].hangs = hangs })
}

// Remove removes a city.
func (m *Directory) Remove(name string) { m.change(func() { m.remove(name) }) }

func (m *Directory) remove(name string) {
	m.cities[name].end()
	delete(m.cities, name)
}

// Fail makes Cities and Watch fail with err; nil ends the failure.
func (m *Directory) Fail(err error) { m.change(func() { m.gone = err }) }

// Streams returns the number of a city's streams, and how many of them are not snapshot streams.
func (m *Directory) Streams(name string) (all, others int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.streams[name], m.streams[name] - m.streams[name+snapshots]
}

const snapshots = " snapshots"

func (m *Directory) list() ([]city.Info, <-chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := []city.Info{}
	for _, name := range slices.Sorted(maps.Keys(m.cities)) {
		all = append(all, m.cities[name].info)
	}
	return all, m.changed, m.gone
}

// Cities implements city.Directory.
func (m *Directory) Cities(context.Context) ([]city.Info, error) {
	all, _, err := m.list()
	return all, err
}

// Watch implements city.Directory.
func (m *Directory) Watch(ctx context.Context) iter.Seq2[[]city.Info, error] {
	return func(yield func([]city.Info, error) bool) {
		for ctx.Err() == nil {
			all, changed, err := m.list()
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
			}
		}
	}
}

// City implements city.Directory.
func (m *Directory) City(name string) (city.Control, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cities[name] == nil {
		return nil, newError(city.NotFound, "city %q not found", name)
	}
	return &cityProxy{m, name}, nil
}

// Preview implements city.Previewer.
func (m *Directory) Preview(_ context.Context, path string) (city.Declared, error) {
	m.mu.Lock()
	f := m.folders[path]
	m.mu.Unlock()
	if f == nil {
		return city.Declared{}, newError(city.Invalid, "%s has no city.toml", path)
	}
	s := now(f)
	return city.Declared{Name: s.Name, Path: path, Agents: len(s.Agents)}, nil
}

// Register implements city.Registrar.
func (m *Directory) Register(ctx context.Context, path string) (info city.Info, err error) {
	about, err := m.Preview(ctx, path)
	if err != nil {
		return info, err
	}
	m.change(func() {
		if b := m.cities[about.Name]; b == nil {
			m.add(about.Name, path, m.folders[path])
		} else if b.info.Path != path {
			err = newError(city.Conflict, "%s has the same name, %s", b.info.Path, about.Name)
			return
		}
		info = m.cities[about.Name].info
	})
	return info, err
}

// Unregister implements city.Registrar.
func (m *Directory) Unregister(_ context.Context, name string) (r city.Receipt, err error) {
	m.change(func() {
		if m.cities[name] == nil {
			err = newError(city.NotFound, "city %q not found", name)
			return
		}
		m.remove(name)
		r.Message = name + " is stopped and no longer registered"
	})
	return r, err
}

func (b *hostedCity) begin(c city.Control) {
	b.end()
	b.life, b.stop = context.WithCancel(context.Background())
	b.city, b.info.Running, b.info.Status, b.info.Error = c, true, city.CityRunning, ""
}

func (b *hostedCity) end() {
	if b.stop != nil {
		b.stop()
	}
	b.info.Running, b.info.Status, b.info.Since, b.info.Until = false, city.CityStopped, time.Now(),
		nil
}

// cityProxy is a city.Control that looks up its city in each call.
type cityProxy struct {
	m    *Directory
	name string
}

var _ city.StoreReader = (*cityProxy)(nil)

func (g *cityProxy) find(ctx context.Context) (city.Control, context.Context, error) {
	for {
		g.m.mu.Lock()
		b, changed := g.m.cities[g.name], g.m.changed
		var now hostedCity
		if b != nil {
			now = *b
		}
		g.m.mu.Unlock()
		switch {
		case b == nil:
			return nil, nil, newError(city.Unavailable, "%s is no longer registered", g.name)
		case !now.hangs && !now.info.Running:
			return nil, nil, newError(city.Unavailable, "%s is not running: %s %s", g.name,
				now.info.Status, now.info.Error)
		case !now.hangs:
			return now.city, now.life, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

func ask[T any](
	ctx context.Context, g *cityProxy, f func(city.Control) (T, error),
) (T, error) {
	c, _, err := g.find(ctx)
	if err != nil {
		var none T
		return none, err
	}
	return f(c)
}

func (g *cityProxy) count(kind string, n int) {
	g.m.mu.Lock()
	defer g.m.mu.Unlock()
	g.m.streams[g.name] += n
	if kind != "" {
		g.m.streams[g.name+kind] += n
	}
}

// stream yields the items of a city's stream. It pauses while the city hangs, and ends with an error when the city
// stops.
func stream[T any](ctx context.Context, g *cityProxy, kind string,
	of func(city.Control, context.Context) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		g.count(kind, 1)
		defer g.count(kind, -1)
		var none T
		c, life, err := g.find(ctx)
		if err != nil {
			if ctx.Err() == nil {
				yield(none, err)
			}
			return
		}
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(life, cancel)()
		for v, err := range of(c, inner) {
			if _, _, gone := g.find(inner); gone != nil {
				break
			}
			if !yield(v, err) {
				return
			}
		}
		if life.Err() != nil && ctx.Err() == nil {
			yield(none, newError(city.Unavailable, "%s has stopped", g.name))
		}
	}
}

// Snapshot implements city.Control. It sets the time of the last loop pass to now.
func (g *cityProxy) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	return ask(ctx, g, func(c city.Control) (*city.Snapshot, error) {
		s, err := c.Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		fresh := *s
		fresh.Patrol.Last = time.Now()
		return &fresh, nil
	})
}

func (g *cityProxy) Inspect(ctx context.Context, agent string) (*city.Inspection, error) {
	return ask(ctx, g, func(c city.Control) (*city.Inspection, error) {
		return c.Inspect(ctx, agent)
	})
}

func (g *cityProxy) Output(ctx context.Context, agent string, lines int) (string, error) {
	return ask(ctx, g, func(c city.Control) (string, error) {
		return c.Output(ctx, agent, lines)
	})
}

func (g *cityProxy) History(ctx context.Context, q events.Query) ([]events.Event, error) {
	return ask(ctx, g, func(c city.Control) ([]events.Event, error) { return c.History(ctx, q) })
}

func (g *cityProxy) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	return ask(ctx, g, func(c city.Control) ([]beads.Bead, error) { return c.Beads(ctx, q) })
}

func (g *cityProxy) Bead(ctx context.Context, id string) (beads.Bead, error) {
	return ask(ctx, g, func(c city.Control) (beads.Bead, error) { return c.Bead(ctx, id) })
}

func (g *cityProxy) Locate(ctx context.Context, id string) (city.Located, error) {
	return ask(ctx, g, func(c city.Control) (city.Located, error) {
		return city.Locate(ctx, c, id)
	})
}

func (g *cityProxy) BeadsIn(ctx context.Context, rig string, q beads.Query) ([]beads.Bead, error) {
	return ask(ctx, g, func(c city.Control) ([]beads.Bead, error) {
		return city.BeadsIn(ctx, c, rig, q)
	})
}

func (g *cityProxy) Attach(ctx context.Context, agent string, v city.Viewer,
) (city.Terminal, error) {
	return ask(ctx, g, func(c city.Control) (city.Terminal, error) {
		return c.Attach(ctx, agent, v)
	})
}

func (g *cityProxy) Do(ctx context.Context, cmd city.Command) (city.Receipt, error) {
	return ask(ctx, g, func(c city.Control) (city.Receipt, error) { return c.Do(ctx, cmd) })
}

func (g *cityProxy) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return stream(ctx, g, snapshots, city.Control.Snapshots)
}

func (g *cityProxy) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return stream(ctx, g, "", func(c city.Control, ctx context.Context) iter.Seq2[events.Event,
		error] {
		return c.Events(ctx, after)
	})
}

func (g *cityProxy) Watch(ctx context.Context, agent string) iter.Seq2[city.Frame, error] {
	return stream(ctx, g, "", func(c city.Control, ctx context.Context) iter.Seq2[city.Frame,
		error] {
		return c.Watch(ctx, agent)
	})
}

func (g *cityProxy) RunOutput(ctx context.Context, run string) iter.Seq2[city.Piece, error] {
	return stream(ctx, g, "", func(c city.Control, ctx context.Context) iter.Seq2[city.Piece,
		error] {
		return c.RunOutput(ctx, run)
	})
}
