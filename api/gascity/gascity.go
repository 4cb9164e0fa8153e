// Package gascity handles the API requests that only Gas City's dashboards and scripts send. Package api routes and
// documents these requests.
package gascity

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"gcity/api/openapi"
	"gcity/beads"
	"gcity/city"
	"gcity/internal/suggest"
)

// Request is an API request that this package handles.
type Request struct {
	City     city.Control
	Snapshot *city.Snapshot // at least as new as the request requires
	Target   string         // name or ID in the path
	Query    url.Values
	Body     []byte

	// Do executes a command for the client.
	Do func(context.Context, city.Command) (city.Receipt, error)
	// Select returns the bead query that the request's parameters describe.
	Select func() (beads.Query, error)
	// Page returns the part of a list that the parameters limit and cursor select, given the sorted names of the list's
	// items.
	Page func(names []string) (from, to int, next string, err error)
}

// Operation is an operation that this package handles.
type Operation struct {
	openapi.Operation
	Handle func(context.Context, *Request) (any, error)
}

// Operations returns all operations of this package.
func Operations() []Operation { return append(ownOperations(), editOperations()...) }

// ownOperations returns the operations with paths that only this package serves.
func ownOperations() []Operation {
	return slices.Concat(workOperations(), convoyOperations(), mailOperations(), cityOperations(),
		configurationOperations(), providerOperations())
}

// Match finds the pattern for a path after "/v0". name is in escaped form.
func Match(parts []string) (pattern, kind, name string, ok bool) {
	for _, o := range ownOperations() {
		want := strings.Split(strings.TrimPrefix(o.Path, "/v0/"), "/")
		if kind, name, ok := matchParts(want, parts); ok {
			return o.Path, kind, name, true
		}
	}
	return "", "", "", false
}

func matchParts(want, parts []string) (kind, name string, ok bool) {
	if len(want) != len(parts) {
		return "", "", false
	}
	for i, w := range want {
		if strings.HasPrefix(w, "{") {
			kind, name = strings.Trim(w, "{}"), parts[i]
			continue
		}
		if w != parts[i] {
			return "", "", false
		}
	}
	return kind, name, true
}

// List is the envelope of every list.
type List[T any] struct {
	Items []T    `json:"items"` // never null
	Total int    `json:"total"`
	Next  string `json:"next_cursor,omitempty"`
}

// ListOf returns a list of all items. Its Items are never nil.
func ListOf[T any](items []T) List[T] {
	if items == nil {
		items = []T{}
	}
	return List[T]{Items: items, Total: len(items)}
}

// paged returns the part of a list that the request's parameters select.
func paged[T any](r *Request, all []T, name func(*T) string) (List[T], error) {
	names := make([]string, len(all))
	for i := range all {
		names[i] = name(&all[i])
	}
	from, to, next, err := r.Page(names)
	if err != nil {
		return List[T]{}, err
	}
	page := ListOf(all[from:to])
	page.Total, page.Next = len(all), next
	return page, nil
}

func checkRig(snap *city.Snapshot, name string) error {
	if _, ok := snap.Rig(name); ok {
		return nil
	}
	return city.Missing(suggest.NotFound(suggest.Rig, name, snap.Names(suggest.Rig)))
}

func (r *Request) decode(into any) error { return city.DecodeBody(r.Body, into) }

func (r *Request) checkNoBody() error {
	if b := string(r.Body); b != "" && b != "{}" && b != "null" {
		return city.Errorf(city.Invalid, "this request does not take a body")
	}
	return nil
}

// Unsupported returns the error for a noun that gcity does not support, or nil for any other noun.
func Unsupported(noun string) error {
	const model = "belong to Gas City's session model of April 2026"
	switch noun {
	case "sessions", "session":
		return city.Errorf(city.NotFound, "gcity has no /v0/%s: sessions %s. In gcity, each "+
			"session belongs to an agent; GET /v0/agents lists the agents, and GET "+
			"/v0/agent/NAME/output/stream follows an agent's output", noun, model)
	case "services", "service":
		return city.Errorf(city.NotFound, "gcity has no /v0/%s: services %s; declare an agent "+
			"with a start_command instead", noun, model)
	}
	return nil
}
