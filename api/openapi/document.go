// Package openapi describes an API in OpenAPI's words: operations, the types of their bodies and answers, and the query
// parameters that they take.
package openapi

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"gcity/city"
)

// Operation is something that may be asked of a city over HTTP.
type Operation struct {
	Method, Path string
	Summary      string
	Query        string // names of parameters
	Body         any    // of the type of a request's body; nil = it has none
	Answer       any    // of the type of the answer, or of each item of it; nil = any JSON
	List, Stream bool   // items in an envelope, or one after the other
	Text         string // the answer is no JSON but this
	Machine      bool   // it is about all cities, and at this path alone
}

// Names are the names of types in the document that are not the types' own.
type Names map[reflect.Type]string

// RequestHeader is the header that changes over TCP need, whatever it says.
const RequestHeader = "X-GC-Request"

// Document is an API in OpenAPI's words, made of operations and of the types that they name.
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
	refusal := s.of(reflect.TypeFor[city.Error](), false)
	doc := schema{
		"openapi": "3.1.0",
		"info": schema{"title": "gcity", "version": "v0",
			"description": "A city of agents. Names with a slash are escaped: rig%2Fworker. " +
				"Over TCP, POST and PATCH need the header " + RequestHeader + ", and everything " +
				"needs the token where the city has one."},
		"paths": paths,
		"components": schema{
			"schemas":         s.named,
			"securitySchemes": schema{"token": schema{"type": "http", "scheme": "bearer"}},
			"responses": schema{"Refused": schema{"description": "Why it is not answered " +
				"or not done, and the next step.", "content": inJSON(refusal)}},
		},
		"security": []schema{{}, {"token": []string{}}},
	}
	data, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		panic(err) // of maps, strings and numbers: a test makes it
	}
	return data
}

func inJSON(shape schema) schema { return schema{"application/json": schema{"schema": shape}} }

// describe is an operation at one of its paths.
func (o Operation) describe(s *shapes, path string) schema {
	out := schema{"summary": o.Summary, "responses": schema{"200": o.answered(s),
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
			"description": "needed over TCP, whatever it says", "schema": schema{"type": "string"}})
	}
	if params != nil {
		out["parameters"] = params
	}
	if o.Body != nil {
		out["requestBody"] = schema{"content": inJSON(s.of(reflect.TypeOf(o.Body), true))}
	}
	return out
}

// answered is what an operation answers with when it is done.
func (o Operation) answered(s *shapes) schema {
	headers := schema{"X-GC-Index": schema{"description": "number of the newest event " +
		"behind the answer", "schema": schema{"type": "integer"}}}
	switch {
	case o.Text != "":
		return schema{"description": o.Summary,
			"content": schema{o.Text: schema{"schema": schema{"type": "string"}}}}
	case o.Answer == nil:
		return schema{"description": o.Summary, "content": schema{"application/json": schema{}}}
	case o.Stream:
		return schema{"description": "server-sent events; the data of each is this",
			"content": schema{"text/event-stream": schema{"schema": s.of(reflect.TypeOf(o.Answer),
				false)}}}
	case o.List:
		items := schema{"type": "array", "items": s.of(reflect.TypeOf(o.Answer), false)}
		return schema{"description": o.Summary, "headers": headers,
			"content": inJSON(schema{"type": "object", "required": []string{"items", "total"},
				"properties": schema{"items": items, "total": schema{"type": "integer"},
					"next_cursor": schema{"type": "string"}}})}
	}
	return schema{"description": o.Summary, "headers": headers,
		"content": inJSON(s.of(reflect.TypeOf(o.Answer), false))}
}

// Parameter is the type of a query parameter, and what it means.
func Parameter(name string) (kind, about string) {
	known := parameters()[name]
	kind, about, _ = strings.Cut(known, " ")
	return kind, about
}

// parameters are all that there are: their types, and what they mean.
func parameters() map[string]string {
	return map[string]string{
		"index":  "integer wait for something newer than this event",
		"wait":   "string how long, at most 5m: 30s",
		"limit":  "string so many at most; of beads also \"all\"",
		"cursor": "string where the page begins: next_cursor of the one before",
		"city":   "string of these cities, with commas between them", "pool": "string of this pool",
		"rig": "string of this rig", "running": "boolean whether it lives",
		"state": "string in this state", "peek": "boolean with the screen in last_output",
		"gate":     "string with this gate",
		"lines":    "integer so many from the end; without it, the screen",
		"status":   "string any of these, with commas between them",
		"label":    "string with all of these; may be repeated",
		"type":     "string of this type; of events several, with commas, and noun.*",
		"not_type": "string of no such type", "assignee": "string assigned to",
		"parent": "string below this one", "ref": "string made from this",
		"ready":    "boolean open, and nothing is in its way",
		"force":    "boolean closes also a molecule whose steps are open",
		"assigned": "boolean assigned to anybody",
		"actor":    "string caused by", "subject": "string about",
		"since": "string not older than a time, or than so long: 1h30m",
		"after": "string after this cursor: an event's number, or over cities " +
			"cityA:5,cityB:12",
		"after_cursor": "string the same as after", "order": "string \"asc\": the oldest first, " +
			"the default with since; or \"desc\"", "after_seq": "string after this event, or the " +
			"same as after", "before_seq": "integer before this event",
		"forward": "boolean the oldest first",
		"to":      "string addressed to; empty: to people; without it, to anybody",
		"agent":   "string the same as to", "all": "boolean also what was read",
		"cols": "integer of the terminal", "rows": "integer of the terminal",
		"raw":    "boolean every byte, unfiltered",
		"view":   "string \"status\": only what `gcity status` prints",
		"git":    "boolean accepted, without effect: gcity does not ask git",
		"tail":   "integer accepted, without effect: use lines",
		"before": "string before such a cursor; of an agent's output without effect",
	}
}

// Paths are where an operation is found: by itself, where there is one city, and below a city's name.
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

// Parameters returns the names of the query parameters of all operations, by their kind and method: "agents GET". kind
// returns the kind of the request that is sent to a path.
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
				// a test sees all of them
				panic(path + " is documented and has no route: " + err.Error())
			}
			out[k+" "+o.Method] = strings.Fields(o.Query)
		}
	}
	return out
}
