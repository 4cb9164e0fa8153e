package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
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

// checkFilter returns an error if a query parameter is neither empty nor one of the valid values.
func checkFilter[T ~string](r *http.Request, filter string, valid ...T) error {
	value := r.URL.Query().Get(filter)
	if value == "" || slices.Contains(valid, T(value)) {
		return nil
	}
	words := make([]string, len(valid))
	for i, v := range valid {
		words[i] = string(v)
	}
	return wire.Invalid("%s=%.40q is invalid: use one of %s", filter, value,
		strings.Join(words, ", "))
}

type listHandlers struct{ *server }

func (h listHandlers) agents(q *query) (any, error) {
	want, err := agentFilter(q.Request)
	if err != nil {
		return nil, err
	}
	return h.listAgents(q, want)
}

func agentFilter(r *http.Request) (func(*city.Agent) bool, error) {
	if err := checkFilter(r, "state", city.States[:]...); err != nil {
		return nil, err
	}
	running, byRunning, err := flag(r, "running")
	match, state := matching(r), r.URL.Query().Get("state")
	return func(a *city.Agent) bool {
		return match("pool", a.Pool) && match("rig", a.Rig) &&
			(state == "" || state == string(a.State)) &&
			(!byRunning || a.Running == running)
	}, err
}

func (h listHandlers) quarantine(q *query) (any, error) {
	return h.listAgents(q, func(a *city.Agent) bool { return a.State == city.Quarantined })
}

func (h listHandlers) listAgents(q *query, want func(*city.Agent) bool) (any, error) {
	peek, _, err := flag(q.Request, "peek")
	if err != nil {
		return nil, err
	}
	var items []wire.Agent
	for i := range q.snap.Agents {
		if want(&q.snap.Agents[i]) {
			items = append(items, wire.AgentOf(q.snap.Agents[i]))
		}
	}
	p, err := page(q.Request, items, func(a *wire.Agent) string { return a.Name })
	if err == nil && peek {
		h.peek(q.Context(), p.Items)
	}
	return p, err
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

func (h listHandlers) agent(q *query) (any, error) {
	peek, _, err := flag(q.Request, "peek")
	if err != nil {
		return nil, err
	}
	a, ok := q.snap.Agent(q.Target)
	if !ok {
		return nil, missing(q.snap, wire.KindAgent, q.Target)
	}
	items := []wire.Agent{wire.AgentOf(*a)}
	if peek {
		h.peek(q.Context(), items)
	}
	return items[0], nil
}

func (h listHandlers) inspect(q *query) (any, error) {
	return h.city.Inspect(q.Context(), q.Target)
}

func one[T any](find func(*city.Snapshot, string) (*T, bool)) func(*query) (any, error) {
	return func(q *query) (any, error) {
		if found, ok := find(q.snap, q.Target); ok {
			return found, nil
		}
		return nil, missing(q.snap, q.Kind, q.Target)
	}
}

func missing(snap *city.Snapshot, noun wire.Kind, name string) error {
	kind := suggest.Kind(noun)
	return city.Missing(suggest.NotFound(kind, name, snap.Names(kind)))
}
