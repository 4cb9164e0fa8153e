package fleet

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/host"
	"gcity/cli/offline"
	"gcity/config"
	"gcity/internal/deadline"
	"gcity/internal/recovery"
	"gcity/internal/shell"
	"gcity/internal/suggest"
	"gcity/supervisor"
)

// short, because users switch to a city right after they start it
const registryPoll = 2 * time.Second

// registryCheck is how often Watch compares the times of the list files.
const registryCheck = 250 * time.Millisecond

const startTimeout = 30 * time.Second

// RoomDirectory is like AwaitDirectory, but also lists recently opened cities, and can start a city. If not nil, hosted
// is the city that this process runs in dir.
func RoomDirectory(e *env.Env, hosted city.Control, dir string) (city.Directory, func()) {
	d, closeIt := AwaitDirectory(e)
	if d == nil {
		return nil, closeIt
	}
	l := &registryList{Directory: d, e: e, looks: newLooks(), dialed: map[string]city.Control{},
		refresh: make(chan struct{}, 1), closers: []func(){closeIt}}
	if hosted != nil {
		l.hosted, l.hostedPath = hosted, Resolved(dir)
	}
	if r, ok := d.(city.Registrar); ok {
		return registrarList{l, r}, l.close
	}
	return l, l.close
}

type registrarList struct {
	*registryList
	city.Registrar
}

// Unregister implements city.Registrar.
func (l registrarList) Unregister(ctx context.Context, name string) (city.Receipt, error) {
	r, err := l.Registrar.Unregister(ctx, name)
	if city.HasCode(err, city.NotFound) {
		if dir, none := l.folderOf(ctx, name); none == nil {
			err = city.Errorf(city.Conflict, "%s is not registered; to stop it, run `gcity stop "+
				"--city %s`", name, shell.Quote(dir))
		}
	}
	return r, err
}

