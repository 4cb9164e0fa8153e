package config

import (
	"slices"
	"strings"
	"time"

	"gcity/internal/suggest"
)

// kind is the type of a key's value.
type kind int

const (
	kindString kind = iota
	kindBool
	kindInt
	kindDuration // a string in Go's syntax
	kindMillis   // an integer of milliseconds
	kindStrings  // a list of strings
	kindEnv      // a table of strings with free names
	kindTable    // [t]
	kindTables   // [[t]]
	kindNamed    // [t.NAME]
	kindAny      // not looked into
)

func (k kind) String() string {
	return [...]string{"string", "boolean", "integer", "duration", "milliseconds",
		"list of strings",
		"table of strings", "table", "list of tables", "table of named tables", "any"}[k]
}

// example shows how a value of this kind is written.
func (k kind) example() string {
	return [...]string{`a string, like "text"`, "true or false", "a whole number, like 5",
		`a duration in quotes, like "30s" or "5m"`, "a whole number of milliseconds, like 500",
		`a list of strings, like ["one", "two"]`, `a table of strings, like { NAME = "value" }`,
		"a table", "a list of tables, each under its own [[…]]", "a table of tables", "a value"}[k]
}

// status says what becomes of a key that is written.
type status int

const (
	supported status = iota
	later            // refused: its feature is not built yet
	dropped          // accepted with a warning: the real system has dropped it
)

// key is one line of the table that everything about keys is drawn from: parsing, defaults, suggestions, refusals,
// docs/config.md, and what `config show` prints.
type key struct {
	path    string // "agents.restart"; "providers.*.command" below a table of named tables
	kind    kind
	def     string // as written in TOML, "" = none
	doc     string
	status  status
	alias   string // another name of a table
	require bool
	// what it asks for shows elsewhere: in what is in force it would ask for it again
	spent bool
	check func(value any) string // what is wrong with a value of the right kind, "" = nothing

	// What a value may be, where that can be told without running anything: for the parser and for JSON Schema alike.
	enum   []string // one of these words
	within *bounds  // a number
	// And for JSON Schema alone, where check says more: one of these words, or begun by one that ends in ":"; a regular
	// expression that all good values match.
	known   []string
	pattern string
}

// bounds are those of a whole number. say tells what is wrong with one beyond them.
type bounds struct {
	least, most int
	say         func(n int) string
}

// wrong says what is wrong with a value of the right kind, "" = nothing.
func (k *key) wrong(v any) string {
	if k.enum != nil {
		if msg := oneOf(k.enum...)(v); msg != "" {
			return msg
		}
	}
	if k.within != nil {
		n, ok := v.(int)
		if !ok {
			n = int(v.(time.Duration).Milliseconds())
		}
		if n < k.within.least || n > k.within.most {
			return k.within.say(n)
		}
	}
	if k.check == nil {
		return ""
	}
	return k.check(v)
}

// valued reports whether the key has a value, rather than a table.
func (k *key) valued() bool { return !k.ofTables() && k.kind != kindAny }

func (k *key) name() string  { return k.path[strings.LastIndexByte(k.path, '.')+1:] }
func (k *key) table() string { return k.path[:max(0, strings.LastIndexByte(k.path, '.'))] }

// schema is the table of keys by their place.
type schema struct {
	byPath map[string]*key
	tables map[string][]*key // the keys of each table, in the order of the table
}

func newSchema() schema {
	all := slices.Concat(workspaceKeys(), agentKeys(), programKeys(), lifeKeys(), promptKeys(),
		poolKeys(), rigKeys(), watchKeys(), namedProviderKeys(), patchKeys(), watchPatchKeys(),
		cityKeys(), apiKeys(), k8sKeys(),
		workKeys(), routeKeys(), overrideKeys(), composeKeys(), laterKeys())
	all = append(all, changeKeys("patches.agents", all)...)
	all = append(all, derivedKeys(all)...)
	s := schema{make(map[string]*key, len(all)), make(map[string][]*key, 32)}
	for i := range all {
		k := &all[i]
		s.byPath[k.path] = k
		s.tables[k.table()] = append(s.tables[k.table()], k)
	}
	return s
}

// child finds the key that is called name in a table, nil if there is none.
func (s schema) child(table, name string) *key {
	path := join(table, name)
	if k := s.byPath[path]; k != nil {
		return k
	}
	if k := s.byPath[join(table, "*")]; k != nil {
		return k
	}
	for _, k := range s.tables[table] {
		if k.alias == name {
			return k
		}
	}
	return nil
}

// names lists what may be written in a table, for suggestions. What is dropped is not suggested.
func (s schema) names(table string) []string {
	var out []string
	for _, k := range s.tables[table] {
		if k.status != dropped && k.name() != "*" {
			out = append(out, k.name())
		}
	}
	return out
}

func join(table, name string) string {
	if table == "" {
		return name
	}
	return table + "." + name
}

// didYouMean finds the candidate that name was meant to be, "" if none is likely.
func didYouMean(name string, candidates []string) string {
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

// header is how the table of a key begins.
func header(k *key) string {
	path := strings.ReplaceAll(k.path, "*", "NAME")
	if k.kind == kindTables {
		return "[[" + path + "]]"
	}
	return "[" + path + "]"
}

// wordFor is what a key is called by.
func wordFor(k *key) string {
	if k.kind == kindTable || k.kind == kindNamed {
		return header(k)
	}
	return k.name()
}
