// Package city defines the interface to a running city. The controller implements it within its process, and the API's
// client implements it over the city's socket. The control room, the command line and the API depend only on this
// package.
package city

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"gcity/beads"
	"gcity/events"
	"gcity/internal/suggest"
)

// Control gives access to a city. All methods are safe for concurrent use.
type Control interface {
	// Snapshot returns the current, immutable state of the city. It may wait for the controller's loop, but at most
	// half a second.
	Snapshot(ctx context.Context) (*Snapshot, error)
	// Snapshots yields the current snapshot, and a new one after each change. A slow reader misses snapshots in
	// between. The sequence ends when ctx ends, or with an error when the controller exits.
	Snapshots(ctx context.Context) iter.Seq2[*Snapshot, error]
	// Inspect returns details of one agent that are not in a snapshot, without secrets.
	Inspect(ctx context.Context, agent string) (*Inspection, error)
	// Output returns an agent's last lines without control sequences. lines <= 0 selects the current screen.
	Output(ctx context.Context, agent string, lines int) (string, error)
	// History returns a page of events.
	History(ctx context.Context, q events.Query) ([]events.Event, error)
	// Events yields all events after a sequence number, first from the log and then live, until ctx ends.
	Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error]
	// Beads lists work, newest first.
	Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error)
	// Watch yields an agent's raw terminal output (L12).
	Watch(ctx context.Context, agent string) iter.Seq2[Frame, error]
	// RunOutput yields the stored output of a run, at most 64 KiB, and then new output. The sequence ends without an
	// error when the run ends. A slow reader misses output. The error for an unknown run is NotFound.
	RunOutput(ctx context.Context, run string) iter.Seq2[Piece, error]
	// Attach opens an agent's terminal.
	Attach(ctx context.Context, agent string, v Viewer) (Terminal, error)
	// Do executes a command and returns when it is done. Errors are *Error. A Fire command is done when its run has
	// started; if ctx ends earlier, the run is canceled.
	Do(ctx context.Context, c Command) (Receipt, error)
}

// Frame is a piece of a terminal's output. For the fields, see session.Frame.
type Frame struct {
	Reset   bool   `json:"reset,omitempty"`
	Cols    int    `json:"cols,omitempty"`
	Rows    int    `json:"rows,omitempty"`
	Data    []byte `json:"data"`
	Dropped uint64 `json:"dropped,omitempty"`
}

// Piece is a part of a run's output. It contains only whole characters.
type Piece struct {
	Text string `json:"text"` // contains only printable text and line ends (L12)
	// number of bytes missing before Text; if not 0, Text starts on a new line
	Dropped int64 `json:"dropped,omitempty"`
}

// Viewer is the user's terminal, to which an agent's terminal is attached.
type Viewer struct {
	Cols, Rows int
	// Raw requests all bytes. Without it, sequences that do more than draw are dropped.
	Raw bool
}

// Terminal is an attached terminal. Read returns io.EOF after the session has ended.
type Terminal interface {
	io.ReadWriteCloser
	Resize(cols, rows int) error
}

// Receipt is the result of a command.
type Receipt struct {
	Seq     uint64 `json:"seq,omitempty"` // event that records the command; 0 = none
	Message string `json:"message"`       // for users: "restarted worker, pid 4711"

	Bead *beads.Bead `json:"bead,omitempty"` // the bead that was created or changed
	Send *Send       `json:"send,omitempty"` // how far a nudge has got
}

// Code classifies an Error. The API passes it on unchanged.
type Code string

const (
	NotFound    Code = "not_found"
	Conflict    Code = "conflict"
	Invalid     Code = "invalid"
	Unavailable Code = "unavailable"
	Forbidden   Code = "forbidden"
	Unsupported Code = "unsupported"

	// CityRequired means that there are several cities, and the request names none of them.
	CityRequired Code = "city_required"
)

// Codes lists all codes.
var Codes = [...]Code{NotFound, Conflict, Invalid, Unavailable, Forbidden, Unsupported,
	CityRequired}

// ConfigRefused is the value of Error.Details if the configuration on disk is invalid.
const ConfigRefused = "config_refused"

// ConfigUntrusted is the value of Error.Details if the user does not trust the configuration on disk yet.
const ConfigUntrusted = "config_untrusted"

// Ended is the value of Error.Details if the controller has exited.
const Ended = "controller_ended"

// Missing returns the error for a name that does not exist.
func Missing(m *suggest.Missing) *Error { return Errorf(NotFound, "%v", m) }

// Error contains the reason why a command was rejected or failed, as a message for users.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"` // what failed, why, and what to do
	Details any    `json:"details,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// HasCode reports whether an error is an Error with this code.
func HasCode(err error, code Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}

// Errorf returns an Error without details.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// NotRunning means that no process is listening on the socket.
type NotRunning struct {
	Program string // "controller" or "supervisor"
	Socket  string
}

// Reason returns the error without the path of the socket.
func (e *NotRunning) Reason() string { return "no " + e.Program + " is running" }

func (e *NotRunning) Error() string { return e.Reason() + ": no response on " + e.Socket }

func (e *NotRunning) Unwrap() error { return Errorf(Unavailable, "%v", e) }

// Listener is the state of the city's TCP listener.
type Listener struct {
	Address string // "127.0.0.1:8080"; "" = not listening
	// TokenFile is the file with the token that requests must contain; "" = no token is needed.
	TokenFile string
	// why the listener is closed or rejects some clients; "" = no problem
	Problem string
}
