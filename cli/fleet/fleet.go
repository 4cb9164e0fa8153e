package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/tui/fleet"
)

const cityTimeout = 2 * time.Second

// ListTimeout is how long a command waits for the list of cities.
const ListTimeout = 5 * time.Second

// Directory returns the list of this machine's cities, or nil if no supervisor is running. The caller must call the
// returned function to close the list.
func Directory(e *env.Env) (city.Directory, func(), error) {
	if e.Cities == nil {
		return nil, func() {}, nil
	}
	d, closeIt, err := e.Cities()
	if err == nil && d != nil && e.ReadOnly {
		d = readOnlyDirectory{d}
	}
	return d, closeIt, err
}

type readOnlyDirectory struct{ city.Directory }

// City implements city.Directory.
func (d readOnlyDirectory) City(name string) (city.Control, error) {
	c, err := d.Directory.City(name)
	if err != nil {
		return nil, err
	}
	return env.ReadOnly{Control: c}, nil
}

// snap is nil if the city is not running or did not respond.
type cityReport struct {
	city.Info
	snap   *city.Snapshot
	silent string
}

// PrintFleet prints a row for each city.
func PrintFleet(ctx context.Context, e *env.Env, d city.Directory) error {
	ask, cancel := context.WithTimeout(ctx, ListTimeout)
	infos, err := d.Cities(ask)
	cancel()
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return fmt.Errorf("the supervisor did not respond within %s; see `gcity supervisor status`",
			ListTimeout)
	case err != nil:
		return err
	case e.JSON:
		return e.WriteJSON(citiesOf(infos))
	}
	reports := make([]cityReport, len(infos))
	var wg sync.WaitGroup
	for i, in := range infos {
		reports[i].Info = in
		if in.Running {
			wg.Go(func() { reports[i].ask(ctx, d) })
		}
	}
	wg.Wait()
	return writeCities(e, reports)
}

func (r *cityReport) ask(ctx context.Context, d city.Directory) {
	ctx, cancel := context.WithTimeout(ctx, cityTimeout)
	defer cancel()
	c, err := d.City(r.Name)
	if err == nil {
		r.snap, err = c.Snapshot(ctx)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		r.silent = "no response within " + cityTimeout.String()
	case err != nil:
		r.silent = err.Error()
	}
}

func writeCities(e *env.Env, reports []cityReport) error {
	if len(reports) == 0 {
		_, err := fmt.Fprintln(e.Out, "no city is registered yet; run `gcity start` in a city's "+
			"folder to register it")
		return err
	}
	table := output.NewTable("CITY", "STATUS", "RUNNING", "LOOP", "PATH", "WHY")
	for i := range reports {
		r := &reports[i]
		agents, loop, why, color := "-", "-", r.Error, output.Green
		switch {
		case r.silent != "":
			why, color = r.silent, output.Red
		case r.snap != nil:
			if r.snap.ShutDown {
				r.Status = city.CityStopping
			}
			n := r.snap.Count()
			agents, loop = fmt.Sprintf("%d/%d", r.snap.Running(), len(r.snap.Agents)),
				output.Span(r.snap.Patrol.Age(e.Now()))
			var parts []string
			for _, s := range []city.State{city.Failed, city.Quarantined} {
				if n[s] > 0 {
					parts = append(parts, fmt.Sprintf("%d %s", n[s], s))
				}
			}
			if p := fleet.Troubles(r.snap); len(p) > 0 {
				parts = append(parts, p...)
			}
			if why = strings.Join(parts, "; "); why != "" {
				color = output.Yellow
			}
		case r.Status == city.CityStopped:
			color = output.Dim
		case !r.Running:
			color = output.Red
		}
		table.Add(r.Name, output.Tinted(cmp.Or(string(r.Status), "-"), color), agents, loop, r.Path,
			why)
	}
	return e.Table(table)
}
