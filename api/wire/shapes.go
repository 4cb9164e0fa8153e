package wire

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gcity/city"
)

// List is the envelope of every list.
type List[T any] struct {
	Items []T    `json:"items"` // never null
	Total int    `json:"total"`
	Next  string `json:"next_cursor,omitempty"`
}

func ListOf[T any](items []T) List[T] {
	if items == nil {
		items = []T{}
	}
	return List[T]{Items: items, Total: len(items)}
}

// ErrorOf makes any error one that can travel.
func ErrorOf(err error) *city.Error {
	if e, ok := errors.AsType[*city.Error](err); ok {
		if e.Error() == err.Error() {
			return e
		}
		return &city.Error{Code: e.Code, Message: err.Error(), Details: e.Details}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &city.Error{Code: city.Unavailable, Message: "no answer in time; try again"}
	}
	return &city.Error{Code: city.Unavailable, Message: err.Error()}
}

func Invalid(format string, args ...any) error {
	return &city.Error{Code: city.Invalid, Message: fmt.Sprintf(format, args...)}
}

// Agent is an agent as lists and single answers give it: what a snapshot says of it, its use of the machine flattened.
type Agent struct {
	city.Agent
	Usage *city.Usage `json:"usage,omitempty"` // always nil: it hides that of the snapshot
	CPU   *float64    `json:"cpu"`             // of one processor, in percent; null = not measured
	RSS   *int64      `json:"rss"`             // bytes; null = not measured
	Procs int         `json:"procs,omitempty"` // processes

	ActiveBead string `json:"active_bead,omitempty"` // the id of task
}

// AgentOf gives an agent the shape that it has in answers.
func AgentOf(a city.Agent) Agent {
	out := Agent{Agent: a}
	out.ActiveBead, _, _ = strings.Cut(a.Task, " ")
	if u := a.Usage; u != nil {
		out.CPU, out.RSS, out.Procs = &u.CPU, &u.RSS, u.Procs
	}
	return out
}

// Cities is a list of cities.
type Cities struct {
	List[city.Info]
	Running  int      `json:"running"`
	Troubles []string `json:"troubles,omitempty"` // of whoever runs them all
}

// ConfigText is a configuration, or a part of it, for people.
type ConfigText struct {
	Revision string `json:"revision"` // that is in force
	Format   string `json:"format"`   // "toml", "text"
	Text     string `json:"text"`     // secrets show as ***
}

// Enrolment is the body of a registration.
type Enrolment struct {
	Path string `json:"path"` // of the city's folder, absolute
}

func Find(all []city.Info, name string) *city.Info {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}

func UnknownCity(name string, all []city.Info) error {
	here := "there is none here"
	if len(all) > 0 {
		here = "here are " + NamesOf(all)
	}
	return &city.Error{Code: city.NotFound, Message: fmt.Sprintf("no city %s: %s; `gcity "+
		"register DIR` adds one", name, here)}
}

// namedAtMost is how many cities an error names.
const namedAtMost = 20

func NamesOf(all []city.Info) string {
	names := PlainNames(all)
	if n := len(names); n > namedAtMost {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:namedAtMost], ", "), n-namedAtMost)
	}
	return strings.Join(names, ", ")
}

func PlainNames(all []city.Info) []string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names
}

// StatusView is the view of a snapshot that Brief makes.
const StatusView = "status"

// What streams say besides their items; no event of a log has a type that begins like this. A stream that breaks off
// without one of these was cut and can be resumed.
const (
	EventEnd   = "!end"   // there is no more
	EventError = "!error" // why there is no more: a city.Error
)

// MaxLines bounds the items of a page, and the lines of an output.
const MaxLines = 10000

// Everything is the limit of a list that has none.
const Everything = "all"

// IdleTimeout is how long a connection without a request is kept.
const IdleTimeout = time.Minute
