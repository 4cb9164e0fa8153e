package api

import (
	"encoding/json"
	"net/http"

	"gcity/api/wire"
	"gcity/city"
)

func (s *server) config(q *query) (any, error) {
	c, ok := s.city.(city.Configured)
	if !ok {
		return nil, city.Errorf(city.Unavailable, "this city does not show its configuration "+
			"over the API; run `gcity config show`")
	}
	a := wire.ConfigText{Revision: q.snap.Config.Revision, Format: "toml"}
	var err error
	if q.Kind == wire.KindConfigExplain {
		a.Format = "text"
		a.Text, err = c.Explain(q.Context(), q.Target)
	} else {
		a.Text, err = c.Config(q.Context())
	}
	return a, err
}

func (s *server) openAPI(w http.ResponseWriter, _ *http.Request, _ wire.Route) error {
	s.reply(w, http.StatusOK, json.RawMessage(s.document()))
	return nil
}
