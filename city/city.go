// Package city is the contract: everything anyone may ask of a running city. The controller offers it in process, the
// client offers it over the city's socket, and the control room, the command line and the API know nothing else.
package city

import (
	"context"
	"io"
	"iter"

	"gcity/beads"
	"gcity/events"
)

// Control is one running city. All methods may be called from several goroutines.
type Control interface {
	// Snapshot is the city as it is now. It is immutable and never waits for the loop.
	Snapshot(ctx context.Context) (*Snapshot, error)
	// Snapshots yields the current snapshot, then a new one whenever something changed; a slow reader misses
	// intermediate ones. It ends with ctx, or with an error when the city is gone.
	Snapshots(ctx context.Context) iter.Seq2[*Snapshot, error]
	// Inspect says of one agent what a snapshot does not: spec, environment without secrets, drift by field,
	// crashes. It is made when it is asked for, and costs a look at the sessions and at the event log.
	Inspect(ctx context.Context, agent string) (*Inspection, error)
	// Output returns an agent's last lines as cleaned plain text; lines <= 0: its screen.
	Output(ctx context.Context, agent string, lines int) (string, error)
	// History returns a page of events.
	History(ctx context.Context, q events.Query) ([]events.Event, error)
	// Events yields every event after a seq: history, then live, until ctx ends.
	Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error]
	// Beads lists work, newest first.
	Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error)
	// Watch yields an agent's raw terminal output; the reader interprets it (law L12).
	Watch(ctx context.Context, agent string) iter.Seq2[Frame, error]
	// RunOutput yields what a run prints: at once what is kept of it so far, at most 64 KiB and perhaps nothing,
	// then the rest as it comes, some pieces a second at most. It ends without an error when the run has ended; of
	// one that had ended already it yields what the record keeps, or more while that is at hand. A slow reader
	// misses some of it and holds nobody up. A run that is not on record, and a bead that is none, is NotFound.
	RunOutput(ctx context.Context, run string) iter.Seq2[Piece, error]
	// Attach opens an agent's terminal. What its program prints is filtered: see Viewer.
	Attach(ctx context.Context, agent string, v Viewer) (Terminal, error)
	// Do carries a command out and returns when it is done, not when it is accepted. Errors are *Error. A Fire
	// returns when the run is opened, which may wait for a place; it is taken back if ctx ends before.
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

// Piece is some of what a run printed. The texts of all pieces put together are whole characters in lines; those of a
// piece alone may end anywhere between two characters.
type Piece struct {
	Text string `json:"text"` // printable text and line ends only (law L12)
	// bytes before it that are left out; Text is on a new line then
	Dropped int64 `json:"dropped,omitempty"`
}

// Viewer is the terminal that an agent's terminal is attached to.
type Viewer struct {
	Cols, Rows int
	// Raw asks for every byte. Otherwise sequences that do more than draw, for example write the clipboard, are dropped
	// unless [session] passthrough admits them.
	Raw bool
}

// Terminal is an attached terminal. Read returns io.EOF when the session has ended.
type Terminal interface {
	io.ReadWriteCloser
	Resize(cols, rows int) error
}

// Receipt tells how a command ended.
type Receipt struct {
	Seq     uint64 `json:"seq,omitempty"` // the event that proves it; 0 if none was written
	Message string `json:"message"`       // for a person: "restarted worker, pid 4711"

	Bead *beads.Bead `json:"bead,omitempty"` // that was made or changed
	Send *Send       `json:"send,omitempty"` // how far a text has come
}

// Code classes an Error; the API sends it as it stands.
type Code string

const (
	NotFound    Code = "not_found"
	Conflict    Code = "conflict"
	Invalid     Code = "invalid"
	Unavailable Code = "unavailable"
	Forbidden   Code = "forbidden"
	Unsupported Code = "unsupported" // not possible over this interface at all

	// CityRequired says that there are several cities, and that a request names none.
	CityRequired Code = "city_required"
)

// ConfigRefused is the Details of an Error that is there because the configuration on disk is refused.
const ConfigRefused = "config_refused"

// Ended is the Details of an Error that is there because the controller has ended.
const Ended = "controller_ended"

// Error is a refusal or a failure that a person can act on.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"` // what cannot be done, why, and the next step
	Details any    `json:"details,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Door is what has become of the wish that a city answers besides its socket too.
type Door struct {
	Address string // that it listens on: "127.0.0.1:8080"; "" = nowhere
	// TokenFile is the file with the token that requests must bring; "" = none is asked for.
	TokenFile string
	// why it does not, or, with an address, who is not let in; and the next step. "" = it does, or need not
	Problem string
}
