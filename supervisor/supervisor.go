// Package supervisor runs a machine's cities in one process. They are listed in the registry, a file that users can
// edit. Cities share no state and no lock. A city that crashes is retried later and does not affect the others.
//
// # Concurrency
//
// Run has one goroutine that makes all decisions, and one for each city (worker.go). A city's goroutine opens the city,
// runs it, and waits before the next attempt. The deciding goroutine waits only for its inputs. Other goroutines read
// the files (refresh.go) and send it the results. Reading a file or opening a city might never return. Such a call
// leaves a goroutine behind but blocks nothing else. All other goroutines have ended when Run returns. Exported methods
// are safe for concurrent use.
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

// City is an opened city. It can be run only once.
type City interface {
	Control() city.Control
	// Run runs the city until it has stopped, and then releases its resources. When ctx ends, Run stops the city and
	// its agents. It calls ready once, when the city responds. If Run returns a *recovery.Panic, the panic has been
	// logged.
	Run(ctx context.Context, ready func()) error
	// Leave stops the city but not its agents. Hurry ends the grace period of a stop in progress. Both return
	// immediately.
	Leave()
	Hurry()
	// Close releases the resources of a city that has not been run.
	Close()
}

// Options configures a Supervisor.
type Options struct {
	Home   Home
	Logger *slog.Logger

	// Open opens a city. It might never return, and it can panic.
	Open func(ctx context.Context, e Entry) (City, error)
	// Name returns a city's name from its configuration, or "" if the configuration cannot be read. It might never
	// return.
	Name func(path string) string
	// Agents returns the maximum number of agents that a city's configuration allows. It might never return.
	Agents func(path string) (int, error)
	// CountLeftovers counts the running sessions of a city without a controller. It might never return.
	CountLeftovers func(ctx context.Context, path string) (int, error)
	// StopLeftovers stops the sessions of a city without a controller and returns their number.
	StopLeftovers func(ctx context.Context, path string) (int, error)
	// Record writes an event to the log of a city that has no controller.
	Record func(path string, e events.Event) error
	// Watch returns a channel that receives a value whenever a city's configuration changes, until ctx ends. It might
	// never return.
	Watch func(ctx context.Context, path string) <-chan struct{}
	// Busy reports whether an error from Open means that another controller is running the city.
	Busy func(error) bool

	// receives a value when the registry or the settings might have changed; can be nil
	Changes <-chan struct{}
	// called after each change to the settings; must not block; can be nil
	Apply        func(Settings)
	ReportStatus func(status string) // called once per Pulse with a status line; can be nil
	// maximum number of cities that are opened at the same time; 0 = depends on the number of processors
	MaxOpening int
	// how often ReportStatus and periodic checks run; 0 = 1 s
	Pulse time.Duration
	// a city that takes longer to open counts as hung; 0 = 15 s
	OpenTimeout time.Duration
	// UntilEmpty makes Run end after 30 consecutive pulses without a city.
	UntilEmpty bool
}

// Supervisor runs cities. It is a city.Directory and a city.Registrar.
type Supervisor struct {
	o       Options
	began   time.Time
	slots   chan struct{} // semaphore for opening cities
	reloads chan struct{}
	// each request is a channel, which is closed when the read has finished or is late
	readRequests chan chan<- struct{}
	readsOver    chan struct{}
	read         func() readResult // might never return
	names        *deadline.Calls[string]
	folders      *deadline.Calls[folder]
	counts       *deadline.Calls[count] // of agents in a configuration
	leftovers    *deadline.Calls[int]   // sessions from an earlier run

	mu      sync.Mutex
	workers map[string]*worker // by path
	// cities unregistered during the current read, by path; the read must not restart them
	dropped map[string]bool
	// number of Register calls in progress
	registering int
	settings    Settings
	problem     string // with the registry or the settings
	listener    city.Listener
	limits      string // why the tenants' limits have no effect
	applied     bool
	ending      ending
	hurried     bool          // Hurry was called
	changed     chan struct{} // closed and replaced at every change
	life        context.Context
	wg          sync.WaitGroup
}

type ending int

const (
	alive ending = iota
	stopping
	leaving
)

var (
	_ city.Directory        = (*Supervisor)(nil)
	_ city.Registrar        = (*Supervisor)(nil)
	_ city.Previewer        = (*Supervisor)(nil)
	_ city.SupervisorStatus = (*Supervisor)(nil)
)

// New returns a supervisor. The caller must own the home (see Acquire) before it calls Run.
func New(o Options) *Supervisor {
	o.MaxOpening = cmp.Or(o.MaxOpening, max(4, 2*runtime.GOMAXPROCS(0)))
	o.Pulse = cmp.Or(o.Pulse, time.Second)
	o.OpenTimeout = cmp.Or(o.OpenTimeout, 15*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Busy == nil {
		o.Busy = func(error) bool { return false }
	}
	s := &Supervisor{
		o: o, began: time.Now(), names: deadline.New[string](64), folders: deadline.New[folder](64),
		counts: deadline.New[count](64), leftovers: deadline.New[int](64),
		slots: make(chan struct{}, o.MaxOpening), reloads: make(chan struct{}, 1),
		readRequests: make(chan chan<- struct{}), readsOver: make(chan struct{}),
		workers: map[string]*worker{}, dropped: map[string]bool{}, settings: Defaults(o.Home),
		changed: make(chan struct{}), life: context.Background(),
	}
	s.read = s.readFiles
	return s
}

// Run runs the cities until ctx ends or Leave is called. When ctx ends, Run stops all cities and their agents. The
// error names the cities that it had to abandon.
func (s *Supervisor) Run(ctx context.Context) error {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	s.mu.Lock()
	s.life = life
	s.mu.Unlock()
	pulse := time.NewTicker(s.o.Pulse)
	defer pulse.Stop()
	s.loop(ctx, pulse.C)
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
		errs = append(errs, w.result())
	}
	return errors.Join(errs...)
}

// Reload makes Run read the registry and the settings again, and immediately retry the cities that are waiting. It does
// not wait.
func (s *Supervisor) Reload() {
	s.mu.Lock()
	for _, w := range s.workers {
		w.poke(false)
	}
	s.mu.Unlock()
	select {
	case s.reloads <- struct{}{}:
	default:
	}
}

// Leave ends Run and stops all cities but not their agents.
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

// Hurry ends the grace period of every stop in progress, and of the stops of cities that are still being opened.
func (s *Supervisor) Hurry() {
	s.mu.Lock()
	s.hurried = true
	var running []City
	for _, w := range s.sorted() {
		if w.running != nil {
			running = append(running, w.running)
		}
	}
	s.mu.Unlock()
	for _, c := range running {
		c.Hurry()
	}
}

// Problem returns the problem with the registry or the settings, or "" if both are valid.
func (s *Supervisor) Problem() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problem
}
