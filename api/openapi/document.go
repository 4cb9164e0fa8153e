// Package openapi generates OpenAPI documents from operations.
package openapi

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"gcity/city"
)

// Operation is one operation of a city's HTTP API.
type Operation struct {
	Method, Path string
	Summary      string
	Query        string // names of the query parameters, separated by spaces
	Body         any    // a value of the body's type; nil = no body
	Response     any    // value of the response's type; nil = any JSON
	List, Stream bool   // the response is a list or a stream of items
	Text         string // media type of a response that is not JSON
	Machine      bool   // the operation is about all cities and has no path for a single one
}

// Get returns an operation that returns a value.
func Get(path, summary, query string, response any) Operation {
	return Operation{Method: http.MethodGet, Path: path, Summary: summary, Query: query,
		Response: response}
}

// List is like Get, but returns a list of such values.
func List(path, summary, query string, item any) Operation {
	o := Get(path, summary, query, item)
	o.List = true
	return o
}

// Stream is like Get, but returns a stream of such values.
func Stream(path, summary, query string, item any) Operation {
	o := Get(path, summary, query, item)
	o.Stream = true
	return o
}

// Post returns an operation that changes something. A nil body means that the request has no body.
func Post(path, summary string, body, response any) Operation {
	return Operation{Method: http.MethodPost, Path: path, Summary: summary, Body: body,
		Response: response}
}

// Names maps types to their names in the document. A type that is not in the map keeps its Go name.
type Names map[reflect.Type]string

// RequestHeader is the header that every request over TCP must have if it changes something. Its value does not matter.
const RequestHeader = "X-GC-Request"

// Document returns the OpenAPI document for operations and the types that they use.
func Document(all []Operation, names Names) []byte {
	s := &shapes{names: names, named: map[string]schema{}, types: map[string]reflect.Type{}}
	paths := map[string]schema{}
	for _, o := range all {
		for _, path := range o.Paths() {
			if paths[path] == nil {
				paths[path] = schema{}
			}
			paths[path][strings.ToLower(o.Method)] = o.describe(s, path)
		}
	}
	failure := s.of(reflect.TypeFor[city.Error](), false)
	doc := schema{
		"openapi": "3.1.0",
		"info": schema{"title": "gcity", "version": "v0",
			"description": "A city of agents. Escape a slash in a name: rig%2Fworker. Over TCP, " +
				"POST, PATCH and DELETE require the header " + RequestHeader +
				", and all requests require the token if the city has one."},
		"paths": paths,
		"components": schema{
			"schemas":         s.named,
			"securitySchemes": schema{"token": schema{"type": "http", "scheme": "bearer"}},
			"responses": schema{"Refused": schema{"description": "Why the request failed, " +
				"and the next step.", "content": inJSON(failure)}},
		},
		"security": []schema{{}, {"token": []string{}}},
	}
	data, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		panic(err) // maps, strings and numbers can always be encoded
	}
	return data
}

func inJSON(shape schema) schema { return schema{"application/json": schema{"schema": shape}} }

func (o Operation) describe(s *shapes, path string) schema {
	out := schema{"summary": o.Summary, "responses": schema{"200": o.response(s),
		"default": schema{"$ref": "#/components/responses/Refused"}}}
	var params []schema
	for part := range strings.SplitSeq(path, "/") {
		name, named := strings.CutPrefix(strings.TrimSuffix(part, "}"), "{")
		if !named {
			continue
		}
		params = append(params, schema{"name": name, "in": "path", "required": true,
			"schema": schema{"type": "string"}})
	}
	for _, name := range strings.Fields(o.Query) {
		kind, about := Parameter(name)
		params = append(params, schema{"name": name, "in": "query", "description": about,
			"schema": schema{"type": kind}})
	}
	if o.Method != http.MethodGet {
		params = append(params, schema{"name": RequestHeader, "in": "header",
			"description": "required over TCP, with any value", "schema": schema{"type": "string"}})
	}
	if params != nil {
		out["parameters"] = params
	}
	if o.Body != nil {
		out["requestBody"] = schema{"content": inJSON(s.of(reflect.TypeOf(o.Body), true))}
	}
	return out
}

func (o Operation) response(s *shapes) schema {
	headers := schema{"X-GC-Index": schema{"description": "sequence number of the newest event " +
		"that the response contains", "schema": schema{"type": "integer"}}}
	switch {
	case o.Text != "":
		return schema{"description": o.Summary,
			"content": schema{o.Text: schema{"schema": schema{"type": "string"}}}}
	case o.Response == nil:
		return schema{"description": o.Summary, "content": schema{"application/json": schema{}}}
	case o.Stream:
		return schema{"description": "server-sent events with this data",
			"content": schema{"text/event-stream": schema{"schema": s.of(reflect.TypeOf(o.Response),
				false)}}}
	case o.List:
		items := schema{"type": "array", "items": s.of(reflect.TypeOf(o.Response), false)}
		return schema{"description": o.Summary, "headers": headers,
			"content": inJSON(schema{"type": "object", "required": []string{"items", "total"},
				"properties": schema{"items": items, "total": schema{"type": "integer"},
					"next_cursor": schema{"type": "string"}}})}
	}
	return schema{"description": o.Summary, "headers": headers,
		"content": inJSON(s.of(reflect.TypeOf(o.Response), false))}
}

