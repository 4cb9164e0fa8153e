package supervisor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"gcity/city"
	"gcity/internal/deadline"
	"gcity/internal/recovery"
	"gcity/internal/span"
)

const (
	nameTimeout = 2 * time.Second
	// watchInterval is how often the supervisor polls its cities, which do not report changes.
	watchInterval = time.Second
	// settleLimit is how long Register waits for a city to run or fail.
	settleLimit = 20 * time.Second
)

// Cities implements city.Directory.
func (s *Supervisor) Cities(context.Context) ([]city.Info, error) {
	all, _ := s.list()
	return all, nil
}

// StartedAt implements city.SupervisorStatus.
func (s *Supervisor) StartedAt() time.Time { return s.began }

// Problems implements city.SupervisorStatus.
func (s *Supervisor) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc([]string{s.problem, s.listener.Problem, s.limits},
		func(text string) bool {
			return text == ""
		})
}

// SetLimitsProblem records why the tenants' limits have no effect; "" = they are in effect.
func (s *Supervisor) SetLimitsProblem(problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits = problem
	s.change()
}

// SetListener records the TCP address of the API, or why the API does not listen on one.
func (s *Supervisor) SetListener(d city.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener = d
	s.change()
}

// list returns the states of all cities, and a channel that is closed at the next change. It asks all running cities at
// the same time and without holding mu, because a city that does not respond delays its answer.
func (s *Supervisor) list() ([]city.Info, <-chan struct{}) {
	s.mu.Lock()
	out, changed := s.infos(), s.changed
	running := map[string]City{}
	for path, w := range s.workers {
		running[path] = w.running
	}
	s.mu.Unlock()
	var asks recovery.Group
	for i := range out {
		if out[i].Running {
			asks.Go(func() { addSnapshot(&out[i], running[out[i].Path]) })
		}
	}
	asks.Wait()
	return out, changed
}

// infos returns the states of all cities by name, without asking the cities. The caller must hold mu.
func (s *Supervisor) infos() []city.Info {
	out := make([]city.Info, 0, len(s.workers))
	for _, w := range s.sorted() {
		out = append(out, w.info())
	}
	return out
}

// info returns a city's state without asking the city. The caller must hold mu.
func (w *worker) info() city.Info {
	i := city.Info{Name: w.name, Path: w.path, Status: w.state, Error: w.why, Since: w.since,
		Crashes: w.crashes, Running: w.state == city.CityRunning && w.running != nil}
	if w.state == city.CityRefused {
		i.LeftoverSessions, i.Cause = w.lives, w.cause
	}
	if !w.until.IsZero() {
		i.Until = new(w.nextAttempt())
	}
	return i
}

// addSnapshot adds what a running city's snapshot says about its state.
func addSnapshot(i *city.Info, running City) {
	snap, err := running.Control().Snapshot(context.Background())
	if err != nil {
		i.Error = err.Error()
		return
	}
	switch {
	case snap.ShutDown:
		i.Status = city.CityStopping
	case snap.Suspended:
		i.Status = city.CitySuspended
	}
	switch age := snap.Patrol.Age(time.Now()); {
	case snap.Away != "":
		i.Error = snap.Away
	case age > 3*max(snap.Patrol.Interval, 5*time.Second):
		i.Cause = city.Unresponsive
		i.Error = fmt.Sprintf("the city's controller has not responded for %s; see `gcity "+
			"supervisor logs`", span.Text(age.Round(time.Second)))
	case snap.Config.Trust != "":
		i.Error = "changes on disk wait for your trust: " + firstLine(snap.Config.Rejected)
	case snap.Config.Rejected != "":
		i.Error = "the previous configuration stays in force, because the changed " +
			"one is invalid: " + firstLine(snap.Config.Rejected)
	}
}

