package config

import (
	"encoding/json"
	"fmt"
	"gcity/config/keys"
	"gcity/internal/toml"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	burnt "github.com/BurntSushi/toml"
)

// schemaValidator supports only the part of JSON Schema that JSONSchema uses.
type schemaValidator struct {
	root     *keys.SchemaNode
	patterns map[string]*regexp.Regexp
}

func newValidator(t testing.TB, of string) schemaValidator {
	t.Helper()
	var root keys.SchemaNode
	if err := json.Unmarshal(keys.JSONSchema(of), &root); err != nil {
		t.Fatal(err)
	}
	return schemaValidator{&root, map[string]*regexp.Regexp{}}
}

func (j schemaValidator) check(s *keys.SchemaNode, at string, v any) string {
	if s.Ref != "" {
		to := j.root.Tables[strings.TrimPrefix(s.Ref, "#/definitions/")]
		if to == nil {
			return at + ": the schema has no definition " + s.Ref
		}
		return j.check(to, at, v)
	}
	if s.Type != "" && s.Type != typeOf(v) {
		return fmt.Sprintf("%s: %v is no %s", at, v, s.Type)
	}
	if text, ok := v.(string); ok {
		if s.Enum != nil && !slices.Contains(s.Enum, text) {
			return fmt.Sprintf("%s: %q is none of %q", at, text, s.Enum)
		}
		if s.Pattern != "" && j.patterns[s.Pattern] == nil {
			j.patterns[s.Pattern] = regexp.MustCompile(s.Pattern)
		}
		if s.Pattern != "" && !j.patterns[s.Pattern].MatchString(text) {
			return fmt.Sprintf("%s: %q does not match %s", at, text, s.Pattern)
		}
	}
	if n, ok := v.(int64); ok && (s.Least != nil && n < int64(*s.Least) ||
		s.Most != nil && n > int64(*s.Most)) {
		return fmt.Sprintf("%s: %d is out of bounds", at, n)
	}
	if s.AnyOf != nil && !slices.ContainsFunc(s.AnyOf, func(one *keys.SchemaNode) bool {
		return j.check(one, at, v) == ""
	}) {
		return fmt.Sprintf("%s: %v does not match any alternative", at, v)
	}
	return j.within(s, at, v)
}

func (j schemaValidator) within(s *keys.SchemaNode, at string, v any) string {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if _, there := v[name]; !there {
				return at + ": " + name + " is missing"
			}
		}
		for name, kid := range v {
			if p := s.Props[name]; p != nil {
				if msg := j.check(p, at+"."+name, kid); msg != "" {
					return msg
				}
			} else if more, ok := s.More.(map[string]any); ok {
				if to, ok := more["$ref"].(string); ok {
					if msg := j.check(&keys.SchemaNode{Ref: to}, at+"."+name, kid); msg != "" {
						return msg
					}
				} else if more["type"] != typeOf(kid) {
					return at + "." + name + ": has a different type"
				}
			} else if s.More == false {
				return at + "." + name + ": is unknown"
			}
		}
	case []any:
		for i, kid := range v {
			if s.Items != nil {
				if msg := j.check(s.Items, fmt.Sprintf("%s[%d]", at, i), kid); msg != "" {
					return msg
				}
			}
		}
	}
	return ""
}

func typeOf(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case int64:
		return "integer"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return fmt.Sprintf("%T", v)
}

// asEditor uses a different parser than gcity's.
func asEditor(t testing.TB, text string) any {
	t.Helper()
	var v map[string]any
	if _, err := burnt.Decode(text, &v); err != nil {
		t.Fatal(err)
	}
	return normalized(v)
}

func normalized(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, kid := range v {
			v[name] = normalized(kid)
		}
	case []any:
		for i, kid := range v {
			v[i] = normalized(kid)
		}
	case []map[string]any:
		out := make([]any, len(v))
		for i, kid := range v {
			out[i] = normalized(kid)
		}
		return out
	}
	return v
}