// Parameter returns the type and description of a query parameter.
func Parameter(name string) (kind, about string) {
	known := parameters()[name]
	return known.kind, known.about
}

type parameter struct{ kind, about string }

func parameters() map[string]parameter {
	return map[string]parameter{
		"index":    {"integer", "the number of an event; waits for a newer event"},
		"wait":     {"string", "how long to wait, at most 5m, for example 30s"},
		"limit":    {"string", "maximum number of items; for beads also \"all\""},
		"cursor":   {"string", "where the page starts: next_cursor of the previous page"},
		"city":     {"string", "only these cities, separated by commas"},
		"pool":     {"string", "only this pool"},
		"rig":      {"string", "only this rig"},
		"running":  {"boolean", "only agents that are running (true) or not running (false)"},
		"state":    {"string", "only this state"},
		"peek":     {"boolean", "adds the agent's screen as last_output"},
		"gate":     {"string", "only this gate"},
		"lines":    {"integer", "number of lines from the end; default: the screen"},
		"status":   {"string", "only items with one of these statuses, separated by commas"},
		"label":    {"string", "only beads with this label; if repeated, with all of these labels"},
		"type":     {"string", typeFilter},
		"store":    {"string", "city: only work in the city's store, without that of its rigs"},
		"not_type": {"string", "only beads of other types"},
		"assignee": {"string", "only work assigned to this agent or user"},
		"parent":   {"string", "only children of this bead"},
		"ref":      {"string", "only work created from this formula or step"},
		"ready":    {"boolean", "only work that is open and not blocked"},
		"force":    {"boolean", "also closes a molecule with open steps"},
		"assigned": {"boolean", "only work that has an assignee"},
		"closed_since": {"string",
			"only work closed at this time or later: 2026-01-02T15:04:05Z"},
		"actor":        {"string", "only events with this actor"},
		"subject":      {"string", "only events about this subject"},
		"since":        {"string", "only events since this time, or since this long ago: 1h30m"},
		"after":        {"string", afterFilter},
		"after_cursor": {"string", "another name for `after`"},
		"order":        {"string", `"asc" (oldest first; default with "since") or "desc"`},
		"after_seq":    {"string", "only events after this one; another name for `after`"},
		"before_seq":   {"integer", "only events before this one"},
		"forward":      {"boolean", "returns the oldest events first"},
		"to":           {"string", "only messages to this recipient; if empty, only mail to users"},
		"agent":        {"string", "another name for `to`"},
		"all":          {"boolean", "includes read messages"},
		"cols":         {"integer", "width of the terminal in columns"},
		"rows":         {"integer", "height of the terminal in rows"},
		"raw":          {"boolean", "passes through every byte of the output, unfiltered"},
		"view":         {"string", "\"status\": only what `gcity status` shows"},
		"git":          {"boolean", "ignored, because gcity does not query git"},
		"tail":         {"integer", "ignored; use `lines`"},
		"before":       {"string", "before this cursor; ignored for an agent's output"},
	}
}

const (
	typeFilter = "only this type; for events, also several types separated by commas, and " +
		"patterns like noun.*"
	afterFilter = "after this cursor: the number of an event, or cityA:5,cityB:12 for several " +
		"cities"
)

// Paths returns the operation's path and, unless Machine is set, the paths that also contain a city's name.
func (o Operation) Paths() []string {
	if o.Machine {
		return []string{o.Path}
	}
	rest := strings.TrimPrefix(o.Path, "/v0")
	all := []string{o.Path, "/v0/city/{city}" + rest}
	if rest == "/status" || rest == "/city" && o.Method == http.MethodPatch {
		all = append(all, "/v0/city/{city}")
	}
	return all
}

// Parameters returns the names of the query parameters of all operations, keyed by kind and method: "agents GET". The
// function kind returns the kind of a path.
func Parameters(all []Operation, kind func(path string) (string, error)) map[string][]string {
	out := map[string][]string{}
	for _, o := range all {
		for _, path := range o.Paths() {
			parts := strings.Split(path, "/")
			for i, part := range parts {
				if strings.HasPrefix(part, "{") {
					parts[i] = "x"
				}
			}
			k, err := kind(strings.Join(parts, "/"))
			if err != nil {
				// a test covers all operations
				panic(path + " is documented but has no route: " + err.Error())
			}
			out[k+" "+o.Method] = strings.Fields(o.Query)
		}
	}
	return out
}
