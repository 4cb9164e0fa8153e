package api

import (
	"net/http"

	"gcity/city"
)

func (s *server) watchdogs(w http.ResponseWriter, r *http.Request, _ route) error {
	snap, err := s.look(r)
	if err != nil {
		return err
	}
	return okPage(s, w, r, snap, snap.Watchdogs, func(d *city.Watchdog) string { return d.Name })
}

func (s *server) watchdog(w http.ResponseWriter, r *http.Request, rt route) error {
	snap, err := s.look(r)
	if err != nil {
		return err
	}
	d, ok := snap.Watchdog(rt.target)
	if !ok {
		return missing(snap, watchdog, rt.target)
	}
	s.ok(w, snap, d)
	return nil
}
