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

// Machine is a directory of cities in memory. Its methods may be called from several goroutines.
type Machine struct {
	mu      sync.Mutex
	cities  map[string]*resident
	folders map[string]*Fake // that Register finds, by path
	changed chan struct{}    // closed and renewed by every change
}

var (
	_ city.Directory = (*Machine)(nil)
	_ city.Registrar = (*Machine)(nil)
	_ city.Surveyor  = (*Machine)(nil)
)

// NewMachine makes a directory of cities that run.
func NewMachine(cities ...*Fake) *Machine {
	m := &Machine{cities: map[string]*resident{}, folders: map[string]*Fake{}, changed: make(chan struct{})}
	for _, f := range cities {
		s, _ := f.Snapshot(context.Background())
		m.Put(s.Name, s.Path, f)
	}
	return m
}

// Put adds a city that runs, or puts another one in the place of that name, as a restart does.
func (m *Machine) Put(name, path string, c city.Control) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(name, path, c)
}

func (m *Machine) put(name, path string, c city.Control) {
	b := m.cities[name]
	if b == nil {
		b = &resident{machine: m, info: city.Info{Name: name, Path: path}}
		m.cities[name] = b
	}
	b.begin(c)
	m.wake()
}

// Folder is a city that Register finds.
func (m *Machine) Folder(path string, f *Fake) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.folders[path] = f
}

// Be gives a city another condition; it runs or does not run by that.
func (m *Machine) Be(name string, c city.Condition, why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.cities[name]
	if c == city.CityRunning || c == city.CityPaused {
		b.begin(b.city)
	} else {
		b.end()
	}
	b.info.Status, b.info.Error = c, why
	m.wake()
}

// Remove takes a city away.
func (m *Machine) Remove(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remove(name)
}

func (m *Machine) remove(name string) {
	m.cities[name].end()
	delete(m.cities, name)
	m.wake()
}

func (m *Machine) wake() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Cities implements city.Directory.
func (m *Machine) Cities(context.Context) ([]city.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.list(), nil
}

func (m *Machine) list() []city.Info {
	all := []city.Info{}
	for _, name := range slices.Sorted(maps.Keys(m.cities)) {
		all = append(all, m.cities[name].info)
	}
	return all
}

