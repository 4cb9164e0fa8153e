package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"gcity/city"
)

// document is an API in OpenAPI's words, made of operations and of the types that they name.
func document(all []operation) []byte {
	s := &shapes{named: map[string]schema{}, types: map[string]reflect.Type{}}
	paths := map[string]schema{}
	for _, o := range all {
		for _, path := range o.paths() {
			if paths[path] == nil {
				paths[path] = schema{}
			}
			paths[path][strings.ToLower(o.method)] = o.describe(s, path)
		}
	}
	refusal := s.of(reflect.TypeFor[city.Error](), false)
	doc := schema{
		"openapi": "3.1.0",
		"info": schema{"title": "gcity", "version": "v0", "description": "A city of agents. Names with a slash are escaped: rig%2Fworker. " +
			"Over TCP, POST and PATCH need the header " + requestHeader + ", and everything needs the token where the city has one."},
		"paths": paths,
		"components": schema{
			"schemas":         s.named,
			"securitySchemes": schema{"token": schema{"type": "http", "scheme": "bearer"}},
			"responses":       schema{"Refused": schema{"description": "Why it is not answered or not done, and the next step.", "content": inJSON(refusal)}},
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
func (o operation) describe(s *shapes, path string) schema {
	out := schema{"summary": o.summary, "responses": schema{"200": o.answered(s), "default": schema{"$ref": "#/components/responses/Refused"}}}
	var params []schema
	for part := range strings.SplitSeq(path, "/") {
		name, named := strings.CutPrefix(strings.TrimSuffix(part, "}"), "{")
		if !named {
			continue
		}
		params = append(params, schema{"name": name, "in": "path", "required": true, "schema": schema{"type": "string"}})
	}
	for _, name := range strings.Fields(o.query) {
		kind, about := parameter(name)
		params = append(params, schema{"name": name, "in": "query", "description": about, "schema": schema{"type": kind}})
	}
	if o.method != http.MethodGet {
		params = append(params, schema{"name": requestHeader, "in": "header", "description": "needed over TCP, whatever it says", "schema": schema{"type": "string"}})
	}
	if params != nil {
		out["parameters"] = params
	}
	if o.body != nil {
		out["requestBody"] = schema{"content": inJSON(s.of(reflect.TypeOf(o.body), true))}
	}
	return out
}

// answered is what an operation answers with when it is done.
func (o operation) answered(s *shapes) schema {
	headers := schema{"X-GC-Index": schema{"description": "number of the newest event behind the answer", "schema": schema{"type": "integer"}}}
	switch {
	case o.text != "":
		return schema{"description": o.summary, "content": schema{o.text: schema{"schema": schema{"type": "string"}}}}
	case o.answer == nil:
		return schema{"description": o.summary, "content": schema{"application/json": schema{}}}
	case o.stream:
		return schema{"description": "server-sent events; the data of each is this", "content": schema{"text/event-stream": schema{"schema": s.of(reflect.TypeOf(o.answer), false)}}}
	case o.list:
		items := schema{"type": "array", "items": s.of(reflect.TypeOf(o.answer), false)}
		return schema{"description": o.summary, "headers": headers, "content": inJSON(schema{"type": "object", "required": []string{"items", "total"},
			"properties": schema{"items": items, "total": schema{"type": "integer"}, "next_cursor": schema{"type": "string"}}})}
	}
	return schema{"description": o.summary, "headers": headers, "content": inJSON(s.of(reflect.TypeOf(o.answer), false))}
}

// parameter is the type of a query parameter, and what it means.
func parameter(name string) (kind, about string) {
	known := parameters()[name]
	kind, about, _ = strings.Cut(known, " ")
	return kind, about
}

// parameters are all that there are: their types, and what they mean.
func parameters() map[string]string {
	return map[string]string{
		"index": "integer wait for something newer than this event", "wait": "string how long, at most 5m: 30s",
		"limit": "string so many at most; of beads also \"all\"", "cursor": "string where the page begins: next_cursor of the one before",
		"city": "string of these cities, with commas between them", "pool": "string of this pool", "rig": "string of this rig", "running": "boolean whether it lives", "state": "string in this state", "peek": "boolean with the screen in last_output",
		"gate": "string with this gate", "lines": "integer so many from the end; without it, the screen",
		"status": "string any of these, with commas between them", "label": "string with all of these; may be repeated", "type": "string of this type; of events several, with commas, and noun.*",
		"not_type": "string of no such type", "assignee": "string assigned to", "parent": "string below this one", "ref": "string made from this", "ready": "boolean open, and nothing is in its way", "force": "boolean closes also a molecule whose steps are open", "assigned": "boolean assigned to anybody",
		"actor": "string caused by", "subject": "string about", "since": "string not older than a time, or than so long: 1h30m", "after": "string after this cursor over cities: cityA:5,cityB:12", "before": "string before such a cursor", "after_seq": "integer after this event", "before_seq": "integer before this event",
		"forward": "boolean the oldest first", "to": "string addressed to; without it, to people", "agent": "string the same as to", "all": "boolean also what was read", "cols": "integer of the terminal", "rows": "integer of the terminal", "raw": "boolean every byte, unfiltered",
		"view": "string \"status\": only what `gcity status` prints",
	}
}

// paths are where an operation is found: by itself, where there is one city, and below a city's name.
func (o operation) paths() []string {
	if o.machine {
		return []string{o.path}
	}
	rest := strings.TrimPrefix(o.path, "/v0")
	all := []string{o.path, "/v0/city/{city}" + rest}
	if rest == "/status" {
		all = append(all, "/v0/city/{city}")
	}
	return all
}

func (s *server) openAPI(w http.ResponseWriter, _ *http.Request, _ route) error {
	s.reply(w, http.StatusOK, json.RawMessage(s.document()))
	return nil
}
