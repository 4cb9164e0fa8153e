// Package keys defines the table of all keys in city.toml, its included files, and topology.toml. Parsing, defaults,
// suggestions, the JSON Schema and docs/config.md come from the table. Package config contains the values.
package keys

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/internal/suggest"
	"gcity/internal/toml"
)

// Kind is the type of a key's value.
type Kind int

const (
	String Kind = iota
	Bool
	Int
	Duration // a string that time.ParseDuration accepts
	Millis   // a whole number of milliseconds
	Strings  // a list of strings
	Env      // a table of strings with arbitrary names
	Table    // [t]
	Tables   // [[t]]
	Named    // [t.NAME]
	Any      // any value, not checked
)

func (k Kind) String() string {
	return [...]string{"string", "boolean", "integer", "duration", "milliseconds",
		"list of strings",
		"table of strings", "table", "list of tables", "table of named tables", "any"}[k]
}

func (k Kind) example() string {
	return [...]string{`a string, like "text"`, "true or false", "a whole number, like 5",
		`a duration in quotes, like "30s" or "5m"`, "a whole number of milliseconds, like 500",
		`a list of strings, like ["one", "two"]`, `a table of strings, like { NAME = "value" }`,
		"a table", "a list of tables, each under its own [[…]]", "a table of tables", "a value"}[k]
}

// Status is the level of support for a key.
type Status int

const (
	Supported Status = iota
	Later            // rejected: not implemented yet
	Dropped          // accepted with a warning: a Gas City key that gcity ignores
)

// Key describes one key of a table.
type Key struct {
	Path    string // such as "agents.restart" or "providers.*.command"
	Kind    Kind
	Def     string // the default as written in TOML; "" = no default
	Doc     string
	Status  Status
	Alias   string // an alternative name of the table
	Require bool
	// `config show` omits the key
	Redundant bool
	// Check returns why a value is invalid, or "" if it is valid
	Check func(value any) string

	Enum   []string
	Within *bounds
	// known and Pattern replace Check in the JSON Schema. A known word with a final ":" is a prefix.
	known   []string
	Pattern string
}

type bounds struct {
	least, most int
	rule        string // for a message about an invalid number
	ruleBelow   string // for a number that is too small; "" = rule
}

func within(least, most int, rule string) *bounds {
	return &bounds{least: least, most: most, rule: rule}
}

// Invalid returns why a value is invalid, or "" if it is valid.
func (k *Key) Invalid(v any) string {
	if name, _ := v.(string); k.Enum != nil && !slices.Contains(k.Enum, name) {
		return fmt.Sprintf("invalid value %q: use one of %s%s", name, toml.List(k.Enum),
			DidYouMean(name, k.Enum))
	}
	if k.Within != nil {
		n, ok := v.(int)
		if !ok {
			n = int(v.(time.Duration).Milliseconds())
		}
		switch w := k.Within; {
		case n < w.least:
			return fmt.Sprintf("is %d; %s", n, cmp.Or(w.ruleBelow, w.rule))
		case n > w.most:
			return fmt.Sprintf("is %d; %s", n, w.rule)
		}
	}
	if k.Check == nil {
		return ""
	}
	return k.Check(v)
}

// HasValue reports whether the key is neither a table nor of the kind Any.
func (k *Key) HasValue() bool { return !k.IsTable() && k.Kind != Any }

func (k *Key) Name() string  { return k.Path[strings.LastIndexByte(k.Path, '.')+1:] }
func (k *Key) Table() string { return k.Path[:max(0, strings.LastIndexByte(k.Path, '.'))] }

// Schema contains the keys of each table.
type Schema struct {
	ByPath map[string]*Key
	Tables map[string][]*Key // in the order of their declarations
}

// City returns the schema of city.toml.
func City() Schema {
	all := slices.Concat(workspaceKeys(), agentKeys(), ProgramKeys(), lifeKeys(), promptKeys(),
		poolKeys(), rigKeys(), watchKeys(), NamedProviderKeys(), PatchKeys(), watchPatchKeys(),
		cityKeys(), apiKeys(), k8sKeys(),
		workKeys(), routeKeys(), overrideKeys(), composeKeys(), LaterKeys())
	all = append(all, ChangeKeys("patches.agents", all)...)
	all = append(all, derivedKeys(all)...)
	s := Schema{make(map[string]*Key, len(all)), make(map[string][]*Key, 32)}
	for i := range all {
		k := &all[i]
		s.ByPath[k.Path] = k
		s.Tables[k.Table()] = append(s.Tables[k.Table()], k)
	}
	return s
}

// Child returns the key with this name or alias in a table, or nil.
func (s Schema) Child(table, name string) *Key {
	path := Join(table, name)
	if k := s.ByPath[path]; k != nil {
		return k
	}
	if k := s.ByPath[Join(table, "*")]; k != nil {
		return k
	}
	for _, k := range s.Tables[table] {
		if k.Alias != "" && k.Alias == name {
			return k
		}
	}
	return nil
}

// Names returns the valid names in a table, for suggestions.
func (s Schema) Names(table string) []string {
	var out []string
	for _, k := range s.Tables[table] {
		if k.Status != Dropped && k.Name() != "*" {
			out = append(out, k.Name())
		}
	}
	return out
}

// Join returns the path of a key in a table.
func Join(table, name string) string {
	if table == "" {
		return name
	}
	return table + "." + name
}

// Suggest returns the candidate that is most similar to name, or "" if none is similar enough.
func Suggest(name string, candidates []string) string {
	var begins []string
	for _, c := range candidates {
		if strings.EqualFold(c, name) {
			return c
		}
		if len(name) > 2 && strings.HasPrefix(c, name) {
			begins = append(begins, c)
		}
	}
	if near := suggest.Nearest(name, candidates); near != "" || len(begins) != 1 {
		return near
	}
	return begins[0]
}

// DidYouMean returns the end of a message about the unknown name: the most similar of the names, or "" if none is
// similar.
func DidYouMean(name string, names []string) string {
	if near := Suggest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// Header returns the table's header in TOML.
func (k *Key) Header() string {
	path := strings.ReplaceAll(k.Path, "*", "NAME")
	if k.Kind == Tables {
		return "[[" + path + "]]"
	}
	return "[" + path + "]"
}

// Word returns the key's name for messages.
func (k *Key) Word() string {
	if k.Kind == Table || k.Kind == Named {
		return k.Header()
	}
	return k.Name()
}
