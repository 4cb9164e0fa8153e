package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"time"
	_ "time/tzdata" // schedules name zones, also where the machine knows none

	"gcity/agent"
	"gcity/api"
	"gcity/city"
	"gcity/config"
	"gcity/config/edit"
	"gcity/controller"
	"gcity/events"
	"gcity/events/mirror"
	"gcity/internal/disk"
	"gcity/internal/lastwords"
	"gcity/session"
	"gcity/session/pty"
	"gcity/tui"
)

// This file and wire_work.go are where the parts meet: no other of this package knows how they are made.

// findCity finds the city that a folder is in.
func findCity(start string) (string, error) { return config.Find(start) }

// loadCity reads a configuration as the controller of this environment would.
func loadCity(dir string) (*config.City, error) { return sourceOf(dir).Load() }

// loadCityOf reads a configuration as the controller that runs would, of which s is a snapshot; nil: as one of this
// environment would.
func loadCityOf(dir string, s *city.Snapshot) (*config.City, error) { return sourceAs(dir, s).Load() }

// parseConfig understands a text as the configuration of the city in dir, as loadCityOf does.
func parseConfig(dir string, data []byte, s *city.Snapshot) (*config.City, error) {
	return sourceAs(dir, s).Parse(data)
}

func sourceAs(dir string, s *city.Snapshot) config.Source {
	out := sourceOf(dir)
	if s != nil {
		out.Environ = s.Config.Environ
	}
	return out
}

func checkConfig(dir string, data []byte) error {
	_, err := config.Parse(dir, data)
	return err
}

// newRig is a rig that is to be declared.
type newRig = edit.NewRig

// declareRig writes a rig into a city's configuration, undeclareRig takes one out of it, with its agents if that is wanted. Both
// give the configuration that there is then.
func declareRig(dir string, r newRig) (*config.City, error) {
	return edit.AddRig(sourceOf(dir), r)
}

func undeclareRig(dir, name string, agents bool) (*config.City, error) {
	return edit.RemoveRig(sourceOf(dir), name, agents)
}

// asEdit gives a refused edit of the configuration its class: what stands on the disk is not refused by it.
func asEdit(err error) error {
	_, unfit := errors.AsType[*edit.Unfit](err)
	switch {
	case unfit:
		return &city.Error{Code: city.Invalid, Message: err.Error()}
	case errors.Is(err, edit.ErrInUse), errors.Is(err, edit.ErrChanged):
		return &city.Error{Code: city.Conflict, Message: err.Error()}
	}
	return err
}

// schemaText is a JSON Schema of a kind of file, nil if there is none; schemaNames are the kinds.
func schemaText(of string) []byte { return config.JSONSchema(of) }

func schemaNames() []string { return config.Schemas() }

// plan is who should run.
func plan(c *config.City, dir string) []agent.Want {
	return agent.Plan(c, thisHost(dir))
}

// poolPlan is which pools there should be, rigPlan the project folders.
func poolPlan(c *config.City, dir string) []agent.Pool {
	return agent.Pools(c, thisHost(dir))
}

func rigPlan(c *config.City) []agent.Rig { return agent.Rigs(c) }

// statusShape is a city in numbers, as the API gives it.
func (a *app) statusShape(s *city.Snapshot) api.Status {
	out := api.StatusOf(s, a.Now())
	if out.Version == "" { // no controller made it
		out.Version = a.version
	}
	return out
}

// inspect says what is known of an agent that is wanted or lives.
func inspect(ctx context.Context, s controller.Subject, wants []agent.Want, sessions []session.Status, p session.Provider) (*city.Inspection, error) {
	name := s.Agent
	for i := range wants {
		if wants[i].Name == name {
			s.Want = &wants[i]
			s.Limits = controller.LimitsOf(p, s.Want.Provider)
		}
	}
	for i := range sessions {
		if sessions[i].Agent == name && sessions[i].Alive {
			s.Session = &sessions[i]
		}
	}
	if s.Want == nil && s.Session == nil {
		return nil, &city.Error{Code: city.NotFound, Message: fmt.Sprintf("no agent is called %q", name)}
	}
	out := s.Inspect(time.Now())
	controller.AddPrompt(ctx, out, s.Want)
	return out, nil
}

// promptOf is what an agent is told at its start.
func promptOf(ctx context.Context, w *agent.Want) (string, error) {
	return controller.PromptOf(ctx, w, false)
}

// lastWords is what an agent that has ended said last, as far as its crash files know.
func lastWords(dir, name string, lines int) (string, error) {
	return controller.LastWords(dir, name, lines)
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

// appendLimit bounds how long an event waits for the log's lock while no controller runs.
const appendLimit = 5 * time.Second

// appendEvent writes an event that tells of what is done while no controller does. It is in the log, or the error says
// why not.
func appendEvent(dir string, e events.Event) (uint64, error) {
	return appendEventIn(dir, e, events.UseReserve)
}

// appendEventIn is appendEvent for any event; a full disk has room for it or not.
func appendEventIn(dir string, e events.Event, room events.Room) (uint64, error) {
	if err := e.Check(); err != nil {
		return 0, &city.Error{Code: city.Invalid, Message: err.Error()}
	}
	if err := disk.MakePrivate(gcDir(dir)); err != nil {
		return 0, err
	}
	c, err := loadCity(dir)
	if err != nil {
		c = &config.City{Path: dir} // a mistake in the file silences nobody
	}
	broken := newFaults()
	log, closeLog, err := openLog(dir, c, broken.tell)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), appendLimit)
	defer cancel()
	seq, err := log.AppendNow(ctx, e, room)
	return seq, errors.Join(err, closeLog(), broken.first())
}

