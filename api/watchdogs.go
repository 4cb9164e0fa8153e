package api

import (
	"net/http"

	"gcity/api/wire"
	"gcity/city"
)

func (h listHandlers) watchdogs(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	snap, err := h.requestedSnapshot(r)
	if err != nil {
		return err
	}
	return okPage(h.server, w, r, listing[city.Watchdog]{snap, snap.Watchdogs,
		func(d *city.Watchdog) string { return d.Name }})
}

func (h listHandlers) watchdog(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	return one(h, w, r, rt, (*city.Snapshot).Watchdog)
}
