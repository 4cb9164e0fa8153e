// Package session defines the interface to running agents: the methods that a session provider implements, and the
// values that it exchanges with its callers. The providers are sub-packages. Package sessiontest is their
// conformance suite.
//
// A session is one life of one agent: a process tree on a terminal that is started once and ends once. All sessions
// of an agent have the same name, and each has its own ID.
package session

import (
	"context"
	"io"
	"iter"
	"slices"
	"strings"
	"time"
)

// Spec describes a session to start. It is complete: a provider adds nothing from its own environment.
type Spec struct {
	Name  string `json:"name"`  // the agent's encoded name, see Encode; unique in the city
	Agent string `json:"agent"` // qualified name, "dir/name" or "name"
	// absolute path of the city's folder; a session belongs to exactly this city
	City string `json:"city"`
	ID   string `json:"id"` // unique for each start; also the value of GC_SESSION_ID in Env
	// shell command line, run by "sh -c" or, if possible, without a shell: see FindProgram
	Command string   `json:"command"`
	Dir     string   `json:"dir"` // absolute path of an existing folder
	Env     []string `json:"env"` // the whole environment, "K=V"
	// variables in Env that the configuration names; they are not part of the fingerprint
	Named []string `json:"named,omitempty"`

	// shell lines to run on the host before the session starts
	PreStart []string `json:"pre_start,omitempty"`
	// shell lines to run on the host after the session has started
	Setup       []string `json:"session_setup,omitempty"`
	SetupScript string   `json:"session_setup_script,omitempty"`
	Ready       Ready    `json:"ready"`
	// questions that the program may ask before it is ready
	Dialogs []Dialog `json:"dialogs,omitempty"`
	// text that is typed and submitted when the session is ready; "" = none
	Nudge string `json:"nudge,omitempty"`

	Cols int `json:"cols"` // size of the terminal without viewers
	Rows int `json:"rows"`

	// possible names of the agent's own process, to find it
	Processes []string `json:"process_names,omitempty"`

	// signal that asks the agent to exit, for ParseSignal; "" = what Ctrl-C sends
	StopSignal string `json:"stop_signal,omitempty"`

	// provider that must run the session; "" = the one that is called
	Provider string `json:"provider,omitempty"`
	// the agent has an idle timeout, so the provider must report its activity even if that is expensive
	Idle bool `json:"idle,omitempty"`

	Fingerprint Fingerprint `json:"fingerprint"`
}

// Configured returns the part of Env that comes from the configuration or from gcity. The rest is inherited.
func (s *Spec) Configured() []string {
	var out []string
	for _, kv := range s.Env {
		name, _, _ := strings.Cut(kv, "=")
		_, named := s.Fingerprint.Fields["env "+name]
		if named || slices.Contains(s.Named, name) || strings.HasPrefix(name, "GC_") ||
			name == "BEADS_DIR" {
			out = append(out, kv)
		}
	}
	return out
}

// Ready defines when a started session is ready. The zero value means immediately.
type Ready struct {
	// a line on the screen that begins with this text shows that the session is ready
	Prefix string `json:"prefix,omitempty"`
	// the session is ready after this time, even without the prefix
	Delay time.Duration `json:"delay,omitempty"`
	// time after which the start fails; 0 = DefaultReadyDeadline
	Deadline time.Duration `json:"deadline,omitempty"`
}

// DefaultReadyDeadline is the default time limit for a session to become ready.
const DefaultReadyDeadline = 60 * time.Second

// MaxText is the maximum length in bytes of the text in one Send.
const MaxText = 1 << 20

// Needed reports whether a start must wait for a prefix or a delay.
func (r Ready) Needed() bool { return r.Prefix != "" || r.Delay > 0 }

