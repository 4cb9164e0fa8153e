// Package openapi generates OpenAPI documents from operations.
package openapi

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"gcity/city"
)

// Operation is one operation of a city's HTTP API.
type Operation struct {
	Method, Path string
	Summary      string
	Query        string // names of the query parameters, separated by spaces
	Body         any    // a value of the body's type; nil = no body
	Required     string // names of the fields that every body of this type must contain
	Response     any    // value of the response's type; nil = any JSON
	List, Stream bool   // the response is a list or a stream of items
	Event        string // name of a stream's items; "" = the type of the event in the item
	Text         string // media type of a response that is not JSON
	Upgrade      string // protocol of the connection after the response; "" = no upgrade
	Unsupported  bool   // a valid request always fails with status 501
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

// Stream is like Get, but returns a stream of such values, which are server-sent events with the name event.
func Stream(path, event, summary, query string, item any) Operation {
	o := Get(path, summary, query, item)
	o.Stream, o.Event = true, event
	return o
}

// Post returns an operation that changes something. A nil body means that the request has no body.
func Post(path, summary string, body, response any) Operation {
	return Operation{Method: http.MethodPost, Path: path, Summary: summary, Body: body,
		Response: response}
}

// Requires returns the operation with these required fields of the body.
func (o Operation) Requires(fields string) Operation {
	o.Required = fields
	return o
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
				", and all requests require the token if the city has one. In a request's body, " +
				"a field with the value null counts as missing. A supervisor also serves the " +
				"paths of its tenants: /v0/tenant/NAME/agents for /v0/agents."},
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
	out := schema{"operationId": o.id(path), "summary": o.Summary, "responses": o.responses(s)}
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
		kind, about := o.Parameter(name)
		if name == "index" && o.Machine {
			kind, about = "string", "a cursor: cityA:5,cityB:12; waits for a newer event"
		}
		param := schema{"name": name, "in": "query", "description": about,
			"schema": schema{"type": kind}}
		if name == "cols" || name == "rows" { // no terminal has the size 0
			param["required"] = true
		}
		params = append(params, param)
	}
	if o.Upgrade != "" {
		params = append(params, schema{"name": "Upgrade", "in": "header", "required": true,
			"description": "also requires the header `Connection: Upgrade`",
			"schema":      schema{"type": "string", "enum": []string{o.Upgrade}}})
	}
	if o.resumable() {
		params = append(params, schema{"name": "Last-Event-ID", "in": "header",
			"description": "resumes the stream after the item with this id; overrides `after`",
			"schema":      schema{"type": "string"}})
	}
	if o.Method != http.MethodGet {
		params = append(params, schema{"name": RequestHeader, "in": "header",
			"description": "required over TCP, with any value", "schema": schema{"type": "string"}})
	}
	if params != nil {
		out["parameters"] = params
	}
	if o.Body != nil {
		out["requestBody"] = o.body(s)
	}
	return out
}

// id returns the name of the operation in generated clients, such as getAgents for GET /v0/agents and getAgentsOfCity
// for GET /v0/city/{city}/agents.
func (o Operation) id(path string) string {
	method := strings.ToLower(o.Method)
	if path != o.Path && path == "/v0/city/{city}" {
		return method + "NamedCity"
	}
	rest, versioned := strings.CutPrefix(o.Path, "/v0")
	id, last := method, ""
	if !versioned {
		id += "Root"
	}
	for word := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r < 'a' || r > 'z' }) {
		if word != last { // agent/{agent} is one noun
			id += strings.ToUpper(word[:1]) + word[1:]
		}
		last = word
	}
	if path != o.Path {
		id += "OfCity"
	}
	return id
}

func (o Operation) body(s *shapes) schema {
	body := schema{"content": inJSON(s.of(reflect.TypeOf(o.Body), true))}
	if o.Required != "" {
		s.named[s.bodyName(reflect.TypeOf(o.Body))]["required"] = strings.Fields(o.Required)
		body["required"] = true
	}
	return body
}

func (o Operation) responses(s *shapes) schema {
	failure := schema{"$ref": "#/components/responses/Refused"}
	switch {
	case o.Unsupported:
		return schema{"default": failure, "501": failure}
	case o.Upgrade != "":
		return schema{"default": failure, "101": schema{"description": "The connection is " +
			"upgraded. Both sides then send frames, which api.md describes."}}
	}
	return schema{"default": failure, "200": o.response(s)}
}

