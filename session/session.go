// Package session is the interface to running agents: what a provider of sessions must do, and the values that it
// exchanges with its callers. Providers are in the folders below; sessiontest is their conformance suite.
//
// A session is one life of one agent: a process tree on a terminal that is started once and ends once. Its name
// stays the same in all lives of the agent, its ID never does.
package session

import (
	"context"
	"io"
	"iter"
	"slices"
	"strings"
	"time"
)

// Spec describes what to start. It is complete: a provider adds nothing of its own environment.
type Spec struct {
	Name  string `json:"name"`  // see Name; unique in the city
	Agent string `json:"agent"` // qualified name, "dir/name" or "name"
	// absolute path of the city's folder; a session belongs to exactly this city
	City string `json:"city"`
	ID   string `json:"id"` // unique per start; the value of GC_SESSION_ID in Env
	// a shell command line, run by "sh -c" or without a shell: see FindProgram
	Command string   `json:"command"`
	Dir     string   `json:"dir"` // absolute; exists
	Env     []string `json:"env"` // the whole environment, "K=V"
	// variables in Env that the configuration names; the fingerprint does not cover them
	Named []string `json:"named,omitempty"`

	// shell lines on the host, before the session
	PreStart []string `json:"pre_start,omitempty"`
	// shell lines on the host, once the session exists
	Setup       []string `json:"session_setup,omitempty"`
	SetupScript string   `json:"session_setup_script,omitempty"`
	Ready       Ready    `json:"ready"`
	Dialogs     []Dialog `json:"dialogs,omitempty"` // questions that it may ask before it is ready
	// typed and submitted once ready; "" = nothing is typed
	Nudge string `json:"nudge,omitempty"`

	Cols int `json:"cols"` // the terminal's size without a viewer
	Rows int `json:"rows"`

	// possible names of the agent's own process, to find it
	Processes []string `json:"process_names,omitempty"`

	// the signal that asks it to end, for ParseSignal; "" = what Ctrl-C does
	StopSignal string `json:"stop_signal,omitempty"`

	// the provider that should run it; "" = the called one
	Provider string `json:"provider,omitempty"`
	// it has an idle timeout: a provider that must ask for its activity does so
	Idle bool `json:"idle,omitempty"`

	Fingerprint Fingerprint `json:"fingerprint"`
}

// Configured returns the part of Env that the configuration names or gcity sets; the rest is inherited.
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

// Ready defines when a started session counts as running. The zero value means at once.
type Ready struct {
	Prefix string        `json:"prefix,omitempty"` // a line of the screen starts with it
	Delay  time.Duration `json:"delay,omitempty"`  // or this time has passed since the start
	// after which the start fails; 0 = DefaultReadyDeadline
	Deadline time.Duration `json:"deadline,omitempty"`
}

// DefaultReadyDeadline limits how long a session may take to become ready.
const DefaultReadyDeadline = 60 * time.Second

// MaxText is the maximum length of a text that is typed at once, in bytes.
const MaxText = 1 << 20

// Needed reports whether readiness has to be waited for.
func (r Ready) Needed() bool { return r.Prefix != "" || r.Delay > 0 }

// Status is what a provider knows about one session without asking the agent.
type Status struct {
	Name  string
	Agent string
	City  string
	ID    string

	Alive  bool // the agent's own process is alive
	Ready  bool // setup, readiness and first nudge are done; see Marker
	Frozen bool // stopped by SIGSTOP
	// since when the holder of the session has not answered the provider; zero = it answers
	Silent  time.Time
	PID     int
	Started time.Time

	Activity time.Time // last output or input, to about 0.1 s; zero = unknown to the provider
	// bytes printed so far, approximately; 0 = none, or unknown to the provider
	Output   uint64
	Attached int       // viewers that may type
	TypedAt  time.Time // last byte typed by an attached viewer; zero = none
	// a viewer has typed text without submitting or deleting it; false if the provider does not know
	Draft bool

	Drain Drain // its drain marks, while Alive

	Provider string // the provider that runs it; "" = the called one

	Details []string // where it runs, for users to read: "node n1", "image x"

	Fingerprint Fingerprint // as given at the start; zero = unknown
	Exit        *Exit       // how it ended; nil while Alive
}

// Drain is a request to a session to finish, from its marks; see SetDrain. It ends with the session. The zero value
// means no request.
type Drain struct {
	Since time.Time // in whole seconds; zero = not draining
	// "pool", "operator", …: at most MaxDrainBy letters, digits, - and _; "" = unknown
	By    string
	Acked bool // the agent has reported that it has finished
}

// Exit is the end of one session. The provider keeps it until it is acknowledged (see Acknowledger).
type Exit struct {
	Name  string `json:"name"`
	Agent string `json:"agent"`
	ID    string `json:"id"`
	// exit code, -1 after a signal or if unknown
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"` // "SIGKILL", …
	Reason string `json:"reason,omitempty"` // "OOMKilled", "Evicted: …"
	// the session's holder was lost, and the agent with it, through no fault of the agent
	Lost   bool          `json:"lost,omitempty"`
	Asked  bool          `json:"asked,omitempty"` // it ended after a Stop
	At     time.Time     `json:"at"`
	Uptime time.Duration `json:"uptime"`
}

