package fleet

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/host"
)

// registryPoll is how often the states of the known cities are read while no supervisor is running.
const registryPoll = 5 * time.Second

// startTimeout is how long a headless controller may take to respond.
const startTimeout = 30 * time.Second

// RoomDirectory is like AwaitDirectory, but also lists the known cities while no supervisor is running. It can
// start a controller for them.
func RoomDirectory(e *env.Env) (city.Directory, func()) {
	d, closeIt := AwaitDirectory(e)
	if d == nil {
		return nil, closeIt
	}
	l := &registryList{Directory: d, e: e, seen: map[string]city.Info{}, names: map[string]string{},
		dialed: map[string]city.Control{}, closers: []func(){closeIt}}
	if r, ok := d.(city.Registrar); ok {
		return registrarList{l, r}, l.close
	}
	return l, l.close
}

// registrarList is a registryList to which a supervisor adds cities.
type registrarList struct {
	*registryList
	city.Registrar
}

// registryList is a directory that lists the registered and trusted cities while no supervisor is running.
type registryList struct {
	city.Directory
	e *env.Env

	mu         sync.Mutex
	supervised bool                    // the last list was from a supervisor
	seen       map[string]city.Info    // last known states, by folder
	dialed     map[string]city.Control // controllers, by folder
	names      map[string]string       // names of cities that are not registered, by folder
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

// known returns the registered cities, and the cities that this user has trusted.
func (l *registryList) known() ([]host.Registered, error) {
	home, err := env.Home(l.e)
	if err != nil {
		return nil, err
	}
	trusted, err := folder.Ledger().List()
	if err != nil {
		return nil, err
	}
	dirs := make([]string, len(trusted))
	for i, r := range trusted {
		dirs[i] = r.Path
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return host.KnownCities(home, dirs, l.names)
}

// Cities implements city.Directory. Without a supervisor, the states are as of the last list of Watch.
func (l *registryList) Cities(ctx context.Context) ([]city.Info, error) {
	infos, err := l.Directory.Cities(ctx)
	if !errors.Is(err, city.ErrNoSupervisor) {
		return infos, err
	}
	all, err := l.known()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range all {
		i, ok := l.seen[r.Path]
		if !ok {
			i.Status = city.CityStopped
		}
		i.Name, i.Path = r.Name, r.Path
		infos = append(infos, i)
	}
	return infos, nil
}

// Watch implements city.Directory. Without a supervisor it reads the states of the cities regularly, until a
// supervisor runs.
func (l *registryList) Watch(ctx context.Context) iter.Seq2[[]city.Info, error] {
	return func(yield func([]city.Info, error) bool) {
		var last []city.Info
		for first := true; ; first = false {
			none := false
			for infos, err := range l.Directory.Watch(ctx) {
				if none = errors.Is(err, city.ErrNoSupervisor); none {
					break
				}
				l.note(true, infos)
				if !yield(infos, err) {
					return
				}
			}
			if !none {
				return
			}
			all, err := l.known()
			if err != nil {
				yield(nil, err)
				return
			}
			infos := statesWithoutSupervisor(ctx, all)
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

// note records a list and its origin.
func (l *registryList) note(supervised bool, infos []city.Info) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.supervised = supervised
	for _, i := range infos {
		l.seen[i.Path] = i
	}
}

// entry returns the known city with the given name.
func (l *registryList) entry(name string) (host.Registered, error) {
	all, err := l.known()
	if err != nil {
		return host.Registered{}, err
	}
	at := slices.IndexFunc(all, func(r host.Registered) bool { return r.Name == name })
	if at < 0 {
		return host.Registered{}, &city.Error{Code: city.NotFound,
			Message: fmt.Sprintf("%q is not a known city", name)}
	}
	return all[at], nil
}

// City implements city.Directory.
func (l *registryList) City(name string) (city.Control, error) {
	c, err := l.Directory.City(name)
	if !errors.Is(err, city.ErrNoSupervisor) {
		return c, err
	}
	r, err := l.entry(name)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.dialed[r.Path]; c != nil {
		return c, nil
	}
	c, closeIt, err := folder.Dial(r.Path)
	if err != nil {
		return nil, err
	}
	l.dialed[r.Path] = c
	l.closers = append(l.closers, closeIt)
	return c, nil
}

// Start implements city.Starter.
func (l *registryList) Start(ctx context.Context, name string) error {
	if l.e.ReadOnly {
		return env.ReadOnlyError("start")
	}
	r, err := l.entry(name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	// an empty Env, because the flags of this command are about its own city
	_, err = host.SpawnHeadless(ctx, &env.Env{}, r.Path)
	return err
}
