// Package session is the port to running agents: what a provider of terminal sessions must do, and the values that
// cross it. Providers live in the folders below; the conformance suite is sessiontest.
//
// A session is one life of one agent: a process tree on a terminal, started once, ended once. Its name stays the same
// over the agent's lives; its ID never does.
package session

import (
	"context"
	"io"
	"iter"
	"slices"
	"strings"
	"time"
)

// Spec says what to start. It is complete: a provider adds nothing of its own environment or taste.
type Spec struct {
	Name  string `json:"name"`  // see Name; unique in the city
	Agent string `json:"agent"` // qualified name, "dir/name" or "name"
	// absolute path of the city's folder; a session belongs to exactly this city
	City string `json:"city"`
	ID   string `json:"id"` // unique per start; the value of GC_SESSION_ID in Env
	// a shell command line, for "sh -c", or for no shell: see FindProgram
	Command string   `json:"command"`
	Dir     string   `json:"dir"` // absolute; exists
	Env     []string `json:"env"` // the whole environment, "K=V"
	// variables of it that the configuration names, and the fingerprint does not
	Named []string `json:"named,omitempty"`

	// shell lines on the host, before the session
	PreStart []string `json:"pre_start,omitempty"`
	// shell lines on the host, once the session exists
	Setup       []string `json:"session_setup,omitempty"`
	SetupScript string   `json:"session_setup_script,omitempty"`
	Ready       Ready    `json:"ready"`
	Dialogs     []Dialog `json:"dialogs,omitempty"` // what it may ask before it is ready
	// typed and submitted once ready; "" = nothing is typed
	Nudge string `json:"nudge,omitempty"`

	Cols int `json:"cols"` // the terminal's size without a viewer
	Rows int `json:"rows"`

	// possible names of the agent's own process, for finding it
	Processes []string `json:"process_names,omitempty"`

	// the signal that asks it to end, as ParseSignal takes it; "" = what Ctrl-C does
	StopSignal string `json:"stop_signal,omitempty"`

	// the provider that should run it; "" = the one that is asked
	Provider string `json:"provider,omitempty"`
	// its silence matters: a provider that has to ask for its activity does so
	Idle bool `json:"idle,omitempty"`

	Fingerprint Fingerprint `json:"fingerprint"`
}

// Configured is the part of Env that the configuration names, and that gcity sets; the rest is inherited.
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

// Ready says when a started session counts as running. The zero value: at once.
type Ready struct {
	Prefix string        `json:"prefix,omitempty"` // a line of the screen starts with it
	Delay  time.Duration `json:"delay,omitempty"`  // or this long has passed since the start
	// then the start has failed; 0 = DefaultReadyDeadline
	Deadline time.Duration `json:"deadline,omitempty"`
}

// DefaultReadyDeadline is how long a session may take to become ready.
const DefaultReadyDeadline = 60 * time.Second

// MaxText is how many bytes a text may have that is typed at once.
const MaxText = 1 << 20

// Needed reports whether anything has to be waited for.
func (r Ready) Needed() bool { return r.Prefix != "" || r.Delay > 0 }

// Status is what a provider knows of one session without asking the agent anything.
type Status struct {
	Name  string
	Agent string
	City  string
	ID    string

	Alive  bool // the agent's own process lives
	Ready  bool // setup, readiness and first nudge are done; see Marker
	Frozen bool // stopped by SIGSTOP
	// since when the provider gets no answer from what holds the session; zero = it answers
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

	Drain Drain // what its drain marks say while Alive

	Provider string // the provider that runs it; "" = the one that was asked

	Details []string // where it runs, for users to read: "node n1", "image x"

	Fingerprint Fingerprint // as given at the start; zero = unknown
	Exit        *Exit       // how it ended; nil while Alive
}

// Drain is a session's request to finish, as its marks say; see SetDrain. It ends with the session. The zero value
// means no request.
type Drain struct {
	Since time.Time // whole seconds; zero = it is not draining
	// "pool", "operator", …: at most MaxDrainBy letters, digits, - and _; "" = unknown
	By    string
	Acked bool // the agent says that it has finished
}

// Exit is the end of one session. It is kept by the provider until acknowledged (see Acknowledger).
type Exit struct {
	Name  string `json:"name"`
	Agent string `json:"agent"`
	ID    string `json:"id"`
	// exit code, -1 when ended by a signal or unknown
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"` // "SIGKILL", …
	Reason string `json:"reason,omitempty"` // "OOMKilled", "Evicted: …"
	// what held the session was lost, and the agent with it: not the agent's doing
	Lost   bool          `json:"lost,omitempty"`
	Asked  bool          `json:"asked,omitempty"` // it ended after a Stop
	At     time.Time     `json:"at"`
	Uptime time.Duration `json:"uptime"`
}

