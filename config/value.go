package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"gcity/restart"
)

// value reads a node as its key wants it, or says why it cannot.
func value(n *node, k *key) (any, string) {
	wrong := "is " + n.shape.String() + "; it must be " + k.kind.example()
	switch k.kind {
	case kindBool:
		if n.shape == shapeBool {
			return n.text == "true", ""
		}
	case kindString:
		if n.shape == shapeString {
			return n.text, nul(n.text)
		}
	case kindInt, kindMillis:
		if n.shape == shapeInt {
			return integer(n.text, k.kind)
		}
	case kindDuration:
		if n.shape == shapeInt {
			return nil, fmt.Sprintf("is a number without a unit; write \"%ss\" for seconds", n.text)
		}
		if n.shape == shapeString {
			return duration(n.text)
		}
	case kindStrings:
		return texts(n, wrong)
	case kindEnv:
		return variables(n, wrong)
	}
	return nil, wrong
}

// maxDuration keeps sums of durations and times far from overflowing.
const maxDuration = 365 * 24 * time.Hour

func nul(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		return "contains a NUL character, which no program can be given; take it out"
	}
	return ""
}

func integer(text string, k kind) (any, string) {
	i, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 0, 64)
	if err != nil || i > math.MaxInt32 || i < math.MinInt32 {
		return nil, fmt.Sprintf("is too large a number: %s", text)
	}
	if k == kindMillis {
		return time.Duration(i) * time.Millisecond, ""
	}
	return int(i), ""
}

func duration(text string) (any, string) {
	t, err := time.ParseDuration(text)
	if err == nil && t > maxDuration {
		return nil, fmt.Sprintf("%q is too long; at most a year, \"8760h\", is possible", text)
	}
	if err == nil {
		return t, ""
	}
	if strings.Contains(err.Error(), "missing unit") {
		return nil, fmt.Sprintf("%q has no unit; write %q for seconds or %q for minutes", text, text+"s", text+"m")
	}
	if strings.ContainsAny(text, "dwy") {
		return nil, fmt.Sprintf("%q is no duration: the largest unit is h; a day is \"24h\"", text)
	}
	if strings.Trim(text, "0123456789.nuµmsh+-") == "" && strings.ContainsAny(text, "smh") {
		return nil, fmt.Sprintf("%q is too long; at most a year, \"8760h\", is possible", text)
	}
	return nil, fmt.Sprintf("%q is no duration; write it like \"500ms\", \"30s\", \"5m\" or \"1h30m\"", text)
}

func texts(n *node, wrong string) (any, string) {
	if n.shape == shapeString {
		return nil, "is a string; it must be a list: put it in brackets, [\"…\"]"
	}
	if n.shape != shapeArray {
		return nil, wrong
	}
	var out []string
	for i, kid := range n.kids {
		if kid.shape != shapeString {
			return nil, fmt.Sprintf("item %d is %s; every item must be a string", i+1, kid.shape)
		}
		if msg := nul(kid.text); msg != "" {
			return nil, fmt.Sprintf("item %d %s", i+1, msg)
		}
		out = append(out, kid.text)
	}
	return out, ""
}

func variables(n *node, wrong string) (any, string) {
	if n.shape != shapeTable {
		return nil, wrong
	}
	out := make(map[string]string, len(n.kids))
	for _, kid := range n.kids {
		if kid.shape != shapeString {
			return nil, fmt.Sprintf("%s is %s; every variable is a string: put it in quotes", kid.key, kid.shape)
		}
		if msg := nul(kid.text); msg != "" {
			return nil, kid.key + " " + msg
		}
		out[kid.key] = kid.text
	}
	return out, ""
}

// set stores v where field points.
func set(field, v any) {
	switch f := field.(type) {
	case *string:
		*f = v.(string)
	case *restart.Mode:
		*f = restart.Mode(v.(string))
	case *restart.Strategy:
		*f = restart.Strategy(v.(string))
	case *bool:
		*f = v.(bool)
	case *int:
		*f = v.(int)
	case *time.Duration:
		if ms, ok := v.(int); ok {
			v = time.Duration(ms) * time.Millisecond
		}
		*f = v.(time.Duration)
	case *[]string:
		*f = v.([]string)
	case **string:
		text := v.(string)
		*f = &text
	case **bool:
		on := v.(bool)
		*f = &on
	case **time.Duration:
		span := v.(time.Duration)
		*f = &span
	case *map[string]string:
		*f = v.(map[string]string)
	}
}

func list(names []string) string {
	switch n := len(names); n {
	case 0:
		return "nothing"
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}
