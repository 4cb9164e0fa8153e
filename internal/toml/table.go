package toml

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/internal/suggest"
)

// MaxDuration is the maximum duration in a file. Sums of durations and times therefore do not overflow.
const MaxDuration = 365 * 24 * time.Hour

// Table is a table in a file. Its methods return the zero value if a value is missing or invalid. They also record an
// invalid value as a problem.
type Table struct {
	doc    *Doc
	path   string // "" = the root
	values map[string]any
}

// Has reports whether a key is set.
func (t Table) Has(key string) bool {
	_, ok := t.values[key]
	return ok
}

// Place returns the position of a key's value. If the key is not set, it returns the position of the table.
func (t Table) Place(key string) Place {
	at, ok := t.span(key)
	if !ok {
		return Place{File: t.doc.file}
	}
	return t.doc.place(at.value)
}

func (t Table) span(key string) (keyPlace, bool) {
	path := t.path
	if key != "" {
		if at, ok := t.doc.places[below(path, key)]; ok {
			return at, true
		}
	}
	at, ok := t.doc.places[path]
	return at, ok
}

// Wrong records a problem with a key's value, or with the table if key is "". It records only the first problem with
// each value.
func (t Table) Wrong(key, format string, args ...any) { t.doc.note(t.said(key, format, args...)) }

// WrongItem is like Wrong for the i-th item of a list.
func (t Table) WrongItem(key string, i int, format string, args ...any) {
	p := t.said(key, format, args...)
	if at, ok := t.doc.places[element(below(t.path, key), i)]; ok {
		p.Place = t.doc.place(at.value)
	}
	t.doc.note(p)
}

func (d *Doc) note(p Problem) {
	if !slices.ContainsFunc(
		d.problems,
		func(q Problem) bool { return p.Line > 0 && q.Place == p.Place && q.Key == p.Key },
	) {
		d.problems = append(d.problems, p)
	}
}

// Warn records a warning about a key.
func (t Table) Warn(key, format string, args ...any) {
	t.doc.warnings = append(t.doc.warnings, t.said(key, format, args...))
}

func (t Table) said(key, format string, args ...any) Problem {
	return At(t.Place(key), t.name(key), format, args...)
}

func (t Table) name(key string) string {
	var parts []string
	for part := range strings.SplitSeq(below(t.path, key), sep) {
		if _, err := strconv.Atoi(part); err != nil && part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ".")
}

// Keys returns the keys that are set, in file order.
func (t Table) Keys() []string {
	keys := make([]string, 0, len(t.values))
	for key := range t.values {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(
			cmp.Compare(t.doc.places[below(t.path, a)].key, t.doc.places[below(t.path, b)].key),
			cmp.Compare(a, b),
		)
	})
	return keys
}

// RejectUnknown records a problem for each key that is not one of the given keys.
func (t Table) RejectUnknown(known ...string) { t.unknown(known, true) }

// WarnUnknown records unknown keys. A key similar to a known key is a problem; others are warnings.
func (t Table) WarnUnknown(known ...string) { t.unknown(known, false) }

func (t Table) unknown(known []string, strict bool) {
	for _, key := range t.Keys() {
		if slices.Contains(known, key) {
			continue
		}
		p := t.said(key, "unknown key; use one of %s", List(known))
		p.Place = t.doc.place(t.doc.places[below(t.path, key)].key)
		switch near := Meant(key, known); {
		case near != "":
			p.Message = fmt.Sprintf("unknown key; did you mean %q?", near)
			t.doc.note(p)
		case strict:
			t.doc.note(p)
		default:
			p.Message = "unknown key, which is ignored; the known keys are " + List(known)
			t.doc.warnings = append(t.doc.warnings, p)
		}
	}
}

// Meant returns the most similar known name, or "" if none is similar.
func Meant(name string, known []string) string {
	for _, k := range known {
		if strings.EqualFold(k, name) {
			return k
		}
	}
	if len(name) < 3 { // too short for a meaningful comparison
		return ""
	}
	if near := suggest.Nearest(name, known); near != "" {
		return near
	}
	for _, k := range known {
		if strings.HasPrefix(k, name) || strings.HasPrefix(name, k+"_") {
			return k
		}
	}
	return ""
}

// Text returns the string value of a key. A string with a NUL character is invalid.
func (t Table) Text(key string) string {
	switch v := t.values[key].(type) {
	case nil:
	case string:
		if strings.IndexByte(v, 0) < 0 {
			return v
		}
		t.Wrong(key, "contains a NUL character, which no program accepts; remove it")
	default:
		t.Wrong(key, "is %s; it must be a string: put it in quotes", kind(v))
	}
	return ""
}

// Scalar returns a string, number or boolean as text. ok is false for other values.
func (t Table) Scalar(key string) (text string, ok bool) {
	switch v := t.values[key].(type) {
	case string:
		return t.Text(key), true
	case int64, bool, float64:
		return fmt.Sprint(v), true
	}
	return "", false
}

// Empty reports whether the value of a key is an empty list.
func (t Table) Empty(key string) bool {
	list, ok := t.values[key].([]any)
	return ok && len(list) == 0
}

