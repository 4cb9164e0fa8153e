package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/exit"
	"gcity/config"
	"gcity/events"
)

// workTimeout is how long a command may take that asks a store; bulkTimeout where all of it is read or written.
const (
	workTimeout = 30 * time.Second
	bulkTimeout = 10 * time.Minute
)

// typeRun is the type of the beads that are records of runs, not work.
const typeRun = "run"

// store keeps the work of a city or a rig. Who opened it closes it.
type store interface {
	beads.Store
	beads.Batcher
	Close() error
}

// place is a folder that has a store of its own.
type place struct {
	rig    string // "" = the city
	dir    string
	prefix string         // of the ids
	city   string         // the city's folder
	by     city.WorkStore // who keeps the work
}

// title names a place for a person.
func (p place) title() string {
	if p.rig == "" {
		return "the city"
	}
	return "rig " + p.rig
}

// depot is an open store and what belongs to it.
type depot struct {
	store
	place
	city   string  // its folder, which has the event log
	places []place // all, the city first
	meant  bool    // somebody said which store: it is asked before that of an id's prefix
}

// workStore says who keeps the work of a configuration.
func workStore(c *config.City) city.WorkStore {
	by := city.WorkStore{Provider: c.Beads.Keeper()}
	by.Host, by.Port = c.Dolt.Server()
	return by
}

// places are the stores of a configuration.
func places(c *config.City) []place {
	by := workStore(c)
	out := []place{{"", c.Path, c.Prefix(), c.Path, by}}
	for _, r := range c.Rigs {
		out = append(out, place{r.Name, r.Path, r.Prefix, c.Path, by})
	}
	return out
}

// Count is how many beads a query means. A store that cannot count gives them all.
func (d *depot) Count(ctx context.Context, q beads.Query) (int, error) {
	if s, ok := d.store.(beads.Counter); ok {
		return s.Count(ctx, q)
	}
	q.Limit, q.Before = -1, ""
	all, err := d.List(ctx, q)
	return len(all), err
}

// Restore implements beads.Restorer, if the store does.
func (d *depot) Restore(ctx context.Context, all []beads.Bead) (beads.Restored, error) {
	if s, ok := d.store.(beads.Restorer); ok {
		return s.Restore(ctx, all)
	}
	return beads.Restored{}, fmt.Errorf("the work of %s is kept by %s, which cannot take beads with their ids and times: %w; use its own import",
		d.title(), d.by.Provider, errors.ErrUnsupported)
}

// placesIn finds the stores of a city. Where its file is refused now, what the running controller has in force counts, and
// without one what is known: a mistake in the file does not keep agents from their work.
func (a *app) placesIn(ctx context.Context, dir string) ([]place, error) {
	c, refused := loadCity(dir)
	if refused == nil {
		return places(c), nil
	}
	near, closeNear, err := a.dial(dir)
	if err == nil {
		defer closeNear()
		s, err := near.Snapshot(ctx)
		if err != nil {
			return nil, refused
		}
		return placesOf(dir, s), nil
	}
	if k := knownAt(dir); k != nil {
		a.tellKnown()
		return placesOf(dir, k.snapshot(dir)), nil
	}
	return nil, needsFile(refused, unknownWork)
}

// placesOf are the stores of a city that runs, by the configuration that is in force there.
func placesOf(dir string, s *city.Snapshot) []place {
	named := config.City{Path: dir, Workspace: config.Workspace{Name: s.Name}, Beads: config.Beads{Provider: s.Store.Provider}, Dolt: config.Dolt{Host: s.Store.Host, Port: s.Store.Port}}
	for _, r := range s.Rigs {
		named.Rigs = append(named.Rigs, config.Rig{Name: r.Name, Path: r.Path, Prefix: r.Prefix})
	}
	return places(&named)
}

// openWork opens the store that is meant: the rig's that was named, else the one of --city, else that of BEADS_DIR, else that
// of the rig GC_RIG, else the city's.
func (a *app) openWork(ctx context.Context, rig string) (*depot, error) {
	dir, err := a.cityDir()
	if err != nil {
		return nil, err
	}
	all, err := a.placesIn(ctx, dir)
	if err != nil {
		return nil, err
	}
	at, meant := all[0], rig != "" || a.dir == "" && a.Getenv("BEADS_DIR") != ""
	switch env := a.Getenv("BEADS_DIR"); {
	case rig == "" && a.dir != "":
	case rig == "" && env != "":
		if at, err = placeOf(env, all); err != nil {
			return nil, err
		}
	case cmp.Or(rig, a.Getenv("GC_RIG")) != "":
		i := slices.IndexFunc(all, func(p place) bool { return p.rig == cmp.Or(rig, a.Getenv("GC_RIG")) })
		if i < 0 {
			return nil, unknownRig(cmp.Or(rig, a.Getenv("GC_RIG")), all)
		}
		at, meant = all[i], true
	}
	s, err := a.store(at)
	if err != nil {
		return nil, err
	}
	return &depot{store: s, place: at, city: dir, places: all, meant: meant}, nil
}

