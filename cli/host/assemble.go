package host

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
	_ "time/tzdata" // schedules can name time zones, and not every machine has a time zone database

	"gcity/api"
	"gcity/api/socket"
	"gcity/city"
	"gcity/cli/folder"
	"gcity/cli/sessions"
	"gcity/cli/workstore"
	"gcity/config"
	"gcity/config/watch"
	"gcity/controller"
	"gcity/events"
	"gcity/events/mirror"
	"gcity/internal/shutdown"
	"gcity/session"
	"gcity/session/pty"
	"gcity/tui"
)

type loop interface {
	city.Control
	Run(ctx context.Context) error
	RunOnce(ctx context.Context) error
	Hurry()
	GiveUp()
	StopLimit() time.Duration
	FirstList() <-chan struct{}
	SetMode(mode string)
}

var _ loop = (*controller.Controller)(nil)

type parts struct {
	at       string // a path to the city's folder that stays valid if the folder is moved
	Loop     loop
	sessions session.Provider
	// nil in mode "settle"
	serve      func(ctx context.Context) error
	last       *shutdown.Deadline        // deadline for everything after the loop's last decision
	mirror     func(ctx context.Context) // sends events to a script
	serveTCP   func(ctx context.Context)
	dolt       func(ctx context.Context) // keeps bd's database server running
	faults     folder.Faults
	ReleaseAll func() // releases everything, the city's lock last
}

type assembly struct {
	parts
	config  *config.City
	version string
	o       CityOptions
	undo    folder.Closers
	tcp     tcpListener
	hold    *controller.Hold
	log     *events.Log
	socket  *socket.Socket
	started atomic.Pointer[controller.Controller] // the loop, for other goroutines
}

// assemble takes the city's lock and opens the city's parts. It starts goroutines that watch the city's files until ctx
// is done.
func assemble(ctx context.Context, c *config.City, version string, o CityOptions) (_ parts,
	err error) {
	a := &assembly{config: c, version: version, o: o}
	a.faults = folder.NewFaults()
	a.o.grant = o.runningGrant(a.inForce)
	defer func() {
		if err != nil {
			a.undo.Close()
		}
	}()
	if err := a.openFolder(); err != nil {
		return parts{}, err
	}
	if err := a.openLoop(ctx); err != nil {
		return parts{}, err
	}
	a.addServices()
	if o.Mode != "settle" {
		if err := a.openSocket(); err != nil {
			return parts{}, err
		}
	}
	a.ReleaseAll = a.undo.Close
	return a.parts, nil
}

func (a *assembly) openFolder() (err error) {
	if a.hold, err = controller.Acquire(a.o.Dir); err != nil {
		return err
	}
	a.undo.Add(func() { _ = a.hold.Release() }) // if this fails, this process's exit releases it
	a.at = a.hold.StablePath()
	a.o.at = a.at
	tui.SweepDrafts(a.o.Dir)
	folder.ClearLogPlace(a.o.at, a.o.Logger)
	log, closeLog, err := folder.OpenLog(a.o.at, a.config, a.faults.Report)
	if err != nil {
		return err
	}
	a.log = log
	a.undo.Add(func() {
		folder.LogError(a.o.Logger, "cannot close the event log", closeLog())
	})
	provider, closeSessions, err := sessions.OpenSessions(sessions.SessionOptions{
		Dir: a.o.Dir, At: a.o.at, Grant: a.o.grant, Logger: a.o.Logger, Broken: a.faults.Report,
		Group: a.o.group,
	})
	if err != nil {
		return err
	}
	a.sessions = provider
	a.undo.Add(closeSessions)
	return nil
}

// inForce returns the configuration in force.
func (a *assembly) inForce() *config.City {
	if loop := a.started.Load(); loop != nil {
		return loop.InForce()
	}
	return a.config
}

