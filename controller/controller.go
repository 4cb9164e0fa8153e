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
	"gcity/internal/color"
	"gcity/internal/disk"
	"gcity/internal/shutdown"
	"gcity/session"
)

// Options configures the controller of a city.
type Options struct {
	Dir string // the city's folder, absolute, symlinks resolved
	// see Hold.StablePath; "" = Dir
	At       string
	Mode     string // shown as Snapshot.Mode; see Supervised
	Version  string
	Provider session.Provider
	Log      *events.Log
	Logger   *slog.Logger
	Host     agent.Host

	Files  []string // additional configuration files; see config.Source
	Strict bool

	// Stores opens a rig's store, or the city's store if rig is "". It may be called several times and from any
	// goroutine. If Stores is nil, the city has no work and no automations.
	Stores func(rig string) (beads.Store, error)

	// BackUp makes the backups that are due. It is called every ten minutes, outside the loop. It may be nil.
	BackUp func(ctx context.Context) error

	// OnFoldersChanged is called with the configuration's automation and formula folders when they change. It must not
	// block. It may be nil.
	OnFoldersChanged func(dirs []string)

	// OnConfigRead is called after each read of the configuration. revision is "" if the read failed, and c is nil if
	// the configuration is invalid. Calls come from outside the loop, one at a time. It may be nil.
	OnConfigRead func(revision string, c *config.City)

	// CheckTrust returns an error if the programs of a configuration and of its automations are not allowed to run. If
	// the user can allow them, the error is an effect.Untrusted. inForce is the configuration in force; nil = none.
	// CheckTrust is called outside the loop, before a change is applied. It may be nil.
	CheckTrust func(c, inForce *config.City) error

	// ExtendTrust is called at each patrol that finds the configuration in force unchanged on disk. It records pulled
	// commits that change no program. If a script in force has changed and the user must first trust it, ExtendTrust
	// returns an effect.Untrusted. It is called outside the loop, and may be nil.
	ExtendTrust func(inForce *config.City) error

	// MayRun returns a function that returns an error if a program must not run until the user trusts it. user is the
	// agent, automation or watchdog that uses the program; see trust.Program. If the function is nil, all programs may
	// run. MayRun is called outside the loop, and may be nil.
	MayRun func(inForce *config.City) func(user string) error

	// SetListener is called with the configured TCP listener whenever it changes. It must not block. ListenerStates
	// delivers the listener's state. If SetListener is nil, the state is unknown.
	SetListener func(config.API)
	// Allow returns an error if a configuration with this many agents must not be applied. It is called outside the
	// loop, after edits. It may be nil.
	Allow          func(ctx context.Context, agents int) error
	ListenerStates <-chan city.Listener

	// OpenFiles is this process's limit on open files; 0 = unknown. The controller warns if the limit is too low.
	OpenFiles uint64

	// Faults delivers panics from other parts of the city; a panic ends the controller. The channel has capacity one,
	// and senders must not block. It may be nil.
	Faults chan error

	// signals that automation folders may have changed; nil = only patrols check the folders
	FoldersChanged <-chan struct{}
	// signals that the configuration might have changed; nil = only patrols check the configuration
	ConfigChanged <-chan struct{}
	// Sweep kills processes that runs of the previous controller left behind. It is called once, before the first
	// decision. It may be nil.
	Sweep func() (int, error)
	// CheckOwner is called outside the loop before the sessions are listed. If it returns a *RunningError, the
	// controller ends and leaves the agents running. It may be nil.
	CheckOwner func() error
	// CheckFolder returns a *disk.MovedError if Dir no longer leads to the city. If the folder was removed, the
	// controller stops the agents and ends. CheckFolder may be nil.
	CheckFolder func() error
	// called after each iteration of the loop, at least every 10 s; may be nil
	Heartbeat func(status string)
	// time limit for everything that Run does after its last decision; Run starts the timer; nil = ShutdownLimit
	ShutdownDeadline *shutdown.Deadline
	// interval of the loop's iterations while a client watches; 0 = 1 s
	Pulse time.Duration
}

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
	ctl.Catalogue = catalogue.New(o.source(), ctl.InForce)
	ctl.Rigs = catalogue.NewRigs(o.source(), ctl)
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
		Dir: c.o.Dir, At: c.o.At, Source: c.o.source(), Provider: c.o.Provider, Log: c.o.Log,
		Logger: c.o.Logger, Host: c.o.Host, ShutdownDeadline: c.o.ShutdownDeadline,
		Stores: c.o.Stores, BackUp: c.o.BackUp, OnFoldersChanged: c.o.OnFoldersChanged,
		OnConfigRead: c.o.OnConfigRead,
		CheckTrust:   c.o.CheckTrust, ExtendTrust: c.o.ExtendTrust, MayRun: c.o.MayRun,
		SetListener: c.o.SetListener, Allow: c.o.Allow, CheckFolder: c.o.CheckFolder,
		OnRemoved: c.folderRemoved,
		Inbox:     c.inbox, Reply: c.reply, OnPanic: c.recordPanic, Snapshot: c.currentSnapshot,
		InForce:   c.inForce.Load,
		Translate: c.translate, Patrolled: c.metrics.patrolled, Called: c.metrics.storeCalled,
	}
	if c.o.CheckOwner != nil {
		w.CheckOwner = func() (lost, err error) {
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
	automations := cfg.AutomationOptions()
	automations.Local = time.Local
	return &effect.Configuration{
		Name: cfg.Workspace.Name, Revision: cfg.Revision, Suspended: cfg.Workspace.Suspended,
		Wants: wants, Pools: agent.Pools(cfg, c.o.Host), Rigs: agent.Rigs(cfg), Warnings: warnings,
		Waiting:   waiting,
		Overrides: overrides, Environ: config.Overriding(c.o.Host.Environ),
		Dir: c.o.Dir, Source: cfg, NoWork: c.o.Stores == nil,
		Backups: c.o.BackUp != nil && c.o.Stores != nil, Layers: cfg.Layers(),
		Automations: automations, Tiers: tiersOf(cfg),
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

func (o *Options) source() config.Source {
	return config.Source{Dir: o.Dir, Files: o.Files, Strict: o.Strict, Environ: o.Host.Environ}
}
