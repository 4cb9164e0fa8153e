package api

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"

	"gcity/api/gascity"
	"gcity/api/wire"
	"gcity/beads"
	"gcity/city"
	"gcity/internal/suggest"
)

func automations(q *query) (any, error) {
	if err := cmp.Or(checkFilter(q.Request, "state", city.AutomationStates[:]...),
		checkFilter(q.Request, "gate", city.AutomationGates[:]...)); err != nil {
		return nil, err
	}
	match, v := matching(q.Request), q.URL.Query()
	state, gate := v.Get("state"), v.Get("gate")
	var items []city.Automation
	for _, a := range q.snap.Automations {
		if match("rig", a.Rig) && (state == "" || state == string(a.State)) &&
			(gate == "" || gate == a.Gate) {
			items = append(items, a)
		}
	}
	return page(q.Request, items, func(a *city.Automation) string { return a.Name })
}

func (h listHandlers) history(q *query) (any, error) {
	limit, err := number(q.Request, "limit", wire.MaxLines)
	if err != nil {
		return nil, err
	}
	of := beads.Query{Labels: []string{city.RunLabel + q.Target}, Type: city.RunType,
		Limit: int(limit), Before: q.URL.Query().Get("cursor")}
	found, err := h.city.Beads(q.Context(), of)
	if err != nil {
		return nil, city.WorkError(err)
	}
	if _, ok := q.snap.Automation(q.Target); !ok && len(found) == 0 && of.Before == "" {
		return nil, missing(q.snap, wire.KindAutomation, q.Target)
	}
	var runs []city.Run
	for _, b := range found {
		runs = append(runs, city.RunOf(b))
	}
	p := gascity.ListOf(runs)
	if n := len(found); n > 0 && n == of.MaxResults() {
		p.Next = found[n-1].ID
	}
	return p, nil
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
	return serveStream(h.server, w, r, func(ctx context.Context) iter.Seq2[city.Piece, error] {
		return h.city.RunOutput(ctx, run.ID)
	}, func(st *stream, p city.Piece) error { return st.send("piece", "", p) })
}
