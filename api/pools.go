package api

import (
	"net/http"

	"gcity/api/wire"
	"gcity/city"
)

func (h listHandlers) pools(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	snap, err := h.requestedSnapshot(r)
	if err != nil {
		return err
	}
	match := matching(r)
	var items []city.Pool
	for _, p := range snap.Pools {
		if match("rig", p.Rig) {
			items = append(items, p)
		}
	}
	return okPage(h.server, w, r, listing[city.Pool]{snap, items,
		func(p *city.Pool) string { return p.Name }})
}

func (h listHandlers) pool(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	return one(h, w, r, rt, (*city.Snapshot).Pool)
}

func (h listHandlers) rigs(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	snap, err := h.requestedSnapshot(r)
	if err != nil {
		return err
	}
	return okPage(h.server, w, r, listing[city.Rig]{snap, snap.Rigs,
		func(r *city.Rig) string { return r.Name }})
}

func (h listHandlers) rig(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	return one(h, w, r, rt, (*city.Snapshot).Rig)
}