func samples() []string {
	out := []string{"true", "false", "[]", `["x"]`, `["a", ""]`, "[1]", "{}", `{ X = "1" }`,
		"{ X = 1 }", "1.5", "1979-05-27"}
	for _, n := range []int{math.MinInt32, -1, 0, 1, 2, 5, 1000, 1001, 10_000, 10_001, 65_535,
		65_536, 3_600_000, 3_600_001, math.MaxInt32} {
		out = append(out, fmt.Sprint(n))
	}
	for _, s := range []string{
		"", " ", "x", "X-1.y_z", "-x", "x/y", "a b", "ü", "x\ny", strings.Repeat("x", 16),
		strings.Repeat("x", 17), strings.Repeat("x", 64), strings.Repeat("x", 65),
		"0", "0s", "100ms", "99ms", "1.5h", ".5h", "1h30m", "+5s", "-5s", "5", "5d", "1µs", "9000h",
		"1h ",
		"pty", "tmux", "subprocess", "k8s", "Never", "fake", "fail", "exec:", "exec:./x", "exec: ",
		"plugin:", "plugin:./x", "file", "bd", "ptx",
		"127.0.0.1", "memory", "disk", "always", "hup", "on-failure", "never", "one_for_one",
		"rest_for_one", "cooldown", "cron", "manual",
		"arg", "typed", "city", "rig", "echo {}", "~", "~/x", "~x", "/abs", "//x", "../x",
		"{{.Name}}", "{{", "* * * * *", "@daily", "bead.*", "a*b", "red", "#aabbcc", "x:rig:y",
	} {
		out = append(out, toml.Quote(s))
	}
	return out
}

// For every key, the schema accepts each sample that the parser accepts.
func TestSchemaAgrees(t *testing.T) {
	j, s := newValidator(t, "city"), keys.City()
	nodes, values := map[string]*toml.Node{}, map[string]any{}
	for _, sample := range samples() {
		root, f := toml.Parse([]byte("x = " + sample))
		if f != nil {
			t.Fatal(f)
		}
		nodes[sample], values[sample] = root.Kids[0],
			asEditor(t, "x = "+sample).(map[string]any)["x"]
	}
	for path, k := range s.ByPath {
		if k.Status != keys.Supported || k.IsTable() {
			continue
		}
		good, bad := 0, 0
		for sample, n := range nodes {
			v, msg := keys.Parse(n, k)
			if msg == "" {
				msg = k.Invalid(v)
			}
			shape := j.check(j.tableOf(k.Table()).Props[k.Name()], path, values[sample])
			switch {
			case msg == "" && shape != "":
				t.Errorf("%s = %s is valid, but the schema rejects it: %s", path, sample, shape)
			case msg == "":
				good++
			case shape != "":
				bad++
			case k.Enum != nil || k.Within != nil || k.Pattern != "" || k.Kind == keys.Bool ||
				k.Kind == keys.Env || k.Kind == keys.Int || k.Kind == keys.Millis:
				t.Errorf("%s = %s is invalid (%s), but the schema accepts it", path, sample, msg)
			}
		}
		if good == 0 || bad == 0 {
			t.Errorf("%s: got %d accepted values and %d rejected values", path, good, bad)
		}
	}
}

func (j schemaValidator) tableOf(path string) *keys.SchemaNode {
	if path == "" {
		return j.root
	}
	return j.root.Tables[path]
}

