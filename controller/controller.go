// Package controller runs one city: it keeps exactly the declared agents alive, and is the one place that decides.
//
// The machine (controller/machine) is the mind: pure, it turns inputs and the time into effects. The loop (loop.go)
// owns it and feeds it; effects (controller/perform) touch the world and come back as inputs.
//
// # Concurrency
//
// Run owns one goroutine, the loop, and one more per effect in flight; all of them have ended when Run returns
// (L10). Every exported method may be called from any goroutine. Reading never waits for the loop: it takes the
// last published snapshot.
package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gcity/agent"
	"gcity/beads"
	"gcity/city"
	"gcity/config"
	"gcity/config/edit"
	"gcity/controller/catalogue"
	"gcity/controller/effect"
	"gcity/controller/machine"
	"gcity/controller/perform"
	"gcity/controller/pulse"
	"gcity/events"
	"gcity/internal/colour"
	"gcity/internal/disk"
	"gcity/internal/shutdown"
	"gcity/session"
)

// Options say which city to run, and with what.
type Options struct {
	Dir string // the city's folder, absolute, symlinks resolved
	// a path that leads to that folder wherever it is moved (see Hold.Via); "" = Dir
	At       string
	Mode     string // shown as Snapshot.Mode; Supervised has a meaning
	Version  string // of the program
	Provider session.Provider
	Log      *events.Log
	Logger   *slog.Logger
	Host     agent.Host

	Files  []string // read besides the configuration's own, see config.Source
	Strict bool     // the same

	// Stores opens the store of a scope, "" = the city, else a rig; from any goroutine, again and again. Nil:
	// there is no work, and no automation runs.
	Stores func(rig string) (beads.Store, error)

	// BackUp makes the backups of work that are due. It is called every ten minutes, off the loop. Nil: there are
	// none.
	BackUp func(ctx context.Context) error

	// Folders hears where automations and formulas are, whenever that has changed; from the loop, so it must not
	// wait. May be nil.
	Folders func(dirs []string)

	// Read hears the revision of the configuration whenever it has been read, "" if it had none, and the
	// configuration if it has no mistake: off the loop, from any goroutine, one after the other. May be nil.
	Read func(revision string, good *config.City)

	// Vet returns why the programs of a configuration, and of the automations that it finds, may not run; nil: of
	// the one on disk. It is called off the loop before a changed configuration or changed automations come into
	// force. May be nil.
	Vet func(*config.City) error

	// Door hears where the city is to answer over TCP, whenever that has changed; from the loop, so it must not
	// wait. May be nil. Doors tells what has become of it; nil: nothing.
	Door func(config.API)
	// Allow returns an error if a configuration must not come into force that declares so many agents; asked
	// beside the loop, of what was edited. May be nil.
	Allow func(ctx context.Context, agents int) error
	Doors <-chan city.Listener

	// OpenFiles is how many files this process may open, 0 = unknown. Too few for the agents are a warning.
	OpenFiles uint64

	// Faults brings panics of what works for the city beside the controller, each of which ends it as one of its
	// own does. It has room for one, and whoever tells does not wait. Nil: there are none.
	Faults chan error

	// the folders of automations may have changed; nil: looked at once a patrol only
	Rescan <-chan struct{}
	// the configuration may have changed; nil: looked at once a patrol only
	Poke <-chan struct{}
	// ends what a predecessor's runs left behind; called once, before the first decision; may be nil
	Sweep func() (int, error)
	// called before each look, off the loop: *RunningError ends the controller and leaves the agents; may be nil
	Held func() error
	// returns a *disk.MovedError if Dir does not lead to the city any more; may be nil
	Home func() error
	Beat func(status string) // called after each turn, at least every 10 s; may be nil
	// of what Run does after its last decision; begun by Run; nil: Farewell
	Last  *shutdown.Deadline
	Pulse time.Duration // how often the loop turns while a client watches; 0 = 1 s
}

// Farewell is how long everything may take together that a city does after its last decision.
const Farewell = effect.Farewell

