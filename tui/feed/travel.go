package feed

import (
	"context"
	"gcity/city"
	"gcity/tui/terminal"
	"time"
)

// Directory is the list of the cities, and the city that this program runs.
type Directory struct {
	Dir   city.Directory // nil = there is no list
	Own   city.Control   // nil = none
	OwnAt string         // its folder
}

// city is a city of the list. The one that this program runs is reached without the supervisor, who cannot run it
// as well.
func (d *Directory) city(name, path string) (city.Control, error) {
	if d.Own != nil && path == d.OwnAt {
		return d.Own, nil
	}
	return d.Dir.City(name)
}

// Arrival is what a switch to another city has come to.
type Arrival struct {
	SwitchCity
	City    city.Control // nil = its room is there already
	Memory  Memory
	Snap    *city.Snapshot // nil = it has not answered yet
	Silent  string         // why not
	Problem string         // why there is no way, "" = there is
}

// greet is how long a city has to say how it is before its room is shown without.
const greet = 300 * time.Millisecond

// NotYet is why nothing is heard of a city that is only slow, as far as is known.
const NotYet = "it has not answered yet"

// Beside is a runner for another city in the same room.
func (r *Runner) Beside(c city.Control, config ConfigFile) *Runner {
	root := r.Top()
	return &Runner{Ctx: root.Ctx, root: root, City: c, Box: NewMailbox(), Log: root.Log,
		Getenv: root.Getenv, Clock: root.Clock, Tmux: root.Tmux,
		Config: config, Fail: root.Fail}
}

// Listen begins to read the city, until ctx ends.
func (r *Runner) Listen(ctx context.Context, fresh terminal.ScreenMaker, pulse time.Duration) {
	r.Viewer = NewViewer(r.City, r.Box, fresh)
	viewer := r.Viewer
	r.spawnIn(ctx, "snapshots", r.Snapshots)
	r.spawnIn(ctx, "events", r.Events)
	r.spawnIn(ctx, "pane", viewer.Run)
	r.spawnIn(ctx, "pulse", func(ctx context.Context) { r.pulse(ctx, pulse) })
}

// Travel finds the way to another room, beside the model, and puts it into the mailbox of the one that is shown. known
// is the city if its room is there already, keep the file that keeps how its room was left, "" = none does.
func (r *Runner) Travel(e SwitchCity, known city.Control, keep string) {
	a := &Arrival{SwitchCity: e}
	dir := r.Top().Cities.Dir
	r.Spawn("travel", func(ctx context.Context) {
		defer func() { r.Box.PutArrival(a) }()
		var c city.Control
		switch {
		case e.Name == "": // all cities
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
			if keep != "" {
				if a.Memory, err = ReadMemory(keep); err != nil {
					r.Log.Warn("how the room was left is not known", "error", err)
				}
			}
		}
		ctx, cancel := context.WithTimeout(ctx, greet)
		defer cancel()
		var err error
		switch a.Snap, err = c.Snapshot(ctx); {
		case ctx.Err() != nil:
			a.Snap, a.Silent = nil, NotYet
		case err != nil:
			a.Snap, a.Silent = nil, whyGone(err)
		}
	})
}
