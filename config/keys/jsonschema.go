package keys

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"gcity/topology"
)

// SchemaNode is a JSON Schema (draft 7), limited to the parts that this package uses.
type SchemaNode struct {
	Schema string `json:"$schema,omitempty"`
	Title  string `json:"title,omitempty"`
	Doc    string `json:"description,omitempty"`
	Ref    string `json:"$ref,omitempty"`

	Type  string                 `json:"type,omitempty"`
	Props map[string]*SchemaNode `json:"properties,omitempty"`
	// false, or the schema of each additional value (a *SchemaNode)
	More     any           `json:"additionalProperties,omitempty"`
	Required []string      `json:"required,omitempty"`
	Items    *SchemaNode   `json:"items,omitempty"`
	AnyOf    []*SchemaNode `json:"anyOf,omitempty"`

	Enum    []string `json:"enum,omitempty"`
	Pattern string   `json:"pattern,omitempty"`
	Least   *int     `json:"minimum,omitempty"`
	Most    *int     `json:"maximum,omitempty"`

	Default    any  `json:"default,omitempty"`
	Deprecated bool `json:"deprecated,omitempty"`

	Tables map[string]*SchemaNode `json:"definitions,omitempty"`
}

// durationPattern matches what time.ParseDuration accepts, except negative durations.
const durationPattern = `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

// cityFile is the same as config.FileName.
const cityFile = "city.toml"

type document struct {
	name, title, doc string
	keys             func() Schema // slow, so only called for the document that is printed
	without          string        // a key that these files must not contain; "" = none
}

func documents() []document {
	return []document{
		{name: "city", title: cityFile, doc: "A city of agents, run by gcity.", keys: City},
		{name: "include", title: "included by " + cityFile, doc: "Part of a city's configuration.",
			keys: City, without: "include"},
		{name: "topology", title: topology.File, doc: "Agents for cities and rigs.",
			keys: func() Schema { return Topology(City()) }},
	}
}

// Schemas returns the kinds of files that JSONSchema supports. city.toml is first.
func Schemas() []string {
	var out []string
	for _, d := range documents() {
		out = append(out, d.name)
	}
	return out
}

// JSONSchema returns a JSON Schema (draft 7) for a kind of file, or nil for an unknown kind. The schema accepts more
// than Parse, and omits unsupported keys.
func JSONSchema(of string) []byte {
	all := documents()
	i := slices.IndexFunc(all, func(d document) bool { return d.name == of })
	if i < 0 {
		return nil
	}
	d := all[i]
	known := d.keys()
	root := known.shape(&Key{Path: ""})
	root.Schema, root.Title, root.Doc, root.Tables = "http://json-schema.org/draft-07/schema#",
		d.title, d.doc, map[string]*SchemaNode{}
	for path, k := range known.ByPath {
		if k.Status == Supported && k.IsTable() {
			root.Tables[path] = known.shape(k)
		}
	}
	delete(root.Props, d.without)
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		panic(err) // cannot happen: strings, numbers and lists can always be marshaled
	}
	return out.Bytes()
}

// IsTable reports whether the value of the key is a table or a list of tables.
func (k *Key) IsTable() bool {
	return k.Kind == Table || k.Kind == Tables || k.Kind == Named
}

func (s Schema) shape(t *Key) *SchemaNode {
	out := &SchemaNode{Type: "object", Props: map[string]*SchemaNode{}, More: false,
		Doc: plainDoc(t.Doc)}
	for _, k := range s.Tables[t.Path] {
		switch {
		case k.Name() == "*" && k.Status == Supported:
			out.More = k.use()
		case k.Status == Dropped:
			out.Props[k.Name()] = &SchemaNode{Doc: "Ignored; remove it.",
				Deprecated: true}
		case k.Status != Supported:
		case k.IsTable():
			out.Props[k.Name()] = k.use()
			if k.Alias != "" {
				out.Props[k.Alias] = k.use()
			}
		default:
			out.Props[k.Name()] = k.value()
			if k.Alias != "" {
				out.Props[k.Alias] = k.value()
			}
		}
		// the alias may be used instead, so neither name is required
		if k.Require && k.Alias == "" {
			out.Required = append(out.Required, k.Name())
		}
	}
	return out
}

func (k *Key) use() *SchemaNode {
	ref := &SchemaNode{Ref: "#/definitions/" + k.Path}
	if k.Kind == Tables {
		return &SchemaNode{Type: "array", Items: ref, Doc: plainDoc(k.Doc)}
	}
	return ref
}

func (k *Key) value() *SchemaNode {
	out := &SchemaNode{Doc: plainDoc(k.Doc), Enum: k.Enum, Pattern: k.Pattern}
	if k.Def != "" {
		// the default is written in TOML, but strings, numbers and booleans look the same in JSON
		out.Default = json.RawMessage(k.Def)
	}
	switch k.Kind {
	case String:
		out.Type = "string"
	case Bool:
		out.Type = "boolean"
	case Int, Millis:
		out.Type = "integer"
	case Duration:
		out.Type, out.Pattern = "string", durationPattern
	case Strings:
		out.Type, out.Items = "array", &SchemaNode{Type: "string"}
	case Env:
		out.Type, out.More = "object", &SchemaNode{Type: "string"}
	}
	if k.Within != nil {
		out.Least, out.Most = &k.Within.least, &k.Within.most
	}
	if k.known != nil {
		words := &SchemaNode{Enum: []string{""}} // "" has the same effect as omitting the key
		for _, word := range k.known {
			if strings.HasSuffix(word, ":") {
				out.AnyOf = append(out.AnyOf,
					&SchemaNode{Pattern: "^" + regexp.QuoteMeta(word) + "."})
				continue
			}
			words.Enum = append(words.Enum, word)
		}
		out.AnyOf = append(out.AnyOf, words)
	}
	return out
}

func plainDoc(doc string) string {
	return regexp.MustCompile(`\[([^\]]+)\]\([^)]*\)`).ReplaceAllString(doc, "$1")
}