// Watch implements city.Directory.
func (m *Machine) Watch(ctx context.Context) iter.Seq2[[]city.Info, error] {
	return func(yield func([]city.Info, error) bool) {
		for ctx.Err() == nil {
			m.mu.Lock()
			all, changed := m.list(), m.changed
			m.mu.Unlock()
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
func (m *Machine) City(name string) (city.Control, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.cities[name]; b != nil {
		return b, nil
	}
	return nil, refuse(city.NotFound, "no city is called %q", name)
}

// Survey implements city.Surveyor.
func (m *Machine) Survey(_ context.Context, path string) (city.Declared, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.folders[path]
	if f == nil {
		return city.Declared{}, refuse(city.Invalid, "%s has no city.toml", path)
	}
	return city.Declared{Name: f.snap.Name, Path: path, Agents: len(f.snap.Agents)}, nil
}

// Register implements city.Registrar.
func (m *Machine) Register(_ context.Context, path string) (city.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.folders[path]
	if f == nil {
		return city.Info{}, refuse(city.Invalid, "%s has no city.toml", path)
	}
	name := f.snap.Name
	if b := m.cities[name]; b == nil {
		m.put(name, path, f)
	} else if b.info.Path != path {
		return city.Info{}, refuse(city.Conflict, "%s is called %s as well", b.info.Path, name)
	}
	return m.cities[name].info, nil
}

// Unregister implements city.Registrar.
func (m *Machine) Unregister(_ context.Context, name string) (city.Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cities[name] == nil {
		return city.Receipt{}, refuse(city.NotFound, "no city is called %q", name)
	}
	m.remove(name)
	return city.Receipt{Message: "stopped and forgot " + name}, nil
}

// resident is a city of a Machine, over its lives. machine.mu guards the fields.
type resident struct {
	machine *Machine
	info    city.Info
	city    city.Control
	life    context.Context
	stop    context.CancelFunc
}

var _ city.Getter = (*resident)(nil)

func (b *resident) begin(c city.Control) {
	b.end()
	b.life, b.stop = context.WithCancel(context.Background())
	b.city, b.info.Running, b.info.Status, b.info.Error, b.info.Since = c, true, city.CityRunning, "", time.Now()
}

func (b *resident) end() {
	if b.stop != nil {
		b.stop()
	}
	b.info.Running, b.info.Status, b.info.Since = false, city.CityStopped, time.Now()
}

func (b *resident) now() (city.Control, context.Context, error) {
	b.machine.mu.Lock()
	defer b.machine.mu.Unlock()
	if !b.info.Running {
		return nil, nil, refuse(city.Unavailable, "%s does not run: %s %s", b.info.Name, b.info.Status, b.info.Error)
	}
	return b.city, b.life, nil
}

// asked asks the city that runs now.
func asked[T any](b *resident, ask func(city.Control) (T, error)) (T, error) {
	c, _, err := b.now()
	if err != nil {
		var none T
		return none, err
	}
	return ask(c)
}

// streamed is a stream of the city that runs now, and ends with it.
func streamed[T any](ctx context.Context, b *resident, of func(city.Control, context.Context) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		c, life, err := b.now()
		if err != nil {
			yield(none, err)
			return
		}
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(life, cancel)()
		for v, err := range of(c, inner) {
			if !yield(v, err) {
				return
			}
		}
		if life.Err() != nil && ctx.Err() == nil {
			yield(none, refuse(city.Unavailable, "the city has stopped"))
		}
	}
}

func (b *resident) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	return asked(b, func(c city.Control) (*city.Snapshot, error) { return c.Snapshot(ctx) })
}

func (b *resident) Inspect(ctx context.Context, agent string) (*city.Inspection, error) {
	return asked(b, func(c city.Control) (*city.Inspection, error) { return c.Inspect(ctx, agent) })
}

func (b *resident) Output(ctx context.Context, agent string, lines int) (string, error) {
	return asked(b, func(c city.Control) (string, error) { return c.Output(ctx, agent, lines) })
}

func (b *resident) History(ctx context.Context, q events.Query) ([]events.Event, error) {
	return asked(b, func(c city.Control) ([]events.Event, error) { return c.History(ctx, q) })
}

func (b *resident) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	return asked(b, func(c city.Control) ([]beads.Bead, error) { return c.Beads(ctx, q) })
}

func (b *resident) Bead(ctx context.Context, id string) (beads.Bead, error) {
	return asked(b, func(c city.Control) (beads.Bead, error) { return city.GetBead(ctx, c, id) })
}

func (b *resident) Attach(ctx context.Context, agent string, cols, rows int) (city.Terminal, error) {
	return asked(b, func(c city.Control) (city.Terminal, error) { return c.Attach(ctx, agent, cols, rows) })
}

func (b *resident) Do(ctx context.Context, cmd city.Command) (city.Receipt, error) {
	return asked(b, func(c city.Control) (city.Receipt, error) { return c.Do(ctx, cmd) })
}

func (b *resident) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return streamed(ctx, b, city.Control.Snapshots)
}

func (b *resident) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return streamed(ctx, b, func(c city.Control, ctx context.Context) iter.Seq2[events.Event, error] { return c.Events(ctx, after) })
}

func (b *resident) Watch(ctx context.Context, agent string) iter.Seq2[city.Frame, error] {
	return streamed(ctx, b, func(c city.Control, ctx context.Context) iter.Seq2[city.Frame, error] { return c.Watch(ctx, agent) })
}

func (b *resident) RunOutput(ctx context.Context, run string) iter.Seq2[city.Piece, error] {
	return streamed(ctx, b, func(c city.Control, ctx context.Context) iter.Seq2[city.Piece, error] { return c.RunOutput(ctx, run) })
}
