package wire

import (
	"encoding/json"
	"time"
)

// Op is what a request asks for.
type Op string

const (
	// Look; answers State; from then on exits are pushed, and starts are taken
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
	OpAck       Op = "ack"       // ID; answers whether the holder leaves
	OpAttach    Op = "attach"    // Cols, Rows; Reset, Output, Live, Output …
	OpWatch     Op = "watch"     // the same, without typing
)

// Request is one request; the fields that an Op does not name are empty.
type Request struct {
	Op   Op    `json:"op"`
	Spec *Spec `json:"spec,omitempty"`
	// of hold: it does not keep the holder for a next life
	Look  bool `json:"look,omitempty"`
	Plain bool `json:"plain,omitempty"` // of start: pipes instead of a terminal
	// nothing has to be waited for: ready from the start
	Ready bool          `json:"ready,omitempty"`
	Grace time.Duration `json:"grace,omitempty"`
	Wait  time.Duration `json:"wait,omitempty"` // how long the terminal may take to accept input
	Text  string        `json:"text,omitempty"`
	// > 0: Busy while a draft is there, or somebody has typed for so long; not by the holders of earlier builds
	Quiet time.Duration `json:"quiet,omitempty"`
	Keys  []string      `json:"keys,omitempty"`
	Key   string        `json:"key,omitempty"`
	Value string        `json:"value,omitempty"`
	ID    string        `json:"id,omitempty"`
	Cols  int           `json:"cols,omitempty"`
	Rows  int           `json:"rows,omitempty"`

	// Of output: the end of the output with at least so many bytes is enough; 0 = all. Holders of earlier builds
	// give all.
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
	// kept for the controller, never read
	Fingerprint json.RawMessage `json:"fingerprint,omitempty"`
}

// Exit is session.Exit, field by field, so that one converts to the other.
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

// Cause classes a Failure so that the caller can turn it into an error of package session.
type Cause string

const (
	NotAlive Cause = "not_alive"
	Exists   Cause = "exists"
	Refused  Cause = "refused"
	Command  Cause = "command"
	Held     Cause = "held" // the lock of the session is taken
	Busy     Cause = "busy" // somebody else is typing
	Other    Cause = ""
)

// Failure is the answer to a request that could not be carried out.
type Failure struct {
	Cause   Cause  `json:"cause,omitempty"`
	Message string `json:"message"`
}

func (f *Failure) Error() string { return f.Message }

// Screen is the size of a terminal and how much of its output is lost.
type Screen struct {
	Cols    int    `json:"cols"`
	Rows    int    `json:"rows"`
	Dropped uint64 `json:"dropped,omitempty"`
	Tail    bool   `json:"tail,omitempty"` // only the end of the kept output follows: see Request
}

// Record says who a session is. The holder writes it to its folder before the agent is born, so that whoever finds a
// dead holder knows whose leftovers to look for.
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

// State is what a holder tells to who connects.
type State struct {
	Record Record `json:"record"`
	PID    int    `json:"pid"`             // of the agent
	Exit   *Exit  `json:"exit,omitempty"`  // nil: alive
	Acked  bool   `json:"acked,omitempty"` // the exit is known to the controller
}

// The files of a session's folder.
const (
	LockFile     = "lock"
	SocketFile   = "sock"
	RecordFile   = "session.json"
	ExitFile     = "exit.json"
	ActivityFile = "activity"
)

// NewFile is the name under which a file is written before it is renamed.
func NewFile(name string) string { return "." + name + ".new" }

// Files lists all of them; the lock comes last because it guards the others.
func Files() []string {
	return []string{
		SocketFile, RecordFile, NewFile(RecordFile), ExitFile, NewFile(ExitFile), ActivityFile,
		LockFile,
	}
}
