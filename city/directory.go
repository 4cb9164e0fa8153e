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

// Directory is the cities of a machine. All methods may be called from several goroutines.
type Directory interface {
	// Cities lists all that are registered, whether they run or not, in the order of their names. It never waits
	// for a city.
	Cities(ctx context.Context) ([]Info, error)
	// Watch yields what Cities gives, at once and whenever that has changed; a slow reader misses intermediate
	// lists. It ends with ctx, or with an error when the directory is gone.
	Watch(ctx context.Context) iter.Seq2[[]Info, error]
	// City is one of them, by its name: an *Error NotFound if none is called so. What it gives stays good when the
	// city is stopped and started again; of one that does not run its methods fail with *Error Unavailable, saying
	// why.
	City(name string) (Control, error)
}

// ErrNobody is what Watch fails with where nobody keeps a list, and somebody may yet come who does.
var ErrNobody = errors.New("no supervisor runs")

// Keeper is a Directory that is kept by one process, and can tell of that.
type Keeper interface {
	// Began is when it began.
	Began() time.Time
	// Troubles are what is wrong with the process and its files, and no city's affair. It waits for nothing.
	Troubles() []string
}

// Registrar is a Directory that can be told of cities.
type Registrar interface {
	// Register adds the city in a folder, absolute, under the name that its configuration gives it, and has it run.
	// One that is registered already is no error; a name that another folder has is an *Error Conflict that says
	// which.
	Register(ctx context.Context, path string) (Info, error)
	// Unregister stops the city of a name, with its agents, and forgets it. NotFound if there is none.
	Unregister(ctx context.Context, name string) (Receipt, error)
}

// Surveyor is a Registrar that can say what a folder would be registered as, before that is done.
type Surveyor interface {
	// Survey reads the configuration of the city in a folder, absolute, and changes nothing. Errors are those of
	// Register.
	Survey(ctx context.Context, path string) (Declared, error)
}

// Declared is what a city's configuration says of it.
type Declared struct {
	Name   string
	Path   string // absolute, no links in it
	Agents int    // that it may have at once at most, the members of its pools counted
}

// Condition is how a registered city is.
type Condition string

const (
	CityStarting Condition = "starting" // put together, or ending what the one before left
	CityRunning  Condition = "running"
	CityPaused   Condition = "suspended" // it runs, and is told to do nothing
	CityStopping Condition = "stopping"
	CityCrashed  Condition = "crashed" // its loop broke; its agents run on; tried again at Until
	// it cannot be opened: its configuration, its folder, another controller; tried again at Until
	CityRefused Condition = "refused"
	CityStopped Condition = "stopped" // nobody runs it
)

// Info is a registered city in a list. JSON shape: the API's.
type Info struct {
	Name    string    `json:"name"`
	Path    string    `json:"path"` // absolute, no links in it
	Running bool      `json:"running"`
	Status  Condition `json:"status"`
	// why it does not run, or what is wrong with it, and the next step
	Error   string     `json:"error,omitempty"`
	Since   time.Time  `json:"since,omitzero"`  // of the status
	Until   *time.Time `json:"until,omitempty"` // when it is tried again
	Crashes int        `json:"crashes,omitempty"`
	// sessions of an earlier run that live on, although nobody runs the city
	Left int `json:"left,omitempty"`
}

// Same tells whether two lists would say the same of a city.
func (i Info) Same(j Info) bool {
	if (i.Until == nil) != (j.Until == nil) || i.Until != nil && !i.Until.Equal(*j.Until) {
		return false
	}
	i.Until, j.Until = nil, nil
	return i == j
}

// Tagged is an event and the city that it is of. JSON: the event's, with "city".
type Tagged struct {
	City string `json:"city"`
	events.Event
}

// Cursor is how far the streams of several cities have been read: each city's newest seq by its name. A city that
// is not in it is read from its end, one with 0 from its beginning.
type Cursor map[string]uint64

// String gives "cityA:5,cityB:12", in the order of the names: the id of an event of the merged stream.
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

// ParseCursor reads what Cursor.String gives; "" is an empty one. Errors are *Error Invalid.
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
			return nil, &Error{Code: Invalid, Message: "that is no cursor over cities: " +
				"cityA:5,cityB:12 is one, each city once"}
		}
		c[name] = seq
	}
	return c, nil
}
