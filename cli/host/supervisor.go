package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"gcity/api"
	"gcity/api/client"
	"gcity/api/socket"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/offline"
	"gcity/config"
	"gcity/config/watch"
	"gcity/controller"
	"gcity/events"
	"gcity/internal/deadline"
	"gcity/internal/recovery"
	"gcity/internal/shell"
	"gcity/internal/shutdown"
	"gcity/internal/toml"
	"gcity/supervisor"
)

type (
	supervisorRunning = supervisor.Running
	Registered        = supervisor.Entry
)

// SupervisorOf returns the process ID of the supervisor that uses a home folder, or 0 if none is running.
func SupervisorOf(dir string) (pid int, err error) {
	r, runs, err := supervisor.Find(supervisor.Home{Dir: dir})
	if !runs {
		return 0, err
	}
	return r.PID, err
}

// FindSupervisor returns the supervisor for this environment. It returns false if none is running.
func FindSupervisor(e *env.Env) (supervisorRunning, bool) {
	h, err := env.Home(e)
	if err != nil {
		return supervisorRunning{}, false
	}
	r, runs, err := supervisor.Find(h)
	return r, runs && err == nil
}

// ErrNotAccepting means that the supervisor is running, but does not accept connections.
var ErrNotAccepting = errors.New("does not accept connections")

// DialSupervisor connects to the running supervisor. If no supervisor is running, it returns an exit.NotRunning error.
// If one is running but does not accept connections, the error is ErrNotAccepting.
func DialSupervisor(e *env.Env) (*client.Fleet, supervisorRunning, error) {
	h, err := env.Home(e)
	if err != nil {
		return nil, supervisorRunning{}, err
	}
	r, runs, err := supervisor.Find(h)
	if err != nil {
		return nil, r, err
	}
	if !runs {
		return nil, r, exit.NotRunning("no supervisor is running for the cities of %s; run "+
			"`gcity supervisor start`", h.Dir)
	}
	f, err := client.DialFleet(r.Socket, r.PID)
	switch {
	case exit.IsNotRunning(err):
		err = fmt.Errorf("the supervisor (pid %d) %w at %s: it is starting or stopping, or its "+
			"socket was removed and will be created again within seconds; try again", r.PID,
			ErrNotAccepting, r.Socket)
	case err != nil && !exit.IsSilent(err):
		err = fmt.Errorf("the supervisor (pid %d) does not respond: %w", r.PID, err)
	}
	return f, r, err
}

// CheckHome returns all errors in a supervisor's files as one error, with the exit code for an invalid configuration.
func CheckHome(h env.SupervisorHome) error {
	_, err := supervisor.ReadSettings(h)
	_, regErr := supervisor.Read(h)
	if err = errors.Join(err, regErr); err == nil {
		return nil
	}
	if _, ok := errors.AsType[toml.Problems](err); ok {
		return exit.Errorf(exit.CodeConfig, "the supervisor's configuration is invalid:\n%w", err)
	}
	return err
}

// Registry returns the registered cities, sorted by name.
func Registry(h env.SupervisorHome) ([]Registered, error) {
	all, err := supervisor.Read(h)
	looks := deadline.New[string](len(all) + 1)
	return supervisor.Named(all, func(path string) string {
		name, _ := looks.Do(context.Background(), path, time.Now(), env.FolderTimeout,
			func() string { return cityName(path) })
		return name
	}), err
}

