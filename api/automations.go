package api

import (
	"context"
	"fmt"
	"iter"
	"net/http"

	"gcity/api/wire"
	"gcity/beads"
	"gcity/city"
	"gcity/internal/suggest"
)

func (h listHandlers) automations(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	snap, err := h.requestedSnapshot(r)
	if err != nil {
		return err
	}
	match := matching(r)
	var items []city.Automation
	for _, a := range snap.Automations {
		if match("rig", a.Rig) && match("state", string(a.State)) && match("gate", a.Gate) {
			items = append(items, a)
		}
	}
	return okPage(h.server, w, r, listing[city.Automation]{snap, items,
		func(a *city.Automation) string { return a.Name }})
}

func (h listHandlers) automation(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	return one(h, w, r, rt, (*city.Snapshot).Automation)
}

func (h listHandlers) history(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	limit, err := number(r, "limit", wire.MaxLines)
	if err != nil {
		return err
	}
	snap, err := h.requestedSnapshot(r)
	if err != nil {
		return err
	}
	q := beads.Query{Labels: []string{city.RunLabel + rt.Target}, Type: city.RunType,
		Limit: int(limit), Before: r.URL.Query().Get("cursor")}
	found, err := h.city.Beads(r.Context(), q)
	if err != nil {
		return city.WorkError(err)
	}
	if _, ok := snap.Automation(rt.Target); !ok && len(found) == 0 && q.Before == "" {
		return missing(snap, wire.KindAutomation, rt.Target)
	}
	var runs []city.Run
	for _, b := range found {
		runs = append(runs, city.RunOf(b))
	}
	p := wire.ListOf(runs)
	if n := len(found); n > 0 && n == q.MaxResults() {
		p.Next = found[n-1].ID
	}
	h.ok(w, snap, p)
	return nil
}

func (h listHandlers) runOutput(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	run, err := city.GetRun(r.Context(), h.city, rt.Run)
	if err != nil {
		return err
	}
	if run.Automation != rt.Target {
		return city.Missing(suggest.NoSuch(suggest.Run, run.ID).Then(fmt.Sprintf(
			"that run belongs to %s, not to %s", run.Automation, rt.Target)))
	}
	st, done, err := h.open(w)
	if err != nil {
		return err
	}
	defer done()
	pump(h.server, st, r, func(ctx context.Context) iter.Seq2[city.Piece, error] {
		return h.city.RunOutput(ctx, run.ID)
	},
		func(p city.Piece) error { return st.send("piece", "", p) })
	return nil
}
