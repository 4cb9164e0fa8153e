package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // schedules name zones, also where the machine knows none

	"gcity/agent"
	"gcity/api"
	"gcity/automation"
	"gcity/beads"
	"gcity/beads/sqlite"
	"gcity/city"
	"gcity/config"
	"gcity/controller"
	"gcity/events"
	"gcity/formula"
	"gcity/internal/disk"
	"gcity/internal/screen"
	"gcity/session"
	"gcity/session/fake"
	"gcity/session/pty"
)

// This file is where the parts meet: no other of this package knows how they are made.

// findCity finds the city that a folder is in.
func findCity(start string) (string, error) { return config.Find(start) }

// loadCity reads a configuration as the controller of this environment would.
func loadCity(dir string) (*config.City, error) { return config.Load(dir, os.Environ()...) }

func checkConfig(dir string, data []byte) error {
	_, err := config.Parse(dir, data)
	return err
}

// plan is who should run.
func plan(c *config.City, dir string) []agent.Want {
	return agent.Plan(c, agent.Host{Environ: os.Environ(), BinDir: binDir(dir)})
}

// poolPlan is which pools there should be, rigPlan the project folders.
func poolPlan(c *config.City, dir string) []agent.Pool {
	return agent.Pools(c, agent.Host{Environ: os.Environ(), BinDir: binDir(dir)})
}

func rigPlan(c *config.City) []agent.Rig { return agent.Rigs(c) }

// statusShape is a city in numbers, as the API gives it.
func (a *app) statusShape(s *city.Snapshot) api.Status {
	out := api.StatusOf(s, a.now())
	if out.Version == "" { // no controller made it
		out.Version = a.version
	}
	return out
}

// lastWords is what an agent that has ended said last, as far as its crash files know.
func lastWords(dir, name string, lines int) (string, error) {
	return controller.LastWords(dir, name, lines)
}

// safeLine makes any text one line that a terminal shows and does not obey.
func safeLine(s string) string { return screen.Plain(s) }

// safeLead is safeLine for a list of things, one a line, where there is room for one: the first, and how many more.
func safeLead(s string) string {
	one, others := screen.Lead(s)
	return one + others
}

// safeText is safeLine for several lines.
func safeText(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = screen.Plain(line)
	}
	return strings.Join(lines, "\n")
}

// readEvents reads a page of a city's log from its files.
func readEvents(ctx context.Context, dir string, q events.Query) ([]events.Event, error) {
	r, err := events.OpenReader(gcDir(dir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return r.Find(ctx, q)
}

// followEvents reads a city's log from its files and waits for more.
func followEvents(ctx context.Context, dir string, after uint64) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		r, err := events.OpenReader(gcDir(dir))
		if err != nil {
			yield(events.Event{}, err)
			return
		}
		r.Follow(ctx, after)(yield)
	}
}

// appendEvent writes an event while no controller does.
func appendEvent(dir string, e events.Event) (uint64, error) {
	if err := e.Check(); err != nil {
		return 0, &city.Error{Code: city.Invalid, Message: err.Error()}
	}
	if err := makePrivate(gcDir(dir)); err != nil {
		return 0, err
	}
	log, err := events.Open(gcDir(dir), events.Options{})
	if err != nil {
		return 0, err
	}
	seq, err := log.Append(e)
	return seq, errors.Join(err, log.Close())
}

// logTrouble reads the newest part of the log and tells what is damaged there, "" if nothing is.
func logTrouble(ctx context.Context, dir string) (string, error) {
	r, err := events.OpenReader(gcDir(dir))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if _, err := r.Find(ctx, events.Query{Limit: events.MaxLimit}); err != nil {
		return "", err
	}
	n, damage := r.Damaged()
	if n == 0 {
		return "", nil
	}
	var where []string
	for _, d := range damage {
		where = append(where, d.String())
	}
	return fmt.Sprintf("%d damaged lines: %s", n, strings.Join(where, " | ")), nil
}

