package api

import (
	"context"
	"encoding/json"
	"net/http"

	"gcity/city"
)

// configText is a configuration, or a part of it, for people.
type configText struct {
	Revision string `json:"revision"` // that is in force
	Format   string `json:"format"`   // "toml", "text"
	Text     string `json:"text"`     // secrets show as ***
}

// config shows the configuration in force; or, of an agent, a pool or a rig, what it comes to and where that is from.
func (s *server) config(w http.ResponseWriter, r *http.Request, rt route) error {
	c, ok := s.city.(city.Configured)
	if !ok {
		return &city.Error{Code: city.Unavailable, Message: "this city does not show its " +
			"configuration; `gcity config show` does"}
	}
	snap, err := s.look(r)
	if err != nil {
		return err
	}
	a := configText{Revision: snap.Config.Revision, Format: "toml"}
	if rt.kind == explained {
		a.Format = "text"
		a.Text, err = c.Explain(r.Context(), rt.target)
	} else {
		a.Text, err = c.Config(r.Context())
	}
	if err != nil {
		return err
	}
	s.ok(w, snap, a)
	return nil
}

// Explain is what an agent, a pool or a rig comes to, as city.Configured tells it.
func (c *Client) Explain(ctx context.Context, name string) (string, error) {
	path, err := targetPath(explained, name, "")
	if err != nil {
		return "", err
	}
	var a configText
	err = c.call(ctx, http.MethodGet, path, nil, nil, &a)
	return a.Text, err
}

// openAPI answers with the description of this API.
func (s *server) openAPI(w http.ResponseWriter, _ *http.Request, _ route) error {
	s.reply(w, http.StatusOK, json.RawMessage(s.document()))
	return nil
}
