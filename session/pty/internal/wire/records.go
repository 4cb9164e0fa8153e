package wire

import (
	"encoding/json"
	"time"
)

// Op is the operation of a request.
type Op string

const (
	// Look; answers State; then exits are pushed and starts accepted
	OpHold      Op = "hold"
	OpStart     Op = "start"     // Spec, Ready, Plain; answers State
	OpStop      Op = "stop"      // Grace
	OpInterrupt Op = "interrupt" //
	OpSend      Op = "send"      // Text, Wait, Quiet
	OpKeys      Op = "keys"      // Keys, Wait
	OpOutput    Op = "output"    // Tail; answers Screen, then Output
	OpCapture   Op = "capture"   // ID; answers the bytes
	OpClear     Op = "clear"     //
	OpSetMeta   Op = "set-meta"  // Key, Value
	OpMeta      Op = "meta"      // Key; answers the value
	OpAck       Op = "ack"       // ID; answers whether the holder exits
	OpAttach    Op = "attach"    // Cols, Rows; Reset, Output, Live, Output …
	OpWatch     Op = "watch"     // the same, without typing
)

// Request is one request. Fields that its Op does not list are empty.
type Request struct {
	Op   Op    `json:"op"`
	Spec *Spec `json:"spec,omitempty"`
	// for hold: the holder does not wait for a next life because of this connection
	Look  bool `json:"look,omitempty"`
	Plain bool `json:"plain,omitempty"` // for start: pipes instead of a terminal
	// the agent is ready at once
	Ready bool          `json:"ready,omitempty"`
	Grace time.Duration `json:"grace,omitempty"`
	Wait  time.Duration `json:"wait,omitempty"` // how long the terminal may take to accept input
	Text  string        `json:"text,omitempty"`
	// > 0: fail with Busy while a draft is on the line, or if a viewer has typed within this time; ignored by
	// holders of earlier builds
	Quiet time.Duration `json:"quiet,omitempty"`
	Keys  []string      `json:"keys,omitempty"`
	Key   string        `json:"key,omitempty"`
	Value string        `json:"value,omitempty"`
	ID    string        `json:"id,omitempty"`
	Cols  int           `json:"cols,omitempty"`
	Rows  int           `json:"rows,omitempty"`

	// For output: only the end of the output with at least this many bytes is needed; 0 = all. Holders of earlier
	// builds send all.
	Tail int `json:"tail,omitempty"`
}

// Spec is what a holder needs of a session.Spec, under the same JSON names.
type Spec struct {
	Name    string   `json:"name"`
	Agent   string   `json:"agent"`
	City    string   `json:"city"`
	ID      string   `json:"id"`
	Command string   `json:"command"`
	Path    string   `json:"path,omitempty"` // executed instead of a shell, with Args
	Args    []string `json:"args,omitempty"`
	Dir     string   `json:"dir"`
	Env     []string `json:"env"`
	Cols    int      `json:"cols"`
	Rows    int      `json:"rows"`
	// the number of the signal that asks it to end; 0 = SIGINT
	StopSignal int `json:"stop_signal,omitempty"`
	// kept for the controller, never read by the holder
	Fingerprint json.RawMessage `json:"fingerprint,omitempty"`
}

// Exit has the fields of session.Exit, so that one converts to the other.
type Exit struct {
	Name   string        `json:"name"`
	Agent  string        `json:"agent"`
	ID     string        `json:"id"`
	Code   int           `json:"code"`
	Signal string        `json:"signal,omitempty"`
	Reason string        `json:"reason,omitempty"` // set by no holder
	Lost   bool          `json:"lost,omitempty"`
	Asked  bool          `json:"asked,omitempty"`
	At     time.Time     `json:"at"`
	Uptime time.Duration `json:"uptime"`
}

// Cause classifies a Failure so that the caller can convert it to an error of package session.
type Cause string

const (
	NotAlive Cause = "not_alive"
	Exists   Cause = "exists"
	Refused  Cause = "refused"
	Command  Cause = "command"
	Held     Cause = "held" // the lock of the session is taken
	Busy     Cause = "busy" // a user is typing, or another text is being typed
	Other    Cause = ""
)

// Failure is the answer to a request that could not be carried out.
type Failure struct {
	Cause   Cause  `json:"cause,omitempty"`
	Message string `json:"message"`
}

func (f *Failure) Error() string { return f.Message }

// Screen is the size of a terminal and how much of its output was dropped.
type Screen struct {
	Cols    int    `json:"cols"`
	Rows    int    `json:"rows"`
	Dropped uint64 `json:"dropped,omitempty"`
	Tail    bool   `json:"tail,omitempty"` // only the end of the kept output follows: see Request
}

// Record identifies a session. The holder writes it to its folder before it starts the agent, so that a controller
// that finds a dead holder knows which processes to look for.
type Record struct {
	Version     int             `json:"version"`
	Name        string          `json:"name"`
	Agent       string          `json:"agent"`
	City        string          `json:"city"`
	ID          string          `json:"id"`
	Command     string          `json:"command"`
	Boot        string          `json:"boot"`
	Holder      int             `json:"holder"`       // pid
	HolderStart uint64          `json:"holder_start"` // ticks since boot
	Born        int64           `json:"born"`         // CLOCK_MONOTONIC, nanoseconds
	Fingerprint json.RawMessage `json:"fingerprint,omitempty"`
}

// State is what a holder reports about its session.
type State struct {
	Record Record `json:"record"`
	PID    int    `json:"pid"`             // of the agent
	Exit   *Exit  `json:"exit,omitempty"`  // nil: alive
	Acked  bool   `json:"acked,omitempty"` // the controller has recorded the exit
}

// The files of a session's folder.
const (
	LockFile     = "lock"
	SocketFile   = "sock"
	RecordFile   = "session.json"
	ExitFile     = "exit.json"
	ActivityFile = "activity"
)

// NewFile returns the name under which a file is written before it is renamed.
func NewFile(name string) string { return "." + name + ".new" }

// Files lists the files of a session's folder. The lock comes last because it guards the others.
func Files() []string {
	return []string{
		SocketFile, RecordFile, NewFile(RecordFile), ExitFile, NewFile(ExitFile), ActivityFile,
		LockFile,
	}
}
