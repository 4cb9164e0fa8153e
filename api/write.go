package api

import (
	"net/http"
	"strings"

	"gcity/api/wire"
	"gcity/city"
	"gcity/city/verb"
)

func (s *server) do(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	b, err := body(w, r)
	if err != nil {
		return err
	}
	return s.performBody(w, r, rt, b)
}

func (s *server) emit(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	b, err := body(w, r)
	if err != nil {
		return err
	}
	if len(b) == 0 {
		return wire.Invalid(`the body must be an event: {"type": "noun.verb", "message": "…"}`)
	}
	rt.Verb = "emit"
	return s.performBody(w, r, rt, append(append([]byte(`{"event":`), b...), '}'))
}

func (s *server) performBody(w http.ResponseWriter, r *http.Request, rt wire.Route,
	body []byte) error {
	c, err := verb.Decode(rt.Verb, rt.Target, body)
	if err != nil {
		return err
	}
	return s.perform(w, r, c)
}

func (s *server) perform(w http.ResponseWriter, r *http.Request, c city.Command) error {
	receipt, err := s.execute(r, c)
	return s.result(w, receipt, err)
}

// debug serves profiles only on a unix socket, because they can contain secrets.
func (s *server) debug(w http.ResponseWriter, r *http.Request) {
	if s.o.Guard != nil {
		s.fail(w, wire.UnknownPath())
		return
	}
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		s.reply(w, http.StatusMethodNotAllowed,
			city.Errorf(city.Invalid, "only GET is accepted here"))
		return
	}
	s.profile(w, r, strings.TrimPrefix(r.URL.EscapedPath(), "/debug/pprof"))
}
