package tui

import (
	"context"
	"gcity/city"
	"gcity/tui/terminal"
	"time"
)

// directory is the list of the cities, and the city that this program runs.
type directory struct {
	dir   city.Directory // nil = there is no list
	own   city.Control   // nil = none
	ownAt string         // its folder
}

// city is a city of the list. The one that this program runs is reached without the supervisor, who cannot run it
// as well.
func (d *directory) city(name, path string) (city.Control, error) {
	if d.own != nil && path == d.ownAt {
		return d.own, nil
	}
	return d.dir.City(name)
}

// arrival is what a switch to another city has come to.
type arrival struct {
	travel
	city    city.Control // nil = its room is there already
	memory  memory
	snap    *city.Snapshot // nil = it has not answered yet
	silent  string         // why not
	problem string         // why there is no way, "" = there is
}

// greet is how long a city has to say how it is before its room is shown without.
const greet = 300 * time.Millisecond

// notYet is why nothing is heard of a city that is only slow, as far as is known.
const notYet = "it has not answered yet"

// beside is a runner for another city in the same room.
func (r *runner) beside(c city.Control, config ConfigFile) *runner {
	root := r.top()
	return &runner{ctx: root.ctx, root: root, city: c, box: newMailbox(), log: root.log,
		getenv: root.getenv, clock: root.clock, tmux: root.tmux,
		config: config, fail: root.fail}
}

// listen begins to read the city, until ctx ends.
func (r *runner) listen(ctx context.Context, fresh terminal.ScreenMaker, pulse time.Duration) {
	r.viewer = newViewer(r.city, r.box, fresh)
	viewer := r.viewer
	r.spawnIn(ctx, "snapshots", r.snapshots)
	r.spawnIn(ctx, "events", r.events)
	r.spawnIn(ctx, "pane", viewer.run)
	r.spawnIn(ctx, "pulse", func(ctx context.Context) { r.pulse(ctx, pulse) })
}

// travel finds the way to another room, beside the model, and puts it into the mailbox of the one that is shown. known
// is the city if its room is there already, keep the file that keeps how its room was left, "" = none does.
func (r *runner) travel(e travel, known city.Control, keep string) {
	a := &arrival{travel: e}
	dir := r.top().cities.dir
	r.spawn("travel", func(ctx context.Context) {
		defer func() { r.box.putArrival(a) }()
		var c city.Control
		switch {
		case e.name == "": // all cities
			return
		case known != nil:
			c = known
		default:
			var err error
			if c, err = r.pin(ctx, dir, e.name, e.path); err != nil {
				a.problem = err.Error()
				return
			}
			a.city = c
			if keep != "" {
				if a.memory, err = readMemory(keep); err != nil {
					r.log.Warn("how the room was left is not known", "error", err)
				}
			}
		}
		ctx, cancel := context.WithTimeout(ctx, greet)
		defer cancel()
		var err error
		switch a.snap, err = c.Snapshot(ctx); {
		case ctx.Err() != nil:
			a.snap, a.silent = nil, notYet
		case err != nil:
			a.snap, a.silent = nil, whyGone(err)
		}
	})
}