// Provider runs sessions. Every method may be called from several goroutines; calls for different sessions do not wait
// for each other. All obey the context's deadline.
type Provider interface {
	// Start starts a session and returns once its process runs. It runs neither PreStart nor Setup and does not wait
	// for readiness (see Launch). It fails with ErrExists if a live session has this name.
	Start(ctx context.Context, s Spec) (Status, error)
	// Interrupt does what Ctrl-C does. ErrNotFound if no live session has this name.
	Interrupt(ctx context.Context, name string) error
	// Stop ends the whole process tree: interrupt, grace, TERM, KILL; grace 0 goes straight to KILL. It returns when
	// nothing is left. Stopping what is not there succeeds.
	Stop(ctx context.Context, name string, grace time.Duration) error
	// List returns every session of the city in name order, including dead sessions with an unacknowledged exit. An
	// error means that the state is unknown, never that nothing runs.
	List(ctx context.Context) ([]Status, error)
	// Send types a line and submits it, as one bracketed paste if the program has asked for that. It returns
	// once the terminal took it all. ErrRefused says why a text cannot be taken.
	Send(ctx context.Context, name, text string) error
	// Output returns the last lines of the terminal as plain text; lines <= 0: the visible screen.
	Output(ctx context.Context, name string, lines int) (string, error)
}

// What some providers can do besides. A caller asks by type assertion and says so where it is lacking.
type (
	// Notifier reports ends at once. The channel stays open until the provider is closed. List finds a lost exit
	// again.
	Notifier interface{ Exits() <-chan Exit }

	// Attacher gives the raw terminal, both ways. Resize acts while attached; Close detaches.
	Attacher interface {
		Attach(ctx context.Context, name string, cols, rows int) (Terminal, error)
	}

	// Watcher streams the terminal's output: first a Frame with Reset and the kept history, then what comes. A reader
	// that is too slow gets another Reset, never a gap inside an escape sequence.
	Watcher interface {
		Watch(ctx context.Context, name string) iter.Seq2[Frame, error]
	}

	// Keyer presses named keys: "Enter", "Escape", "C-c", "Up", "F5", …; anything else is typed as it stands.
	Keyer interface {
		SendKeys(ctx context.Context, name string, keys ...string) error
	}

	// Polite sends like Send, but does not disturb a viewer's line. It returns ErrBusy and types nothing while a
	// viewer's draft is there or a viewer has typed within quiet.
	Polite interface {
		SendPolitely(ctx context.Context, name, text string, quiet time.Duration) error
	}

	// Looker gives what List would say of one session, at less cost. ErrNotFound if it would not list it.
	Looker interface {
		Look(ctx context.Context, name string) (Status, error)
	}

	// Patient is a provider that calls another program, which may be slow. Its calls may take longer than those of
	// other providers. Its List describes the moment when it ends, so several callers may share one.
	Patient interface {
		// Patience is how long a call about a session may take beyond the grace that it is given; name "": about any.
		// 0 = no longer than with others.
		Patience(name string) time.Duration
	}

	// Marker keeps small values with the session, beyond the controller's life. "" removes. The key ReadyMark set to
	// "1" is what Status.Ready reports, the Drain marks are what Status.Drain reports.
	Marker interface {
		SetMeta(ctx context.Context, name, key, value string) error
		Meta(ctx context.Context, name, key string) (string, error)
	}

	// Meter measures what living sessions take: by session name, the whole process tree of each. It costs one walk over
	// the machine's processes, whatever the number of sessions.
	Meter interface {
		Usage(ctx context.Context) (map[string]Usage, error)
	}

	// Clearer forgets the kept output.
	Clearer interface {
		Clear(ctx context.Context, name string) error
	}

	// Capturer returns the raw kept output of one life, the last one or the one before.
	Capturer interface {
		Capture(ctx context.Context, name, id string) ([]byte, error)
	}

	// Checker finds out whether sessions could be started now, as far as possible without starting one. The caller
	// gives it CheckLimit; it has no shorter limit of its own.
	Checker interface {
		Check(ctx context.Context) error
	}
	// Dismisser ends what the provider keeps running for its sessions, such as a server. The server stays while it
	// holds any session.
	Dismisser interface {
		Dismiss(ctx context.Context) error
	}
	// Acknowledger lets the provider forget an exit that has been recorded. Acknowledging twice, or a session that
	// has been started again meanwhile, does nothing.
	Acknowledger interface {
		Acknowledge(ctx context.Context, name, id string) error
	}
)

// CheckLimit is how long a provider may take to say whether it could run sessions. A script has half a minute for a
// call.
const CheckLimit = 35 * time.Second

// ReadyMark is the metadata key that says that setup and readiness are behind a session.
const ReadyMark = "GC_READY"

// The metadata keys of a drain. DrainMark is what an agent's own tools may look for.
const (
	DrainMark    = "GC_DRAIN"     // since when, in unix seconds
	DrainByMark  = "GC_DRAIN_BY"  // "pool", "operator"
	DrainAckMark = "GC_DRAIN_ACK" // "1" = the agent says that it has finished
)

// Usage is what a session's process tree takes.
type Usage struct {
	// CPU is the processor time of the tree's living processes and of the ended children that they waited for, in
	// steps of 10 ms each. It falls only when a process ends for which no process of the tree waits (its parent has
	// ended, or ignores its children).
	CPU   time.Duration
	RSS   int64 // resident memory in bytes, shared pages counted for each process
	Procs int   // living processes, at least 1
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