// Watch implements city.Directory.
func (s *Supervisor) Watch(ctx context.Context) iter.Seq2[[]city.Info, error] {
	return func(yield func([]city.Info, error) bool) {
		tick := time.NewTicker(watchInterval)
		defer tick.Stop()
		var last []city.Info
		for first := true; ctx.Err() == nil; first = false {
			now, changed := s.list()
			if first || !slices.EqualFunc(now, last, city.Info.Same) {
				if last = now; !yield(now, nil) {
					return
				}
				continue
			}
			select {
			case <-changed:
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	}
}

// City implements city.Directory.
func (s *Supervisor) City(name string) (city.Control, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.byName(name); w != nil {
		return &proxy{s, w.path}, nil
	}
	return nil, s.unknown(name)
}

// Register implements city.Registrar. It waits at most settleLimit for the city to run or fail.
func (s *Supervisor) Register(ctx context.Context, path string) (city.Info, error) {
	s.addRegistering(1)
	defer s.addRegistering(-1)
	e, err := s.identify(ctx, path)
	if err != nil {
		return city.Info{}, err
	}
	if err := s.nameTaken(e); err != nil {
		return city.Info{}, err
	}
	if err := s.edit(ctx, addition(e)); err != nil {
		return city.Info{}, err
	}
	s.readNow(ctx)
	return s.settled(ctx, e, s.start(e.Path))
}

// start immediately starts a city that is waiting or was stopped, and reports whether there is such a city.
func (s *Supervisor) start(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.workers[path]
	return w != nil && w.poke(true)
}

// startAfterStop makes a city start again after it has stopped. It does nothing if stopping is out of date, because the
// request would then apply to a later stop.
func (s *Supervisor) startAfterStop(stopping *city.Info) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.workers[stopping.Path]
	if w != nil && w.state == city.CityRunning && w.since.Equal(stopping.Since) {
		w.requestRetry()
	}
}

func (s *Supervisor) addRegistering(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.registering += n
}

// nameTaken returns an error if another city has the same name. Unlike Add, it also checks the cities that have no name
// in the registry.
func (s *Supervisor) nameTaken(e Entry) error {
	all, err := Read(s.o.Home)
	if err != nil {
		return nil // edit reports this error
	}
	names := s.namesOf(all)
	return NameConflict(Named(all, func(path string) string { return names[path] }), e)
}

// Preview implements city.Previewer.
func (s *Supervisor) Preview(ctx context.Context, path string) (city.Declared, error) {
	e, err := s.identify(ctx, path)
	if err != nil || s.o.Agents == nil {
		return city.Declared{Name: e.Name, Path: e.Path}, err
	}
	saw, ok := s.counts.Do(ctx, e.Path, time.Now(), nameTimeout, func() count {
		n, err := s.o.Agents(e.Path)
		return count{n, err}
	})
	switch {
	case !ok:
		return city.Declared{}, city.Errorf(city.Unavailable, "cannot register %s: %v", path,
			errUnresponsive)
	case saw.err != nil:
		return city.Declared{}, &city.Error{Code: city.Invalid, Message: saw.err.Error(),
			Details: city.ConfigRefused}
	}
	return city.Declared{Name: e.Name, Path: e.Path, Agents: saw.n}, nil
}

func (s *Supervisor) identify(ctx context.Context, path string) (Entry, error) {
	if !filepath.IsAbs(path) {
		return Entry{}, city.Errorf(city.Invalid, "%q is not the absolute path of a city's folder",
			path)
	}
	return identify(ctx, s.folders, path, s.o.Name)
}

type folder struct {
	entry Entry
	err   error
}

type count struct {
	n   int
	err error
}

// Identify returns the registry entry for a folder: its path without symbolic links, and its configured name.
func Identify(ctx context.Context, path string, name func(path string) string) (Entry, error) {
	return identify(ctx, deadline.New[folder](1), path, name)
}

func identify(ctx context.Context, looks *deadline.Calls[folder], path string,
	name func(path string) string) (Entry, error) {
	saw, ok := looks.Do(ctx, filepath.Clean(path), time.Now(), nameTimeout, func() folder {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return folder{err: fmt.Errorf("cannot register %s: %w", path, err)}
		}
		return folder{entry: Entry{Path: real, Name: name(real)}}
	})
	switch {
	case !ok:
		return Entry{}, city.Errorf(city.Unavailable, "cannot register %s: %v", path,
			errUnresponsive)
	case saw.err != nil:
		return Entry{}, city.Errorf(city.Invalid, "%v", saw.err)
	case saw.entry.Name == "":
		return Entry{}, city.Errorf(city.Invalid, "%s is not a city: the folder has no city.toml "+
			"with a name; `gcity init` writes one", path)
	}
	return saw.entry, nil
}

// settled waits for a city to run or fail. A city that is stopping starts again afterwards, even if the stop takes
// longer than settleLimit. A city that is found stopped is started once, unless started is set.
func (s *Supervisor) settled(ctx context.Context, e Entry, started bool) (city.Info, error) {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	for {
		all, changed := s.list()
		i := slices.IndexFunc(all, func(i city.Info) bool { return i.Path == e.Path })
		if i < 0 {
			return city.Info{}, city.Errorf(city.Unavailable, "%s is registered but not running: "+
				"either the city is stopping, or `gcity supervisor status` reports a problem "+
				"with the registry", e.Name)
		}
		switch all[i].Status {
		case city.CityStarting:
		case city.CityStopping:
			s.startAfterStop(&all[i])
		case city.CityStopped:
			if started {
				return all[i], nil
			}
			s.start(e.Path)
			started = true
			continue
		default:
			return all[i], nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				// the time limit has passed
				return all[i], nil
			}
			return all[i], ctx.Err()
		}
	}
}

// Unregister implements city.Registrar.
func (s *Supervisor) Unregister(ctx context.Context, name string) (city.Receipt, error) {
	s.mu.Lock()
	w := s.byName(name)
	s.mu.Unlock()
	if w == nil {
		return city.Receipt{}, s.unknown(name)
	}
	var was bool
	if err := s.edit(ctx, removal(w.path, &was)); err != nil {
		return city.Receipt{}, err
	}
	if err := Remember(s.o.Home, Entry{Path: w.path, Name: name}, time.Now()); err != nil {
		s.o.Logger.Warn("the lists of cities will not contain a city that is no longer "+
			"registered",
			"city", name, "error", err)
	}
	s.mu.Lock()
	w.dismiss()
	s.dropped[w.path] = true
	s.mu.Unlock()
	s.readNow(ctx)
	select {
	case <-w.done:
	case <-ctx.Done():
		return city.Receipt{}, city.Errorf(city.Unavailable, "%s is no longer registered and is "+
			"being stopped; the city has not exited yet", name)
	}
	if err := w.result(); err != nil {
		return city.Receipt{}, city.Errorf(city.Unavailable, "no longer registered: %v", err)
	}
	text := name + " has stopped and is no longer registered"
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case w.other != nil:
		text = fmt.Sprintf("%s is no longer registered. The supervisor did not stop it: %v",
			name, w.other)
	case w.ended == 1:
		text += "; 1 session from an earlier run was stopped"
	case w.ended > 1:
		text += fmt.Sprintf("; %d sessions from an earlier run were stopped", w.ended)
	}
	return city.Receipt{Message: text}, nil
}
