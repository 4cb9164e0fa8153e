package city

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
)

// DecodeBody decodes a single JSON value and rejects unknown fields. An empty body leaves the destination unchanged.
// Errors are *Error.
func DecodeBody(body []byte, into any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && len(bytes.TrimSpace(body[d.InputOffset():])) > 0 {
		err = errors.New("unexpected text after the JSON value")
	}
	if err != nil {
		return Errorf(Invalid, "invalid request body: %s", bodyProblem(err))
	}
	return nil
}

// UnknownField reports whether err is DecodeBody's error about an unknown field with the given name. An older
// controller returns this error for a field that it does not have.
func UnknownField(err error, name string) bool {
	return HasCode(err, Invalid) &&
		strings.HasSuffix(err.Error(), fmt.Sprintf(": unknown field %q", name))
}

func bodyProblem(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		value, number, _ := strings.Cut(wrong.Value, " ")
		is := "is " + jsonWord(value)
		if number != "" {
			is = "is " + number
		}
		return fmt.Sprintf("%s must be %s but %s", bodyField(wrong.Field), typeWord(wrong.Type),
			is)
	}
	if wrong, ok := errors.AsType[*time.ParseError](err); ok {
		return fmt.Sprintf("invalid time %q; use the form %q", wrong.Value, "2026-03-01T12:00:00Z")
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return "unknown field " + name
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// bodyField converts a field's path, which can contain embedded Go types, to the field's name in the request. For the
// whole body, it returns "it".
func bodyField(path string) string {
	var parts []string
	for part := range strings.SplitSeq(path, ".") {
		if part != "" && !unicode.IsUpper(rune(part[0])) {
			parts = append(parts, part)
		}
	}
	if len(parts) > 0 && (parts[0] == "bead" || parts[0] == "event") {
		parts = parts[1:]
	}
	if len(parts) == 0 {
		return "it"
	}
	return strings.Join(parts, ".")
}

func jsonWord(kind string) string {
	switch kind {
	case "string":
		return "a string"
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "bool":
		return "true or false"
	}
	return "a " + kind
}

func typeWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number of at least 0"
	case reflect.Slice, reflect.Array:
		return "a list with values that are each " + typeWord(t.Elem())
	case reflect.Map:
		return "an object with values that are each " + typeWord(t.Elem())
	case reflect.Pointer:
		return typeWord(t.Elem())
	}
	return "an object"
}
