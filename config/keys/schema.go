// Package keys is the table of all keys that a city.toml, a file that it includes, and a topology.toml can have.
// Parsing, defaults, suggestions, the JSON Schema and docs/config.md are made from the table. It knows no values:
// the config package finds the field of a key by the key's name.
package keys

import (
	"slices"
	"strings"
	"time"

	"gcity/internal/suggest"
)

// Kind is the type of a key's value.
type Kind int

const (
	String Kind = iota
	Bool
	Int
	Duration // a string in Go's syntax
	Millis   // an integer of milliseconds
	Strings  // a list of strings
	Env      // a table of strings with free names
	Table    // [t]
	Tables   // [[t]]
	Named    // [t.NAME]
	Any      // not looked into
)

func (k Kind) String() string {
	return [...]string{"string", "boolean", "integer", "duration", "milliseconds",
		"list of strings",
		"table of strings", "table", "list of tables", "table of named tables", "any"}[k]
}

// example shows how a value of this kind is written.
func (k Kind) example() string {
	return [...]string{`a string, like "text"`, "true or false", "a whole number, like 5",
		`a duration in quotes, like "30s" or "5m"`, "a whole number of milliseconds, like 500",
		`a list of strings, like ["one", "two"]`, `a table of strings, like { NAME = "value" }`,
		"a table", "a list of tables, each under its own [[…]]", "a table of tables", "a value"}[k]
}

// Status says what becomes of a key that is written.
type Status int

const (
	Supported Status = iota
	Later            // refused: its feature is not built yet
	Dropped          // accepted with a warning: the real system has dropped it
)

// Key is one line of the table that everything about keys is drawn from: parsing, defaults, suggestions, refusals,
// docs/config.md, and what `config show` prints.
type Key struct {
	Path    string // "agents.restart"; "providers.*.command" below a table of named tables
	Kind    Kind
	Def     string // as written in TOML, "" = none
	Doc     string
	Status  Status
	Alias   string // another name of a table
	Require bool
	// what it asks for shows elsewhere: in what is in force it would ask for it again
	Spent bool
	Check func(value any) string // what is wrong with a value of the right kind, "" = nothing

	// What a value may be, where that can be told without running anything: for the parser and for JSON Schema alike.
	Enum   []string // one of these words
	Within *bounds  // a number
	// And for JSON Schema alone, where check says more: one of these words, or begun by one that ends in ":"; a regular
	// expression that all good values match.
	known   []string
	Pattern string
}

// bounds are those of a whole number. say tells what is wrong with one beyond them.
type bounds struct {
	least, most int
	say         func(n int) string
}

// Wrong says what is wrong with a value of the right kind, "" = nothing.
func (k *Key) Wrong(v any) string {
	if k.Enum != nil {
		if msg := oneOf(k.Enum...)(v); msg != "" {
			return msg
		}
	}
	if k.Within != nil {
		n, ok := v.(int)
		if !ok {
			n = int(v.(time.Duration).Milliseconds())
		}
		if n < k.Within.least || n > k.Within.most {
			return k.Within.say(n)
		}
	}
	if k.Check == nil {
		return ""
	}
	return k.Check(v)
}

// Valued reports whether the key has a value, rather than a table.
func (k *Key) Valued() bool { return !k.OfTables() && k.Kind != Any }

func (k *Key) Name() string  { return k.Path[strings.LastIndexByte(k.Path, '.')+1:] }
func (k *Key) Table() string { return k.Path[:max(0, strings.LastIndexByte(k.Path, '.'))] }

// Schema is the table of keys by their place.
type Schema struct {
	ByPath map[string]*Key
	Tables map[string][]*Key // the keys of each table, in the order of the table
}

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

// Child finds the key that is called name in a table, nil if there is none.
func (s Schema) Child(table, name string) *Key {
	path := Join(table, name)
	if k := s.ByPath[path]; k != nil {
		return k
	}
	if k := s.ByPath[Join(table, "*")]; k != nil {
		return k
	}
	for _, k := range s.Tables[table] {
		if k.Alias == name {
			return k
		}
	}
	return nil
}

// Names lists what may be written in a table, for suggestions. What is dropped is not suggested.
func (s Schema) Names(table string) []string {
	var out []string
	for _, k := range s.Tables[table] {
		if k.Status != Dropped && k.Name() != "*" {
			out = append(out, k.Name())
		}
	}
	return out
}

func Join(table, name string) string {
	if table == "" {
		return name
	}
	return table + "." + name
}

// Suggest finds the candidate that name was meant to be, "" if none is likely.
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

// Header returns the header of the table that the key stands for, as it is written.
func (k *Key) Header() string {
	path := strings.ReplaceAll(k.Path, "*", "NAME")
	if k.Kind == Tables {
		return "[[" + path + "]]"
	}
	return "[" + path + "]"
}

// Word returns what messages call the key.
func (k *Key) Word() string {
	if k.Kind == Table || k.Kind == Named {
		return k.Header()
	}
	return k.Name()
}
