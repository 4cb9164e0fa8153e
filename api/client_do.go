package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"gcity/beads"
	"gcity/city"
	"gcity/city/verb"
)

// Do implements city.Control.
func (c *Client) Do(ctx context.Context, cmd city.Command) (city.Receipt, error) {
	var receipt city.Receipt
	path, err := commandPath(cmd)
	if err != nil {
		return receipt, err
	}
	method := http.MethodPost
	var body []byte
	switch cmd := cmd.(type) { // those whose body is the thing itself
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
		return receipt, invalid("%s cannot be sent: %v", cmd.Verb(), err)
	}
	return receipt, c.call(ctx, method, path, nil, body, &receipt)
}

// commandPath is where a command is sent to.
func commandPath(cmd city.Command) (string, error) {
	switch cmd := cmd.(type) {
	case city.Emit:
		return "/v0/events", nil
	case city.CreateBead:
		if cmd.Rig != "" {
			return "/v0/beads?" + url.Values{"rig": {cmd.Rig}}.Encode(), nil
		}
		return "/v0/beads", nil
	case city.UpdateBead:
		path, err := targetPath(bead, cmd.ID, "")
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
	return targetPath(kind(v.Noun), cmd.Target(), kind(parts[0]))
}

// targetPath is the path of something of an agent, a pool, a rig, an automation or a bead, or, what being "", its
// own. A name that is none is refused here as the server would.
func targetPath(noun kind, target string, what kind) (string, error) {
	if _, err := nameOf(noun, url.PathEscape(target)); err != nil {
		return "", &city.Error{Code: city.NotFound,
			Message: fmt.Sprintf("no %s %.60q: that cannot be the name of one", noun, target)}
	}
	path := "/v0/" + string(noun) + "/" + url.PathEscape(target)
	if what != "" {
		path += "/" + string(what)
	}
	return path, nil
}

// Beads implements city.Control.
func (c *Client) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	if err := q.Check(); err != nil {
		return nil, city.WorkError(err)
	}
	var page list[beads.Bead]
	err := c.call(ctx, http.MethodGet, "/v0/beads", beadValues(q), nil, &page)
	return page.Items, err
}

// Bead implements city.Getter.
func (c *Client) Bead(ctx context.Context, id string) (beads.Bead, error) {
	var b beads.Bead
	path, err := targetPath(bead, id, "")
	if err != nil {
		return b, err
	}
	return b, c.call(ctx, http.MethodGet, path, nil, nil, &b)
}