// Status is the state of one session that a provider knows without asking the agent.
type Status struct {
	Name  string
	Agent string
	City  string
	ID    string

	Alive  bool // the agent's own process is alive
	Ready  bool // setup, the wait for readiness and the first nudge are done; see Marker
	Frozen bool // stopped by SIGSTOP
	// time since which the session's holder has not responded; zero = the holder responds
	Silent time.Time
	// reason why a live session is silent or is being ended by its platform: "its pod is terminating …"; "" =
	// neither
	Reason  string
	PID     int
	Started time.Time

	// time of the last output or input, with an error of about 0.1 s; zero = unknown
	Activity time.Time
	// approximate number of bytes printed so far; 0 = none or unknown
	Output   uint64
	Attached int       // number of attached viewers that may type
	TypedAt  time.Time // when an attached viewer last typed; zero = never
	// a viewer has typed text without submitting or deleting it; false if unknown
	Draft bool

	Drain Drain // drain of the live session

	Provider string // provider that runs the session; "" = the one that was called

	Details []string // where the session runs, for users: "node n1", "image x"

	Fingerprint Fingerprint // fingerprint that was passed to Start; zero = unknown
	Exit        *Exit       // how the session ended; nil while Alive
}

// Drain is a request to a session to finish. The session's marks store it (see SetDrain), and it ends with the
// session. The zero value means no request.
type Drain struct {
	Since time.Time // in whole seconds; zero = not draining
	// source of the request: "pool", "operator", …; at most MaxDrainBy letters, digits, - and _; "" = unknown
	By    string
	Acked bool // the agent has reported that it has finished
}

// Exit describes the end of a session. The provider retains it until the controller acknowledges it (see
// Acknowledger).
type Exit struct {
	Name  string `json:"name"`
	Agent string `json:"agent"`
	ID    string `json:"id"`
	// exit code; -1 = ended by a signal, or unknown
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"` // "SIGKILL", …
	Reason string `json:"reason,omitempty"` // from the platform: "OOMKilled", "Evicted: …"
	// the session's holder died and took the agent with it; the agent did not fail
	Lost   bool          `json:"lost,omitempty"`
	Asked  bool          `json:"asked,omitempty"` // the session was stopped by Stop
	At     time.Time     `json:"at"`
	Uptime time.Duration `json:"uptime"`
}

// Provider runs sessions. All methods are safe for concurrent use. Calls for different sessions do not wait for
// each other. All calls respect the context's deadline.
type Provider interface {
	// Start starts a session and returns when its process runs. It does not run PreStart and Setup and does not
	// wait until the session is ready (see Launch). It returns ErrExists if a session with this name is alive.
	Start(ctx context.Context, s Spec) (Status, error)
	// Interrupt has the effect of Ctrl-C. It returns ErrNotFound if no session with this name is alive.
	Interrupt(ctx context.Context, name string) error
	// Stop stops the whole process tree. It sends an interrupt, waits for the grace period, sends TERM, and then
	// KILL. With grace 0 it sends KILL immediately. It returns when no process is left. Stop of a session that does
	// not exist succeeds.
	Stop(ctx context.Context, name string, grace time.Duration) error
	// List returns all sessions of the city, sorted by name. It includes ended sessions with an exit that is not
	// acknowledged. An error means that the state is unknown.
	List(ctx context.Context) ([]Status, error)
	// Send types text and submits it. If the program has enabled bracketed paste, the text is one paste. Send
	// returns when the terminal has accepted everything. An ErrRejected explains why the text cannot be typed.
	Send(ctx context.Context, name, text string) error
	// Output returns the last lines of the terminal as plain text; lines <= 0 means the visible screen.
	Output(ctx context.Context, name string, lines int) (string, error)
}

