package feed

import (
	"context"
	"gcity/city"
	"gcity/tui/terminal"
	"time"
)

// Cities is the list of cities and the city that this program runs.
type Cities struct {
	Directory city.Directory // nil = no list of cities
	Own       city.Control   // city that this program runs; nil = none
	OwnPath   string
}

// city returns the control of a city. It does not look up this program's own city in the directory, because the
// supervisor cannot run that city too.
func (d *Cities) city(name, path string) (city.Control, error) {
	if d.Own != nil && path == d.OwnPath {
		return d.Own, nil
	}
	return d.Directory.City(name)
}

// OpenedCity is the result of a switch to another city.
type OpenedCity struct {
	SwitchCity
	City         city.Control // nil = the city has a room already
	Saved        SavedRoom
	Snap         *city.Snapshot // nil = no response yet
	Unresponsive string         // why it has not responded; "" = it has
	Problem      string         // why the switch is not possible; "" = it is possible
}

const snapshotWait = 300 * time.Millisecond

// NoResponseYet is the reason why a new room shows no data yet.
const NoResponseYet = "no response yet"

// ForCity returns a runner for another city. The new runner shares the terminal and the program with r.
func (r *Runner) ForCity(c city.Control, config ConfigFile) *Runner {
	root := r.Root()
	return &Runner{Ctx: root.Ctx, root: root, City: c, Mailbox: NewMailbox(), Log: root.Log,
		Getenv: root.Getenv, Clock: root.Clock,
		Config: config, Fail: root.Fail}
}

// ReadCity starts goroutines that read the city until ctx ends.
func (r *Runner) ReadCity(ctx context.Context, newScreen terminal.ScreenMaker,
	pollInterval time.Duration) {
	r.Viewer = NewViewer(r.City, r.Mailbox, newScreen)
	viewer := r.Viewer
	r.spawnIn(ctx, "snapshots", r.StreamSnapshots)
	r.spawnIn(ctx, "events", r.StreamEvents)
	r.spawnIn(ctx, "pane", viewer.Run)
	r.spawnIn(ctx, "pulse", func(ctx context.Context) { r.pollSnapshots(ctx, pollInterval) })
}

// OpenCity opens another city in the background and puts the OpenedCity into the mailbox of the current room. known is
// nil if the city has no room yet. savedFile contains the room's stored state; "" = none.
func (r *Runner) OpenCity(e SwitchCity, known city.Control, savedFile string) {
	a := &OpenedCity{SwitchCity: e}
	dir := r.Root().Cities.Directory
	r.Spawn("open city", func(ctx context.Context) {
		defer func() { r.Mailbox.PutOpenedCity(a) }()
		var c city.Control
		if starter, ok := dir.(city.Starter); e.Start && ok {
			err := r.checkCityFolder(ctx, dir, e.Name, e.Path)
			if err == nil {
				err = starter.Start(ctx, e.Name)
			}
			if p, ok := known.(*pinned); ok && err == nil {
				err = p.reconnect(ctx) // the new controller may have a different socket
			}
			if err != nil {
				a.Problem = err.Error()
				return
			}
		}
		switch {
		case e.Name == "":
			return
		case known != nil:
			c = known
		default:
			var err error
			if c, err = r.pin(ctx, dir, e.Name, e.Path); err != nil {
				a.Problem = err.Error()
				return
			}
			a.City = c
			if savedFile != "" {
				if a.Saved, err = ReadSavedRoom(savedFile); err != nil {
					r.Log.Warn("cannot read the control room's stored state", "error", err)
				}
			}
		}
		ctx, cancel := context.WithTimeout(ctx, snapshotWait)
		defer cancel()
		var err error
		switch a.Snap, err = c.Snapshot(ctx); {
		case ctx.Err() != nil:
			a.Snap, a.Unresponsive = nil, NoResponseYet
		case err != nil:
			a.Snap, a.Unresponsive = nil, unreachableReason(err)
		}
	})
}