// The schema and the parser agree on required, unknown, renamed and removed keys.
func TestSchemaOfTables(t *testing.T) {
	j := newValidator(t, "city")
	for text, want := range map[string]string{
		example: "",
		"[[agent]]\nname = \"a\"\n[agent.pool]\nmax = 2\n":                             "",
		"[orders]\nskip = [\"x\"]\n":                                                   "",
		"[workspace]\npacks = []\n[[rigs]]\nname = \"r\"\npath = \"/r\"\npacks = []\n": "",
		"workspace.isolation = 1\n":                                                    "",
		"[[agents]]\ndir = \"x\"\n":                                                    ".agents[0]: name is missing",
		"[[rigs]]\nname = \"x\"\n":                                                     ".rigs[0]: path is missing",
		"[[agents]]\nname = \"a\"\nnme = 1\n":                                          ".agents[0].nme: is unknown",
		"[agents]\nname = \"a\"\n":                                                     "is no array",
		"[[agents]]\nname = \"a\"\n" +
			"[agents.pool]\nmx = 2\n": ".agents[0].pool.mx: is unknown",
		"[[agents]]\nname = \"a\"\n" +
			"[agents.env]\nX = 2\n": ".agents[0].env.X: has a different type",
		"[[patches.agents]]\nname = \"a\"\nsuspended = \"yes\"\n": "is no boolean",
		"[watchdog]\n": ".watchdog: is unknown",
		"[[agents]]\nname = \"a\"\n[[agents]]\nname = \"b\"\n" +
			"restart=1\n": ".agents[1].restart: 1 is no string",
	} {
		if msg := j.check(j.root, "", asEditor(t, text)); msg != want &&
			(want == "" || !strings.Contains(msg, want)) {
			t.Errorf("%s\ngot %q, want %q", text, msg, want)
		}
		if _, err := Parse("/srv/app", []byte(text)); (err == nil) != (want == "") {
			t.Errorf("%s\nerror from Parse: %v", text, err)
		}
	}
}

// An included file may have every key except include. Every kind of file has a schema.
func TestSchemaOfOtherFiles(t *testing.T) {
	for of, texts := range map[string]map[string]bool{
		"include": {
			"[[agent]]\nname = \"a\"\n[[rigs]]\nname = \"r\"\npath = \"r\"\n":         true,
			"[workspace]\n[providers.x]\ncommand = \"x\"\n[orders]\nskip = [\"x\"]\n": true,
			"include = [\"x\"]\n": false,
		},
		"topology": {
			"[topology]\nname = \"t\"\nschema = 1\n[formulas]\n" +
				"dir = \"f\"\n": true,
			"[pack]\nname = \"t\"\nschema = 1\n[[agents]]\nname = \"a\"\n[providers.x]\n" +
				"command = \"x\"\n": true,
			"[topology]\nname = \"t\"\n": false, "[workspace]\n": false,
			"[[rigs]]\nname = \"r\"\npath = \"r\"\n": false,
		},
	} {
		j := newValidator(t, of)
		for text, good := range texts {
			if msg := j.check(j.root, "", asEditor(t, text)); (msg == "") != good {
				t.Errorf("%s: %s: %q", of, text, msg)
			}
		}
	}
	for _, name := range keys.Schemas() {
		if newValidator(t, name).root.Schema == "" {
			t.Errorf("%s has no schema", name)
		}
	}
	if keys.JSONSchema("nothing") != nil {
		t.Error("got a schema for an unknown kind of file")
	}
}

// The schema accepts every configuration that the parser accepts.
func FuzzSchema(f *testing.F) {
	j := newValidator(f, "city")
	f.Add(example)
	f.Add("[session]\nprovider = \"exec:x\"\n[[agent]]\nname = \"a\"\nrestart = \"never\"\n" +
		"min_uptime = \"1.5h\"\nenv.X = \"1\"\n")
	f.Add("workspace = { name = \"x\", isolation = [{ a = 1 }] }\n[dolt]\nport = 0x10\n[daemon]\n" +
		"patrol_interval = \"+1m.5s\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := Parse("/srv/app", []byte(text)); err != nil {
			return
		}
		if msg := j.check(j.root, "", asEditor(t, string(toml.BlankBOM([]byte(text))))); msg != "" {
			t.Errorf("%q is valid, but the schema rejects it: %s", text, msg)
		}
	})
}
