// Package controller runs one city: it keeps the declared agents running and makes all decisions.
//
// The machine (controller/machine) is pure: it turns inputs and the time into effects. The loop (loop.go) owns the
// machine. Effects (controller/perform) act on the outside world and return inputs.
//
// # Concurrency
//
// Run owns one goroutine for the loop, and one for each effect in flight. All have ended when Run returns (L10).
// Exported methods are safe for concurrent use. Methods that read use the latest published snapshot. Snapshot and
// Snapshots may wait for the loop, but at most half a second for each snapshot.
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
	"gcity/city"
	"gcity/config"
	"gcity/config/edit"
	"gcity/controller/catalogue"
	"gcity/controller/effect"
	"gcity/controller/machine"
	"gcity/controller/perform"
	"gcity/controller/pulse"
	"gcity/internal/color"
	"gcity/internal/disk"
	"gcity/internal/shutdown"
	"gcity/session"
)

// Options configures the controller of a city.
type Options = perform.Options

// ShutdownLimit is the default time limit for everything that Run does after its last decision.
const ShutdownLimit = effect.ShutdownLimit

// Controller runs a city. It implements city.Control.
type Controller struct {
	o              Options
	first          *config.City
	m              *machine.Machine
	lastStopReport city.StopReport

	inbox     chan effect.Input
	replies   sync.Map // command ID → chan effect.Reply
	lastID    atomic.Uint64
	done      chan struct{} // closed when Run has returned
	gaveUp    chan struct{} // closed by GiveUp
	hurry     chan struct{} // capacity one; see Hurry
	firstList chan struct{} // see FirstList
	once      sync.Once

	snap    atomic.Pointer[city.Snapshot]
	inForce atomic.Pointer[effect.Configuration]
	pulse   *pulse.Pulse
	limit   atomic.Int64 // see StopLimit
	changed chan struct{}
	mu      sync.Mutex // protects changed

	removed     atomic.Pointer[error] // set if the city stops because its folder was removed
	unpublished atomic.Bool           // the log might contain events that snap does not reflect yet
	uncounted   uncounted             // used by the loop only

	started atomic.Pointer[config.City] // configuration at the controller's start
	ignored atomic.Pointer[string]      // latest warning that [api] is ignored

	metrics *metrics
	runner  *perform.Runner
	faults  chan error
	*catalogue.Catalogue
	*catalogue.Rigs
}

var _ interface {
	city.Control
	city.StoreReader
	city.MetricsSource
	city.Configured
	city.Catalogued
	city.RigEditor
} = (*Controller)(nil)

var errAlreadyRan = errors.New("a controller can only run once")

