package suggest

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is the name of a kind of object in messages, such as "agent".
type Kind string

const (
	Agent      Kind = "agent"
	Pool       Kind = "pool"
	Rig        Kind = "rig"
	Automation Kind = "automation"
	Watchdog   Kind = "watchdog"
	Bead       Kind = "bead"
	Message    Kind = "message"
	Convoy     Kind = "convoy"
	Run        Kind = "run"
	Formula    Kind = "formula"
	Topology   Kind = "topology"
	City       Kind = "city"
	Theme      Kind = "theme"
	Topic      Kind = "topic"
	Command    Kind = "command"
)

// AnyOf combines several kinds: "agent, pool or rig".
func AnyOf(kinds ...Kind) Kind {
	var text strings.Builder
	for i, k := range kinds {
		switch {
		case i > 0 && i == len(kinds)-1:
			text.WriteString(" or ")
		case i > 0:
			text.WriteString(", ")
		}
		text.WriteString(string(k))
	}
	return Kind(text.String())
}

func (k Kind) list() string {
	switch k {
	case Agent, Pool, Rig, Automation, Watchdog, Bead, Convoy, Formula, Topology:
		return "gcity " + string(k) + " list"
	case Message:
		return "gcity mail inbox"
	case Run:
		return "gcity bead list --type run"
	case City:
		return "gcity cities"
	case Topic:
		return "gcity help"
	case Command:
		return "gcity --help"
	default:
		return "gcity status"
	}
}

func (k Kind) create() string {
	switch first, _, _ := strings.Cut(string(k), ","); Kind(first) {
	case Agent:
		return "add an [[agents]] table to city.toml"
	case Rig:
		return "run `gcity rig add PATH` or add a [[rigs]] table to city.toml"
	case Pool:
		return "add an [agents.pool] table to an agent in city.toml"
	case Automation:
		return "create a file automations/NAME/automation.toml in the formula folder (default " +
			".gc/formulas)"
	case Watchdog:
		return "add a [[watchdogs]] table to city.toml"
	case Formula:
		return "create a file NAME.formula.toml in the formula folder (default .gc/formulas)"
	case Topology:
		return "add a [topologies.NAME] table to city.toml"
	case City:
		return "register one with `gcity register`"
	}
	return ""
}

// Missing is the error for a name that does not exist.
type Missing struct {
	Kind Kind
	Name string
	near string
	next string
	is   error // the sentinel that the error wraps, or nil
}

// NotFound returns the error for a name that is not in names.
func NotFound(k Kind, name string, names []string) *Missing {
	m := NoSuch(k, name)
	names = slices.Clone(names)
	if how := k.create(); len(names) == 0 && how != "" {
		m.next = "none exist yet; " + how
	}
	for _, n := range names { // the user might have omitted the rig's name
		names = append(names, n[strings.LastIndexByte(n, '/')+1:])
	}
	m.near = Nearest(name, names)
	return m
}

// NoSuch is like NotFound for callers without a list of names.
func NoSuch(k Kind, name string) *Missing {
	return &Missing{Kind: k, Name: name, next: "run `" + k.list() + "` to see all"}
}

// Near returns a copy of m that suggests name. If name is "", the copy suggests nothing.
func (m Missing) Near(name string) *Missing {
	m.near = name
	return &m
}

// Then returns a copy of m that suggests a different next step.
func (m Missing) Then(next string) *Missing {
	m.next = next
	return &m
}

// As returns a copy of m that wraps the given sentinel.
func (m Missing) As(sentinel error) *Missing {
	m.is = sentinel
	return &m
}

// Unwrap returns the sentinel.
func (m *Missing) Unwrap() error { return m.is }

func (m *Missing) Error() string {
	text := fmt.Sprintf("%s %.80q not found; ", m.Kind, m.Name)
	if m.near != "" {
		text += fmt.Sprintf("did you mean %q? ", m.near)
		return text + strings.ToUpper(m.next[:1]) + m.next[1:]
	}
	return text + m.next
}
