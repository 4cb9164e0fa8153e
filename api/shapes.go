package api

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gcity/city"
)

// list is the envelope of every list.
type list[T any] struct {
	Items []T    `json:"items"` // never null
	Total int    `json:"total"`
	Next  string `json:"next_cursor,omitempty"`
}

func listOf[T any](items []T) list[T] {
	if items == nil {
		items = []T{}
	}
	return list[T]{Items: items, Total: len(items)}
}

// asError makes any error one that can travel.
func asError(err error) *city.Error {
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

func invalid(format string, args ...any) error {
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

// citiesAnswer is a list of cities.
type citiesAnswer struct {
	list[city.Info]
	Running  int      `json:"running"`
	Troubles []string `json:"troubles,omitempty"` // of whoever runs them all
}

// configText is a configuration, or a part of it, for people.
type configText struct {
	Revision string `json:"revision"` // that is in force
	Format   string `json:"format"`   // "toml", "text"
	Text     string `json:"text"`     // secrets show as ***
}

// enrolment is the body of a registration.
type enrolment struct {
	Path string `json:"path"` // of the city's folder, absolute
}

func find(all []city.Info, name string) *city.Info {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}

func unknownCity(name string, all []city.Info) error {
	here := "there is none here"
	if len(all) > 0 {
		here = "here are " + namesOf(all)
	}
	return &city.Error{Code: city.NotFound, Message: fmt.Sprintf("no city %s: %s; `gcity "+
		"register DIR` adds one", name, here)}
}

// namedAtMost is how many cities an error names.
const namedAtMost = 20

func namesOf(all []city.Info) string {
	names := plainNames(all)
	if n := len(names); n > namedAtMost {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:namedAtMost], ", "), n-namedAtMost)
	}
	return strings.Join(names, ", ")
}

func plainNames(all []city.Info) []string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names
}

// statusView is the view of a snapshot that Brief makes.
const statusView = "status"

// What streams say besides their items; no event of a log has a type that begins like this. A stream that breaks off
// without one of these was cut and can be resumed.
const (
	eventEnd   = "!end"   // there is no more
	eventError = "!error" // why there is no more: a city.Error
)

// maxLines bounds the items of a page, and the lines of an output.
const maxLines = 10000

// everything is the limit of a list that has none.
const everything = "all"
