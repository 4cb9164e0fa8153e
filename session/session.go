// Package session defines the interface to running agents: the methods that a session provider implements, and the
// values that it exchanges with its callers. The providers are in subpackages. Package sessiontest is their conformance
// suite.
//
// A session is a single run of one agent: a process tree on a terminal that starts once and ends once. All sessions of
// an agent have the same name, but each has its own ID.
package session

import (
	"context"
	"io"
	"iter"
	"slices"
	"strings"
	"time"
)

// Spec describes a session to start. It is complete: a provider does not add anything from its own environment.
type Spec struct {
	Name  string `json:"name"`  // the agent's encoded name, see Encode; unique in the city
	Agent string `json:"agent"` // qualified name, "dir/name" or "name"
	// absolute path of the city's folder; a session belongs to exactly one city
	City string `json:"city"`
	ID   string `json:"id"` // different for each start; also the value of GC_SESSION_ID in Env
	// shell command line, run by "sh -c" or without a shell: see FindProgram
	Command string   `json:"command"`
	Dir     string   `json:"dir"` // absolute path of an existing folder
	Env     []string `json:"env"` // the whole environment, "K=V"
	// names of the variables in Env that the configuration mentions; not part of the fingerprint
	Named []string `json:"named,omitempty"`

	// shell lines to run on the host before the session starts
	PreStart []string `json:"pre_start,omitempty"`
	// shell lines to run on the host after the session has started
	Setup       []string `json:"session_setup,omitempty"`
	SetupScript string   `json:"session_setup_script,omitempty"`
	Ready       Ready    `json:"ready"`
	// questions that the program may ask before it is ready, with their answers
	Dialogs []Dialog `json:"dialogs,omitempty"`
	// text to type and submit when the session is ready; "" for none
	Nudge string `json:"nudge,omitempty"`

	Cols int `json:"cols"` // size of the terminal while there are no viewers
	Rows int `json:"rows"`

	// names that the agent's own process can have; only scripts use them
	Processes []string `json:"process_names,omitempty"`

	// name of the signal that asks the agent to exit (see ParseSignal); "" for Ctrl-C's signal
	StopSignal string `json:"stop_signal,omitempty"`

	// provider that must run the session; "" for the provider on which Start is called
	Provider string `json:"provider,omitempty"`
	// the agent has an idle timeout, so its activity must be reported
	Idle bool `json:"idle,omitempty"`

	Fingerprint Fingerprint `json:"fingerprint"`
}

// Configured returns the entries of Env that come from the configuration or from gcity. The other entries are
// inherited.
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
	// the session is ready when a line on its screen begins with this text
	Prefix string `json:"prefix,omitempty"`
	// the session is ready after this time, even if Prefix has not appeared, unless the program asks a question or its
	// screen is still empty
	Delay time.Duration `json:"delay,omitempty"`
	// If Delay is 0, the start fails after this time. Otherwise, Deadline is how much longer than Delay a program with
	// an empty screen may take. 0 means DefaultReadyDeadline.
	Deadline time.Duration `json:"deadline,omitempty"`
	// the beginning of the prompt on the program's command line, see EchoOf; "" for none. When the program submits the
	// prompt, it shows it, and clears its input line. Until then, text that is typed would be lost.
	Echo string `json:"-"`
}

// DefaultReadyDeadline is how long a session may take to become ready if Ready.Deadline is 0.
const DefaultReadyDeadline = 60 * time.Second

// answerTime is how long a user may take to answer a question.
const answerTime = 10 * time.Minute

// LastDeadline returns how long a session may take to become ready if it asks questions. 0 means DefaultReadyDeadline.
func (s *Spec) LastDeadline() time.Duration {
	if len(s.Dialogs) == 0 && s.Ready.Prefix == "" {
		return s.Ready.Deadline
	}
	return max(s.Ready.Deadline, answerTime)
}

// MaxText is the maximum number of bytes that one Send can type.
const MaxText = 1 << 20

// Needed reports whether a start must wait for a prefix or a delay.
func (r Ready) Needed() bool { return r.Prefix != "" || r.Delay > 0 }

