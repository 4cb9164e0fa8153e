// Package city defines the interface to a running city. The controller implements it in process, and the API's
// client implements it over the city's socket. The control room, the command line and the API depend only on this
// package.
package city

import (
	"context"
	"io"
	"iter"

	"gcity/beads"
	"gcity/events"
	"gcity/internal/suggest"
)

// Control is a running city. All methods may be called concurrently.
type Control interface {
	// Snapshot returns the current state of the city, which is immutable. It does not wait for the loop.
	Snapshot(ctx context.Context) (*Snapshot, error)
	// Snapshots yields the current snapshot, then a new one after each change. A slow reader misses intermediate
	// snapshots. The sequence ends when ctx ends, or with an error when the controller has exited.
	Snapshots(ctx context.Context) iter.Seq2[*Snapshot, error]
	// Inspect returns details of one agent that are not in a snapshot: its spec, its environment without secrets, its
	// drift by field, and its crashes. It queries the sessions and the event log on each call.
	Inspect(ctx context.Context, agent string) (*Inspection, error)
	// Output returns an agent's last lines as plain text without control sequences. If lines <= 0, it returns the
	// current screen.
	Output(ctx context.Context, agent string, lines int) (string, error)
	// History returns a page of events.
	History(ctx context.Context, q events.Query) ([]events.Event, error)
	// Events yields all events after a sequence number: first history, then live events, until ctx ends.
	Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error]
	// Beads lists work, newest first.
	Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error)
	// Watch yields an agent's raw terminal output. The reader must interpret it (law L12).
	Watch(ctx context.Context, agent string) iter.Seq2[Frame, error]
	// RunOutput yields the output of a run. It first yields the stored output, which may be empty and has at most 64
	// KiB. It then yields new output, at most a few pieces per second. The sequence ends without an error when the run
	// has ended. For a run that has already ended, RunOutput yields the output in the record, or more if more is still
	// available. A slow reader misses some output and delays nothing. If the run is unknown, or the bead is not a run,
	// the error is NotFound.
	RunOutput(ctx context.Context, run string) iter.Seq2[Piece, error]
	// Attach opens an agent's terminal. The output of the program in it is filtered; see Viewer.
	Attach(ctx context.Context, agent string, v Viewer) (Terminal, error)
	// Do executes a command and returns when it is done, not when it is accepted. Errors are *Error. A Fire is done
	// when its run has started. The run may wait for a free slot first; if ctx ends before the start, the run is
	// canceled.
	Do(ctx context.Context, c Command) (Receipt, error)
}

// Frame is a piece of a terminal's output; see session.Frame for the meaning of each field.
type Frame struct {
	Reset   bool   `json:"reset,omitempty"`
	Cols    int    `json:"cols,omitempty"`
	Rows    int    `json:"rows,omitempty"`
	Data    []byte `json:"data"`
	Dropped uint64 `json:"dropped,omitempty"`
}

// Piece is a part of a run's output. Together the pieces contain only complete characters. A piece may end within a
// line.
type Piece struct {
	Text string `json:"text"` // printable text and line ends only (law L12)
	// number of omitted bytes before Text; if it is not 0, Text starts on a new line
	Dropped int64 `json:"dropped,omitempty"`
}

// Viewer is the user's terminal to which an agent's terminal is attached.
type Viewer struct {
	Cols, Rows int
	// Raw requests every byte. Otherwise sequences that do more than draw, such as clipboard writes, are dropped
	// unless [session] passthrough allows them.
	Raw bool
}

// Terminal is an attached terminal. Read returns io.EOF when the session has ended.
type Terminal interface {
	io.ReadWriteCloser
	Resize(cols, rows int) error
}

// Receipt is the result of a command.
type Receipt struct {
	Seq     uint64 `json:"seq,omitempty"` // the event that records the command; 0 = none
	Message string `json:"message"`       // for users: "restarted worker, pid 4711"

	Bead *beads.Bead `json:"bead,omitempty"` // the bead that was created or changed
	Send *Send       `json:"send,omitempty"` // the progress of a nudge
}

// Code classifies an Error. The API sends it unchanged.
type Code string

const (
	NotFound    Code = "not_found"
	Conflict    Code = "conflict"
	Invalid     Code = "invalid"
	Unavailable Code = "unavailable"
	Forbidden   Code = "forbidden"
	// this implementation of Control does not support the operation
	Unsupported Code = "unsupported"

	// CityRequired means that there are several cities and the request does not name one.
	CityRequired Code = "city_required"
)

// ConfigRefused is the value of Error.Details if the configuration on disk is invalid.
const ConfigRefused = "config_refused"

// Ended is the value of Error.Details if the controller has exited.
const Ended = "controller_ended"

// Missing returns the error for a name that does not exist.
func Missing(m *suggest.Missing) *Error { return &Error{Code: NotFound, Message: m.Error()} }

// Error is a rejection or failure with a message for users.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"` // what failed, why, and the next step
	Details any    `json:"details,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Listener is the state of the city's TCP listener.
type Listener struct {
	Address string // "127.0.0.1:8080"; "" = not listening
	// TokenFile is the file with the token that requests need; "" = no token is needed.
	TokenFile string
	// why the city does not listen or, if it listens, which clients it rejects; with the next step; "" = no problem
	Problem string
}