// holdCity keeps controllers away from a city; the result lets them in again.
func holdCity(dir string) (release func(), err error) {
	hold, err := controller.Acquire(dir)
	if err != nil {
		return nil, err
	}
	return func() { _ = hold.Release() }, nil // the kernel releases it in any case
}

// isHeld says whether a controller has the city's lock. To find out it takes the lock for a moment, and therefore looks
// for the pid file first: without one, nobody is disturbed.
func isHeld(dir string) (bool, error) {
	if _, err := os.Stat(filepath.Join(gcDir(dir), "daemon.pid")); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	lock, err := disk.TryLock(filepath.Join(gcDir(dir), "controller.lock"))
	if errors.Is(err, disk.ErrLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, lock.Release()
}

// alreadyRunning recognises the error that says that another controller has the city.
func alreadyRunning(err error) bool {
	var r *controller.RunningError
	return errors.As(err, &r)
}

// loop is a city that this process runs.
type loop interface {
	city.Control
	Run(ctx context.Context) error
	Settle(ctx context.Context) error
	Hurry()
	StopLimit() time.Duration
	SetMode(mode string)
}

var _ loop = (*controller.Controller)(nil)

// parts is a city put together, not yet running.
type parts struct {
	loop     loop
	sessions session.Provider
	serve    func(ctx context.Context) error // answers on the socket until ctx ends; nil if settling
	close    func()                          // gives everything back, the city's lock last
}

// assemble takes the city's lock and puts the parts together. Nothing runs yet, except for the watch on the
// configuration, which ends with ctx.
func assemble(ctx context.Context, c *config.City, version string, o houseOptions) (_ parts, err error) {
	var undo closers
	defer func() {
		if err != nil {
			undo.close()
		}
	}()
	hold, err := controller.Acquire(o.dir)
	if err != nil {
		return parts{}, err
	}
	undo.add(func() { _ = hold.Release() }) // the kernel releases it in any case
	log, err := events.Open(gcDir(o.dir), events.Options{})
	if err != nil {
		return parts{}, fmt.Errorf("cannot open the event log: %w", err)
	}
	undo.add(func() { logError(o.logger, "the event log did not close well", log.Close()) })
	sessions, closeSessions, err := openSessions(o.dir, c, false, o.logger)
	if err != nil {
		return parts{}, err
	}
	undo.add(closeSessions)
	pokes, err := config.Watch(ctx, o.dir, config.WatchOptions{Log: o.logger})
	if err != nil {
		return parts{}, err
	}
	rescans, err := config.WatchFolders(ctx, folders(c), config.WatchOptions{Log: o.logger})
	if err != nil {
		return parts{}, err
	}
	var loop *controller.Controller
	work := &stores{open: map[place]store{}, places: func() []place {
		s, err := loop.Snapshot(ctx)
		if err != nil {
			return places(c) // it never fails in process
		}
		return placesOf(o.dir, s)
	}}
	undo.add(func() { logError(o.logger, "the store of work did not close well", work.close()) })
	loop, err = controller.New(controller.Options{
		Dir: o.dir, Mode: o.mode, Version: version, Provider: sessions, Log: log, Logger: o.logger,
		Host:   agent.Host{Environ: os.Environ(), BinDir: binDir(o.dir)},
		Stores: work.of, Poke: pokes, Rescan: rescans, Beat: o.beat, Held: hold.Check, Sweep: func() (int, error) { return pty.SweepRuns(o.dir) },
	}, c)
	if err != nil {
		return parts{}, err
	}
	p := parts{loop: loop, sessions: sessions, close: undo.close}
	if o.mode != "settle" {
		l, err := api.Listen(socketPath(o.dir))
		if err != nil {
			return parts{}, fmt.Errorf("cannot open the city's socket: %w", err)
		}
		undo.add(func() { _ = l.Close() }) // Serve has closed it already
		p.serve = func(ctx context.Context) error { return api.Serve(ctx, l, loop, api.Options{Log: o.logger}) }
		p.close = undo.close
	}
	return p, nil
}

// folders are where automations are found. One that a later configuration adds is looked into at each patrol.
func folders(c *config.City) []string {
	var out []string
	for _, l := range c.Layers() {
		out = append(out, l.Dir)
	}
	return out
}

func gcDir(dir string) string { return filepath.Join(dir, ".gc") }

func socketPath(dir string) string { return filepath.Join(gcDir(dir), "controller.sock") }

// dial reaches the controller of a city.
func dial(dir string) (city.Control, func(), error) {
	c, err := api.Dial(socketPath(dir))
	if err != nil {
		return nil, nil, err
	}
	return c, func() { _ = c.Close() }, nil
}

// isNotRunning recognises the error that says that no controller answers.
func isNotRunning(err error) bool { return errors.Is(err, api.ErrNotRunning) }

// openSessions opens the session provider that a configuration names; the embedded one if there is no configuration.
// Who has not got the city's lock only observes.
func openSessions(dir string, c *config.City, observe bool, logger *slog.Logger) (session.Provider, func(), error) {
	kind := "pty"
	if c != nil && c.Session.Provider != "" {
		kind = c.Session.Provider
	}
	switch kind {
	case "pty":
		exe, err := os.Executable()
		if err != nil {
			return nil, nil, fmt.Errorf("cannot find this program, which holds every session: %w", err)
		}
		p, err := pty.New(pty.Options{City: dir, Binary: exe, Observe: observe, Logger: logger})
		if err != nil {
			return nil, nil, err
		}
		return p, func() { logError(logger, "the sessions were not let go of well", p.Close()) }, nil
	case "fake":
		return fake.New(), func() {}, nil
	}
	return nil, nil, fmt.Errorf("there is no session provider %q; [session] provider is \"pty\", or \"fake\" for drills", kind)
}

// setSuspended writes the flag into the configuration.
func setSuspended(dir string, t config.Target, on bool) error { return config.SetSuspended(dir, t, on) }

// configText is a configuration as it is understood; explainAgent, where one agent's values come from.
func configText(c *config.City) string { return c.TOML() }

func explainAgent(c *config.City, name string) (string, error) { return c.Explain(name) }

// workFolder is where the work of a city or a rig is kept, below its own folder.
const workFolder = sqlite.Folder

// openStore opens the work that is kept at a place. Nothing is read or made before it is asked for something.
func openStore(p place) (store, error) { return sqlite.Open(p.dir, p.prefix) }

// stores are the work of a city that runs, open until the city ends.
type stores struct {
	places func() []place // those of the configuration in force

	mu   sync.Mutex
	open map[place]store
}

// of opens the work of a rig, or of the city.
func (s *stores) of(rig string) (beads.Store, error) {
	for _, p := range s.places() {
		if p.rig != rig {
			continue
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if have, ok := s.open[p]; ok {
			return have, nil
		}
		fresh, err := openStore(p)
		if err == nil {
			s.open[p] = fresh
		}
		return fresh, err
	}
	return nil, fmt.Errorf("there is no rig %q any more, so its work is not looked for", rig)
}

func (s *stores) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, have := range s.open {
		err = errors.Join(err, have.Close())
	}
	return err
}

// runPlace is where something of an automation runs, and its environment.
func runPlace(c *config.City, d automation.Definition) (dir string, env []string, err error) {
	dir, env, err = agent.Place(c, d.Rig, agent.Host{Environ: os.Environ(), BinDir: binDir(c.Path)})
	return dir, append(env, "AUTOMATION_DIR="+d.Dir(), "GC_AUTOMATION="+d.Scoped()), err
}

// layersOf are the folders of a city's formulas and automations, those that come with the program first.
func layersOf(c *config.City) ([]formula.Layer, error) {
	if err := makePrivate(gcDir(c.Path)); err != nil {
		return nil, err
	}
	own, err := formula.System(gcDir(c.Path))
	if err != nil {
		return nil, err
	}
	return append([]formula.Layer{own}, c.Layers()...), nil
}

// deedsOf is what the last controller remembered of its automations, by scoped name.
func deedsOf(dir string) (map[string]automation.Memory, error) { return controller.Deeds(dir) }
