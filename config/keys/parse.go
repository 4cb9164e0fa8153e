package keys

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"gcity/internal/toml"
)

// Parse converts a node to the type of the key. If that fails, it returns the reason.
func Parse(n *toml.Node, k *Key) (any, string) {
	wrong := "is " + n.Shape.String() + "; it must be " + k.Kind.example()
	switch k.Kind {
	case Bool:
		if n.Shape == toml.ShapeBool {
			return n.Text == "true", ""
		}
	case String:
		if n.Shape == toml.ShapeString {
			return n.Text, nul(n.Text)
		}
	case Int, Millis:
		if n.Shape == toml.ShapeInt {
			return integer(n.Text, k.Kind)
		}
	case Duration:
		if n.Shape == toml.ShapeInt {
			return nil, fmt.Sprintf("is a number without a unit; use \"%ss\" for seconds", n.Text)
		}
		if n.Shape == toml.ShapeString {
			return duration(n.Text)
		}
	case Strings:
		return stringList(n, wrong)
	case Env:
		return variables(n, wrong)
	}
	return nil, wrong
}

// maxDuration prevents overflow in sums of durations and times.
const maxDuration = 365 * 24 * time.Hour

func nul(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		return "contains a NUL character, which no program accepts; remove it"
	}
	return ""
}

func integer(text string, k Kind) (any, string) {
	i, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 0, 64)
	if err != nil || i > math.MaxInt32 || i < math.MinInt32 {
		return nil, fmt.Sprintf("is too large: %s", text)
	}
	if k == Millis {
		return time.Duration(i) * time.Millisecond, ""
	}
	return int(i), ""
}

func duration(text string) (any, string) {
	t, err := time.ParseDuration(text)
	if err == nil && t > maxDuration {
		return nil, fmt.Sprintf("%q is too long; the maximum is one year, \"8760h\"", text)
	}
	if err == nil {
		return t, ""
	}
	if strings.Contains(err.Error(), "missing unit") {
		return nil, fmt.Sprintf("%q has no unit; use %q for seconds or %q for minutes", text,
			text+"s", text+"m")
	}
	if strings.ContainsAny(text, "dwy") {
		return nil, fmt.Sprintf("%q is not a duration: the largest unit is h; a day is \"24h\"",
			text)
	}
	if strings.Trim(text, "0123456789.nuµmsh+-") == "" && strings.ContainsAny(text, "smh") {
		return nil, fmt.Sprintf("%q is too long; the maximum is one year, \"8760h\"", text)
	}
	return nil, fmt.Sprintf(`%q is not a duration; use a value such as "500ms", "30s", "5m" or `+
		`"1h30m"`,
		text)
}

func stringList(n *toml.Node, wrong string) (any, string) {
	if n.Shape == toml.ShapeString {
		return nil, "is a string; it must be a list: put it in brackets, [\"…\"]"
	}
	if n.Shape != toml.ShapeArray {
		return nil, wrong
	}
	var out []string
	for i, kid := range n.Kids {
		if kid.Shape != toml.ShapeString {
			return nil, fmt.Sprintf("item %d is %s; every item must be a string", i+1, kid.Shape)
		}
		if msg := nul(kid.Text); msg != "" {
			return nil, fmt.Sprintf("item %d %s", i+1, msg)
		}
		out = append(out, kid.Text)
	}
	return out, ""
}

func variables(n *toml.Node, wrong string) (any, string) {
	if n.Shape != toml.ShapeTable {
		return nil, wrong
	}
	out := make(map[string]string, len(n.Kids))
	for _, kid := range n.Kids {
		if msg := InvalidVariable(kid); msg != "" {
			return nil, msg
		}
		out[kid.Key] = kid.Text
	}
	return out, ""
}

// InvalidVariable returns what is wrong with the value of an environment variable, or "".
func InvalidVariable(n *toml.Node) string {
	if n.Shape != toml.ShapeString {
		return fmt.Sprintf("%s is %s; variables must be strings: put it in quotes", n.Key, n.Shape)
	}
	if msg := nul(n.Text); msg != "" {
		return n.Key + " " + msg
	}
	return ""
}

// DefaultValue returns the default as a value of the key's Go type.
func (k *Key) DefaultValue() any {
	if s, err := strconv.Unquote(k.Def); err == nil {
		if t, err := time.ParseDuration(s); err == nil && k.Kind != String {
			return t
		}
		return s
	}
	if n, wrong := integer(k.Def, k.Kind); wrong == "" {
		return n
	}
	return k.Def == "true"
}
