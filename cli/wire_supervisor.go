package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"gcity/api"
	"gcity/city"
	"gcity/cli/exit"
	"gcity/config"
	"gcity/controller"
	"gcity/events"
	"gcity/internal/beside"
	"gcity/internal/lastwords"
	"gcity/internal/mishap"
	"gcity/internal/shell"
	"gcity/internal/toml"
	"gcity/supervisor"
)

// As in wire.go: how many cities come to be in one process, and how others reach them.

type (
	supervisorHome    = supervisor.Home
	supervisorRunning = supervisor.Running
	registered        = supervisor.Entry
)

// home says where cities of this environment are registered.
func (a *app) home() (supervisorHome, error) { return supervisor.FindHome(a.Getenv) }

// homeDir is its folder.
func (a *app) homeDir() (string, error) {
	h, err := a.home()
	return h.Dir, err
}

// supervisorOf is the process that has the cities that are registered in a folder, 0 if none has.
func supervisorOf(dir string) (pid int, err error) {
	r, runs, err := supervisor.Find(supervisor.Home{Dir: dir})
	if !runs {
		return 0, err
	}
	return r.PID, err
}

// findSupervisor says which supervisor runs the cities of this environment, if one does.
func (a *app) findSupervisor() (supervisorRunning, bool) {
	h, err := a.home()
	if err != nil {
		return supervisorRunning{}, false
	}
	r, runs, err := supervisor.Find(h)
	return r, runs && err == nil
}

// dialSupervisor reaches the supervisor that runs. It is not running if none does.
func (a *app) dialSupervisor() (*api.Fleet, supervisorRunning, error) {
	h, err := a.home()
	if err != nil {
		return nil, supervisorRunning{}, err
	}
	r, runs, err := supervisor.Find(h)
	if err != nil {
		return nil, r, err
	}
	if !runs {
		return nil, r, exit.NotRunning("no supervisor runs the cities of %s; `gcity supervisor start` starts one", h.Dir)
	}
	f, err := api.DialFleet(r.Socket)
	return f, r, err
}

// checkHome says what is wrong with the files of a supervisor: mistakes are refused as those of a configuration are.
func checkHome(h supervisorHome) error {
	_, err := supervisor.ReadSettings(h)
	_, regErr := supervisor.Read(h)
	if err = errors.Join(err, regErr); err == nil {
		return nil
	}
	if _, ok := errors.AsType[toml.Problems](err); ok {
		return &exit.Failure{Code: exit.CodeConfig, Err: fmt.Errorf("refused:\n%w", err)}
	}
	return err
}

// registry lists the cities that are registered, by their names.
func registry(h supervisorHome) ([]registered, error) {
	all, err := supervisor.Read(h)
	looks := beside.New[string](len(all) + 1)
	return supervisor.Named(all, func(path string) string {
		name, _ := looks.At(context.Background(), path, time.Now(), folderAnswers, func() string { return cityName(path) })
		return name
	}), err
}

func unregister(ctx context.Context, h supervisorHome, path string) (bool, error) {
	return supervisor.Remove(ctx, h, path)
}

func register(ctx context.Context, h supervisorHome, path string) (registered, error) {
	e, err := supervisor.Identify(ctx, path, cityName)
	if err != nil {
		return e, err
	}
	// Add compares names that are written in the registry. Entries without one take theirs from a city.toml.
	if err := clash(ctx, h, path); err != nil {
		return e, err
	}
	return e, supervisor.Add(ctx, h, e)
}

// misnamed returns the error for a city whose city.toml gives it another name than the registry.
func (a *app) misnamed(ctx context.Context, e registered, name string) error {
	again := "`gcity register " + shell.Quote(e.Path) + "`"
	if h, err := a.home(); err == nil {
		if taken := clash(ctx, h, e.Path); taken != nil {
			return fmt.Errorf("%w; then run %s", taken, again)
		}
	}
	return fmt.Errorf("it is registered as %q, and its %s calls it %q: %s takes the new name",
		e.Name, config.FileName, name, again)
}

