// Package supervisor runs the cities of a machine in one process: those of a registry, a file that people may edit.
// They share no state and no lock; one that breaks is tried again later, and the others do not notice.
//
// # Concurrency
//
// Run owns a goroutine that decides, and one for each city (ward.go), which opens it, runs it and waits for the
// next try. The first waits for nothing but its inputs: the files are read beside it (look.go), and what was seen
// is one of them. What reads a file or opens a city may never answer; that costs a goroutine and holds nobody up.
// When Run has returned all others have ended. Every exported method may be called from any goroutine.
package supervisor

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"gcity/city"
	"gcity/events"
	"gcity/internal/deadline"
)

// City is one that is put together, and not yet running.
type City interface {
	// Control is the city itself.
	Control() city.Control
	// Run keeps it until it has ended, and gives everything back. When ctx ends it stops, with its agents, in
	// bounded time. ready is called once, when it answers. An error that is a *recovery.Panic the city has written
	// into its logs.
	Run(ctx context.Context, ready func()) error
	// Leave ends it and keeps its agents. Hurry takes the grace out of a stop under way. Neither waits.
	Leave()
	Hurry()
	// Close gives everything back of one that never ran.
	Close()
}

// Options say what to supervise, and with what.
type Options struct {
	Home    Home
	Logger  *slog.Logger
	Version string

	// Open puts a city together. It may never answer, and may panic.
	Open func(ctx context.Context, e Entry) (City, error)
	// Name is what the configuration of a city calls it, "" if that cannot be told. It may never answer.
	Name func(path string) string
	// Agents is how many a city may have at once at most by its configuration, or why that is refused. It may never
	// answer.
	Agents func(path string) (int, error)
	// Left counts the sessions that live of a city that nobody runs. It may never answer.
	Left func(ctx context.Context, path string) (int, error)
	// End ends them, and says how many it was. An error that Busy recognises says that they are another controller's.
	End func(ctx context.Context, path string) (int, error)
	// Record writes an event into the log of a city that nobody runs.
	Record func(path string, e events.Event) error
	// Watch pokes when the configuration of a city changes, until ctx ends. It may never answer.
	Watch func(ctx context.Context, path string) <-chan struct{}
	// Busy recognises an error of Open that says that another controller has the city.
	Busy func(error) bool

	// the registry or the settings may have changed; nil: they are read once a patrol
	Changes <-chan struct{}
	// hears the settings, whenever they have changed; must not wait; may be nil
	Apply  func(Settings)
	Beat   func(status string) // called once a Pulse; may be nil
	AtOnce int                 // so many cities are opened at the same time; 0 = by the processors
	Pulse  time.Duration       // 0 = 1 s
	// how long opening a city may take until it counts as one that does not answer; 0 = 15 s
	Patient time.Duration
}

// Supervisor runs cities. It is a city.Directory and a city.Registrar.
type Supervisor struct {
	o       Options
	began   time.Time
	slots   chan struct{} // one for each city that is being opened
	reloads chan struct{}
	asks    chan chan<- struct{}    // closed when the files have been looked at
	deaf    chan struct{}           // closed when they are not looked at any more
	look    func() sight            // at the files; may never answer
	names   *deadline.Calls[string] // at what a configuration calls its city
	folders *deadline.Calls[folder] // that are to be registered
	counts  *deadline.Calls[count]  // at how many agents a configuration declares
	lefts   *deadline.Calls[int]    // at what an earlier run of a city has left

	mu    sync.Mutex
	wards map[string]*ward // by path
	// paths that were unregistered since a look began: what that saw of them is of the past
	dropped  map[string]bool
	settings Settings
	problem  string // of the registry or the settings, "" = none
	door     city.Listener
	limits   string // why those of tenants have no effect
	told     bool   // Apply has heard of the settings
	ending   ending
	changed  chan struct{}   // closed and renewed by every change
	life     context.Context // of everything that Run begins
	wg       sync.WaitGroup  // of wards
}

type ending int

const (
	alive ending = iota
	stopping
	leaving
)

var (
	_ city.Directory = (*Supervisor)(nil)
	_ city.Registrar = (*Supervisor)(nil)
	_ city.Surveyor  = (*Supervisor)(nil)
	_ city.Keeper    = (*Supervisor)(nil)
)

// New prepares a supervisor. Who calls Run holds the home (see Acquire).
func New(o Options) *Supervisor {
	o.AtOnce = cmp.Or(o.AtOnce, max(4, 2*runtime.GOMAXPROCS(0)))
	o.Pulse = cmp.Or(o.Pulse, time.Second)
	o.Patient = cmp.Or(o.Patient, 15*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Busy == nil {
		o.Busy = func(error) bool { return false }
	}
	s := &Supervisor{
		o: o, began: time.Now(), names: deadline.New[string](64), folders: deadline.New[folder](64),
		counts: deadline.New[count](64), lefts: deadline.New[int](64),
		slots: make(chan struct{}, o.AtOnce), reloads: make(chan struct{}, 1),
		asks: make(chan chan<- struct{}), deaf: make(chan struct{}),
		wards: map[string]*ward{}, dropped: map[string]bool{}, settings: Defaults(o.Home),
		changed: make(chan struct{}), life: context.Background(),
	}
	s.look = s.readFiles
	return s
}

// Run keeps the cities until ctx ends, which stops them all, or until Leave. It returns when every city has ended,
// or has been given up; then the error says which.
func (s *Supervisor) Run(ctx context.Context) error {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	s.mu.Lock()
	s.life = life
	s.mu.Unlock()
	pulse := time.NewTicker(s.o.Pulse)
	defer pulse.Stop()
	s.turns(ctx, pulse.C)
	s.mu.Lock()
	if s.ending == alive {
		s.ending = stopping
	}
	how, all := s.ending, s.sorted()
	s.mu.Unlock()
	s.o.Logger.Info("stopping", "cities", len(all), "agents_stay", how == leaving)
	for _, w := range all {
		w.finish(how)
	}
	s.wait(pulse.C)
	var errs []error
	for _, w := range all {
		errs = append(errs, w.verdict())
	}
	return errors.Join(errs...)
}

// Reload reads registry and settings now, and tries at once whoever waits to be tried again.
func (s *Supervisor) Reload() {
	s.mu.Lock()
	for _, w := range s.wards {
		w.poke(false)
	}
	s.mu.Unlock()
	select {
	case s.reloads <- struct{}{}:
	default:
	}
}

// Leave has Run end, and every city with it, and keeps all agents.
func (s *Supervisor) Leave() {
	s.mu.Lock()
	if s.ending == alive {
		s.ending = leaving
	}
	s.mu.Unlock()
	select {
	case s.reloads <- struct{}{}:
	default:
	}
}

// Hurry takes the grace out of every stop under way.
func (s *Supervisor) Hurry() {
	s.mu.Lock()
	all := s.sorted()
	s.mu.Unlock()
	for _, w := range all {
		w.hurry()
	}
}

// Problem says what is wrong with the registry or the settings, "" if nothing is.
func (s *Supervisor) Problem() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problem
}