// These are optional interfaces of providers. Callers use type assertions and report missing abilities.
type (
	// Notifier reports exits immediately. The channel is open until the provider is closed. If the channel loses an
	// exit, List still returns the exit.
	Notifier interface{ Exits() <-chan Exit }

	// Changer signals that the caller should call List now for a reason other than an exit, for example when
	// the cluster that runs the sessions stops or resumes responding. One value may represent several
	// changes. The channel is never closed.
	Changer interface{ Changes() <-chan struct{} }

	// Attacher connects to the raw terminal. Resize is possible while attached. Close detaches.
	Attacher interface {
		Attach(ctx context.Context, name string, cols, rows int) (Terminal, error)
	}

	// Watcher streams the terminal's output: first a Frame with Reset and the retained history, then new
	// output. A reader that is too slow receives another Reset, so that it never misses a part of an escape
	// sequence.
	Watcher interface {
		Watch(ctx context.Context, name string) iter.Seq2[Frame, error]
	}

	// Keyer presses keys by name: "Enter", "Escape", "C-c", "Up", "F5", …. It types any other text unchanged.
	Keyer interface {
		SendKeys(ctx context.Context, name string, keys ...string) error
	}

	// PoliteSender is a provider that can send text without disturbing a viewer. It types nothing and returns
	// ErrBusy if a viewer has unsubmitted text on the line or has typed within the last quiet duration.
	PoliteSender interface {
		SendPolitely(ctx context.Context, name, text string, quiet time.Duration) error
	}

	// Looker returns the status of one session. It is cheaper than List. It returns ErrNotFound if List would not
	// return the session.
	Looker interface {
		Look(ctx context.Context, name string) (Status, error)
	}

	// Patient is a provider that calls another program, which may be slow. Its calls may take longer than
	// calls to other providers. List returns the state at the end of the call, so concurrent callers may
	// share one call.
	Patient interface {
		// Patience returns how much longer than its grace period a call about a session may take. The name "" means
		// any session. 0 means no longer than with other providers.
		Patience(name string) time.Duration
	}

	// Marker stores small key-value pairs with a session. They survive a restart of the controller. Setting a value
	// to "" removes the pair. Status.Ready is true if the value of ReadyMark is "1". Status.Drain contains the
	// drain marks.
	Marker interface {
		SetMeta(ctx context.Context, name, key, value string) error
		Meta(ctx context.Context, name, key string) (string, error)
	}

	// Meter measures the resource usage of all live sessions, including their whole process trees. The result is
	// keyed by session name. It scans the machine's processes once for all sessions.
	Meter interface {
		Usage(ctx context.Context) (map[string]Usage, error)
	}

	// Clearer drops the retained output.
	Clearer interface {
		Clear(ctx context.Context, name string) error
	}

	// Capturer returns the raw retained output of the session with this ID, which is the agent's current or
	// previous one.
	Capturer interface {
		Capture(ctx context.Context, name, id string) ([]byte, error)
	}

	// Checker checks whether sessions could be started now, without starting one. The caller limits the check by
	// CheckLimit.
	Checker interface {
		Check(ctx context.Context) error
	}
	// Dismisser stops the provider's shared processes, such as a server, if the provider has no sessions.
	Dismisser interface {
		Dismiss(ctx context.Context) error
	}
	// Acknowledger drops an exit that the controller has recorded. It does nothing if the exit was dropped already,
	// or if the session was started again.
	Acknowledger interface {
		Acknowledge(ctx context.Context, name, id string) error
	}
)

// CheckLimit is the timeout of a check. It is longer than the timeout of one script call, which is 30
// seconds.
const CheckLimit = 35 * time.Second

// ReadyMark is the metadata key that marks a session as ready.
const ReadyMark = "GC_READY"

// These are the metadata keys of a drain. Tools of the agent may read DrainMark.
const (
	DrainMark    = "GC_DRAIN"     // start of the drain in Unix seconds
	DrainByMark  = "GC_DRAIN_BY"  // source of the request: "pool", "operator"
	DrainAckMark = "GC_DRAIN_ACK" // "1" = the agent has reported that it has finished
)

// Usage is the resource usage of a session's process tree.
type Usage struct {
	// CPU is the processor time of all live processes of the tree, and of their ended children that they waited
	// for. Its resolution is 10 ms per process. It decreases only if a process ends and no process of the tree
	// waits for it.
	CPU   time.Duration
	RSS   int64 // resident memory in bytes; a shared page is counted once per process
	Procs int   // number of live processes, at least 1
}

// Terminal is an attached terminal. Read returns io.EOF when the session has ended or its holder has detached the
// viewer.
type Terminal interface {
	io.ReadWriteCloser
	Resize(cols, rows int) error
}

// Frame is a piece of a terminal's output.
type Frame struct {
	Reset      bool   `json:"reset,omitempty"` // the reader must discard all earlier frames
	Cols, Rows int    `json:"-"`
	Data       []byte `json:"data"`
	// number of bytes lost so far because the ring buffer was full
	Dropped uint64 `json:"dropped,omitempty"`
}