func (a *assembly) openLoop(ctx context.Context) error {
	o := &a.o
	pokes, err := watch.City(ctx, o.source, watch.Options{Log: o.Logger, OnPanic: a.faults.Report,
		First: true})
	if err != nil {
		return err
	}
	others := make(chan []string, 1)
	rescans, err := watch.Folders(ctx, folder.Folders(a.config), others,
		watch.Options{Log: o.Logger, OnPanic: a.faults.Report})
	if err != nil {
		return err
	}
	work := a.stores(ctx)
	a.last = shutdown.New(controller.ShutdownLimit)
	a.tcp = tcpListener{o.Dir, make(chan api.TCP, 1), make(chan city.Listener, 1)}
	a.undo.Add(func() { work.Close(a.last) })
	files := OpenFiles(nil)
	if text := controller.FewFiles(files, len(folder.Plan(a.config, o.Dir))); text != "" {
		o.Logger.Warn(text)
	}
	loop, err := controller.New(controller.Options{
		OpenFiles: files,
		Dir:       o.Dir, At: o.at, CheckFolder: a.hold.CheckPath, Mode: o.Mode, Version: a.version,
		Provider: a.sessions, Log: a.log, Logger: o.Logger,
		Host:       folder.ThisHost(o.Dir),
		CheckTrust: o.checkMayRun, ExtendTrust: o.extendTrust, MayRun: o.mayRun,
		Files: o.source.Files, Strict: o.source.Strict,
		Stores: work.Of, BackUp: work.BackUp, ConfigChanged: pokes, OnConfigRead: o.saveConfigCache,
		FoldersChanged:   rescans,
		OnFoldersChanged: func(dirs []string) { folder.SendLatest(others, dirs) },
		Heartbeat:        o.Beat,
		CheckOwner:       func() error { return checkHold(a.hold, a.socket, o.Logger) },
		ShutdownDeadline: a.last,
		Sweep:            func() (int, error) { return pty.SweepRuns(o.Dir) },
		Allow:            o.allow, SetListener: a.tcp.want, ListenerStates: a.tcp.listeners,
		Faults: a.faults,
	}, a.config)
	if err != nil {
		return err
	}
	a.Loop = loop
	a.started.Store(loop)
	return nil
}

func (a *assembly) stores(ctx context.Context) *workstore.Stores {
	return &workstore.Stores{Open: map[workstore.Place]workstore.Store{}, Grant: a.o.grant,
		Logger: a.o.Logger,
		Places: func() ([]workstore.Place, uint64) {
			s, err := a.Loop.Snapshot(ctx)
			if err != nil {
				return workstore.Places(a.config), 0 // cannot happen: the loop is in this process
			}
			return workstore.PlacesOf(a.o.Dir, s), s.Rev
		}}
}

// addServices adds the database server and the event mirror, which run with the loop.
func (a *assembly) addServices() {
	o, last := &a.o, a.last
	a.mirror, a.serveTCP, a.dolt = func(context.Context) {}, func(context.Context) {},
		func(context.Context) {}
	if s := workstore.DoltServer(a.config); s != nil {
		ended := a.ended
		a.dolt = func(ctx context.Context) { workstore.KeepDolt(ctx, s, o.Logger, ended, last) }
	}
	if m, ok := MirrorOf(a.config, o.grant); ok {
		m.Log, m.Logger, m.Last, m.State = a.log, o.Logger, last, folder.StateDir(o.at)
		a.mirror = func(ctx context.Context) { mirror.Run(ctx, m) }
	}
}

func (a *assembly) openSocket() (err error) {
	if a.socket, err = socket.Listen(folder.SocketPath(a.o.at)); err != nil {
		return fmt.Errorf("cannot open the city's socket: %w", err)
	}
	if aside := a.socket.MovedPath(); aside != "" {
		warnMovedAside(a.o.Logger, citySocket, aside)
	}
	a.undo.Add(func() { _ = a.socket.Close() }) // Serve might already have closed it
	options := api.Options{Log: a.o.Logger, Last: a.last}
	if f, ok := a.sessions.(session.Forwarder); ok {
		options.Forwards = f.Forwards
	}
	a.serve = func(ctx context.Context) error { return api.Serve(ctx, a.socket, a.Loop, options) }
	a.serveTCP = func(ctx context.Context) { a.tcp.keep(ctx, a.Loop, options) }
	return nil
}