// loop is a city that this process runs.
type loop interface {
	city.Control
	Run(ctx context.Context) error
	Settle(ctx context.Context) error
	Hurry()
	GiveUp()
	StopLimit() time.Duration
	Looked() <-chan struct{}
	SetMode(mode string)
}

var _ loop = (*controller.Controller)(nil)

// parts is a city put together, not yet running.
type parts struct {
	at       string // a path that leads to the city's folder wherever it is moved
	loop     loop
	sessions session.Provider
	serve    func(ctx context.Context) error // answers on the socket until ctx ends; nil if settling
	last     *lastwords.Time                 // of all that follows the loop's last decision
	mirror   func(ctx context.Context)       // tells a script of events until ctx ends
	door     func(ctx context.Context)       // answers over TCP, where that is wanted, until ctx ends
	dolt     func(ctx context.Context)       // keeps bd's database server up until ctx ends
	faults   faults                          // of all that is here
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
	o.at = hold.Via()
	tui.SweepDrafts(o.dir)
	broken := newFaults()
	clearLogPlace(o.at, o.logger)
	log, closeLog, err := openLog(o.at, c, broken.tell)
	if err != nil {
		return parts{}, err
	}
	undo.add(func() { logError(o.logger, "the event log did not close well", closeLog()) })
	sessions, closeSessions, err := openSessions(sessionOptions{
		dir: o.dir, at: o.at, grant: o.grant, logger: o.logger, broken: broken.tell,
	})
	if err != nil {
		return parts{}, err
	}
	undo.add(closeSessions)
	reads := make(chan string, 1)
	pokes, err := o.source.Watch(ctx, config.WatchOptions{Log: o.logger, Broken: broken.tell, First: true, Read: reads})
	if err != nil {
		return parts{}, err
	}
	others := make(chan []string, 1)
	rescans, err := config.WatchFolders(ctx, folders(c), others, config.WatchOptions{Log: o.logger, Broken: broken.tell})
	if err != nil {
		return parts{}, err
	}
	var loop *controller.Controller
	var socket *api.Socket
	work := &stores{open: map[place]store{}, grant: o.grant, places: func() []place {
		s, err := loop.Snapshot(ctx)
		if err != nil {
			return places(c) // it never fails in process
		}
		return placesOf(o.dir, s)
	}}
	last, tcp := lastwords.New(controller.Farewell), newStreet(o.dir)
	undo.add(func() { work.close(last, o.logger) })
	files := openFiles(nil)
	if text := controller.FewFiles(files, len(plan(c, o.dir))); text != "" {
		o.logger.Warn(text)
	}
	loop, err = controller.New(controller.Options{
		OpenFiles: files,
		Dir:       o.dir, At: o.at, Home: hold.Here, Mode: o.mode, Version: version, Provider: sessions, Log: log, Logger: o.logger,
		Host:  thisHost(o.dir),
		Vet:   o.vet,
		Files: o.source.Files, Strict: o.source.Strict,
		Stores: work.of, BackUp: work.backUp, Poke: pokes, Read: o.heard(reads), Rescan: rescans, Folders: func(dirs []string) { latest(others, dirs) }, Beat: o.beat, Held: func() error { return held(hold, socket, o.logger) }, Last: last, Sweep: func() (int, error) { return pty.SweepRuns(o.dir) },
		Allow: o.allow, Door: tcp.want, Doors: tcp.doors, Faults: broken,
	}, c)
	if err != nil {
		return parts{}, err
	}
	p := parts{at: o.at, loop: loop, faults: broken, sessions: sessions, last: last, mirror: func(context.Context) {}, door: func(context.Context) {}, dolt: func(context.Context) {}, close: undo.close}
	if s := doltServer(c); s != nil {
		p.dolt = func(ctx context.Context) { keepDolt(ctx, s, o.logger, p.ended, last) }
	}
	if m, ok := mirrorOf(c, o.grant); ok {
		m.Log, m.Logger, m.Last, m.State = log, o.logger, last, gcDir(o.at)
		p.mirror = func(ctx context.Context) { mirror.Run(ctx, m) }
	}
	if o.mode != "settle" {
		if socket, err = api.Listen(socketPath(o.at)); err != nil {
			return parts{}, fmt.Errorf("cannot open the city's socket: %w", err)
		}
		if aside := socket.Aside(); aside != "" {
			tellAside(o.logger, aside)
		}
		undo.add(func() { _ = socket.Close() }) // Serve has closed it already
		p.serve = func(ctx context.Context) error {
			return api.Serve(ctx, socket, loop, api.Options{Log: o.logger, Last: last})
		}
		p.door = func(ctx context.Context) { tcp.keep(ctx, loop, api.Options{Log: o.logger, Last: last}) }
		p.close = undo.close
	}
	return p, nil
}

// folders are where automations are found.
func folders(c *config.City) []string {
	var out []string
	for _, l := range c.Layers() {
		out = append(out, l.Dir)
	}
	return out
}

func gcDir(dir string) string { return filepath.Join(dir, ".gc") }

// setSuspended writes the flag into the configuration.
func setSuspended(dir string, t config.Target, on bool) error {
	return edit.SetSuspended(sourceOf(dir), t, on)
}

// configText is a configuration as it is understood; explainAgent, where one agent's values come from.
func configText(c *config.City) string { return c.TOML() }

func explainAgent(c *config.City, name string) (string, error) { return c.Explain(name) }
