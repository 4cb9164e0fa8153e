package wire

import (
	"encoding/json"
	"time"
)

// Op is the operation of a request.
type Op string

// The operations. The comment on each lists its Request fields and its response.
const (
	// request: Look; response: a State; later, the holder pushes exits and accepts starts
	OpHold      Op = "hold"
	OpStart     Op = "start"     // request: Spec, Ready, Plain; response: a State
	OpStop      Op = "stop"      // request: Grace
	OpInterrupt Op = "interrupt" // no fields
	OpSend      Op = "send"      // request: Text, Wait, Quiet
	OpKeys      Op = "keys"      // request: Keys, Wait
	OpOutput    Op = "output"    // request: Tail; response: a Screen, then Output
	OpCapture   Op = "capture"   // request: ID; response: the bytes
	OpClear     Op = "clear"     // no fields
	OpSetMeta   Op = "set-meta"  // request: Key, Value
	OpMeta      Op = "meta"      // request: Key; response: the value
	OpAck       Op = "ack"       // request: ID; response: "leaves" if the exit was requested
	OpAttach    Op = "attach"    // request: Cols, Rows; response: Reset, Output, Live, Output …
	OpWatch     Op = "watch"     // like OpAttach, without input
)

// Request is a request to a holder. Only the fields listed for its Op are set.
type Request struct {
	Op   Op    `json:"op"`
	Spec *Spec `json:"spec,omitempty"`
	// the connection does not keep the holder alive
	Look  bool `json:"look,omitempty"`
	Plain bool `json:"plain,omitempty"` // the agent gets pipes instead of a terminal
	// the agent counts as ready as soon as it starts
	Ready bool          `json:"ready,omitempty"`
	Grace time.Duration `json:"grace,omitempty"`
	// how long to wait for the terminal to accept the input
	Wait time.Duration `json:"wait,omitempty"`
	Text string        `json:"text,omitempty"`
	// if > 0, OpSend fails with Busy while a draft is on the line, or if a viewer has typed within this duration
	Quiet time.Duration `json:"quiet,omitempty"`
	Keys  []string      `json:"keys,omitempty"`
	Key   string        `json:"key,omitempty"`
	Value string        `json:"value,omitempty"`
	ID    string        `json:"id,omitempty"`
	Cols  int           `json:"cols,omitempty"`
	Rows  int           `json:"rows,omitempty"`

	// how many bytes at the end of the output are enough; 0 for all; older holders send everything
	Tail int `json:"tail,omitempty"`
}

// Spec is the part of a session.Spec that a holder needs, with the same JSON names.
type Spec struct {
	Name    string `json:"name"`
	Agent   string `json:"agent"`
	City    string `json:"city"`
	ID      string `json:"id"`
	Command string `json:"command"`
	// program to execute with Args; if "", a shell runs Command
	Path string   `json:"path,omitempty"`
	Args []string `json:"args,omitempty"`
	Dir  string   `json:"dir"`
	Env  []string `json:"env"`
	Cols int      `json:"cols"`
	Rows int      `json:"rows"`
	// number of the signal that asks the agent to exit; 0 for SIGINT
	StopSignal int `json:"stop_signal,omitempty"`
	// kept for the controller; the holder does not interpret it
	Fingerprint json.RawMessage `json:"fingerprint,omitempty"`
}

// Exit has the same fields as session.Exit, so that one can be converted to the other.
type Exit struct {
	Name   string        `json:"name"`
	Agent  string        `json:"agent"`
	ID     string        `json:"id"`
	Code   int           `json:"code"`
	Signal string        `json:"signal,omitempty"`
	Reason string        `json:"reason,omitempty"` // holders never set it
	Lost   bool          `json:"lost,omitempty"`
	Asked  bool          `json:"asked,omitempty"`
	At     time.Time     `json:"at"`
	Uptime time.Duration `json:"uptime"`
}

// Cause classifies a Failure. The client returns the corresponding error of package session.
type Cause string

const (
	NotAlive Cause = "not_alive"
	Exists   Cause = "exists"
	Rejected Cause = "refused"
	Command  Cause = "command"
	Held     Cause = "held" // another process holds the session's lock
	Busy     Cause = "busy" // a user is typing, or another text is being typed
	// the machine has run out of disk space, terminals or processes
	Exhausted Cause = "exhausted"
	Other     Cause = ""
)

// Failure is the response to a failed request.
type Failure struct {
	Cause   Cause  `json:"cause,omitempty"`
	Message string `json:"message"`
}

func (f *Failure) Error() string { return f.Message }

// Screen is the size of a terminal, and the number of bytes of its output that were dropped.
type Screen struct {
	Cols    int    `json:"cols"`
	Rows    int    `json:"rows"`
	Dropped uint64 `json:"dropped,omitempty"`
	// only the end of the retained output follows: see Request.Tail
	Tail bool `json:"tail,omitempty"`
}

// Record identifies a session. If the holder dies, the controller finds the session's processes with the record.
type Record struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
	Agent   string `json:"agent"`
	City    string `json:"city"`
	ID      string `json:"id"`
	Command string `json:"command"`
	Boot    string `json:"boot"`
	Holder  int    `json:"holder"` // PID of the holder
	// the holder's start time, in clock ticks since boot
	HolderStart uint64 `json:"holder_start"`
	// the session's start time, in CLOCK_MONOTONIC nanoseconds
	Born        int64           `json:"born"`
	Fingerprint json.RawMessage `json:"fingerprint,omitempty"`
}

// State is what a holder reports about its session.
type State struct {
	Record Record `json:"record"`
	PID    int    `json:"pid"`             // PID of the agent
	Exit   *Exit  `json:"exit,omitempty"`  // nil while the session is alive
	Acked  bool   `json:"acked,omitempty"` // the controller has recorded the exit
}

// Names of the files in a session's folder.
const (
	LockFile   = "lock" // the lock, and the session's state: see Location
	SocketFile = "sock"
	ExitFile   = "exit.json"

	// older holders write the Record and the Activity to separate files
	OldRecordFile   = "session.json"
	OldActivityFile = "activity"
)

// NewFile returns the name of the temporary file that is renamed to name.
func NewFile(name string) string { return "." + name + ".new" }

// Files returns the names of the files in a session's folder. The lock comes last, because it protects the others.
func Files() []string {
	return []string{
		SocketFile, OldRecordFile, NewFile(OldRecordFile), OldActivityFile, ExitFile,
		NewFile(ExitFile), LockFile,
	}
}