// Status is the state of a session, as far as its provider can determine it without asking the agent.
type Status struct {
	Name  string `json:"name"`
	Agent string `json:"agent"`
	City  string `json:"city"`
	ID    string `json:"id"`

	Alive bool `json:"alive"` // the agent's own process is alive
	// setup and the first nudge are done, and the agent is ready; see Marker
	Ready  bool `json:"ready"`
	Frozen bool `json:"frozen,omitempty"` // stopped by SIGSTOP
	// when the session's holder stopped responding; zero while it responds
	Silent time.Time `json:"silent,omitzero"`
	// why a live session is silent, or why its platform is ending it, for example "its pod is terminating …"
	Reason  string    `json:"reason,omitempty"`
	PID     int       `json:"pid,omitempty"`
	Started time.Time `json:"started,omitzero"`

	// time of the last output or input, accurate to about 0.1 s; zero if unknown
	Activity time.Time `json:"activity,omitzero"`
	// approximate number of bytes printed so far; 0 can also mean unknown
	Output   uint64 `json:"output,omitempty"`
	Attached int    `json:"attached,omitempty"` // number of attached viewers that can type
	// when an attached viewer last typed; zero = never
	TypedAt time.Time `json:"typed_at,omitzero"`
	// a viewer has typed text and neither submitted nor deleted it; false if unknown
	Draft bool `json:"draft,omitempty"`

	Drain // embedded, because its fields are fields of the JSON object

	// provider that runs the session; "" for the one that returned this Status
	Provider string `json:"-"`

	// where the session runs, for display: "node n1", "image x"
	Details []string `json:"details,omitempty"`

	// the provider's settings that have changed since the session was started, in the form of Drift
	Outdated []string `json:"outdated,omitempty"`

	// the fingerprint that was passed to Start; zero if unknown
	Fingerprint Fingerprint `json:"fingerprint"`
	Exit        *Exit       `json:"exit,omitempty"` // nil while Alive
}

// Drain is a request to an agent to finish its work. It is stored in the session's marks and ends with the session. The
// zero value means no request.
type Drain struct {
	Since time.Time `json:"drain_since,omitzero"` // rounded to seconds; zero if not draining
	// what requested the drain, such as "pool"; at most MaxDrainBy letters, digits, - and _; "" if unknown
	By    string `json:"drain_by,omitempty"`
	Acked bool   `json:"drain_acked,omitempty"` // the agent has reported that it is done
}

// Exit describes how a session ended. The provider retains it until the controller acknowledges it (see Acknowledger).
type Exit struct {
	Name  string `json:"name"`
	Agent string `json:"agent"`
	ID    string `json:"id"`
	// exit code; -1 if killed by a signal or unknown
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"` // "SIGKILL", …
	Reason string `json:"reason,omitempty"` // from the platform: "OOMKilled", "Evicted: …"
	// the agent did not fail: the session's holder died and took the agent with it
	Lost   bool          `json:"lost,omitempty"`
	Asked  bool          `json:"asked,omitempty"` // the exit follows a call to Stop
	At     time.Time     `json:"at"`
	Uptime time.Duration `json:"uptime"`
}

// Provider runs sessions. All methods are safe for concurrent use and respect the context's deadline. Calls for
// different sessions do not wait for each other.
type Provider interface {
	// Start starts a session and returns when its process is running. It does not run PreStart and Setup (see Launch).
	// If a session with this name is alive, it returns ErrExists.
	Start(ctx context.Context, s Spec) (Status, error)
	// Interrupt does what Ctrl-C does. If no session with this name is alive, it returns ErrNotFound.
	Interrupt(ctx context.Context, name string) error
	// Stop stops the whole process tree and returns when no process is left. With a grace period of 0, it sends only
	// SIGKILL. It returns nil if the session does not exist.
	Stop(ctx context.Context, name string, grace time.Duration) error
	// List returns all of the city's sessions, sorted by name. It includes ended sessions until their exits are
	// acknowledged. An error means that the state is unknown.
	List(ctx context.Context) ([]Status, error)
	// Send types text and submits it. If the program has enabled bracketed paste, the text is one paste. Send returns
	// when the terminal has accepted everything. If the text cannot be typed, the error is an ErrRejected with the
	// reason.
	Send(ctx context.Context, name, text string) error
	// Output returns the last lines of the terminal as plain text; lines <= 0 means the visible screen.
	Output(ctx context.Context, name string, lines int) (string, error)
}