// Controller is a city that runs. It is a city.Control.
type Controller struct {
	o     Options
	first *config.City
	m     *machine.Machine
	told  city.StopReport // of a stop, in the log

	inbox   chan effect.Input
	replies sync.Map // command id → chan answer
	lastID  atomic.Uint64
	done    chan struct{} // closed when Run has returned
	enough  chan struct{} // closed by GiveUp
	looked  chan struct{} // closed by the first look at the sessions
	once    sync.Once     // guards closing it

	snap atomic.Pointer[city.Snapshot]
	// the configuration in force; its wants never change
	force   atomic.Pointer[effect.Configuration]
	pulse   *pulse.Pulse
	limit   atomic.Int64 // see StopLimit
	changed chan struct{}
	mu      sync.Mutex // guards changed

	ignored atomic.Pointer[string] // what was told of an [api] that nobody serves

	gauges *gauges
	runner *perform.Runner
	faults chan error // room for one: the first is enough
	*catalogue.Catalogue
	*catalogue.Rigs
}

var (
	_ city.Control    = (*Controller)(nil)
	_ city.Gauged     = (*Controller)(nil)
	_ city.Configured = (*Controller)(nil)
	_ city.Catalogued = (*Controller)(nil)
	_ city.RigEditor  = (*Controller)(nil)
)

// errRan is for a caller that runs a controller twice.
var errRan = errors.New("a controller runs once")

