// Package controller runs one city: it keeps exactly the declared agents alive and makes all decisions.
//
// The machine (controller/machine) is pure: it turns inputs and the time into effects. The loop (loop.go) owns it.
// Effects (controller/perform) act on the outside world and return inputs.
//
// # Concurrency
//
// Run owns one goroutine, the loop, and one more per effect in flight; all have ended when Run returns (L10).
// Exported methods are safe for concurrent use. Reading never waits for the loop: it uses the last published
// snapshot.
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

// Options configure the controller of a city.
type Options struct {
	Dir string // the city's folder, absolute, symlinks resolved
	// a path that still leads to the folder after a move (see Hold.Via); "" = Dir
	At       string
	Mode     string // shown as Snapshot.Mode; only Supervised changes behaviour
	Version  string // of gcity
	Provider session.Provider
	Log      *events.Log
	Logger   *slog.Logger
	Host     agent.Host

	Files  []string // additional files, see config.Source
	Strict bool     // see config.Source

	// Stores opens the store of a scope, "" = the city, otherwise a rig; from any goroutine, repeatedly. Nil: the
	// city has no work and no automations.
	Stores func(rig string) (beads.Store, error)

	// BackUp makes the backups that are due. It is called every ten minutes, outside the loop. Nil: no backups.
	BackUp func(ctx context.Context) error

	// Folders is called with the folders of automations and formulas when they change. The loop calls it, so it
	// must not block. May be nil.
	Folders func(dirs []string)

	// Read is called with each revision of the configuration that was read, "" if unreadable, and the configuration
	// if it is valid. It is called outside the loop, from any goroutine, one call at a time. May be nil.
	Read func(revision string, good *config.City)

	// Vet returns why the programs of a configuration and of its automations may not run; nil stands for the
	// configuration on disk. It is called outside the loop before changes come into force. May be nil.
	Vet func(*config.City) error

	// Door is called with the wanted TCP listener when it changes. The loop calls it, so it must not block. May be
	// nil. Doors reports the state of the listener; nil: unknown.
	Door func(config.API)
	// Allow returns an error if a configuration with this many agents must not come into force; called outside the
	// loop, after edits. May be nil.
	Allow func(ctx context.Context, agents int) error
	Doors <-chan city.Listener

	// OpenFiles is the limit of open files of this process, 0 = unknown. A warning is shown if it is too low.
	OpenFiles uint64

	// Faults delivers panics of other parts of the city. Each ends the controller like one of its own. It has
	// capacity one, and senders do not block. Nil: not used.
	Faults chan error

	// signals that folders of automations may have changed; nil: checked at each patrol only
	Rescan <-chan struct{}
	// signals that the configuration may have changed; nil: checked at each patrol only
	Poke <-chan struct{}
	// ends processes that runs of the previous controller left behind; called once, before the first decision; may
	// be nil
	Sweep func() (int, error)
	// called before each list, outside the loop: *RunningError ends the controller and leaves the agents; may be
	// nil
	Held func() error
	// returns a *disk.MovedError if Dir no longer leads to the city; may be nil
	Home func() error
	Beat func(status string) // called after each turn, at least every 10 s; may be nil
	// limits what Run does after its last decision; started by Run; nil: Farewell
	Last  *shutdown.Deadline
	Pulse time.Duration // how often the loop turns while a client watches; 0 = 1 s
}

// Farewell is how long a city may take in total after its last decision.
const Farewell = effect.Farewell

// Controller runs a city. It implements city.Control.
type Controller struct {
	o     Options
	first *config.City
	m     *machine.Machine
	told  city.StopReport // what was logged about a stop

	inbox   chan effect.Input
	replies sync.Map // command id → chan answer
	lastID  atomic.Uint64
	done    chan struct{} // closed when Run has returned
	enough  chan struct{} // closed by GiveUp
	looked  chan struct{} // closed after the first list of sessions
	once    sync.Once     // guards closing it

	snap atomic.Pointer[city.Snapshot]
	// the configuration in force; immutable
	force   atomic.Pointer[effect.Configuration]
	pulse   *pulse.Pulse
	limit   atomic.Int64 // see StopLimit
	changed chan struct{}
	mu      sync.Mutex // guards changed

	ignored atomic.Pointer[string] // warning about an [api] that is ignored

	gauges *gauges
	runner *perform.Runner
	faults chan error // capacity one: the first panic is enough
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

// errRan is the error of a second Run.
var errRan = errors.New("a controller can only run once")

// New prepares a controller for a configuration that was loaded from o.Dir. The caller holds the city's lock (see
// Acquire) until Run has returned.
func New(o Options, c *config.City) (*Controller, error) {
	if o.Provider == nil || o.Log == nil {
		return nil, errors.New("a session provider and an event log are required")
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
		return nil, fmt.Errorf("cannot create the city's runtime folder: %w", err)
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

// world returns what the Runner works with.
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

// translate converts a configuration for the machine.
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
	own, _ := colour.Parse(cfg.Console.Colour) // already validated; "" means the default
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

// Run runs the city until ctx ends, which stops its agents gracefully, or until a city.Shutdown is done. It returns
// nil after a clean end, and an error that names agents that did not stop in time. A panic ends it with a
// *recovery.Panic; the agents continue.
func (c *Controller) Run(ctx context.Context) error { return c.run(ctx, false) }

// Settle brings the city to its configured state once and returns, leaving the agents running. Exits during it are
// ignored. It ends early with ctx.
func (c *Controller) Settle(ctx context.Context) error { return c.run(ctx, true) }

// SetMode changes Snapshot.Mode: a controller without its console is headless.
func (c *Controller) SetMode(mode string) {
	_ = c.send(context.Background(), effect.ModeChanged{Mode: mode})
}

// Looked is closed after the first list of sessions, successful or not. Before that, running agents are unknown and
// seem not to exist.
func (c *Controller) Looked() <-chan struct{} { return c.looked }

// GiveUp ends Run although agents may still run. Effects in flight are canceled.
func (c *Controller) GiveUp() { c.once.Do(func() { close(c.enough) }) }

// Hurry ends the grace period of a stop in progress.
func (c *Controller) Hurry() { _ = c.send(context.Background(), effect.Hurry{}) }

// source returns where the configuration is read from.
func (o *Options) source() config.Source {
	return config.Source{Dir: o.Dir, Files: o.Files, Strict: o.Strict, Environ: o.Host.Environ}
}
