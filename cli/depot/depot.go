package depot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/workstore"
	"gcity/config"
	"gcity/events"
)

// WorkTimeout limits commands that use a store. bulkTimeout limits commands that read or write the whole store.
const (
	WorkTimeout = 30 * time.Second
	bulkTimeout = 10 * time.Minute
)

// Store is the store that a command uses, with its city.
type Store struct {
	workstore.Store
	workstore.Place
	City   string            // the city's folder
	Places []workstore.Place // the city, then its rigs
	Config *config.City      // nil if it is invalid or on another machine
	// the user selected the store, so it is searched first
	explicit bool
	others   map[workstore.Place]*Store // opened by At
}

// At returns the store of a place of the city. It opens the store at most once, and d.Close closes it.
func (d *Store) At(e *env.Env, p workstore.Place) (*Store, error) {
	if p == d.Place {
		return d, nil
	}
	if at := d.others[p]; at != nil {
		return at, nil
	}
	s, err := e.Store(p)
	if err != nil {
		return nil, err
	}
	at := &Store{Store: s, Place: p, City: d.City, Places: d.Places, Config: d.Config}
	if d.others == nil {
		d.others = map[workstore.Place]*Store{}
	}
	d.others[p] = at
	return at, nil
}

// Close closes the store and those that At has opened.
func (d *Store) Close() error {
	for _, other := range d.others {
		_ = other.Close() // every write is already durable, so nothing is lost
	}
	return d.Store.Close()
}

// Count returns how many beads match a query.
func (d *Store) Count(ctx context.Context, q beads.Query) (int, error) {
	if s, ok := d.Store.(beads.Counter); ok {
		return s.Count(ctx, q)
	}
	q.Limit, q.Before = -1, ""
	all, err := d.List(ctx, q)
	return len(all), err
}

// Unreadable implements beads.Auditor.
func (d *Store) Unreadable(ctx context.Context) ([]beads.Unreadable, error) {
	if s, ok := d.Store.(beads.Auditor); ok {
		return s.Unreadable(ctx)
	}
	return nil, errors.ErrUnsupported
}

// Salvage implements beads.Salvager.
func (d *Store) Salvage(ctx context.Context, why error) ([]beads.Bead, []beads.Unreadable,
	error) {
	if s, ok := d.Store.(beads.Salvager); ok {
		return s.Salvage(ctx, why)
	}
	return nil, nil, errors.ErrUnsupported
}

// Restore implements beads.Restorer. It returns an error if the store is not a beads.Restorer.
func (d *Store) Restore(ctx context.Context, all []beads.Bead) (beads.Restored, error) {
	if s, ok := d.Store.(beads.Restorer); ok {
		return s.Restore(ctx, all)
	}
	return beads.Restored{}, fmt.Errorf("%s stores the work of %s and cannot import beads with "+
		"their IDs and times (%w); import them with %[1]s instead",
		d.By.Provider, d.Title(), errors.ErrUnsupported)
}

// PlacesIn returns the city and its rigs, even if the configuration is invalid.
func PlacesIn(ctx context.Context, e *env.Env, dir string) ([]workstore.Place, error) {
	all, _, err := read(ctx, e, dir)
	return all, err
}

// read returns a city's places and its configuration. The configuration is nil if it is invalid or on another machine.
func read(ctx context.Context, e *env.Env, dir string) ([]workstore.Place, *config.City, error) {
	if e.Remote(dir) { // a copy of the configuration might be outdated
		all, err := placesInForce(ctx, e, dir)
		return all, nil, err
	}
	c, invalid := folder.LoadCity(dir)
	if invalid == nil {
		return workstore.Places(c), c, nil
	}
	all, err := placesDespite(ctx, e, dir, invalid)
	return all, nil, err
}

// placesDespite returns the places of a city with an invalid configuration.
func placesDespite(ctx context.Context, e *env.Env, dir string, invalid error) ([]workstore.Place,
	error) {
	near, closeNear, err := e.Dial(dir)
	if err == nil {
		defer closeNear()
		s, err := near.Snapshot(ctx)
		if err != nil {
			return nil, invalid
		}
		return workstore.PlacesOf(dir, s), nil
	}
	if k := folder.LoadConfigCache(dir); k != nil {
		env.WarnConfigCache(e)
		return workstore.PlacesOf(dir, k.Snapshot(dir)), nil
	}
	return nil, folder.NeedsFile(invalid, folder.UnknownWork)
}

// placesInForce returns the places that the running controller uses.
func placesInForce(ctx context.Context, e *env.Env, dir string) ([]workstore.Place, error) {
	near, closeNear, err := e.Dial(dir)
	if err != nil {
		return nil, env.Unreachable(err)
	}
	defer closeNear()
	s, err := near.Snapshot(ctx)
	if err != nil {
		return nil, env.Unreachable(err)
	}
	return workstore.PlacesOf(dir, s), nil
}

