package api

import (
	"encoding/json"
	"net/http"

	"gcity/api/wire"
	"gcity/city"
)

func (s *server) config(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	c, ok := s.city.(city.Configured)
	if !ok {
		return city.Errorf(city.Unavailable, "this city does not show its configuration over the "+
			"API; run `gcity config show`")
	}
	snap, err := s.requestedSnapshot(r)
	if err != nil {
		return err
	}
	a := wire.ConfigText{Revision: snap.Config.Revision, Format: "toml"}
	if rt.Kind == wire.KindConfigExplain {
		a.Format = "text"
		a.Text, err = c.Explain(r.Context(), rt.Target)
	} else {
		a.Text, err = c.Config(r.Context())
	}
	if err != nil {
		return err
	}
	s.ok(w, snap, a)
	return nil
}

func (s *server) openAPI(w http.ResponseWriter, _ *http.Request, _ wire.Route) error {
	s.reply(w, http.StatusOK, json.RawMessage(s.document()))
	return nil
}