// placeOf finds whose store a BEADS_DIR is.
func placeOf(env string, all []place) (place, error) {
	is, err := filepath.Abs(env)
	if err != nil {
		return place{}, exit.Usage("BEADS_DIR names no folder: %v", err)
	}
	if filepath.Base(is) == workFolder {
		for _, p := range all {
			if sameFolder(filepath.Dir(is), p.dir) {
				return p, nil
			}
		}
	}
	return place{}, exit.Usage("BEADS_DIR is %s, where neither this city nor a rig of it has its work; unset it, or name a rig with --rig", env)
}

func sameFolder(x, y string) bool {
	if filepath.Clean(x) == filepath.Clean(y) {
		return true
	}
	xi, errX := os.Stat(x)
	yi, errY := os.Stat(y)
	return errX == nil && errY == nil && os.SameFile(xi, yi)
}

func unknownRig(name string, all []place) error {
	s := &city.Snapshot{}
	for _, p := range all[1:] {
		s.Rigs = append(s.Rigs, city.Rig{Name: p.rig})
	}
	return unknown(s, name, []kind{kindRig})
}

// withWork gives a command its deed on an open store, and the flag that names a rig's. changes: it is refused where
// nothing may be changed.
func (a *app) withWork(c *cobra.Command, changes bool, run func(ctx context.Context, d *depot, args []string) error) *cobra.Command {
	var rig string
	c.Flags().StringVar(&rig, "rig", "", "the work of this rig (else of BEADS_DIR, else of GC_RIG, else of the city)")
	c.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if changes && a.readOnly {
			return refusedReadOnly(strings.TrimPrefix(cmd.CommandPath(), "gcity "))
		}
		limit := workTimeout
		if slices.Contains([]string{"import", "export", "backup", "restore"}, cmd.Name()) {
			limit = bulkTimeout
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), limit)
		defer cancel()
		d, err := a.openWork(ctx, rig)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		release, err := a.holdOperation(ctx, d.city)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, release()) }()
		return workProblem(run(ctx, d, args))
	}
	return c
}

// workProblem gives a store's refusal the class that the exit codes know.
func workProblem(err error) error {
	var invalid *beads.Invalid
	code := city.Code("")
	switch {
	case errors.Is(err, beads.ErrNotFound):
		code = city.NotFound
	case errors.Is(err, beads.ErrConflict):
		code = city.Conflict
	case errors.As(err, &invalid):
		code = city.Invalid
	default:
		return err
	}
	return &city.Error{Code: code, Message: err.Error()}
}

// beadWord is what an event about a bead says of it.
type beadWord struct {
	Rig      string       `json:"rig,omitempty"`
	Type     string       `json:"type"`
	Status   beads.Status `json:"status"`
	Assignee string       `json:"assignee,omitempty"`
	ParentID string       `json:"parent_id,omitempty"`
	Labels   []string     `json:"labels,omitempty"`
	Depth    int          `json:"depth,omitempty"` // see automation.Depth
	Op       string       `json:"op,omitempty"`    // the operation, see createOnce
}

// depth is how many runs of automations have led to one another and to this command, 0 outside of any: what they begin by
// their events ends somewhere, if it is told.
func (a *app) depth() int {
	n, err := strconv.Atoi(a.Getenv("GC_EVENT_DEPTH"))
	if err != nil {
		return 0 // not within a run
	}
	return n
}

// announce tells the city what became of a bead.
func (a *app) announce(ctx context.Context, d *depot, kind string, b beads.Bead) error {
	payload, err := json.Marshal(beadWord{d.rig, b.Type, b.Status, b.Assignee, b.ParentID, b.Labels, a.depth(), a.op})
	if err != nil {
		return err
	}
	return a.emit(ctx, d.city, events.Event{Type: kind, Subject: b.ID, Message: b.Title, Payload: payload})
}

// emit writes an event: through the controller if one runs, else into the log.
func (a *app) emit(ctx context.Context, dir string, e events.Event) error {
	e.Actor = a.actor()
	near, closeNear, err := a.dial(dir)
	switch {
	case err == nil:
		defer closeNear()
		_, err = near.Do(ctx, city.Emit{Event: e})
	case exit.IsNotRunning(err):
		_, err = appendEvent(dir, e)
	}
	if err != nil {
		return fmt.Errorf("it is done, but the event %s of %s could not be written: %w; %s", e.Type, e.Subject, err, a.repeatHint())
	}
	return nil
}