func (o Operation) response(s *shapes) schema {
	switch {
	case o.Text != "":
		return schema{"description": o.Summary,
			"content": schema{o.Text: schema{"schema": schema{"type": "string"}}}}
	case o.Response == nil:
		return schema{"description": o.Summary, "content": schema{"application/json": schema{}}}
	case o.Stream:
		return schema{"description": o.items(), "content": schema{"text/event-stream": schema{
			"schema": s.of(reflect.TypeOf(o.Response), false)}}}
	case o.List:
		items := schema{"type": "array", "items": s.of(reflect.TypeOf(o.Response), false)}
		return schema{"description": o.Summary, "headers": o.headers(),
			"content": inJSON(schema{"type": "object", "required": []string{"items", "total"},
				"properties": schema{"items": items, "total": schema{"type": "integer"},
					"next_cursor": schema{"type": "string"}}})}
	}
	return schema{"description": o.Summary, "headers": o.headers(),
		"content": inJSON(s.of(reflect.TypeOf(o.Response), false))}
}

// resumable reports whether a stream can continue after an earlier item.
func (o Operation) resumable() bool {
	return o.Stream && slices.Contains(strings.Fields(o.Query), "after")
}

// items describes the items of a stream.
func (o Operation) items() string {
	named := "with this data. The name of each item is `" + o.Event + "`."
	if o.Event == "" {
		named = "with this data. The name of each item is the event's `type`."
	}
	return "Server-sent events " + named + " A stream ends with the item `!end` (data: {}) if it " +
		"is complete, or with `!error` (data: an Error) if it failed."
}

// headers returns the headers of a JSON response. Of the operations about all cities, only those that accept an index
// describe one.
func (o Operation) headers() schema {
	kind, about := "integer", "sequence number of the newest event that the response contains"
	if o.Machine {
		kind, about = "string", "cursor of the newest events that the response contains: "+
			"cityA:5,cityB:12"
	}
	indexed := !o.Machine || slices.Contains(strings.Fields(o.Query), "index")
	if o.Method != http.MethodGet || !indexed {
		return schema{}
	}
	return schema{"X-GC-Index": schema{"description": about, "schema": schema{"type": kind}}}
}

// Parameter returns the type and description of a query parameter.
func (o Operation) Parameter(name string) (kind, about string) {
	noun, _, _ := strings.Cut(strings.TrimPrefix(o.Path, "/v0/"), "/")
	known, own := parameters()[noun+" "+name]
	if !own {
		known = parameters()[name]
	}
	return known.kind, known.about
}

type parameter struct{ kind, about string }

// parameters returns the query parameters by name, or by noun and name if a noun has a parameter with another meaning.
func parameters() map[string]parameter {
	return map[string]parameter{
		"beads limit":   {"string", limitOrAll},
		"convoys limit": {"string", limitOrAll},
		"mail status":   {"string", `"unread" (default) or "all"`},
		"mail rig":      {"string", "ignored, because the city's store contains all messages"},

		"index":    {"integer", "the number of an event; waits for a newer event"},
		"wait":     {"string", "how long to wait, at most 5m, for example 30s"},
		"limit":    {"integer", "maximum number of items"},
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
		"not_type": {"string", "only beads of other types than these, separated by commas"},
		"assignee": {"string", "only work assigned to this agent or user"},
		"parent":   {"string", "only children of this bead"},
		"ref":      {"string", "only work created from this formula or step"},
		"ready":    {"boolean", "only work that is open and not blocked"},
		"force":    {"boolean", "also closes a molecule with open steps"},
		"assigned": {"boolean", "only work that has an assignee"},
		"closed_since": {"string",
			"only work closed at this time or later: 2026-01-02T15:04:05Z"},
		"created_until": {"string",
			"only work created at this time or earlier: 2026-01-02T15:04:05Z"},
		"not_label":    {"string", "only beads without this label"},
		"actor":        {"string", "only events with this actor"},
		"subject":      {"string", "only events about this subject"},
		"since":        {"string", "only events since this time, or since this long ago: 1h30m"},
		"after":        {"string", afterFilter},
		"after_cursor": {"string", "another name for `after`"},
		"order": {"string", `"asc" (oldest first; default with "since") or "desc"; ` +
			"without effect if `cursor` is set"},
		"after_seq":  {"string", "only events after this one; another name for `after`"},
		"before_seq": {"integer", "only events before this one"},
		"forward":    {"boolean", "returns the oldest events first"},
		"to":         {"string", "only messages to this recipient; if empty, only mail to users"},
		"agent":      {"string", "another name for `to`"},
		"all":        {"boolean", "includes read messages"},
		"cols":       {"integer", "width of the terminal in columns"},
		"rows":       {"integer", "height of the terminal in rows"},
		"raw":        {"boolean", "passes through every byte of the output, unfiltered"},
		"view":       {"string", "\"status\": only what `gcity status` shows"},
		"git":        {"boolean", "ignored, because gcity does not query git"},
		"tail":       {"integer", "ignored; use `lines`"},
		"before":     {"string", "before this cursor; ignored for an agent's output"},
	}
}

const (
	limitOrAll = `maximum number of items, or "all"`
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
