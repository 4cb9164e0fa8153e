package fleet

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/host"
	"gcity/internal/deadline"
	"gcity/internal/suggest"
)

// registryPoll is how often the states of the known cities are read while no supervisor is running. It is short
// because users switch to a city right after they have started it.
const registryPoll = 2 * time.Second

// startTimeout is how long a headless controller may take to respond.
const startTimeout = 30 * time.Second

// RoomDirectory is like AwaitDirectory. While no supervisor is running, it lists the registered cities, and those of
// this user's other cities that are running. It can start a controller for a registered city.
func RoomDirectory(e *env.Env) (city.Directory, func()) {
	d, closeIt := AwaitDirectory(e)
	if d == nil {
		return nil, closeIt
	}
	l := &registryList{Directory: d, e: e, looks: newLooks(), dialed: map[string]city.Control{},
		closers: []func(){closeIt}}
	if r, ok := d.(city.Registrar); ok {
		return registrarList{l, r}, l.close
	}
	return l, l.close
}

// registrarList is a registryList that can also register cities with a supervisor.
type registrarList struct {
	*registryList
	city.Registrar
}

// registryList is a directory that finds cities itself while no supervisor is running.
type registryList struct {
	city.Directory
	e     *env.Env
	looks *deadline.Calls[city.Info]

	mu         sync.Mutex
	supervised bool                    // the latest list came from a supervisor
	last       []city.Info             // the latest list without a supervisor; nil = none yet
	dialed     map[string]city.Control // controllers, by folder
	closers    []func()
}

func (l *registryList) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.closers {
		c()
	}
}

// Supervised implements city.Starter.
func (l *registryList) Supervised() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.supervised
}

// find returns the registered cities, and then the cities that this user has trusted if they are running. It finds the
// trusted cities in the user's trust records, because a city need not be registered to run.
func (l *registryList) find(ctx context.Context) ([]city.Info, error) {
	home, err := env.Home(l.e)
	if err != nil {
		return nil, err
	}
	all, err := host.Registry(home)
	if err != nil {
		return nil, err
	}
	registered := len(all)
	// an unreadable record hides only cities that are not registered
	trusted, _ := folder.Ledger().List()
	for _, t := range trusted {
		if !slices.ContainsFunc(all, func(r host.Registered) bool { return r.Path == t.Path }) {
			all = append(all, host.Registered{Path: t.Path})
		}
	}
	infos := statesWithoutSupervisor(ctx, l.looks, all)
	out := slices.Clip(infos[:registered])
	for _, i := range infos[registered:] {
		if i.Running {
			out = append(out, i)
		}
	}
	return unique(out, registered), nil
}

// unique renames the cities in infos[from:], so that all cities in infos have different names.
func unique(infos []city.Info, from int) []city.Info {
	entries, reported := make([]host.Registered, len(infos)), map[string]string{}
	for n, i := range infos {
		entries[n].Path = i.Path
		if reported[i.Path] = i.Name; n < from {
			entries[n].Name = i.Name
		}
	}
	for n, e := range host.WithNames(entries, func(path string) string { return reported[path] }) {
		infos[n].Name = e.Name
	}
	return infos
}

// Cities implements city.Directory. Without a supervisor, it returns the latest list from Watch.
func (l *registryList) Cities(ctx context.Context) ([]city.Info, error) {
	infos, err := l.Directory.Cities(ctx)
	if !errors.Is(err, city.ErrNoSupervisor) {
		return infos, err
	}
	l.mu.Lock()
	last := l.last
	l.mu.Unlock()
	if last != nil {
		return slices.Clone(last), nil
	}
	return l.find(ctx)
}

// Watch implements city.Directory. Without a supervisor it reads the states of the cities regularly, until a
// supervisor is running.
func (l *registryList) Watch(ctx context.Context) iter.Seq2[[]city.Info, error] {
	return func(yield func([]city.Info, error) bool) {
		var last []city.Info
		for first := true; ; first = false {
			none := false
			for infos, err := range l.Directory.Watch(ctx) {
				if none = errors.Is(err, city.ErrNoSupervisor); none {
					break
				}
				l.note(true, nil)
				if !yield(infos, err) {
					return
				}
			}
			if !none {
				return
			}
			infos, err := l.find(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			l.note(false, infos)
			if first || !slices.EqualFunc(infos, last, city.Info.Same) {
				if !yield(infos, nil) {
					return
				}
			}
			last = infos
			select {
			case <-ctx.Done():
				return
			case <-time.After(registryPoll):
			}
		}
	}
}

// note records the origin of the current list. It also records the list itself if the list was made without a
// supervisor.
func (l *registryList) note(supervised bool, infos []city.Info) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.supervised, l.last = supervised, infos
}

// folderOf returns the folder of the city with the given name.
func (l *registryList) folderOf(ctx context.Context, name string) (string, error) {
	all, err := l.Cities(ctx)
	if err != nil {
		return "", err
	}
	names := make([]string, len(all))
	for n, i := range all {
		if names[n] = i.Name; i.Name == name {
			return i.Path, nil
		}
	}
	return "", city.Missing(suggest.NotFound(suggest.City, name, names))
}

// City implements city.Directory.
func (l *registryList) City(name string) (city.Control, error) {
	c, err := l.Directory.City(name)
	if !errors.Is(err, city.ErrNoSupervisor) {
		return c, err
	}
	dir, err := l.folderOf(context.Background(), name)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.dialed[dir]; c != nil {
		return c, nil
	}
	c, closeIt, err := folder.Dial(dir)
	if err != nil {
		return nil, err
	}
	l.dialed[dir] = c
	l.closers = append(l.closers, closeIt)
	return c, nil
}

// Start implements city.Starter.
func (l *registryList) Start(ctx context.Context, name string) error {
	if l.e.ReadOnly {
		return env.ReadOnlyError("start")
	}
	dir, err := l.folderOf(ctx, name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	// use an empty Env, because this command's flags apply to its own city
	_, err = host.SpawnHeadless(ctx, &env.Env{}, dir)
	return err
}