func openStore(ctx context.Context, e *env.Env, rig string) (*Store, error) {
	dir, err := e.CityDir()
	if err != nil {
		return nil, err
	}
	all, c, err := read(ctx, e, dir)
	if err != nil {
		return nil, err
	}
	at, meant := all[0], rig != "" || e.Dir == "" && e.Getenv("BEADS_DIR") != ""
	switch beadsDir := e.Getenv("BEADS_DIR"); {
	case rig == "" && e.Dir != "":
	case rig == "" && beadsDir != "":
		if at, err = workstore.PlaceOf(beadsDir, all); err != nil {
			return nil, err
		}
	case cmp.Or(rig, e.Getenv("GC_RIG")) != "":
		i := slices.IndexFunc(all, func(p workstore.Place) bool {
			return p.Rig == cmp.Or(rig, e.Getenv("GC_RIG"))
		})
		if i < 0 {
			return nil, env.UnknownRig(cmp.Or(rig, e.Getenv("GC_RIG")), all)
		}
		at, meant = all[i], true
	}
	s, err := e.Store(at)
	if err != nil {
		return nil, err
	}
	return &Store{Store: s, Place: at, City: dir, Places: all, Config: c, explicit: meant}, nil
}

// WithWork sets RunE of a command that needs an open store, and adds --rig. If changes is true, --read-only makes the
// command fail.
func WithWork(e *env.Env, c *cobra.Command, changes bool,
	run func(ctx context.Context, d *Store, args []string) error) *cobra.Command {
	var rig string
	c.Flags().StringVar(&rig, "rig", "",
		"use this rig's store (default: from BEADS_DIR or GC_RIG, otherwise the city's)")
	c.RunE = func(cmd *cobra.Command, args []string) (err error) {
		limit := WorkTimeout
		if slices.Contains([]string{"import", "export", "backup", "restore"}, cmd.Name()) {
			limit = bulkTimeout
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), limit)
		defer cancel()
		d, err := openStore(ctx, e, rig)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		release, err := holdOperation(ctx, e, d.City)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, release()) }()
		return WorkProblem(run(ctx, d, args))
	}
	if changes {
		env.Changes(e, c)
	}
	return c
}

// WorkProblem converts store errors that have their own exit code to a city.Error.
func WorkProblem(err error) error {
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
	return city.Errorf(code, "%v", err)
}

type beadEvent struct {
	Rig      string       `json:"rig,omitempty"`
	Type     string       `json:"type"`
	Status   beads.Status `json:"status"`
	Assignee string       `json:"assignee,omitempty"`
	ParentID string       `json:"parent_id,omitempty"`
	Labels   []string     `json:"labels,omitempty"`
	Depth    int          `json:"depth,omitempty"`
	Op       string       `json:"op,omitempty"`
}

// ReportChange reports a change to a bead as an event, unless the controller made the change and wrote the event.
func ReportChange(ctx context.Context, e *env.Env, d *Store, kind string, b beads.Bead) error {
	if e.Remote(d.City) {
		return nil
	}
	payload, err := json.Marshal(beadEvent{d.Rig, b.Type, b.Status, b.Assignee, b.ParentID,
		b.Labels, e.Depth(), e.Op})
	if err != nil {
		return err
	}
	return Emit(ctx, e, d.City, events.Event{Type: kind, Subject: b.ID, Message: b.Title,
		Payload: payload})
}

// Emit sends an event to the controller, or appends it to the log if no controller is running.
func Emit(ctx context.Context, e *env.Env, dir string, ev events.Event) error {
	ev.Actor = e.Actor()
	near, closeNear, err := e.Dial(dir)
	switch {
	case err == nil:
		defer closeNear()
		_, err = near.Do(ctx, city.Emit{Event: ev})
	case exit.IsNotRunning(err) && !e.Remote(dir):
		_, err = folder.AppendEvent(dir, ev)
	}
	if err != nil {
		return &unreportedError{ev, err, repeatHint(e)}
	}
	return nil
}

// unreportedError means that a change was made, but its event could not be written.
type unreportedError struct {
	event events.Event
	err   error
	hint  string
}

func (u *unreportedError) Error() string {
	return fmt.Sprintf("the change was made, but the event %s for %s cannot be written: %v; %s",
		u.event.Type, u.event.Subject, u.err, u.hint)
}

func (u *unreportedError) Unwrap() error { return u.err }

// Changes collects the errors of a command that makes several changes.
type Changes struct{ err error }

// Add adds the result of a change. It returns false if the change failed, so the command must stop. If only an event
// could not be written, the command continues, because a repetition without --op would not write the event either.
func (c *Changes) Add(err error) bool {
	c.err = errors.Join(c.err, err)
	return onlyUnreported(err)
}

// onlyUnreported reports whether err is nil or consists only of unreportedErrors.
func onlyUnreported(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			if !onlyUnreported(err) {
				return false
			}
		}
		return true
	}
	_, ok := errors.AsType[*unreportedError](err)
	return err == nil || ok
}

// Err returns all errors.
func (c *Changes) Err() error { return c.err }

// ReadyStore creates the store of a city or a rig if it is missing.
func ReadyStore(ctx context.Context, e *env.Env, p workstore.Place) (err error) {
	s, err := e.Store(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if w, ok := s.(interface{ Probe(context.Context) error }); ok {
		return w.Probe(ctx)
	}
	_, err = s.List(ctx, beads.Query{Limit: 1})
	return err
}
