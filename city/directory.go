package city

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/events"
)

// Directory is the list of cities on a machine. All methods may be called concurrently.
type Directory interface {
	// Cities lists all registered cities, running or not, sorted by name. It never waits for a city.
	Cities(ctx context.Context) ([]Info, error)
	// Watch yields the result of Cities immediately and after each change. A slow reader misses intermediate lists.
	// The sequence ends when ctx ends, or with an error when the directory is no longer available.
	Watch(ctx context.Context) iter.Seq2[[]Info, error]
	// City returns the city with this name. For an unknown name the error is an *Error NotFound. The result stays valid
	// when the city is stopped and started. While the city is not running, its methods fail with *Error Unavailable and
	// the reason.
	City(name string) (Control, error)
}

// ErrNoSupervisor is the error from Watch if no process maintains the list of cities. A supervisor may start later.
var ErrNoSupervisor = errors.New("no supervisor is running")

// Starter is a Directory that also lists the registered cities while no supervisor is running.
type Starter interface {
	// Supervised reports whether a supervisor maintains the list.
	Supervised() bool
	// Start starts a controller in its own process for a registered city that has none. It returns when the
	// controller responds.
	Start(ctx context.Context, name string) error
}

// SupervisorStatus is a Directory that one process maintains. It also reports the state of that process.
type SupervisorStatus interface {
	// StartedAt returns the start time of the process.
	StartedAt() time.Time
	// Problems returns problems with the process and its files that are not specific to one city. It does not block.
	Problems() []string
}

// Registrar is a Directory to which cities can be added.
type Registrar interface {
	// Register adds the city in a folder and starts it. path is absolute. The name is taken from the city's
	// configuration. Registering a city twice is not an error. If a different folder is registered under this name, the
	// error is an *Error Conflict that names the folder.
	Register(ctx context.Context, path string) (Info, error)
	// Unregister stops a city and its agents and removes the city from the list. For an unknown name the error is
	// NotFound.
	Unregister(ctx context.Context, name string) (Receipt, error)
}

// Previewer is a Registrar that can preview the registration of a folder.
type Previewer interface {
	// Preview reads the configuration of the city in a folder without changing anything. path is absolute. It
	// returns the same errors as Register.
	Preview(ctx context.Context, path string) (Declared, error)
}

// Declared contains the name, path and size of a city according to its configuration.
type Declared struct {
	Name   string
	Path   string // absolute, without symbolic links
	Agents int    // maximum number of agents at a time, including members of pools
}

// Condition is the state of a registered city.
type Condition string

const (
	// the city's parts are being created, or leftovers from an earlier run are being stopped
	CityStarting  Condition = "starting"
	CityRunning   Condition = "running"
	CitySuspended Condition = "suspended" // running, but suspended
	CityStopping  Condition = "stopping"
	// the city's loop crashed, but its agents keep running; the next attempt is at Until
	CityCrashed Condition = "crashed"
	// the city cannot start because of its configuration, its folder or another controller; the next attempt is at
	// Until
	CityRefused Condition = "refused"
	CityStopped Condition = "stopped" // not running
)

// Info is a registered city in a list, in the JSON form of the API.
type Info struct {
	Name    string    `json:"name"`
	Path    string    `json:"path"` // absolute, without symbolic links
	Running bool      `json:"running"`
	Status  Condition `json:"status"`
	// why the city is not running, or another problem, and the next step
	Error   string     `json:"error,omitempty"`
	Since   time.Time  `json:"since,omitzero"`  // start of the status
	Until   *time.Time `json:"until,omitempty"` // time of the next attempt
	Crashes int        `json:"crashes,omitempty"`
	// sessions from an earlier run that are still running, if the city is not running
	LeftoverSessions int `json:"left,omitempty"`
}

// Same reports whether two values are equal. It compares the times in Until, not the pointers.
func (i Info) Same(j Info) bool {
	if (i.Until == nil) != (j.Until == nil) || i.Until != nil && !i.Until.Equal(*j.Until) {
		return false
	}
	i.Until, j.Until = nil, nil
	return i == j
}

// Tagged is an event with the name of its city. Its JSON is that of the event with the additional field "city".
type Tagged struct {
	City string `json:"city"`
	events.Event
}

// Cursor is the position in the streams of several cities: the seq of each city's last read event, by name. A city
// without an entry is read from the end of its log. A city with seq 0 is read from the start.
type Cursor map[string]uint64

// String returns "cityA:5,cityB:12", sorted by name. The string is the ID of an event in the merged stream.
func (c Cursor) String() string {
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(c)) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s:%d", name, c[name])
	}
	return b.String()
}

// ParseCursor parses the result of Cursor.String. For "" it returns an empty cursor. Errors are *Error with the code
// Invalid.
func ParseCursor(s string) (Cursor, error) {
	c := Cursor{}
	if s == "" {
		return c, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		name, number, ok := strings.Cut(part, ":")
		seq, err := strconv.ParseUint(number, 10, 64)
		_, twice := c[name]
		if !ok || name == "" || err != nil || twice {
			return nil, &Error{Code: Invalid, Message: "invalid cursor: use the form " +
				"cityA:5,cityB:12, and name each city only once"}
		}
		c[name] = seq
	}
	return c, nil
}
