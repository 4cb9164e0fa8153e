package api

import (
	"net/http"

	"gcity/api/wire"
	"gcity/city"
)

func (s *server) watchdogs(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	snap, err := s.look(r)
	if err != nil {
		return err
	}
	return okPage(s, w, r, listing[city.Watchdog]{snap, snap.Watchdogs,
		func(d *city.Watchdog) string { return d.Name }})
}

func (s *server) watchdog(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	snap, err := s.look(r)
	if err != nil {
		return err
	}
	d, ok := snap.Watchdog(rt.Target)
	if !ok {
		return missing(snap, wire.KindWatchdog, rt.Target)
	}
	s.ok(w, snap, d)
	return nil
}
