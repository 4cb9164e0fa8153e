package config

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"gcity/topology"
)

// schemaOf is a JSON Schema, of draft 7, as far as it is used here.
type schemaOf struct {
	Schema string `json:"$schema,omitempty"`
	Title  string `json:"title,omitempty"`
	Doc    string `json:"description,omitempty"`
	Ref    string `json:"$ref,omitempty"`

	Type  string               `json:"type,omitempty"`
	Props map[string]*schemaOf `json:"properties,omitempty"`
	// false, or the *schemaOf of each
	More     any         `json:"additionalProperties,omitempty"`
	Required []string    `json:"required,omitempty"`
	Items    *schemaOf   `json:"items,omitempty"`
	AnyOf    []*schemaOf `json:"anyOf,omitempty"`

	Enum    []string `json:"enum,omitempty"`
	Pattern string   `json:"pattern,omitempty"`
	Least   *int     `json:"minimum,omitempty"`
	Most    *int     `json:"maximum,omitempty"`

	Default    any  `json:"default,omitempty"`
	Deprecated bool `json:"deprecated,omitempty"`

	Tables map[string]*schemaOf `json:"definitions,omitempty"`
}

// durationPattern is what time.ParseDuration takes, without those that are less than nothing: no key takes them.
const durationPattern = `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

// cityFile is the name of a city's file, config.FileName.
const cityFile = "city.toml"

// document is a kind of file that there is a schema of.
type document struct {
	name, title, doc string
	keys             schema
	without          string // a key of these that it cannot have, "" = it can have all
}

// documents are all of them. A file that is read by another table of keys is one line more.
func documents() []document {
	return []document{
		{name: "city", title: cityFile, doc: "A city of agents, kept by gcity.", keys: newSchema()},
		{name: "include", title: "included by " + cityFile, doc: "A part of a city.",
			keys: newSchema(), without: "include"},
		{name: "topology", title: topology.File, doc: "Agents that cities and rigs may have.",
			keys: topologySchema(newSchema())},
	}
}

// Schemas names the kinds of files that JSONSchema knows, the first of which is city.toml.
func Schemas() []string {
	var out []string
	for _, d := range documents() {
		out = append(out, d.name)
	}
	return out
}

// JSONSchema is a JSON Schema (draft 7) of a kind of file, for editors; nil if it knows none of the name. It is
// made from the table that reads the file: what it refuses is refused by Parse, too. Parse refuses more: what only
// shows when keys are seen together, or when a value is read, as a schedule or a template. What is not supported
// yet is not in it.
func JSONSchema(of string) []byte {
	all := documents()
	i := slices.IndexFunc(all, func(d document) bool { return d.name == of })
	if i < 0 {
		return nil
	}
	d := all[i]
	root := d.keys.shape(&key{path: ""})
	root.Schema, root.Title, root.Doc, root.Tables = "http://json-schema.org/draft-07/schema#",
		d.title, d.doc, map[string]*schemaOf{}
	for path, k := range d.keys.byPath {
		if k.status == supported && k.ofTables() {
			root.Tables[path] = d.keys.shape(k)
		}
	}
	delete(root.Props, d.without)
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		panic(err) // strings, numbers and lists are always JSON
	}
	return out.Bytes()
}

// ofTables reports whether a key stands for tables.
func (k *key) ofTables() bool {
	return k.kind == kindTable || k.kind == kindTables || k.kind == kindNamed
}

// shape is the schema of one table, of each of those in a list or by name.
func (s schema) shape(t *key) *schemaOf {
	out := &schemaOf{Type: "object", Props: map[string]*schemaOf{}, More: false,
		Doc: plainDoc(t.doc)}
	for _, k := range s.tables[t.path] {
		switch {
		case k.name() == "*" && k.status == supported:
			out.More = k.use()
		case k.status == dropped:
			out.Props[k.name()] = &schemaOf{Doc: "Does nothing any more; it can be taken out.",
				Deprecated: true}
		case k.status != supported:
		case k.ofTables():
			out.Props[k.name()] = k.use()
			if k.alias != "" {
				out.Props[k.alias] = k.use()
			}
		default:
			out.Props[k.name()] = k.value()
			if k.alias != "" {
				out.Props[k.alias] = k.value()
			}
		}
		if k.require && k.alias == "" { // either word would do
			out.Required = append(out.Required, k.name())
		}
	}
	return out
}

// use is the schema of a key that stands for tables.
func (k *key) use() *schemaOf {
	ref := &schemaOf{Ref: "#/definitions/" + k.path}
	if k.kind == kindTables {
		return &schemaOf{Type: "array", Items: ref, Doc: plainDoc(k.doc)}
	}
	return ref
}

// value is the schema of a key with a value.
func (k *key) value() *schemaOf {
	out := &schemaOf{Doc: plainDoc(k.doc), Enum: k.enum, Pattern: k.pattern}
	if k.def != "" {
		// strings, numbers and truth are written the same in both
		out.Default = json.RawMessage(k.def)
	}
	switch k.kind {
	case kindString:
		out.Type = "string"
	case kindBool:
		out.Type = "boolean"
	case kindInt, kindMillis:
		out.Type = "integer"
	case kindDuration:
		out.Type, out.Pattern = "string", durationPattern
	case kindStrings:
		out.Type, out.Items = "array", &schemaOf{Type: "string"}
	case kindEnv:
		out.Type, out.More = "object", &schemaOf{Type: "string"}
	}
	if k.within != nil {
		out.Least, out.Most = &k.within.least, &k.within.most
	}
	if k.known != nil {
		words := &schemaOf{Enum: []string{""}} // which is as if it were left out
		for _, word := range k.known {
			if strings.HasSuffix(word, ":") {
				out.AnyOf = append(out.AnyOf,
					&schemaOf{Pattern: "^" + regexp.QuoteMeta(word) + "."})
				continue
			}
			words.Enum = append(words.Enum, word)
		}
		out.AnyOf = append(out.AnyOf, words)
	}
	return out
}

// plainDoc is a key's text as an editor shows it, which knows no links.
func plainDoc(doc string) string {
	return regexp.MustCompile(`\[([^\]]+)\]\([^)]*\)`).ReplaceAllString(doc, "$1")
}