// New returns a controller with a configuration that was loaded from o.Dir. The caller must hold the city's lock
// (see Acquire) until Run has returned.
func New(o Options, c *config.City) (*Controller, error) {
	if o.Provider == nil || o.Log == nil {
		return nil, errors.New("a session provider and an event log are required")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.ShutdownDeadline == nil {
		o.ShutdownDeadline = shutdown.New(ShutdownLimit)
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
		inbox: make(chan effect.Input, 256), done: make(chan struct{}), gaveUp: make(chan struct{}),
		hurry:     make(chan struct{}, 1),
		firstList: make(chan struct{}), changed: make(chan struct{}), metrics: newMetrics(),
	}
	ctl.faults = o.Faults
	if ctl.faults == nil {
		ctl.faults = make(chan error, 1)
	}
	ctl.runner = perform.New(ctl.world())
	ctl.Catalogue = catalogue.New(o.Source(), ctl.InForce)
	ctl.Rigs = catalogue.NewRigs(o.Source(), ctl)
	host, _ := os.Hostname()
	now := time.Now()
	conf := ctl.translate(c)
	past := machine.InitialState{Mode: o.Mode, Measures: measures}
	ctl.restoreAutomations(&past)
	ctl.restoreHistories(conf, &past)
	ctl.m = machine.New(past)
	ctl.m.Step(now, effect.Loaded{Revision: c.Revision, Conf: conf})
	ctl.limit.Store(int64(ctl.m.StopLimit()))
	ctl.publish(&city.Snapshot{Host: host, Started: now, PID: os.Getpid()}, now)
	return ctl, nil
}

// InForce returns the configuration in force.
func (c *Controller) InForce() *config.City { return c.inForce.Load().Source }

func (c *Controller) world() perform.World {
	w := perform.World{
		Options: c.o, OnRemoved: c.folderRemoved, Inbox: c.inbox, Reply: c.reply,
		OnPanic: c.recordPanic, Snapshot: c.currentSnapshot, InForce: c.inForce.Load,
		Translate: c.translate, Patrolled: c.metrics.patrolled, Called: c.metrics.storeCalled,
	}
	if c.o.CheckOwner != nil {
		w.OwnerLost = func() (lost, err error) {
			err = c.o.CheckOwner()
			if other, ok := errors.AsType[*RunningError](err); ok {
				return other, nil
			}
			return nil, err
		}
	}
	return w
}

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
	c.started.CompareAndSwap(nil, cfg)
	waiting := cfg.ForNextStart(c.started.Load())
	for _, key := range waiting {
		warnings = append(warnings, key+" has changed; the change takes effect at the "+
			"controller's next start")
	}
	wants := agent.Plan(cfg, c.o.Host)
	if text := FewFiles(c.o.OpenFiles, len(wants)); text != "" {
		warnings = append(warnings, text)
	}
	own, _ := color.Parse(cfg.Console.Colour) // already validated
	host, port := cfg.Dolt.Server()
	return &effect.Configuration{
		Name: cfg.Workspace.Name, Revision: cfg.Revision, Suspended: cfg.Workspace.Suspended,
		Wants: wants, Pools: agent.Pools(cfg, c.o.Host), Rigs: agent.Rigs(cfg), Warnings: warnings,
		Waiting:   waiting,
		Overrides: overrides, Environ: config.Overriding(c.o.Host.Environ),
		Dir: c.o.Dir, Source: cfg, NoWork: c.o.Stores == nil,
		Backups: c.o.BackUp != nil && c.o.Stores != nil, Layers: cfg.Layers(),
		Automations: cfg.AutomationOptions(), Tiers: tiersOf(cfg),
		WispEvery: cfg.Daemon.WispGCInterval, WispTTL: cfg.Daemon.WispTTL,
		OnDisk:  cfg.Daemon.CrashHistory == "disk",
		Store:   city.WorkStore{Provider: cfg.Beads.Keeper(), Host: host, Port: port},
		API:     c.listenerOf(cfg),
		Console: city.Console{Theme: cfg.Console.Theme, Color: own},
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

func (c *Controller) folderRemoved(err error) {
	c.o.Logger.Error("stopping the city", "reason", err)
	err = fmt.Errorf("the city was stopped because %w", err)
	c.removed.Store(&err)
}

// Run runs the city until ctx ends, or until a city.Shutdown is done. When ctx ends, Run stops the agents gracefully.
// It returns nil after a clean end, or an error that lists agents that did not stop in time. After a panic it returns
// a *recovery.Panic, and the agents keep running. If the city's folder was removed, Run stops the agents and returns a
// *disk.MovedError.
func (c *Controller) Run(ctx context.Context) error { return c.run(ctx, false) }

// RunOnce brings the city to its configured state and returns with the agents running. It ignores exits of agents. It
// returns early if ctx ends.
func (c *Controller) RunOnce(ctx context.Context) error { return c.run(ctx, true) }

// SetMode changes Snapshot.Mode. It has no effect if the loop hangs.
func (c *Controller) SetMode(mode string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.send(ctx, effect.ModeChanged{Mode: mode})
}

// FirstList returns a channel that is closed once the sessions have been listed for the first time, even if that
// failed. Before that, a snapshot does not show which agents are running.
func (c *Controller) FirstList() <-chan struct{} { return c.firstList }

// GiveUp makes Run return although agents might still be running. Effects in flight are canceled.
func (c *Controller) GiveUp() { c.once.Do(func() { close(c.gaveUp) }) }

// Hurry ends the grace period of a stop in progress. It does not wait for the loop.
func (c *Controller) Hurry() {
	select {
	case c.hurry <- struct{}{}:
	default: // the loop has not handled the previous call
	}
}