// clash returns the error for a city whose name another registered city has. Read errors are reported at registration.
func clash(ctx context.Context, h supervisorHome, path string) error {
	e, err := supervisor.Identify(ctx, path, cityName)
	all, wrong := registry(h)
	if err != nil || wrong != nil {
		return nil
	}
	return supervisor.Clash(all, e)
}

// cityName is what a city is called by its configuration, or was when that was last well; "" if nobody knows.
func cityName(path string) string {
	if c, err := sourceOf(path).Load(); err == nil {
		return c.Workspace.Name
	}
	if k := knownAt(path); k != nil {
		return k.Name
	}
	return ""
}

// mostAgents is how many agents a city declares, every possible member of its pools among them.
func mostAgents(path string) (int, error) {
	c, err := sourceOf(path).Load()
	if err != nil {
		return 0, err
	}
	return len(plan(c, path)), nil
}

// supervised is a supervisor put together, not yet running.
type supervised struct {
	*supervisor.Supervisor
	serve func(ctx context.Context) error // answers on its socket
	door  func(ctx context.Context)       // answers over TCP
	last  *lastwords.Time
	close func()
}

// assembleSupervisor takes the home's locks and puts the parts together.
func (a *app) assembleSupervisor(ctx context.Context, h supervisorHome, logger *slog.Logger, beat func(string)) (_ supervised, err error) {
	var undo closers
	defer func() {
		if err != nil {
			undo.close()
		}
	}()
	hold, err := supervisor.Acquire(h, a.version)
	if err != nil {
		return supervised{}, err
	}
	undo.add(hold.Release)
	l, err := api.Listen(h.Socket())
	if err != nil {
		return supervised{}, fmt.Errorf("cannot open the supervisor's socket: %w", err)
	}
	undo.add(func() { _ = l.Close() }) // ServeFleet has closed it already
	lost := func(err error) { logger.Error("files are not watched any more", "error", err) }
	wants, last := make(chan api.TCP, 1), lastwords.New(controller.Farewell)
	var s *supervisor.Supervisor
	s = supervisor.New(supervisor.Options{
		Home: h, Logger: logger, Version: a.version,
		Open: func(ctx context.Context, e registered) (supervisor.City, error) {
			return a.openKept(ctx, e, logger, func(ctx context.Context, agents int) error { return s.Allow(ctx, e.Path, agents) })
		},
		Name:   cityName,
		Agents: mostAgents,
		Left:   living,
		End: func(ctx context.Context, path string) (int, error) {
			return endLeft(ctx, path, a.Now, nil, tellBroken(logger))
		},
		Record: func(path string, e events.Event) error { _, err := appendEvent(path, e); return err },
		Watch:  func(ctx context.Context, path string) <-chan struct{} { return watchCity(ctx, path, lost) },
		Busy:   exit.AlreadyRunning,
		Changes: config.WatchFiles(ctx, []string{h.Registry(), h.Settings()}, nil,
			config.WatchOptions{Log: logger, Broken: lost}),
		Apply: func(s supervisor.Settings) { latest(wants, fleetTCP(s)) },
		Beat:  beat,
	})
	o := api.Options{Log: logger, Last: last, Version: a.version}
	return supervised{
		Supervisor: s, last: last, close: undo.close,
		serve: func(ctx context.Context) error { return api.ServeFleet(ctx, l, s, o) },
		door:  func(ctx context.Context) { api.KeepFleet(ctx, wants, s.Answers, s, o) },
	}, nil
}

func watchCity(ctx context.Context, path string, lost func(error)) <-chan struct{} {
	o := config.WatchOptions{Log: quietLogger(), Broken: lost}
	if c, err := sourceOf(path).Watch(ctx, o); err == nil {
		return c
	}
	return config.WatchFiles(ctx, []string{filepath.Join(path, config.FileName)}, nil, o)
}

// earlierRun is the error of a city that this process still runs, by another path of its folder for instance. That passes.
type earlierRun struct{ running *controller.RunningError }

func (earlierRun) Error() string {
	return "an earlier run of it in this supervisor is being ended; should that not pass, kill -USR1 of the supervisor and `gcity supervisor start` free it, and keep all agents"
}

