package wire

import (
	"encoding/json"
	"time"
)

// Op is the operation of a request.
type Op string

// Operations. The comments name the fields of the Request that an operation uses, and its answer.
const (
	// Look; answers a State; afterwards, exits are pushed and starts are accepted
	OpHold      Op = "hold"
	OpStart     Op = "start"     // Spec, Ready, Plain; answers a State
	OpStop      Op = "stop"      // Grace
	OpInterrupt Op = "interrupt" // no fields
	OpSend      Op = "send"      // Text, Wait, Quiet
	OpKeys      Op = "keys"      // Keys, Wait
	OpOutput    Op = "output"    // Tail; answers a Screen, then Output
	OpCapture   Op = "capture"   // ID; answers the bytes
	OpClear     Op = "clear"     // no fields
	OpSetMeta   Op = "set-meta"  // Key, Value
	OpMeta      Op = "meta"      // Key; answers the value
	OpAck       Op = "ack"       // ID; answers whether the holder exits
	OpAttach    Op = "attach"    // Cols, Rows; Reset, Output, Live, Output …
	OpWatch     Op = "watch"     // like OpAttach, without input
)

// Request is a request to a holder. Fields that are not listed at its Op are empty.
type Request struct {
	Op   Op    `json:"op"`
	Spec *Spec `json:"spec,omitempty"`
	// for hold: the holder does not wait for another life because of this connection
	Look  bool `json:"look,omitempty"`
	Plain bool `json:"plain,omitempty"` // for start: pipes instead of a terminal
	// the agent counts as ready at once
	Ready bool          `json:"ready,omitempty"`
	Grace time.Duration `json:"grace,omitempty"`
	Wait  time.Duration `json:"wait,omitempty"` // how long the terminal may take to accept input
	Text  string        `json:"text,omitempty"`
	// > 0: fail with Busy while a draft is on the line, or if a viewer has typed within this time; holders of
	// earlier builds ignore it
	Quiet time.Duration `json:"quiet,omitempty"`
	Keys  []string      `json:"keys,omitempty"`
	Key   string        `json:"key,omitempty"`
	Value string        `json:"value,omitempty"`
	ID    string        `json:"id,omitempty"`
	Cols  int           `json:"cols,omitempty"`
	Rows  int           `json:"rows,omitempty"`

	// for output: how many bytes at the end are enough; 0 = all; holders of earlier builds always send all
	Tail int `json:"tail,omitempty"`
}

// Spec is the part of a session.Spec that a holder needs, with the same JSON names.
type Spec struct {
	Name    string `json:"name"`
	Agent   string `json:"agent"`
	City    string `json:"city"`
	ID      string `json:"id"`
	Command string `json:"command"`
	// program that is executed with Args; "" = a shell runs Command
	Path string   `json:"path,omitempty"`
	Args []string `json:"args,omitempty"`
	Dir  string   `json:"dir"`
	Env  []string `json:"env"`
	Cols int      `json:"cols"`
	Rows int      `json:"rows"`
	// number of the signal that asks the agent to exit; 0 = SIGINT
	StopSignal int `json:"stop_signal,omitempty"`
	// stored for the controller; the holder does not read it
	Fingerprint json.RawMessage `json:"fingerprint,omitempty"`
}

// Exit has the same fields as session.Exit, so that it can be converted.
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

// Cause classifies a Failure, so that the caller can return an error of package session.
type Cause string

const (
	NotAlive Cause = "not_alive"
	Exists   Cause = "exists"
	Refused  Cause = "refused"
	Command  Cause = "command"
	Held     Cause = "held" // another process holds the lock of the session
	Busy     Cause = "busy" // a user is typing, or another text is being typed
	// the machine has no disk space, terminals or processes left
	Exhausted Cause = "exhausted"
	Other     Cause = ""
)

// Failure is the answer to a request that has failed.
type Failure struct {
	Cause   Cause  `json:"cause,omitempty"`
	Message string `json:"message"`
}

func (f *Failure) Error() string { return f.Message }

// Screen contains the size of a terminal, and how much of its output was dropped.
type Screen struct {
	Cols    int    `json:"cols"`
	Rows    int    `json:"rows"`
	Dropped uint64 `json:"dropped,omitempty"`
	// only the end of the retained output follows: see Request
	Tail bool `json:"tail,omitempty"`
}

// Record identifies a session. The holder writes it to its folder before it starts the agent. If the holder dies,
// the controller finds the session's processes with it.
type Record struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
	Agent   string `json:"agent"`
	City    string `json:"city"`
	ID      string `json:"id"`
	Command string `json:"command"`
	Boot    string `json:"boot"`
	Holder  int    `json:"holder"` // pid of the holder
	// start of the holder, in clock ticks since boot
	HolderStart uint64 `json:"holder_start"`
	// start of the session, in nanoseconds of CLOCK_MONOTONIC
	Born        int64           `json:"born"`
	Fingerprint json.RawMessage `json:"fingerprint,omitempty"`
}

// State is the state of a session, as its holder reports it.
type State struct {
	Record Record `json:"record"`
	PID    int    `json:"pid"`             // pid of the agent
	Exit   *Exit  `json:"exit,omitempty"`  // nil: the session is alive
	Acked  bool   `json:"acked,omitempty"` // the controller has recorded the exit
}

// Files in a session's folder.
const (
	LockFile     = "lock"
	SocketFile   = "sock"
	RecordFile   = "session.json"
	ExitFile     = "exit.json"
	ActivityFile = "activity"
)

// NewFile returns the name under which a new version of a file is written before it replaces the file.
func NewFile(name string) string { return "." + name + ".new" }

// Files returns the names of the files in a session's folder. The lock comes last, because it protects the others.
func Files() []string {
	return []string{
		SocketFile, RecordFile, NewFile(RecordFile), ExitFile, NewFile(ExitFile), ActivityFile,
		LockFile,
	}
}
