package api

import (
	"context"
	"net/http"
	"slices"

	"gcity/api/gascity"
	"gcity/api/openapi"
	"gcity/api/wire"
	"gcity/beads"
	"gcity/city"
)

func gascityMethods(s *server, k wire.Kind) (m methods) {
	if k == wire.KindCity {
		m.get = s.answer(status)
	}
	path, known := map[wire.Kind]string{wire.KindAgents: "/v0/agents", wire.KindRigs: "/v0/rigs",
		wire.KindAgent: "/v0/agent/{agent}", wire.KindRig: "/v0/rig/{rig}"}[k]
	if !known {
		path = string(k)
	}
	for _, o := range gascity.Operations() {
		if o.Path != path {
			continue
		}
		h := func(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
			return handleGascity(s, w, r,
				rt, o)
		}
		switch o.Method {
		case http.MethodGet:
			m.get = h
		case http.MethodPost:
			m.post = h
		case http.MethodPatch:
			m.patch = h
		case http.MethodDelete:
			m.del = h
		}
	}
	return m
}

func handleGascity(s *server, w http.ResponseWriter, r *http.Request, rt wire.Route,
	o gascity.Operation) error {
	ctx := r.Context()
	if o.Method != http.MethodGet {
		ctx = s.withPeer(r)
	}
	handle := func(snap *city.Snapshot, sent []byte) (any, error) {
		return o.Handle(ctx, &gascity.Request{
			City: s.city, Snapshot: snap, Target: rt.Target, Query: r.URL.Query(), Body: sent,
			Select: func() (beads.Query, error) { return beadQuery(r) },
			Page:   func(names []string) (int, int, string, error) { return pageOf(r, names) },
			Do: func(_ context.Context, c city.Command) (city.Receipt, error) {
				return s.execute(r, c)
			},
		})
	}
	if o.Method == http.MethodGet {
		return s.read(w, r, func(snap *city.Snapshot) (any, error) { return handle(snap, nil) })
	}
	sent, err := body(w, r)
	if err != nil {
		return err
	}
	snap, err := s.requestedSnapshot(r, nil)
	if err != nil {
		return err
	}
	response, err := handle(snap, sent)
	if err != nil {
		return err
	}
	s.ok(w, snap, response)
	return nil
}

func pageOf(r *http.Request, names []string) (from, to int, next string, err error) {
	p, err := page(r, names, func(name *string) string { return *name })
	if err == nil && len(p.Items) > 0 {
		from = slices.Index(names, p.Items[0])
	}
	return from, from + len(p.Items), p.Next, err
}

func parametersOf(all []openapi.Operation) map[string][]string {
	return openapi.Parameters(all, func(path string) (string, error) {
		rt, err := wire.Parse(path)
		return string(rt.Kind), err
	})
}
