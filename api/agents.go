package api

import (
	"context"
	"net/http"
	"time"

	"gcity/api/wire"
	"gcity/city"
	"gcity/internal/suggest"
)

const peekTime = 5 * time.Second

func matching(r *http.Request) func(filter, value string) bool {
	q := r.URL.Query()
	return func(filter, value string) bool { return !q.Has(filter) || q.Get(filter) == value }
}

type listHandlers struct{ *server }

func (h listHandlers) agents(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	want, err := agentFilter(r)
	if err != nil {
		return err
	}
	return h.listAgents(w, r, want)
}

func agentFilter(r *http.Request) (func(*city.Agent) bool, error) {
	running, byRunning, err := flag(r, "running")
	match := matching(r)
	return func(a *city.Agent) bool {
		return match("pool", a.Pool) && match("rig", a.Rig) && match("state", string(a.State)) &&
			(!byRunning || a.Running == running)
	}, err
}

func (h listHandlers) quarantine(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	return h.listAgents(w, r, func(a *city.Agent) bool { return a.State == city.Quarantined })
}

func (h listHandlers) listAgents(w http.ResponseWriter, r *http.Request,
	want func(*city.Agent) bool) error {
	peek, _, err := flag(r, "peek")
	if err != nil {
		return err
	}
	snap, err := h.requestedSnapshot(r)
	if err != nil {
		return err
	}
	var items []wire.Agent
	for i := range snap.Agents {
		if want(&snap.Agents[i]) {
			items = append(items, wire.AgentOf(snap.Agents[i]))
		}
	}
	p, err := page(r, items, func(a *wire.Agent) string { return a.Name })
	if err != nil {
		return err
	}
	if peek {
		h.peek(r.Context(), p.Items)
	}
	h.ok(w, snap, p)
	return nil
}

func (h listHandlers) peek(ctx context.Context, items []wire.Agent) {
	ctx, cancel := context.WithTimeout(ctx, peekTime)
	defer cancel()
	for i := range items {
		if items[i].Running {
			items[i].LastOutput, _ = h.city.Output(ctx, items[i].Name, 0)
		}
	}
}

func (h listHandlers) agent(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	peek, _, err := flag(r, "peek")
	if err != nil {
		return err
	}
	snap, err := h.requestedSnapshot(r)
	if err != nil {
		return err
	}
	a, ok := snap.Agent(rt.Target)
	if !ok {
		return missing(snap, wire.KindAgent, rt.Target)
	}
	items := []wire.Agent{wire.AgentOf(*a)}
	if peek {
		h.peek(r.Context(), items)
	}
	h.ok(w, snap, items[0])
	return nil
}

func (h listHandlers) inspect(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	snap, err := h.city.Snapshot(r.Context())
	if err != nil {
		return err
	}
	about, err := h.city.Inspect(r.Context(), rt.Target)
	if err != nil {
		return err
	}
	h.ok(w, snap, about)
	return nil
}

func one[T any](h listHandlers, w http.ResponseWriter, r *http.Request, rt wire.Route,
	find func(*city.Snapshot, string) (*T, bool)) error {
	snap, err := h.requestedSnapshot(r)
	if err != nil {
		return err
	}
	found, ok := find(snap, rt.Target)
	if !ok {
		return missing(snap, rt.Kind, rt.Target)
	}
	h.ok(w, snap, found)
	return nil
}

func missing(snap *city.Snapshot, noun wire.Kind, name string) error {
	kind := suggest.Kind(noun)
	return city.Missing(suggest.NotFound(kind, name, snap.Names(kind)))
}
