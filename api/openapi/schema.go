package openapi

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"gcity/beads"
	"gcity/city"
)

type schema map[string]any

type shapes struct {
	names Names
	named map[string]schema
	types map[string]reflect.Type
}

// of returns the schema of a type. In a response, fields are required unless they have omitempty.
func (s *shapes) of(t reflect.Type, sent bool) schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return schema{"type": "string", "format": "date-time"}
	case reflect.TypeFor[time.Duration]():
		return schema{"type": "integer", "format": "int64", "description": "nanoseconds"}
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[any]():
		return schema{}
	case reflect.TypeFor[beads.Priority]():
		return schema{"type": "integer", "minimum": 0, "maximum": 4}
	case reflect.TypeFor[city.State]():
		return schema{"type": "string", "enum": city.States}
	case reflect.TypeFor[city.Code]():
		return schema{"type": "string", "enum": city.Codes}
	case reflect.TypeFor[city.Level]():
		return schema{"type": "string",
			"enum": []city.Level{city.AgentLevel, city.RigLevel, city.CityLevel}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem(), sent)
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return schema{"type": "integer", "format": "int64"}
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return schema{"type": "integer", "format": "int64", "minimum": 0}
	case reflect.Float64:
		return schema{"type": "number"}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return schema{"type": "string", "contentEncoding": "base64"}
		}
		return schema{"type": "array", "items": s.of(t.Elem(), sent)}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": s.of(t.Elem(), sent)}
	case reflect.Struct:
		return s.ref(t, sent)
	}
	panic("the API has no schema for " + t.String()) // a test covers all types
}

func (s *shapes) ref(t reflect.Type, sent bool) schema {
	name := s.nameOf(t)
	if sent {
		name = s.bodyName(t)
	}
	ref := schema{"$ref": "#/components/schemas/" + name}
	if other, known := s.types[name]; known {
		if other != t {
			// a test covers all types
			panic(other.String() + " and " + t.String() + " have the same name " + name)
		}
		return ref
	}
	s.types[name] = t
	self := schema{"type": "object"}
	// set before its fields are converted, because a type can contain itself
	s.named[name] = self
	props, required := schema{}, []string{}
	s.fields(t, sent, props, &required)
	self["properties"] = props
	if len(required) > 0 && !sent {
		self["required"] = required
	}
	return ref
}

// fields adds the schemas of a struct's fields to props. As in encoding/json, a field hides fields of embedded structs
// that have the same name.
func (s *shapes) fields(t reflect.Type, sent bool, props schema, required *[]string) {
	var embedded []reflect.Type
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			embedded = append(embedded, f.Type)
			continue
		case !f.IsExported() || tag == "-":
			continue
		}
		name := tag
		if name == "" {
			name = f.Name
		}
		if _, hidden := props[name]; hidden {
			continue
		}
		shape, left := s.of(f.Type, sent), strings.Contains(options, "omit")
		if !left && !sent {
			*required = append(*required, name)
			switch f.Type.Kind() {
			case reflect.Pointer, reflect.Slice, reflect.Map:
				shape = orNull(shape)
			}
		}
		props[name] = shape
	}
	for _, e := range embedded {
		s.fields(e, sent, props, required)
	}
}

func orNull(shape schema) schema {
	if kind, plain := shape["type"].(string); plain {
		shape["type"] = []string{kind, "null"}
		return shape
	}
	return schema{"anyOf": []schema{shape, {"type": "null"}}}
}

func (s *shapes) nameOf(t reflect.Type) string {
	name := t.Name()
	if own, ok := s.names[t]; ok {
		return own
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

func (s *shapes) bodyName(t reflect.Type) string { return s.nameOf(t) + "Body" }