// Provider runs sessions. Every method may be called from several goroutines. Calls for different sessions do not
// wait for each other. All calls obey the context's deadline.
type Provider interface {
	// Start starts a session and returns once its process runs. It runs neither PreStart nor Setup and does not wait
	// for readiness (see Launch). It fails with ErrExists if a live session has this name.
	Start(ctx context.Context, s Spec) (Status, error)
	// Interrupt acts like Ctrl-C. It returns ErrNotFound if no live session has this name.
	Interrupt(ctx context.Context, name string) error
	// Stop ends the whole process tree: interrupt, grace, TERM, KILL. Grace 0 goes straight to KILL. It returns
	// when no process is left. Stopping a missing session succeeds.
	Stop(ctx context.Context, name string, grace time.Duration) error
	// List returns every session of the city in name order, including dead sessions with an unacknowledged exit. An
	// error means that the state is unknown, never that nothing runs.
	List(ctx context.Context) ([]Status, error)
	// Send types a line and submits it, as one bracketed paste if the program has enabled that. It returns once the
	// terminal has accepted everything. ErrRefused says why a text cannot be typed.
	Send(ctx context.Context, name, text string) error
	// Output returns the last lines of the terminal as plain text; lines <= 0 means the visible screen.
	Output(ctx context.Context, name string, lines int) (string, error)
}

// Optional interfaces of providers. A caller uses a type assertion and reports a missing ability.
type (
	// Notifier reports ends at once. The channel stays open until the provider is closed. List also finds an exit
	// that the channel lost.
	Notifier interface{ Exits() <-chan Exit }

	// Attacher connects to the raw terminal. Resize works while attached; Close detaches.
	Attacher interface {
		Attach(ctx context.Context, name string, cols, rows int) (Terminal, error)
	}

	// Watcher streams the terminal's output: first a Frame with Reset and the kept history, then new output. A
	// reader that is too slow gets another Reset, never a gap inside an escape sequence.
	Watcher interface {
		Watch(ctx context.Context, name string) iter.Seq2[Frame, error]
	}

	// Keyer presses named keys: "Enter", "Escape", "C-c", "Up", "F5", …; other text is typed as it is.
	Keyer interface {
		SendKeys(ctx context.Context, name string, keys ...string) error
	}

	// Polite sends like Send, but does not disturb a viewer's line. It returns ErrBusy and types nothing while a
	// viewer's draft is there or a viewer has typed within quiet.
	Polite interface {
		SendPolitely(ctx context.Context, name, text string, quiet time.Duration) error
	}

	// Looker returns the status of one session as List would, at less cost. It returns ErrNotFound if List would
	// not list the session.
	Looker interface {
		Look(ctx context.Context, name string) (Status, error)
	}

	// Patient is a provider that calls another program, which may be slow. Its calls may take longer than those of
	// other providers. The result of its List describes the moment when it ends, so several callers may share one.
	Patient interface {
		// Patience returns how much longer than its grace a call about a session may take; name "" means any
		// session. 0 = as with other providers.
		Patience(name string) time.Duration
	}

	// Marker stores small values with the session, beyond the controller's life. "" removes a value. Status.Ready
	// is true if the key ReadyMark is "1"; Status.Drain has the values of the Drain marks.
	Marker interface {
		SetMeta(ctx context.Context, name, key, value string) error
		Meta(ctx context.Context, name, key string) (string, error)
	}

	// Meter measures the resource usage of living sessions, each with its whole process tree, by session name. It
	// scans the machine's processes once for any number of sessions.
	Meter interface {
		Usage(ctx context.Context) (map[string]Usage, error)
	}

	// Clearer drops the kept output.
	Clearer interface {
		Clear(ctx context.Context, name string) error
	}

	// Capturer returns the raw kept output of one life: the last one or the previous one.
	Capturer interface {
		Capture(ctx context.Context, name, id string) ([]byte, error)
	}

	// Checker checks whether sessions could be started now, as far as possible without starting one. Its limit is
	// the caller's CheckLimit.
	Checker interface {
		Check(ctx context.Context) error
	}
	// Dismisser ends what the provider keeps running for its sessions, such as a server. A server with sessions
	// stays.
	Dismisser interface {
		Dismiss(ctx context.Context) error
	}
	// Acknowledger lets the provider drop an exit that has been recorded. It does nothing if the exit is already
	// acknowledged or the session has been started again.
	Acknowledger interface {
		Acknowledge(ctx context.Context, name, id string) error
	}
)

// CheckLimit is how long a Checker may take. A script has half a minute for a call.
const CheckLimit = 35 * time.Second

// ReadyMark is the metadata key of a session that has finished setup and readiness.
const ReadyMark = "GC_READY"

// The metadata keys of a drain. The agent's own tools may read DrainMark.
const (
	DrainMark    = "GC_DRAIN"     // start in Unix seconds
	DrainByMark  = "GC_DRAIN_BY"  // "pool", "operator"
	DrainAckMark = "GC_DRAIN_ACK" // "1" = the agent has reported that it has finished
)

// Usage is the resource usage of a session's process tree.
type Usage struct {
	// CPU is the processor time of the tree's living processes and of the ended children that they waited for, in
	// steps of 10 ms each. It decreases only if a process ends and no process of the tree waits for it.
	CPU   time.Duration
	RSS   int64 // resident memory in bytes, shared pages counted for each process
	Procs int   // number of living processes, at least 1
}

// Terminal is an attached terminal. Reads return io.EOF when the session ends or the holder detaches us.
type Terminal interface {
	io.ReadWriteCloser
	Resize(cols, rows int) error
}

// Frame is a piece of a terminal's output.
type Frame struct {
	Reset      bool   `json:"reset,omitempty"` // forget everything before this frame
	Cols, Rows int    `json:"-"`
	Data       []byte `json:"data"`
	Dropped    uint64 `json:"dropped,omitempty"` // bytes lost so far because the ring was full
}
