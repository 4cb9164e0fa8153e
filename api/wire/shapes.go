package wire

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gcity/api/gascity"
	"gcity/city"
	"gcity/internal/suggest"
)

// ErrorOf converts an error to one that can be sent.
func ErrorOf(err error) *city.Error {
	if e, ok := errors.AsType[*city.Error](err); ok {
		if e.Error() == err.Error() {
			return e
		}
		return &city.Error{Code: e.Code, Message: err.Error(), Details: e.Details}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return city.Errorf(city.Unavailable, "the request timed out: try again")
	}
	return city.Errorf(city.Unavailable, "%v", err)
}

// Invalid returns an error with the code Invalid.
func Invalid(format string, args ...any) error {
	return city.Errorf(city.Invalid, format, args...)
}

// Agent is an agent in responses.
type Agent struct {
	city.Agent
	Usage *city.Usage `json:"usage,omitempty"` // always nil; hides the embedded agent's field
	CPU   *float64    `json:"cpu"`             // percent of one processor; null = not measured
	RSS   *int64      `json:"rss"`             // in bytes; null = not measured
	Procs int         `json:"procs,omitempty"`

	ActiveBead string `json:"active_bead,omitempty"` // ID of the work that the agent is doing
}

// AgentOf converts an agent to the form that responses use.
func AgentOf(a city.Agent) Agent {
	out := Agent{Agent: a}
	out.ActiveBead, _, _ = strings.Cut(a.Task, " ")
	if u := a.Usage; u != nil {
		out.CPU, out.RSS, out.Procs = &u.CPU, &u.RSS, u.Procs
	}
	return out
}

// Cities is the response to a request for the list of cities.
type Cities struct {
	gascity.List[city.Info]
	Running  int      `json:"running"`
	Troubles []string `json:"troubles,omitempty"` // the supervisor's own problems
}

// ConfigText is a configuration, or a part of one, as text for users.
type ConfigText struct {
	Revision string `json:"revision"` // revision of the active configuration
	Format   string `json:"format"`   // "toml", "text"
	Text     string `json:"text"`     // with *** in place of secrets
}

// Registration is the body of a registration request.
type Registration struct {
	Path string `json:"path"` // absolute path of the city's folder
}

// Find returns the city with this name, or nil.
func Find(all []city.Info, name string) *city.Info {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}

// UnknownCity returns the error for a name that no city has.
func UnknownCity(name string, all []city.Info) error {
	return city.Missing(suggest.NotFound(suggest.City, name, PlainNames(all)))
}

const namedAtMost = 20

// NamesOf lists the names of the cities as text, up to namedAtMost of them.
func NamesOf(all []city.Info) string {
	names := PlainNames(all)
	if n := len(names); n > namedAtMost {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:namedAtMost], ", "), n-namedAtMost)
	}
	return strings.Join(names, ", ")
}

// PlainNames returns the names of all cities.
func PlainNames(all []city.Info) []string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names
}

// StatusView is the value of the parameter view that selects a brief snapshot.
const StatusView = "status"

// A complete or failed stream ends with one of these events, which never appear in the log. A stream that ends without
// one was cut off and can be resumed.
const (
	EventEnd   = "!end"   // the stream is complete
	EventError = "!error" // an error ended the stream; the data is a city.Error
)

// MaxLines is the maximum number of items on a page, and of output lines in a response.
const MaxLines = 10000

// Everything is the value of ?limit= that requests the whole list.
const Everything = "all"

// IdleTimeout is how long a connection without requests stays open.
const IdleTimeout = time.Minute
