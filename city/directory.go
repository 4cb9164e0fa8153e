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

// CountRunning returns the number of running cities.
func CountRunning(all []Info) (n int) {
	for i := range all {
		if all[i].Running {
			n++
		}
	}
	return n
}

// Directory is the list of the cities on a machine. All methods are safe for concurrent use.
type Directory interface {
	// Cities lists all registered cities by name. It waits less than a second for cities that do not respond.
	Cities(ctx context.Context) ([]Info, error)
	// Watch yields the result of Cities, immediately and after each change. A slow reader misses lists in between. The
	// sequence ends when ctx ends, or with an error when the directory becomes unavailable.
	Watch(ctx context.Context) iter.Seq2[[]Info, error]
	// City returns the city with this name. It fails with code NotFound for an unknown name. The result stays valid
	// across restarts. Its methods fail with code Unavailable while the city is not running.
	City(name string) (Control, error)
}

// ErrNoSupervisor is the error from Watch if no process maintains the list of cities.
var ErrNoSupervisor = errors.New("no supervisor is running")

// Starter is a Directory that can start cities. It also lists cities that no supervisor manages.
type Starter interface {
	// Supervised reports whether a supervisor maintains the list.
	Supervised() bool
	// Start starts a city that has no controller. It returns once the city is running.
	Start(ctx context.Context, name string) error
}

// Refresher is a Directory that polls. Refresh makes Watch read the list immediately. It does not wait for the result.
type Refresher interface {
	Refresh()
}

// SupervisorStatus is a Directory that reports the status of the process that maintains it.
type SupervisorStatus interface {
	// StartedAt returns the start time of the process.
	StartedAt() time.Time
	// Problems describes the process's own problems, not those of cities. It does not block.
	Problems() []string
}

// Registrar is a Directory that cities can be added to.
type Registrar interface {
	// Register adds the city in a folder and starts it. path must be absolute. Registering a city twice is not an
	// error. If a city in another folder has the same name, the error is an *Error with code Conflict.
	Register(ctx context.Context, path string) (Info, error)
	// Unregister stops a city and its agents and removes it from the list. For an unknown name, the error has code
	// NotFound.
	Unregister(ctx context.Context, name string) (Receipt, error)
}

// Previewer is a Registrar that can preview what Register would do.
type Previewer interface {
	// Preview only reads the city's configuration. path must be absolute. The errors are those of Register.
	Preview(ctx context.Context, path string) (Declared, error)
}

// Declared is a city's name, path and size according to its configuration.
type Declared struct {
	Name   string
	Path   string // absolute, without symbolic links
	Agents int    // maximum number of agents at a time, including pool members
}

// Condition is the state of a registered city.
type Condition string

const (
	// starting, or stopping sessions that are left from an earlier run
	CityStarting  Condition = "starting"
	CityRunning   Condition = "running"
	CitySuspended Condition = "suspended"
	CityStopping  Condition = "stopping"
	// the controller crashed, but its agents keep running; the next attempt is at Until
	CityCrashed Condition = "crashed"
	// cannot start; next attempt at Until
	CityRefused Condition = "refused"
	CityStopped Condition = "stopped"
)

// Cause classifies the error of a city. It is "" for errors that clients need not distinguish.
type Cause string

const (
	RunsElsewhere Cause = "runs-elsewhere" // another process runs the city
	Unresponsive  Cause = "unresponsive"   // the city's controller or folder does not respond
)

// Info is a registered city.
type Info struct {
	Name    string    `json:"name"`
	Path    string    `json:"path"` // absolute, without symbolic links
	Running bool      `json:"running"`
	Status  Condition `json:"status"`
	// why the city is not running, or another problem
	Error string     `json:"error,omitempty"`
	Cause Cause      `json:"cause,omitempty"` // of Error; older supervisors do not send it
	Since time.Time  `json:"since,omitzero"`  // when the city reached this status
	Until *time.Time `json:"until,omitempty"` // when the next attempt is due
	// the controller's mode; "" = not running, or supervised; "unknown" = does not respond
	Mode    string `json:"mode,omitempty"`
	PID     int    `json:"pid,omitempty"` // 0 = unknown
	Crashes int    `json:"crashes,omitempty"`
	// sessions from an earlier run that are still running
	LeftoverSessions int `json:"left,omitempty"`
}

// Same reports whether two values are equal. Times may differ in their time zones. Until is compared by the wall clock,
// so that Watch also reports a correction after the clock was set.
func (i Info) Same(j Info) bool {
	if !i.Since.Equal(j.Since) || (i.Until == nil) != (j.Until == nil) ||
		i.Until != nil && !i.Until.Round(0).Equal(j.Until.Round(0)) {
		return false
	}
	i.Since, j.Since = time.Time{}, time.Time{}
	i.Until, j.Until = nil, nil
	return i == j
}

// Tagged is an event with the name of its city.
type Tagged struct {
	City string `json:"city"`
	events.Event
}

// Cursor is a position in the streams of several cities: for each city, by name, the seq of the last event that was
// read. A city without an entry is read from the end of its log, and a city with seq 0 from the start.
type Cursor map[string]uint64

// String returns "cityA:5,cityB:12", sorted by name.
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

// ParseCursor parses what Cursor.String returns. For "" it returns an empty cursor. Errors are *Error with code
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
			return nil, Errorf(Invalid, "invalid cursor: use the form "+
				"cityA:5,cityB:12, and name each city only once")
		}
		c[name] = seq
	}
	return c, nil
}