// Remember adds a city to the recently opened cities of this user. Without a home folder it does nothing.
func Remember(e *env.Env, dir, name string) error {
	h, err := env.Home(e)
	if err != nil {
		return nil
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	return supervisor.Remember(h, Registered{Path: real, Name: name}, time.Now())
}

// Register adds a city to the registry.
func Register(ctx context.Context, h env.SupervisorHome, path string) (Registered, error) {
	e, err := supervisor.Identify(ctx, path, cityName)
	if err != nil {
		return e, err
	}
	// the entry may have no name; NameConflict then uses the name in city.toml
	if err := NameConflict(ctx, h, path); err != nil {
		return e, err
	}
	return e, supervisor.Add(ctx, h, e)
}

func checkRegisteredName(ctx context.Context, e *env.Env, entry Registered, name string) error {
	again := "`gcity register " + shell.Quote(entry.Path) + "`"
	if h, err := env.Home(e); err == nil {
		if taken := NameConflict(ctx, h, entry.Path); taken != nil {
			return fmt.Errorf("%w; then run %s", taken, again)
		}
	}
	return fmt.Errorf("the city is registered as %q, but the name in its %s is %q: %s registers "+
		"the new name", entry.Name, config.FileName, name, again)
}

// NameConflict returns an error if another registered city has the same name. It ignores cities that cannot be read.
func NameConflict(ctx context.Context, h env.SupervisorHome, path string) error {
	e, err := supervisor.Identify(ctx, path, cityName)
	all, wrong := Registry(h)
	if err != nil || wrong != nil {
		return nil
	}
	return supervisor.NameConflict(all, e)
}

func cityName(path string) string {
	if c, err := folder.SourceOf(path).Load(); err == nil {
		return c.Workspace.Name
	}
	if k := folder.LoadConfigCache(path); k != nil {
		return k.Name
	}
	return ""
}

func mostAgents(path string) (int, error) {
	c, err := folder.SourceOf(path).Load()
	if err != nil {
		return 0, err
	}
	return len(folder.Plan(c, path)), nil
}

type supervised struct {
	*supervisor.Supervisor
	Serve    func(ctx context.Context) error
	ServeTCP func(ctx context.Context)
	Last     *shutdown.Deadline
	Close    func()
}

// SupervisorOptions are the options for a supervisor.
type SupervisorOptions struct {
	Beat       func(status string) // see supervisor.Options
	UntilEmpty bool                // see supervisor.Options
}

// AssembleSupervisor takes the locks in the home folder and assembles the parts of a supervisor. Nothing runs yet.
func AssembleSupervisor(ctx context.Context, e *env.Env, h env.SupervisorHome, logger *slog.Logger,
	own SupervisorOptions) (_ supervised, err error) {
	var undo folder.Closers
	defer func() {
		if err != nil {
			undo.Close()
		}
	}()
	hold, err := acquire(h, e.Version)
	if err != nil {
		return supervised{}, err
	}
	undo.Add(hold.Release)
	l, err := socket.Listen(h.Socket())
	if err != nil {
		return supervised{}, fmt.Errorf("cannot open the supervisor's socket: %w", err)
	}
	undo.Add(func() { _ = l.Close() }) // ServeFleet might already have closed it
	lost := func(err error) {
		logger.Error("files are no longer watched for changes", "error", err)
	}
	listeners := &listeners{own: l, tcp: make(chan api.TCP, 1), limits: newLimiter(logger),
		sockets: &tenantSockets{wants: make(chan map[string]api.Tenant, 1)}}
	last := shutdown.New(controller.ShutdownLimit)
	var logs folder.FileLogs
	var s *supervisor.Supervisor
	s = supervisor.New(supervisor.Options{
		Home: h, Logger: logger,
		Open: func(ctx context.Context, entry Registered) (supervisor.City, error) {
			return openHosted(ctx, e, entry, logger, CityOptions{
				log: logs.Open(entry.Path),
				allow: func(ctx context.Context, agents int) error {
					return s.Allow(ctx, entry.Path, agents)
				},
				group: func() string { return listeners.limits.group(s.TenantOf(entry.Path)) },
			})
		},
		Name:           cityName,
		Agents:         mostAgents,
		CountLeftovers: offline.CountOrphans,
		StopLeftovers:  stopLeftovers(e, logger),
		Record: func(path string, e events.Event) error {
			_, err := folder.AppendEvent(path, e)
			return err
		},
		Watch: func(ctx context.Context, path string) <-chan struct{} {
			return watchCity(ctx, path, lost)
		},
		Busy: exit.AlreadyRunning,
		Changes: watch.Files(ctx, []string{h.Registry(), h.Settings()}, nil,
			watch.Options{Log: logger, OnPanic: lost}),
		Apply: listeners.apply, ReportStatus: own.Beat, UntilEmpty: own.UntilEmpty,
	})
	o := api.Options{Log: logger, Last: last, Version: e.Version, Requests: &api.TenantRequests{}}
	return supervised{
		Supervisor: s, Last: last, Close: undo.Close,
		Serve:    func(ctx context.Context) error { return api.ServeFleet(ctx, l, s, o) },
		ServeTCP: func(ctx context.Context) { listeners.keep(ctx, s, o) },
	}, nil
}

func stopLeftovers(e *env.Env, logger *slog.Logger) func(context.Context, string) (int, error) {
	return func(ctx context.Context, path string) (int, error) {
		did, err := offline.StopOrphans(ctx, path, e.Now, nil, offline.LogPanics(logger))
		return did.Sessions, err
	}
}

type listeners struct {
	own     *socket.Socket
	tcp     chan api.TCP
	sockets *tenantSockets
	limits  *limiter
}

func acquire(h env.SupervisorHome, version string) (*supervisor.HomeLock, error) {
	if err := controller.TooFewFiles(OpenFiles(nil), nil, nil); err != nil {
		return nil, err
	}
	return supervisor.Acquire(h, version)
}

func (d *listeners) apply(s supervisor.Settings) {
	t := fleetTCP(s)
	folder.SendLatest(d.tcp, t)
	folder.SendLatest(d.sockets.wants, t.Tenants)
	folder.SendLatest(d.limits.wants, s.Tenants)
}

func (d *listeners) keep(ctx context.Context, s *supervisor.Supervisor, o api.Options) {
	d.sockets.cities, d.sockets.o = s, o
	var others sync.WaitGroup
	others.Go(func() { keepBound(ctx, d.own, "the supervisor's socket", o.Log) })
	others.Go(func() { d.sockets.keep(ctx) })
	others.Go(func() { d.limits.keep(ctx, s.SetLimitsProblem) })
	api.KeepFleetListening(ctx, d.tcp, s.SetListener, s, o)
	others.Wait()
}

func watchCity(ctx context.Context, path string, lost func(error)) <-chan struct{} {
	o := watch.Options{Log: folder.QuietLogger(), OnPanic: lost}
	if c, err := watch.City(ctx, folder.SourceOf(path), o); err == nil {
		return c
	}
	return watch.Files(ctx, []string{filepath.Join(path, config.FileName)}, nil, o)
}

// earlierRun is the temporary error for a city while this process is stopping an earlier run of it.
type earlierRun struct{ running *controller.RunningError }

func (earlierRun) Error() string {
	return "the supervisor is still stopping an earlier run of this city; if that does not end, " +
		"restart the supervisor with kill -USR1 and `gcity supervisor start`, which " +
		"keeps all agents"
}

func (e earlierRun) Unwrap() error { return e.running }

// GoneText returns why a registered city without a folder cannot run, or "" if it has a folder.
func GoneText(entry Registered) string {
	if _, err := os.Stat(entry.Path); !errors.Is(err, os.ErrNotExist) {
		return ""
	}
	return goneText(entry.Name)
}

func goneText(name string) string {
	return "the city's folder no longer exists; `gcity unregister " + name +
		"` removes the city from the list"
}

// IsGone reports whether a registered city cannot run because it has no folder.
func IsGone(i city.Info) bool { return i.Error == goneText(i.Name) }

type hostedCity struct {
	*City
	own     *slog.Logger // logs only to the city's own file
	signals chan os.Signal
	release func()
}

func openHosted(ctx context.Context, e *env.Env, entry Registered, logger *slog.Logger,
	o CityOptions) (supervisor.City, error) {
	ctx, cancel := context.WithCancel(ctx)
	own, closeLog := FileLogger(o.log)
	logger = bothLogs(logger.With("city", entry.Name), own)
	release := func() { cancel(); closeLog() }
	o.Dir, o.Mode, o.Logger, o.Beat = entry.Path, controller.Supervised, logger, func(string) {}
	h, err := OpenCity(ctx, e, o)
	if err != nil {
		release()
		if gone := GoneText(entry); gone != "" {
			return nil, errors.New(gone)
		}
		if r, ok := errors.AsType[*controller.RunningError](err); ok && r.PID == os.Getpid() {
			return nil, earlierRun{r}
		}
		return nil, err
	}
	k := &hostedCity{City: h, own: own, signals: make(chan os.Signal, 8), release: release}
	s, err := h.Loop.Snapshot(ctx)
	if err == nil && s.Name != entry.Name {
		err = checkRegisteredName(ctx, e, entry, s.Name)
	}
	if err != nil {
		k.Close()
		return nil, err
	}
	return k, nil
}

// Control implements supervisor.City.
func (k *hostedCity) Control() city.Control { return k.Loop }

// Run implements supervisor.City.
func (k *hostedCity) Run(ctx context.Context, ready func()) error {
	defer k.release()
	runCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var ended, fault error
	over := make(chan struct{})
	go func() { // Run waits for this goroutine unless the loop hangs
		defer close(over)
		fault = recovery.Catch(func() {
			ended = k.Host(runCtx, func() {
				k.own.Info("the city is running", "city", k.Dir, "supervisor", os.Getpid())
				ready()
			})
		})
	}()
	defer context.AfterFunc(ctx, func() { k.signal(syscall.SIGTERM) })()
	if err := k.HandleSignals(k.signals, stop, func(context.Context) {}); err != nil {
		return err
	}
	select {
	case <-over:
		if what := k.last.End(); what != "" {
			k.Logger.Warn("the city has stopped, but did not finish all work in time", "after",
				k.last.Limit(), "what", what)
		}
		if fault != nil { // a panic that has not been reported yet
			panic(fault)
		}
		return ended
	case <-time.After(folder.ReleaseLimit):
		return k.notReleased()
	}
}

func (k *hostedCity) signal(s os.Signal) {
	select {
	case k.signals <- s:
	default: // enough signals are already queued
	}
}

// Leave implements supervisor.City.
func (k *hostedCity) Leave() { k.signal(syscall.SIGUSR1) }

// Hurry implements supervisor.City.
func (k *hostedCity) Hurry() { k.signal(syscall.SIGTERM) }

// Close implements supervisor.City.
func (k *hostedCity) Close() { k.ReleaseAll(); k.release() }

func fleetTCP(s supervisor.Settings) api.TCP {
	t := api.TCP{Addr: api.TCPAddr(s.Bind, s.Port), Hosts: s.Hosts,
		Tenants:   map[string]api.Tenant{},
		TokenFile: s.TokenFile, MakeToken: s.MakeToken, ReadFile: s.ReadFile}
	for _, one := range s.Tenants {
		t.Tenants[one.Name] = api.Tenant{Name: one.Name, Cities: one.Cities,
			TokenFile: one.TokenFile, Token: one.Token, Socket: one.Socket,
			MaxAgents: one.MaxAgents, MaxCities: one.MaxCities}
	}
	return t
}

// FleetAddr returns the TCP address of a supervisor's API, or "" if it has none, and the file with its token.
func FleetAddr(h env.SupervisorHome) (addr, token string) {
	s, err := supervisor.ReadSettings(h)
	if err != nil || s.Port == 0 {
		return "", ""
	}
	return api.TCPAddr(s.Bind, s.Port), s.TokenFile
}

// DefaultFleetAddr returns the default TCP address of the supervisor's API, or "" if a setting replaces the default.
func DefaultFleetAddr(h env.SupervisorHome) string {
	if s, err := supervisor.ReadSettings(h); err != nil || !s.AnyPort {
		return ""
	}
	addr, _ := FleetAddr(h)
	return addr
}

// HandleSignals handles signals until the supervisor has ended.
func (s supervised) HandleSignals(signals <-chan os.Signal, ended <-chan error, logger *slog.Logger,
	note *notifier, stop func()) error {
	asked := 0
	for {
		select {
		case err := <-ended:
			note.Say(daemon.SdNotifyStopping)
			return err
		case sig := <-signals:
			switch sig {
			case syscall.SIGUSR1:
				note.Say(daemon.SdNotifyStopping)
				s.Leave()
			case syscall.SIGHUP:
				note.Say(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
				s.Reload()
				note.Say(daemon.SdNotifyReady)
			default:
				asked++
				logger.Info("stopping all cities", "signal", sig.String(), "asked", asked)
				note.Say(daemon.SdNotifyStopping)
				if stop(); asked > 1 {
					s.Hurry()
				}
			}
		}
	}
}