func (e earlierRun) Unwrap() error { return e.running }

// kept is a city in the supervisor's care. What it is told it is told as by signals, as a controller of its own would be.
type kept struct {
	*house
	own     *slog.Logger // the city's file alone
	signals chan os.Signal
	release func()
}

// openKept opens a city that is registered.
func (a *app) openKept(ctx context.Context, e registered, logger *slog.Logger, allow func(context.Context, int) error) (supervisor.City, error) {
	ctx, cancel := context.WithCancel(ctx)
	own, closeLog := controllerLog(e.Path)
	logger = bothLogs(logger.With("city", e.Name), own)
	release := func() { cancel(); closeLog() }
	h, err := a.openHouse(ctx, houseOptions{dir: e.Path, mode: controller.Supervised, logger: logger, beat: func(string) {}, allow: allow})
	if err != nil {
		release()
		if r, ok := errors.AsType[*controller.RunningError](err); ok && r.PID == os.Getpid() {
			return nil, earlierRun{r}
		}
		return nil, err
	}
	k := &kept{house: h, own: own, signals: make(chan os.Signal, 8), release: release}
	s, err := h.loop.Snapshot(ctx)
	if err == nil && s.Name != e.Name {
		err = a.misnamed(ctx, e, s.Name)
	}
	if err != nil {
		k.Close()
		return nil, err
	}
	return k, nil
}

func (k *kept) Control() city.Control { return k.loop }

// Run implements supervisor.City.
func (k *kept) Run(ctx context.Context, ready func()) error {
	defer k.release()
	runCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var ended, fault error
	over := make(chan struct{})
	go func() { // waited for, unless it hangs
		defer close(over)
		fault = mishap.Catch(func() {
			ended = k.run(runCtx, func() {
				k.own.Info("the city runs", "city", k.dir, "supervisor", os.Getpid())
				ready()
			})
		})
	}()
	defer context.AfterFunc(ctx, func() { k.tell(syscall.SIGTERM) })()
	if err := k.obey(k.signals, stop, func() {}); err != nil {
		return err // it hangs: nobody waits for it
	}
	late := time.NewTimer(releaseLimit)
	defer late.Stop()
	select {
	case <-over:
		if what := k.last.End(); what != "" {
			k.logger.Warn("the city has ended, and something was given up", "after", k.last.Limit(), "what", what)
		}
		if fault != nil { // of which nobody has been told
			panic(fault)
		}
		return ended
	case <-late.C:
		return fmt.Errorf("the city has ended, and does not let go of %s; look at what is mounted there", k.dir)
	}
}

func (k *kept) tell(s os.Signal) {
	select {
	case k.signals <- s:
	default: // so many have been told already
	}
}

// Leave implements supervisor.City.
func (k *kept) Leave() { k.tell(syscall.SIGUSR1) }

// Hurry implements supervisor.City.
func (k *kept) Hurry() { k.tell(syscall.SIGTERM) }

// Close implements supervisor.City.
func (k *kept) Close() { k.close(); k.release() }

// fleetTCP is where, and for whom, a supervisor is to answer over TCP.
func fleetTCP(s supervisor.Settings) api.TCP {
	t := api.TCP{Addr: api.TCPAddr(s.Bind, s.Port), Hosts: s.Hosts, Tenants: map[string]api.TenantOf{},
		TokenFile: s.TokenFile, MakeToken: s.MakeToken, ReadFile: s.ReadFile}
	for _, one := range s.Tenants {
		t.Tenants[one.Name] = api.TenantOf{Cities: one.Cities, TokenFile: one.TokenFile, MaxAgents: one.MaxAgents, MaxCities: one.MaxCities}
	}
	return t
}

// fleetAddr returns where a supervisor is to answer over TCP, "" if nowhere, and the file with the token for that.
func fleetAddr(h supervisorHome) (addr, token string) {
	s, err := supervisor.ReadSettings(h)
	if err != nil || s.Port == 0 {
		return "", ""
	}
	return api.TCPAddr(s.Bind, s.Port), s.TokenFile
}
