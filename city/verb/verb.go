// Package verb defines the table of all operations on a city. The command codec, the API and the command line use the
// table.
//
// The control room's command palette has its own table (tui/actions).
package verb

import (
	"encoding/json"
	"reflect"
	"slices"
	"sync"

	"gcity/city"
)

// Noun is the kind of object that a verb acts on, and the first part of its API path.
type Noun string

// City stands for the city itself, so its verbs have no target.
const (
	City       Noun = ""
	Agent      Noun = "agent"
	Pool       Noun = "pool"
	Rig        Noun = "rig"
	Automation Noun = "automation"
	Watchdog   Noun = "watchdog"
	Bead       Noun = "bead"
)

// Verb is a row of the table.
type Verb struct {
	Name string // what city.Command.Verb returns
	Noun Noun

	API   API
	Shell Shell

	command city.Command             // zero value of the command's type
	rewrite func(body []byte) []byte // nil = the body is decoded as it is
	check   func(city.Command) error // nil = every command is valid
	// nil = decode
	decode func(target string, body []byte) (city.Command, error)
}

// API describes how the API exposes a verb.
type API struct {
	Path    string // last part, if it is not the verb's name
	Alias   string // another valid last part of the path; "" = none
	Summary string // in the OpenAPI document; "" = the API has a separate path
	// a value of the request body's type; nil = no body. Rows need it only if it is not the command itself.
	Body any
	// names of the fields that the body must contain, separated by spaces
	Required string
}

// Shell describes a verb's command on the command line.
type Shell struct {
	// in the list of commands; "" = no generated command
	Short string
	Long  string // in the command's own help; "" = Short
	Pools bool   // accepts the name of a pool
	// command to suggest for the pool %s; "" = none, or the verb accepts pools
	ForPool string
}

// All returns the table, in the order in which the command line lists verbs. The caller must not change the result.
func All() []Verb { return table() }

var table = sync.OnceValue(func() []Verb {
	all := slices.Concat(sessions(), drains(), typing(), pools(), rigs(), automations(),
		watchdogs(), work(), cities())
	for i := range all {
		v := &all[i]
		v.Name = v.command.Verb()
		if v.API.Body == nil && hasValues(v.command) {
			v.API.Body = v.command
		}
	}
	return all
})

// hasValues reports whether a command has fields other than its target.
func hasValues(c city.Command) bool {
	for field := range reflect.TypeOf(c).Fields() {
		if !isTarget(field) {
			return true
		}
	}
	return false
}

// isTarget reports whether a field of a command is its target, which is not part of the request body.
func isTarget(field reflect.StructField) bool { return field.Tag.Get("json") == "-" }

// Of returns the row of the table that describes a command.
func Of(c city.Command) (Verb, bool) { return find(c.Verb(), c.Target() == "") }

// At returns the row for a noun and the last part of an API path.
func At(noun Noun, part string) (Verb, bool) {
	for _, v := range All() {
		if v.Noun == noun && slices.Contains(v.Parts(), part) {
			return v, true
		}
	}
	return Verb{}, false
}

// Parts returns the last parts of a verb's API paths, the usual one first. It returns nil if the API has a separate
// path.
func (v Verb) Parts() []string {
	switch {
	case v.API.Summary == "":
		return nil
	case v.API.Path == "":
		return []string{v.Name}
	case v.API.Alias == "":
		return []string{v.API.Path}
	}
	return []string{v.API.Path, v.API.Alias}
}

// Command returns the verb's command for a target, with all other fields empty.
func (v Verb) Command(target string) (city.Command, error) { return v.decoded(target, nil) }

// Decode decodes a verb's command for a target. The body can be empty if the verb needs no values. Errors are
// *city.Error with code Invalid. Decode does not check whether the target exists or a number is within bounds.
func Decode(name, target string, body []byte) (city.Command, error) {
	v, ok := find(name, target == "")
	switch {
	case ok:
		return v.decoded(target, body)
	case target == "":
		return nil, invalid("unknown city command %q", name)
	}
	return nil, invalid("unknown agent command %q", name)
}

func find(name string, ofCity bool) (Verb, bool) {
	all := All()
	i := slices.IndexFunc(all, func(v Verb) bool {
		return v.Name == name && (v.Noun == City) == ofCity
	})
	if i < 0 {
		return Verb{}, false
	}
	return all[i], true
}

func (v Verb) decoded(target string, body []byte) (city.Command, error) {
	if v.decode != nil {
		return v.decode(target, body)
	}
	if v.rewrite != nil {
		body = v.rewrite(body)
	}
	c := reflect.New(reflect.TypeOf(v.command)).Elem()
	for field, value := range c.Fields() {
		if isTarget(field) {
			value.SetString(target)
		}
	}
	if err := city.DecodeBody(body, c.Addr().Interface()); err != nil {
		return nil, err
	}
	out := c.Interface().(city.Command)
	if v.check != nil {
		if err := v.check(out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// nudge is the body of a request to nudge an agent.
type nudge struct {
	city.Nudge
	Message string `json:"message"` // another name for text
}

// renameMessage renames the field message to text. Gas City's clients use message.
func renameMessage(body []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil || fields["message"] == nil || fields["text"] != nil {
		return body
	}
	fields["text"] = fields["message"]
	delete(fields, "message")
	renamed, err := json.Marshal(fields)
	if err != nil {
		return body
	}
	return renamed
}

func invalid(format string, args ...any) error {
	return city.Errorf(city.Invalid, format, args...)
}
