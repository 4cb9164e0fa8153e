package host

import (
	"context"
	"fmt"
	"time"
	_ "time/tzdata" // schedules name zones, also where the machine knows none

	"gcity/api"
	"gcity/city"
	"gcity/cli/folder"
	"gcity/cli/sessions"
	"gcity/cli/workstore"
	"gcity/config"
	"gcity/config/keys"
	"gcity/config/watch"
	"gcity/controller"
	"gcity/events/mirror"
	"gcity/internal/shutdown"
	"gcity/session"
	"gcity/session/pty"
	"gcity/tui"
)

// SchemaText is a JSON Schema of a kind of file, nil if there is none; SchemaNames are the kinds.
func SchemaText(of string) []byte { return keys.JSONSchema(of) }

// SchemaNames returns the kinds of files that have a schema.
func SchemaNames() []string { return keys.Schemas() }

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
	Loop     loop
	sessions session.Provider
	// answers on the socket until ctx ends; nil if settling
	serve  func(ctx context.Context) error
	last   *shutdown.Deadline        // of all that follows the loop's last decision
	mirror func(ctx context.Context) // tells a script of events until ctx ends
	// answers over TCP, where that is wanted, until ctx ends
	door     func(ctx context.Context)
	dolt     func(ctx context.Context) // keeps bd's database server up until ctx ends
	faults   folder.Faults             // of all that is here
	GiveBack func()                    // gives everything back, the city's lock last
}

// assemble takes the city's lock and puts the parts together. Nothing runs yet, except for the watch on the
// configuration, which ends with ctx.
func assemble(ctx context.Context, c *config.City, version string, o HouseOptions) (_ parts,
	err error) {
	var undo folder.Closers
	defer func() {
		if err != nil {
			undo.Close()
		}
	}()
	hold, err := controller.Acquire(o.Dir)
	if err != nil {
		return parts{}, err
	}
	undo.Add(func() { _ = hold.Release() }) // the kernel releases it in any case
	o.at = hold.Via()
	tui.SweepDrafts(o.Dir)
	broken := folder.NewFaults()
	folder.ClearLogPlace(o.at, o.Logger)
	log, closeLog, err := folder.OpenLog(o.at, c, broken.Tell)
	if err != nil {
		return parts{}, err
	}
	undo.Add(func() { folder.LogError(o.Logger, "the event log did not close well", closeLog()) })
	sessions, closeSessions, err := sessions.OpenSessions(sessions.SessionOptions{
		Dir: o.Dir, At: o.at, Grant: o.grant, Logger: o.Logger, Broken: broken.Tell,
	})
	if err != nil {
		return parts{}, err
	}
	undo.Add(closeSessions)
	pokes, err := watch.City(ctx, o.source, watch.Options{Log: o.Logger, Broken: broken.Tell,
		First: true})
	if err != nil {
		return parts{}, err
	}
	others := make(chan []string, 1)
	rescans, err := watch.Folders(ctx, folder.Folders(c), others,
		watch.Options{Log: o.Logger, Broken: broken.Tell})
	if err != nil {
		return parts{}, err
	}
	var loop *controller.Controller
	var socket *api.Socket
	work := &workstore.Stores{Open: map[workstore.Place]workstore.Store{}, Grant: o.grant,
		Places: func() []workstore.Place {
			s, err := loop.Snapshot(ctx)
			if err != nil {
				return workstore.Places(c) // it never fails in process
			}
			return workstore.PlacesOf(o.Dir, s)
		}}
	last, tcp := shutdown.New(controller.Farewell), newStreet(o.Dir)
	undo.Add(func() { work.Close(last, o.Logger) })
	files := OpenFiles(nil)
	if text := controller.FewFiles(files, len(folder.Plan(c, o.Dir))); text != "" {
		o.Logger.Warn(text)
	}
	loop, err = controller.New(controller.Options{
		OpenFiles: files,
		Dir:       o.Dir, At: o.at, Home: hold.Here, Mode: o.Mode, Version: version,
		Provider: sessions, Log: log, Logger: o.Logger,
		Host:  folder.ThisHost(o.Dir),
		Vet:   o.vet,
		Files: o.source.Files, Strict: o.source.Strict,
		Stores: work.Of, BackUp: work.BackUp, Poke: pokes, Read: o.keepKnown, Rescan: rescans,
		Folders: func(dirs []string) {
			folder.Latest(others, dirs)
		}, Beat: o.Beat, Held: func() error {
			return held(hold, socket, o.Logger)
		}, Last: last, Sweep: func() (int, error) { return pty.SweepRuns(o.Dir) },
		Allow: o.allow, Door: tcp.want, Doors: tcp.doors, Faults: broken,
	}, c)
	if err != nil {
		return parts{}, err
	}
	p := parts{at: o.at, Loop: loop, faults: broken, sessions: sessions, last: last,
		mirror: func(context.Context) {}, door: func(context.Context) {},
		dolt: func(context.Context) {}, GiveBack: undo.Close}
	if s := workstore.DoltServer(c); s != nil {
		p.dolt = func(ctx context.Context) { workstore.KeepDolt(ctx, s, o.Logger, p.ended, last) }
	}
	if m, ok := MirrorOf(c, o.grant); ok {
		m.Log, m.Logger, m.Last, m.State = log, o.Logger, last, folder.StateDir(o.at)
		p.mirror = func(ctx context.Context) { mirror.Run(ctx, m) }
	}
	if o.Mode != "settle" {
		if socket, err = api.Listen(folder.SocketPath(o.at)); err != nil {
			return parts{}, fmt.Errorf("cannot open the city's socket: %w", err)
		}
		if aside := socket.Aside(); aside != "" {
			tellAside(o.Logger, aside)
		}
		undo.Add(func() { _ = socket.Close() }) // Serve has closed it already
		p.serve = func(ctx context.Context) error {
			return api.Serve(ctx, socket, loop, api.Options{Log: o.Logger, Last: last})
		}
		p.door = func(ctx context.Context) {
			tcp.keep(ctx, loop, api.Options{Log: o.Logger, Last: last})
		}
		p.GiveBack = undo.Close
	}
	return p, nil
}

// ConfigText is a configuration as it is understood; ExplainAgent, where one agent's values come from.
func ConfigText(c *config.City) string { return c.TOML() }

// ExplainAgent returns where each value of an agent comes from.
func ExplainAgent(c *config.City, name string) (string, error) { return c.Explain(name) }
