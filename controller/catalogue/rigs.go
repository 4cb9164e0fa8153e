package catalogue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/config"
	"gcity/config/edit"
	"gcity/events"
	"gcity/internal/deadline"
	"gcity/internal/redact"
	"gcity/internal/suggest"
)

// editsAtOnce limits concurrent edits, because each can occupy a thread until a folder responds.
const editsAtOnce = 8

// Rigs adds and removes rigs in the city.toml of a running city. It is safe for concurrent use.
type Rigs struct {
	source config.Source
	city   city.Control
	calls  *deadline.Calls[rigEdit]
	last   atomic.Uint64
}

type rigEdit struct {
	after *config.City
	err   error
}

// NewRigs returns an editor for the rigs of the city c.
func NewRigs(source config.Source, c city.Control) *Rigs {
	return &Rigs{source: source, city: c, calls: deadline.New[rigEdit](editsAtOnce)}
}

// AddRig implements city.RigEditor.
func (r *Rigs) AddRig(ctx context.Context, n city.NewRig) (city.Receipt, error) {
	if n.Name == "" || n.Path == "" {
		return city.Receipt{}, city.Errorf(city.Invalid,
			`a rig needs a name and a folder: {"name": "shop", "path": "/src/shop"}`)
	}
	snap, err := r.city.Snapshot(ctx)
	if err != nil {
		return city.Receipt{}, err
	}
	if _, known := snap.Rig(n.Name); known {
		return city.Receipt{}, city.Errorf(city.Conflict, "city %s already has a rig named %s",
			snap.Name, n.Name)
	}
	after, err := r.edit(ctx, func() (*config.City, error) {
		return edit.AddRig(r.source, edit.NewRig{Name: n.Name, Path: n.Path, Prefix: n.Prefix,
			Suspended: n.Suspended})
	})
	if err != nil {
		return city.Receipt{}, err
	}
	rig := after.Rig(n.Name)
	return r.reload(ctx, events.RigAdded, n.Name, fmt.Sprintf(
		"added rig %s: %s; IDs of its work begin with %s-", rig.Name, rig.Path, rig.Prefix))
}

// RemoveRig implements city.RigEditor.
func (r *Rigs) RemoveRig(ctx context.Context, name string) (city.Receipt, error) {
	snap, err := r.city.Snapshot(ctx)
	if err != nil {
		return city.Receipt{}, err
	}
	rig, known := snap.Rig(name)
	if !known {
		return city.Receipt{}, city.Missing(suggest.NotFound(suggest.Rig, name,
			snap.Names(suggest.Rig)))
	}
	if err := r.inUse(ctx, snap, rig); err != nil {
		return city.Receipt{}, err
	}
	if _, err = r.edit(ctx, func() (*config.City, error) {
		return edit.RemoveRig(r.source, name, false)
	}); err != nil {
		return city.Receipt{}, err
	}
	return r.reload(ctx, events.RigRemoved, name, fmt.Sprintf(
		"removed rig %s; its folder %s and its work were kept", name, rig.Path))
}

func (r *Rigs) inUse(ctx context.Context, snap *city.Snapshot, rig *city.Rig) error {
	var agents, begun []string
	for i := range snap.Agents {
		if snap.Agents[i].Rig == rig.Name {
			agents = append(agents, snap.Agents[i].Name)
		}
	}
	if len(agents) > 0 {
		return city.Errorf(city.Conflict, "rig %s has agents: %s; "+
			"remove them from city.toml first, or run `gcity rig remove %s --yes`", rig.Name,
			strings.Join(agents, ", "), rig.Name)
	}
	found, err := city.BeadsIn(ctx, r.city, rig.Name, beads.Query{
		Status: []beads.Status{beads.StatusInProgress}, NotType: city.NotWork(), Limit: -1})
	if err != nil {
		return err
	}
	for _, b := range found {
		begun = append(begun, b.ID)
	}
	if len(begun) > 0 {
		return city.Errorf(city.Conflict, "work is in progress in "+
			"rig %s: %s; close it first, or run `gcity rig remove %s --force`", rig.Name,
			strings.Join(begun, ", "), rig.Name)
	}
	return nil
}

func (r *Rigs) edit(ctx context.Context, change func() (*config.City, error)) (*config.City,
	error) {
	snap, err := r.city.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if snap.Config.Held != nil {
		return nil, city.Errorf(city.Conflict, "a change to city.toml is "+
			"waiting for confirmation, so nothing was written; run `gcity reload --confirm` to "+
			"accept it, or undo it")
	}
	own := fmt.Sprint(r.last.Add(1)) // so that edits do not share a call
	done, ok := r.calls.Do(ctx, own, time.Now(), limit, func() rigEdit {
		after, err := change()
		return rigEdit{after, err}
	})
	if !ok {
		return nil, unread(ctx, "city.toml")
	}
	return done.after, refusal(done.err)
}

func refusal(err error) error {
	code := city.Invalid
	switch {
	case err == nil:
		return nil
	case errors.Is(err, config.ErrNoRig):
		code = city.NotFound
	case errors.Is(err, edit.ErrInUse), errors.Is(err, edit.ErrChanged):
		code = city.Conflict
	}
	return &city.Error{Code: code, Message: redact.Text(err.Error())}
}

func (r *Rigs) reload(ctx context.Context, kind, rig, message string) (city.Receipt, error) {
	if _, err := r.city.Do(ctx, city.Reload{}); err != nil {
		code := city.Unavailable
		if refused, ok := errors.AsType[*city.Error](err); ok {
			code = refused.Code
		}
		return city.Receipt{}, city.Errorf(code,
			"city.toml was written but is not in force: %v", err)
	}
	peer := city.PeerOf(ctx)
	peer.Remote = false // the controller rejects this event from remote clients
	receipt, err := r.city.Do(city.WithPeer(ctx, peer),
		city.Emit{Event: events.Event{Type: kind, Subject: rig, Message: message}})
	receipt.Message = message
	return receipt, err
}