// New prepares a controller for a configuration that has been loaded from o.Dir. The caller holds the city's lock
// (see Acquire) until Run has returned.
func New(o Options, c *config.City) (*Controller, error) {
	if o.Provider == nil || o.Log == nil {
		return nil, errors.New("a controller needs a session provider and an event log")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Last == nil {
		o.Last = shutdown.New(Farewell)
	}
	if o.At == "" {
		o.At = o.Dir
	}
	if err := disk.MkdirAll(filepath.Join(o.At, ".gc"), 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the city's runtime folder: %w", err)
	}
	_, measures := o.Provider.(session.Meter)
	ctl := &Controller{
		o: o, first: c, pulse: pulse.New(o.Pulse),
		inbox: make(chan effect.Input, 256), done: make(chan struct{}), enough: make(chan struct{}),
		looked: make(chan struct{}), changed: make(chan struct{}), gauges: newGauges(),
	}
	ctl.faults = o.Faults
	if ctl.faults == nil {
		ctl.faults = make(chan error, 1)
	}
	ctl.runner = perform.New(ctl.world())
	inForce := func() *config.City { return ctl.force.Load().Source }
	ctl.Catalogue = catalogue.New(o.source(), inForce)
	ctl.Rigs = catalogue.NewRigs(o.source(), ctl)
	host, _ := os.Hostname()
	now := time.Now()
	conf := ctl.translate(c)
	past := machine.Past{Mode: o.Mode, Measures: measures}
	ctl.recallDeeds(&past)
	ctl.recall(conf, &past)
	ctl.m = machine.New(past)
	ctl.m.Step(now, effect.Loaded{Revision: c.Revision, Conf: conf})
	ctl.limit.Store(int64(ctl.m.StopLimit()))
	ctl.publish(&city.Snapshot{Host: host, Started: now, PID: os.Getpid()}, now)
	return ctl, nil
}

// world returns what effects are carried out with.
func (c *Controller) world() perform.World {
	w := perform.World{
		Dir: c.o.Dir, At: c.o.At, Source: c.o.source(), Provider: c.o.Provider, Log: c.o.Log,
		Logger: c.o.Logger, Host: c.o.Host, Last: c.o.Last,
		Stores: c.o.Stores, BackUp: c.o.BackUp, Folders: c.o.Folders, Read: c.o.Read, Vet: c.o.Vet,
		Door: c.o.Door, Allow: c.o.Allow, Home: c.o.Home,
		Inbox: c.inbox, Answer: c.answer, Broke: c.broke, Snapshot: c.fresh, InForce: c.force.Load,
		Translate: c.translate, Patrolled: c.gauges.patrolled, Called: c.gauges.called,
	}
	if c.o.Held != nil {
		w.Held = func() (lost, err error) {
			err = c.o.Held()
			if other, ok := errors.AsType[*RunningError](err); ok {
				return other, nil
			}
			return nil, err
		}
	}
	return w
}

// translate turns a configuration into what the machine works on.
func (c *Controller) translate(cfg *config.City) *effect.Configuration {
	warnings := make([]string, len(cfg.Warnings))
	for i, w := range cfg.Warnings {
		warnings[i] = w.String()
	}
	overrides, err := edit.Overrides(c.o.Dir)
	if err != nil {
		warnings = append(warnings, err.Error())
	}
	if text := c.ignores(cfg); text != "" {
		warnings = append(warnings, text)
	}
	wants := agent.Plan(cfg, c.o.Host)
	if text := FewFiles(c.o.OpenFiles, len(wants)); text != "" {
		warnings = append(warnings, text)
	}
	own, _ := colour.Parse(cfg.Console.Colour) // checked when it was read; none is none
	host, port := cfg.Dolt.Server()
	automations := cfg.AutomationOptions()
	automations.Local = time.Local
	return &effect.Configuration{
		Name: cfg.Workspace.Name, Revision: cfg.Revision, Suspended: cfg.Workspace.Suspended,
		Wants: wants, Pools: agent.Pools(cfg, c.o.Host), Rigs: agent.Rigs(cfg), Warnings: warnings,
		Overrides: overrides, Environ: config.Beats(c.o.Host.Environ),
		Dir: c.o.Dir, Source: cfg, NoWork: c.o.Stores == nil,
		Backups: c.o.BackUp != nil && c.o.Stores != nil, Layers: cfg.Layers(),
		Automations: automations, Tiers: tiersOf(cfg),
		WispEvery: cfg.Daemon.WispGCInterval, WispTTL: cfg.Daemon.WispTTL,
		OnDisk:  cfg.Daemon.CrashHistory == "disk",
		Store:   city.WorkStore{Provider: cfg.Beads.Keeper(), Host: host, Port: port},
		API:     c.doorOf(cfg),
		Console: city.Console{Theme: cfg.Console.Theme, Colour: own},
		Patrol:  cfg.Daemon.PatrolInterval, Grace: cfg.Daemon.ShutdownTimeout,
		Window: cfg.Daemon.RestartWindow,
	}
}

func tiersOf(cfg *config.City) []config.Watchdog {
	tiers := slices.Clone(cfg.Watchdogs)
	for i := range tiers {
		tiers[i].Name = tiers[i].Qualified()
	}
	slices.SortFunc(tiers, func(a, b config.Watchdog) int {
		return strings.Compare(a.Name, b.Name)
	})
	return tiers
}

// Run keeps the city until ctx ends, which stops its agents gracefully, or until a city.Shutdown is done. It
// returns nil after an orderly end, and an error that names the agents that could not be stopped in time. A panic
// ends it too, with a *recovery.Panic in its error: the agents run on then.
func (c *Controller) Run(ctx context.Context) error { return c.run(ctx, false) }

// Settle brings the city once to where its configuration wants it and returns, leaving the agents to themselves.
// Deaths during it are not answered. It ends early with ctx.
func (c *Controller) Settle(ctx context.Context) error { return c.run(ctx, true) }

// SetMode changes what Snapshot.Mode says: a controller whose console is gone is headless.
func (c *Controller) SetMode(mode string) {
	_ = c.send(context.Background(), effect.ModeChanged{Mode: mode})
}

// Looked is closed once the first look at the sessions has come back, or has failed. Until then nobody knows who
// runs, and who is one too many seems not to be there.
func (c *Controller) Looked() <-chan struct{} { return c.looked }

// GiveUp ends Run though agents may live: what is under way for them is broken off.
func (c *Controller) GiveUp() { c.once.Do(func() { close(c.enough) }) }

// Hurry takes the grace out of a stop under way.
func (c *Controller) Hurry() { _ = c.send(context.Background(), effect.Hurry{}) }

// source is where the configuration is read from.
func (o *Options) source() config.Source {
	return config.Source{Dir: o.Dir, Files: o.Files, Strict: o.Strict, Environ: o.Host.Environ}
}