// Optional interfaces of providers. Callers detect them by type assertions.
type (
	// Notifier reports exits immediately. The channel stays open until the provider is closed. If the channel is full,
	// List still reports the exit.
	Notifier interface{ Exits() <-chan Exit }

	// Changer signals that the caller should call List for a reason other than an exit. One value can stand for several
	// changes. The channel is never closed.
	Changer interface{ Changes() <-chan struct{} }

	// Attacher connects to a session's raw terminal. An attached terminal can be resized. Close detaches.
	Attacher interface {
		Attach(ctx context.Context, name string, cols, rows int) (Terminal, error)
	}

	// Watcher streams the terminal's output: first a Frame with Reset and the retained history, then new output. A slow
	// reader gets another Reset.
	Watcher interface {
		Watch(ctx context.Context, name string) iter.Seq2[Frame, error]
	}

	// Keyer presses keys by name: "Enter", "Escape", "C-c", "Up", "F5", …. It types any other text unchanged.
	Keyer interface {
		SendKeys(ctx context.Context, name string, keys ...string) error
	}

	// PoliteSender can send text without disturbing a viewer's typing. SendPolitely returns ErrBusy if a viewer has
	// unsubmitted text, or has typed within quiet.
	PoliteSender interface {
		SendPolitely(ctx context.Context, name, text string, quiet time.Duration) error
	}

	// Looker returns the status of one session at a lower cost than List. If List would not return the session, Looker
	// returns ErrNotFound.
	Looker interface {
		Look(ctx context.Context, name string) (Status, error)
	}

	// Patient is a provider that calls another program, which can be slow. A caller can join a List call that is
	// already in progress, so List must return the state at the end of the call.
	Patient interface {
		// Patience returns the time that a call about a session may take in addition to its grace period. The name ""
		// stands for any session.
		Patience(name string) time.Duration
	}

	// Marker stores small key-value pairs with a session. They survive a restart of the controller. Setting a value to
	// "" removes the pair. Status.Ready and Status.Drain reflect the marks.
	Marker interface {
		SetMeta(ctx context.Context, name, key, value string) error
		Meta(ctx context.Context, name, key string) (string, error)
	}

	// Meter measures the resource usage of all live sessions, keyed by session name.
	Meter interface {
		Usage(ctx context.Context) (map[string]Usage, error)
	}

	// Clearer drops a session's retained output.
	Clearer interface {
		Clear(ctx context.Context, name string) error
	}

	// Capturer returns the unprocessed retained output of the agent's current or previous session with this ID.
	Capturer interface {
		Capture(ctx context.Context, name, id string) ([]byte, error)
	}

	// Checker reports why a session cannot be started at the moment, without starting one. Callers limit the check to
	// CheckLimit.
	Checker interface {
		Check(ctx context.Context) error
	}
	// Forwarder runs a helper program, which can forward requests from agents to the controller. Forwards reports
	// whether a process belongs to the helper.
	Forwarder interface {
		Forwards(pid int) bool
	}
	// Dismisser stops processes that the provider's sessions share, such as a server, if there are no sessions.
	Dismisser interface {
		Dismiss(ctx context.Context) error
	}
	// Acknowledger drops an exit that the controller has recorded. It does nothing if a newer session has the same
	// name.
	Acknowledger interface {
		Acknowledge(ctx context.Context, name, id string) error
	}
)

// CheckLimit is the timeout of a check. It is longer than that of one script call, which is 30 seconds.
const CheckLimit = 35 * time.Second

// ReadyMark is the metadata key that marks a session as ready.
const ReadyMark = "GC_READY"

// PromptMark is the metadata key for the ID of the session into which a controller has started to type the first nudge.
const PromptMark = "GC_PROMPTED"

// Metadata keys of a drain.
const (
	DrainMark    = "GC_DRAIN" // when the drain began, in Unix seconds
	DrainByMark  = "GC_DRAIN_BY"
	DrainAckMark = "GC_DRAIN_ACK" // "1" after the agent has reported that it is done
)

// Usage is the resource usage of a session's process tree.
type Usage struct {
	// CPU is the processor time of the live processes in the tree, and of exited children that they have reaped. It can
	// decrease.
	CPU time.Duration `json:"cpu_ns"`
	// resident memory in bytes; a shared page counts once for each process
	RSS   int64 `json:"rss"`
	Procs int   `json:"procs"` // number of live processes, at least 1
}

// Terminal is an attached terminal. Read returns io.EOF after the session has ended or the terminal was closed.
type Terminal interface {
	io.ReadWriteCloser
	Resize(cols, rows int) error
}

// Frame is a piece of a terminal's output.
type Frame struct {
	Reset      bool   `json:"reset,omitempty"` // the reader must discard all earlier frames
	Cols, Rows int    `json:"-"`
	Data       []byte `json:"data"`
	// number of bytes lost so far because the buffer was full
	Dropped uint64 `json:"dropped,omitempty"`
}