// Kind returns the kind of a key's value, such as "a list", or "" if the key is not set.
func (t Table) Kind(key string) string {
	if !t.Has(key) {
		return ""
	}
	return kind(t.values[key])
}

// Texts returns the list of strings that is the value of a key.
func (t Table) Texts(key string) []string {
	v, ok := t.values[key]
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		t.Wrong(key, "is %s; it must be a list of strings, like [\"one\", \"two\"]", kind(v))
		return nil
	}
	out := make([]string, 0, len(list))
	for i, item := range list {
		text, ok := item.(string)
		if ok && strings.IndexByte(text, 0) >= 0 {
			t.WrongItem(
				key,
				i,
				"contains a NUL character, which no program accepts; remove it",
			)
			return nil
		}
		if !ok {
			t.WrongItem(key, i, "is %s; every item must be a string", kind(item))
			return nil
		}
		out = append(out, text)
	}
	return out
}

// Flag returns the boolean value of a key, or fallback if the key is not set.
func (t Table) Flag(key string, fallback bool) bool {
	switch v := t.values[key].(type) {
	case nil:
	case bool:
		return v
	default:
		t.Wrong(key, "is %s; it must be true or false", kind(v))
	}
	return fallback
}

// Number returns the integer value of a key. Values outside the given range are invalid.
func (t Table) Number(key string, low, high int) int {
	switch v := t.values[key].(type) {
	case nil:
	case int64:
		if v >= int64(low) && v <= int64(high) {
			return int(v)
		}
		t.Wrong(key, "is %d; it must be from %d to %d", v, low, high)
	default:
		t.Wrong(key, "is %s; it must be a whole number", kind(v))
	}
	return 0
}

// Duration returns a duration, which is written in Go's syntax. It returns fallback if the key is not set or its value
// is invalid. Valid durations are from 0 to MaxDuration.
func (t Table) Duration(key string, fallback time.Duration) time.Duration {
	v, ok := t.values[key]
	if !ok {
		return fallback
	}
	text, ok := v.(string)
	if n, number := v.(int64); number {
		t.Wrong(key, "is a number without a unit; use \"%ds\" for seconds", n)
		return fallback
	}
	if !ok {
		t.Wrong(key, "is %s; it must be a duration in quotes, like \"30s\" or \"5m\"", kind(v))
		return fallback
	}
	d, wrong := Duration(text)
	if wrong != "" {
		t.Wrong(key, "%s", wrong)
		return fallback
	}
	return d
}

// Duration parses text like Table.Duration. If text is invalid, Duration returns 0 and the reason.
func Duration(text string) (d time.Duration, wrong string) {
	d, err := time.ParseDuration(text)
	switch {
	case err == nil && d < 0:
		return 0, fmt.Sprintf("%q is negative", text)
	case err == nil && d <= MaxDuration:
		return d, ""
	case err == nil,
		strings.Trim(text, "0123456789.nuµmsh") == "" && strings.ContainsAny(text, "smh"):
		return 0, fmt.Sprintf("%q is too long; the maximum is one year, \"8760h\"", text)
	case strings.Contains(err.Error(), "missing unit"):
		return 0, fmt.Sprintf(
			"%q has no unit; use %q for seconds or %q for minutes",
			text,
			text+"s",
			text+"m",
		)
	case strings.ContainsAny(text, "dwy"):
		return 0, fmt.Sprintf("%q is not a duration: the largest unit is h; a day is \"24h\"", text)
	}
	return 0, fmt.Sprintf(
		"%q is not a duration; use a value like \"500ms\", \"30s\", \"5m\" or \"1h30m\"",
		text,
	)
}

// Table returns the table at a key. ok is false if it does not exist.
func (t Table) Table(key string) (sub Table, ok bool) {
	switch v := t.values[key].(type) {
	case nil:
	case map[string]any:
		return Table{t.doc, below(t.path, key), v}, true
	default:
		t.Wrong(key, "is %s; it must be a table: put [%s] on a line of its own", kind(v),
			t.name(key))
	}
	return Table{doc: t.doc, path: below(t.path, key)}, false
}

// Tables returns the list of tables at a key.
func (t Table) Tables(key string) []Table {
	var all []map[string]any
	wrong := false
	switch v := t.values[key].(type) {
	case nil:
	case []map[string]any:
		all = v
	case []any:
		for _, item := range v {
			m, ok := item.(map[string]any)
			wrong = wrong || !ok
			all = append(all, m)
		}
	default:
		wrong = true
	}
	if wrong {
		t.Wrong(
			key,
			"is %s; each entry is a separate table: put [[%s]] on a line of its own",
			kind(t.values[key]),
			t.name(key),
		)
		return nil
	}
	out := make([]Table, len(all))
	for i, m := range all {
		out[i] = Table{t.doc, element(below(t.path, key), i), m}
	}
	return out
}

func kind(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case bool:
		return "true or false"
	case int64:
		return "a whole number"
	case float64:
		return "a floating-point number"
	case time.Time:
		return "a date"
	case map[string]any:
		return "a table"
	}
	return "a list"
}

// List joins names: "a, b and c".
func List(names []string) string {
	switch n := len(names); n {
	case 0:
		return "nothing"
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}
