package protocol

import (
	"encoding/json"
	"time"

	"gcity/session"
)

// OpenRequest is the first call after each start of the helper. Before it, the helper rejects all other calls.
type OpenRequest struct {
	Protocols []int           `json:"protocols"`
	City      string          `json:"city"`               // absolute path of the city's folder
	Observe   bool            `json:"observe,omitempty"`  // the helper must not change anything
	Settings  json.RawMessage `json:"settings,omitempty"` // the helper's table in city.toml
}

// OpenResponse describes the helper.
type OpenResponse struct {
	Protocol int       `json:"protocol"` // version that both sides use
	Name     string    `json:"name"`
	Version  string    `json:"version,omitempty"`
	Lacks    []Ability `json:"lacks,omitempty"` // abilities that the provider lacks
	Why      string    `json:"why,omitempty"`   // why abilities are missing, as a clause
	// extra time that a call may take, in milliseconds
	Patience int64 `json:"patience_ms,omitempty"`
}

// Ability is the name of an ability in the protocol.
type Ability string

func abilities() map[session.Ability]Ability {
	return map[session.Ability]Ability{
		session.Attaching: "attach", session.Watching: "watch", session.SendingKeys: "keys",
		session.Marking: "marks", session.Measuring: "usage", session.Clearing: "clear",
		session.Capturing: "capture", session.SeeingDrafts: "drafts",
		session.ReportingExits:  "exits",
		session.ExplainingExits: "explain", session.CountingOutput: "count",
		session.RunningPrograms: "run", session.InheritingEnvironment: "environment",
	}
}

// Target identifies the session of a call, and contains parameters. Each field's comment lists its calls.
type Target struct {
	Name  string `json:"name"`
	ID    string `json:"id,omitempty"`       // parameter of acknowledge and capture
	Grace int64  `json:"grace_ns,omitempty"` // parameter of stop
	// parameter of stop; true = do not wait for the host to confirm that the session has ended
	Force bool   `json:"force,omitempty"`
	Lines int    `json:"lines,omitempty"` // parameter of output; 0 = visible screen
	Text  string `json:"text,omitempty"`  // parameter of send
	// parameter of send; the call fails if a viewer has typed within this duration
	Quiet *int64   `json:"quiet_ns,omitempty"`
	Keys  []string `json:"keys,omitempty"`  // parameter of keys
	Key   string   `json:"key,omitempty"`   // parameter of mark and meta
	Value string   `json:"value,omitempty"` // parameter of mark; "" removes the mark
	Cols  int      `json:"cols,omitempty"`  // parameter of attach
	Rows  int      `json:"rows,omitempty"`  // parameter of attach
}

// Response is the result of calls without their own result type. Each field's comment lists its calls.
type Response struct {
	Session  *session.Status          `json:"session,omitempty"`  // result of start and look
	Sessions []session.Status         `json:"sessions,omitempty"` // result of list
	Text     string                   `json:"text,omitempty"`     // result of output and meta
	Data     []byte                   `json:"data,omitempty"`     // result of capture, in base64
	Usage    map[string]session.Usage `json:"usage,omitempty"`    // result of usage, by session
	// result of list: why providers did not respond, by provider
	Unknown map[string]string `json:"unknown,omitempty"`
	Error   *Error            `json:"error,omitempty"`
}

// localTimes changes the times of a received status to local time.
func localTimes(s *session.Status) session.Status {
	for _, t := range []*time.Time{&s.Silent, &s.Started, &s.Activity, &s.TypedAt, &s.Drain.Since} {
		*t = local(*t)
	}
	return *s
}

func local(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.Local()
}

// Frame is one line of the response to a watch call. A line with an Error is the last one.
type Frame struct {
	Reset   bool   `json:"reset,omitempty"`
	Cols    int    `json:"cols,omitempty"`
	Rows    int    `json:"rows,omitempty"`
	Data    []byte `json:"data,omitempty"` // in base64
	Dropped uint64 `json:"dropped,omitempty"`
	Error   *Error `json:"error,omitempty"`
}

// StartLine is one line of the response to a start call. The last line has the session or the error; earlier lines say
// why the start is still waiting.
type StartLine struct {
	Waits   string          `json:"waits,omitempty"`
	Session *session.Status `json:"session,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// ExitLine is one line of the exit stream. Empty lines show that the stream is alive.
type ExitLine struct {
	Exit    *session.Exit `json:"exit,omitempty"`
	Changed bool          `json:"changed,omitempty"` // see session.Changer
	Error   *Error        `json:"error,omitempty"`
}
