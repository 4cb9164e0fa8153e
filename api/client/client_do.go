package client

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"gcity/api/gascity"
	"gcity/api/wire"
	"gcity/beads"
	"gcity/city"
	"gcity/city/verb"
)

// Do implements city.Control.
func (c *Client) Do(ctx context.Context, cmd city.Command) (city.Receipt, error) {
	var receipt city.Receipt
	path, err := CommandPath(cmd)
	if err != nil {
		return receipt, err
	}
	method := http.MethodPost
	var body []byte
	switch cmd := cmd.(type) {
	case city.Emit:
		body, err = json.Marshal(cmd.Event)
	case city.CreateBead:
		body, err = json.Marshal(cmd.Bead)
	case city.UpdateBead:
		method = http.MethodPatch
		body, err = json.Marshal(cmd.Patch)
	default:
		body, err = city.Encode(cmd)
	}
	if err != nil {
		return receipt, wire.Invalid("cannot send %s: %v", cmd.Verb(), err)
	}
	err = c.call(ctx, request{method: method, path: path, body: body}, &receipt)
	if errors.Is(err, ErrEnded) {
		err = taggedError{city.Errorf(city.Unavailable, "the %s exited before it responded to %s, "+
			"so the change might have been made; `gcity status` shows the city's state",
			c.serverName, cmd.Verb()), ErrEnded}
	}
	if n, ok := cmd.(city.Nudge); ok && n.Depth > 0 && city.UnknownField(err, "depth") {
		n.Depth = 0 // an older controller does not count nudges in chains of automation runs
		return c.Do(ctx, n)
	}
	return receipt, err
}

// CommandPath returns the path that a command is sent to.
func CommandPath(cmd city.Command) (string, error) {
	switch cmd := cmd.(type) {
	case city.Emit:
		return "/v0/events", nil
	case city.CreateBead:
		if cmd.Rig != "" {
			return "/v0/beads?" + url.Values{"rig": {cmd.Rig}}.Encode(), nil
		}
		return "/v0/beads", nil
	case city.UpdateBead:
		path, err := wire.Path(wire.KindBead, cmd.ID, "")
		if err == nil && cmd.Force {
			path += "?force=true"
		}
		return path, err
	}
	v, known := verb.Of(cmd)
	parts := v.Parts()
	switch {
	case !known || len(parts) == 0:
		return "/v0/" + cmd.Verb(), nil
	case v.Noun == verb.City:
		return "/v0/" + parts[0], nil
	}
	return wire.Path(wire.Kind(v.Noun), cmd.Target(), wire.Kind(parts[0]))
}

// Beads implements city.Control.
func (c *Client) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	return c.listBeads(ctx, q, url.Values{})
}

// BeadsIn implements city.StoreReader. An older controller rejects a request for the city's store.
func (c *Client) BeadsIn(ctx context.Context, rig string, q beads.Query) ([]beads.Bead, error) {
	if rig == "" {
		return c.listBeads(ctx, q, url.Values{"store": {gascity.CityStore}})
	}
	return c.listBeads(ctx, q, url.Values{"rig": {rig}})
}

func (c *Client) listBeads(ctx context.Context, q beads.Query, params url.Values) ([]beads.Bead,
	error) {
	if err := q.Check(); err != nil {
		return nil, city.WorkError(err)
	}
	maps.Copy(params, BeadValues(q))
	var page gascity.List[beads.Bead]
	err := c.get(ctx, "/v0/beads", params, &page)
	newer := q.NotLabel != "" || !q.CreatedUntil.IsZero()
	if !newer || !gascity.IsUnknownParameter(err) {
		return page.Items, err
	}
	// an older controller does not know these filters
	params.Del("not_label")
	params.Del("created_until")
	params.Set("limit", wire.Everything)
	err = c.get(ctx, "/v0/beads", params, &page)
	all := slices.DeleteFunc(page.Items, func(b beads.Bead) bool { return !q.Match(b) })
	if most := q.MaxResults(); most >= 0 && len(all) > most {
		all = all[:most]
	}
	return all, err
}

// Bead implements city.Control.
func (c *Client) Bead(ctx context.Context, id string) (beads.Bead, error) {
	b, err := c.Locate(ctx, id)
	return b.Bead, err
}

// Locate implements city.StoreReader.
func (c *Client) Locate(ctx context.Context, id string) (city.Located, error) {
	var b city.Located
	err := c.object(ctx, wire.KindBead, id, "", &b)
	return b, err
}

// BriefSnapshot returns the part of a snapshot that Brief keeps. An older controller sends the whole snapshot.
func (c *Client) BriefSnapshot(ctx context.Context) (*city.Snapshot, error) {
	return c.snapshot(ctx, url.Values{"view": {wire.StatusView}})
}

// Explain returns the effective values of an agent, a pool or a rig, as city.Configured does.
func (c *Client) Explain(ctx context.Context, name string) (string, error) {
	var a wire.ConfigText
	err := c.object(ctx, wire.KindConfigExplain, name, "", &a)
	return a.Text, err
}

// BeadValues encodes a query as query parameters.
func BeadValues(q beads.Query) url.Values {
	v := url.Values{"label": q.Labels, "not_type": q.NotType}
	for _, s := range q.Status {
		v.Add("status", string(s))
	}
	for name, value := range map[string]string{"type": q.Type, "assignee": q.Assignee,
		"parent": q.Parent, "ref": q.Ref, "cursor": q.Before,
		"not_label": q.NotLabel} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if q.Ready {
		v.Set("ready", "true")
	}
	if q.Assigned {
		v.Set("assigned", "true")
	}
	for name, at := range map[string]time.Time{"closed_since": q.ClosedSince,
		"created_until": q.CreatedUntil} {
		if !at.IsZero() {
			v.Set(name, at.Format(time.RFC3339Nano))
		}
	}
	switch {
	case q.Limit < 0:
		v.Set("limit", wire.Everything)
	case q.Limit > 0:
		v.Set("limit", strconv.Itoa(min(q.Limit, math.MaxInt32)))
	}
	return v
}