// registryList adds the recently opened cities to a supervisor's list, and works without a supervisor.
type registryList struct {
	city.Directory
	e          *env.Env
	looks      *deadline.Calls[city.Info]
	hosted     city.Control // city that this process runs; may be nil
	hostedPath string
	refresh    chan struct{} // makes Watch read the list immediately

	mu         sync.Mutex
	supervised bool
	last       []city.Info
	searched   map[string]search       // latest searches of stopped cities for sessions, by folder
	dialed     map[string]city.Control // by folder
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

func (l *registryList) find(ctx context.Context) (all []city.Info, registered int, err error) {
	home, err := env.Home(l.e)
	if err != nil {
		return nil, 0, err
	}
	entries, err := host.Registry(home)
	if err != nil {
		return nil, 0, err
	}
	return l.addRecent(ctx, nil, entries), len(entries), nil
}

func recentCities(e *env.Env) (env.SupervisorHome, []host.Registered, error) {
	home, err := env.Home(e)
	if err != nil {
		return home, nil, err
	}
	all, err := supervisor.Recent(home)
	return home, all, err
}

// WarnAboutRecent warns if the recently opened cities cannot be read.
func WarnAboutRecent(e *env.Env) {
	if _, _, err := recentCities(e); err != nil {
		e.Warn("recently opened cities are not listed: " + err.Error())
	}
}

// addRecent adds registered and recent cities to a supervisor's list. It forgets recent cities that are not running and
// have no city.toml.
func (l *registryList) addRecent(ctx context.Context, supervised []city.Info,
	registered []host.Registered) []city.Info {
	// WarnAboutRecent reports the error
	home, recent, _ := recentCities(l.e)
	known := map[string]bool{}
	for i := range supervised {
		known[supervised[i].Path] = true
	}
	for _, r := range registered {
		known[r.Path] = true
	}
	entries := slices.Clip(registered)
	for _, r := range recent {
		if !known[r.Path] {
			entries = append(entries, r)
		}
	}
	states := readStates(ctx, l.looks, entries, func(ctx context.Context,
		r host.Registered) city.Info {
		i := l.state(ctx, r, known[r.Path])
		_, err := os.Stat(filepath.Join(r.Path, config.FileName))
		if errors.Is(err, fs.ErrNotExist) && !i.Running && !known[r.Path] {
			i.Status = ""
		}
		return i
	})
	out := slices.Concat(supervised, states[:len(registered)])
	listed := len(out)
	for _, i := range states[len(registered):] {
		if i.Status == "" {
			if !l.e.ReadOnly {
				supervisor.Forget(home, i.Path)
			}
			continue
		}
		out = append(out, i)
	}
	return unique(out, listed)
}

func (l *registryList) state(ctx context.Context, r host.Registered, registered bool) city.Info {
	switch {
	case l.hosted != nil && r.Path == l.hostedPath:
		return runningState(ctx, city.Info{Name: r.Name, Path: r.Path}, l.hosted)
	case registered:
		return stateWithoutSupervisor(ctx, r)
	}
	return l.recentState(ctx, r)
}

// searchEvery is how often a room searches a stopped city that is not registered for sessions. A search looks at all
// processes of the machine.
const searchEvery = 30 * time.Second

type search struct {
	at       time.Time
	sessions int
}

func (l *registryList) recentState(ctx context.Context, r host.Registered) city.Info {
	i := runningOrStopped(ctx, r)
	var last search // a city that has stopped running is searched immediately
	if !i.Running {
		l.mu.Lock()
		last = l.searched[r.Path]
		l.mu.Unlock()
		// a city with sessions is searched each time, so that the list shows soon that they have ended
		if last.sessions > 0 || time.Since(last.at) >= searchEvery {
			last = searchAgain(ctx, r.Path, last)
		}
		i.LeftoverSessions = last.sessions
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.searched == nil {
		l.searched = map[string]search{}
	}
	l.searched[r.Path] = last
	return i
}

// searchAgain keeps the number of sessions of the previous search if the new one fails.
func searchAgain(ctx context.Context, dir string, last search) search {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	n, err := offline.CountOrphans(ctx, dir)
	if err != nil {
		n = last.sessions
	}
	return search{time.Now(), n}
}

func unique(infos []city.Info, from int) []city.Info {
	entries, reported := make([]host.Registered, len(infos)), map[string]string{}
	for n, i := range infos {
		entries[n].Path = i.Path
		if reported[i.Path] = i.Name; n < from {
			entries[n].Name = i.Name
		}
	}
	name := func(path string) string { return reported[path] }
	for n, e := range supervisor.Named(entries, name) {
		infos[n].Name = e.Name
	}
	return infos
}

// Cities implements city.Directory. Without a supervisor, it returns the newest list from Watch.
func (l *registryList) Cities(ctx context.Context) ([]city.Info, error) {
	infos, err := l.Directory.Cities(ctx)
	l.mu.Lock()
	last := slices.Clone(l.last)
	l.mu.Unlock()
	switch none := errors.Is(err, city.ErrNoSupervisor); {
	case err != nil && !none:
		return nil, err
	case last == nil && none:
		infos, _, err = l.find(ctx)
		return infos, err
	case last == nil:
		return l.addRecent(ctx, infos, nil), nil
	case none:
		return last, nil
	}
	listed := len(infos)
	for _, i := range last {
		if !slices.ContainsFunc(infos[:listed],
			func(o city.Info) bool { return o.Path == i.Path }) {
			infos = append(infos, i)
		}
	}
	return unique(infos, listed), nil
}

type listing struct {
	infos []city.Info
	err   error
}

func (l *registryList) follow(ctx context.Context, out chan<- listing) {
	defer close(out)
	for {
		var last error
		for infos, err := range l.Directory.Watch(ctx) {
			last = err
			select {
			case out <- listing{infos, err}:
			case <-ctx.Done():
				return
			}
		}
		if !errors.Is(last, city.ErrNoSupervisor) || !deadline.Pause(ctx, registryPoll) {
			return
		}
	}
}

// Refresh implements city.Refresher.
func (l *registryList) Refresh() {
	select {
	case l.refresh <- struct{}{}:
	default:
	}
}

func (l *registryList) filesChanged(seen *supervisor.ListTimes) bool {
	home, err := env.Home(l.e)
	if err != nil {
		return false // find reports the error
	}
	before := *seen
	*seen = home.ListTimes()
	return *seen != before
}

// Watch implements city.Directory.
func (l *registryList) Watch(ctx context.Context) iter.Seq2[[]city.Info, error] {
	return func(yield func([]city.Info, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var follows recovery.Group
		defer follows.Wait()
		defer cancel()
		lists := make(chan listing)
		follows.Go(func() { l.follow(ctx, lists) })
		tick := time.NewTicker(registryPoll)
		defer tick.Stop()
		check := time.NewTicker(registryCheck)
		defer check.Stop()
		var files supervisor.ListTimes
		l.filesChanged(&files)
		var latest listing
		open, had := false, false
		for {
			select {
			case latest, open = <-lists:
				if !open {
					return
				}
			case <-tick.C:
				if !open || latest.err != nil {
					continue
				}
			case <-check.C:
				if !l.filesChanged(&files) || !open {
					continue
				}
			case <-l.refresh:
				if !open {
					continue
				}
			case <-ctx.Done():
				return
			}
			infos, changed, err := l.update(ctx, latest)
			if (changed || !had) && ctx.Err() == nil && !yield(infos, err) || err != nil {
				return
			}
			had = true
		}
	}
}

func (l *registryList) update(ctx context.Context, from listing) ([]city.Info, bool, error) {
	supervised := !errors.Is(from.err, city.ErrNoSupervisor)
	var infos []city.Info
	err := from.err
	if !supervised {
		infos, _, err = l.find(ctx)
	} else if err == nil {
		infos = l.addRecent(ctx, from.infos, nil)
	}
	if err != nil {
		return nil, true, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := supervised != l.supervised || !slices.EqualFunc(infos, l.last, city.Info.Same)
	l.supervised, l.last = supervised, infos
	return infos, changed, nil
}

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
	l.mu.Lock()
	gone := l.last != nil && !l.supervised
	l.mu.Unlock()
	if !gone {
		c, err := l.Directory.City(name)
		if !errors.Is(err, city.ErrNoSupervisor) && !city.HasCode(err, city.NotFound) {
			return c, err
		}
	}
	dir, err := l.folderOf(context.Background(), name)
	if err != nil {
		return nil, err
	}
	if l.hosted != nil && dir == l.hostedPath {
		return l.hosted, nil
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
	if r, ok := l.Directory.(city.Registrar); ok && l.Supervised() {
		info, err := r.Register(ctx, dir)
		if err != nil {
			return err
		}
		return cannotRun(l.e, info)
	}
	// this command's flags apply only to its own city
	_, err = host.SpawnHeadless(ctx, &env.Env{}, dir)
	return err
}
