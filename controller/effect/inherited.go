package effect

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/events"
	"gcity/restart"
	"gcity/session"
)

// SavedAgent is the state of one agent that a controller saves for the next controller. Its times are wall-clock times.
type SavedAgent struct {
	// fingerprint of the agent's specification; if it differs, the history is dropped
	Fingerprint string `json:"fingerprint"`
	restart.History
	// state that ends at Until: backoff, quarantined or failed; "" = the agent is not waiting
	State             city.State `json:"state,omitempty"`
	Until             time.Time  `json:"until,omitzero"`
	Since             time.Time  `json:"since,omitzero"`
	Why               string     `json:"why,omitempty"`
	QuarantineCrashes int        `json:"struck,omitempty"`
	// the crashes that led to a quarantine; nil = unknown, or no quarantine
	Quarantine  *city.Quarantine `json:"quarantine,omitempty"`
	StartReason string           `json:"because,omitempty"`
	// ID of the session with the latest counted exit
	LastEnd string `json:"end,omitempty"`

	// set if the configuration keeps the agent stopped
	Stopped *SavedState `json:"stopped,omitempty"`
	Member  SavedMember `json:"member,omitzero"`

	// restarts after an exit, an idle timeout, or a request by the agent itself
	Restarts int        `json:"restarts,omitempty"`
	Last     *city.Exit `json:"last_exit,omitempty"`

	// The following fields are set only if the agents keep running for the next controller.

	// ID of the running session that StartReason is about
	Session string     `json:"session,omitempty"`
	Exited  *SavedExit `json:"exited,omitempty"`
	// the newest decisions about the agent, oldest first
	Decisions []city.Decision `json:"decisions,omitempty"`
	Drain     *SavedDrain     `json:"drain,omitempty"`
	Missing   *FailedStarts   `json:"missing,omitempty"`
}

// SavedState is the state of an agent that its configuration keeps stopped: suspended or failed.
type SavedState struct {
	State city.State `json:"state"`
	Since time.Time  `json:"since"`
}

// SavedMember is an agent's membership in a pool. The next controller needs it if the pool has been removed. The zero
// value means that the agent is not in a pool.
type SavedMember struct {
	Pool         string        `json:"pool"`
	DrainTimeout time.Duration `json:"drain_timeout"` // 0 = unlimited
}

// SavedExit is the saved exit or failed start of an agent that will not be restarted.
type SavedExit struct {
	Why   string    `json:"why"`
	Since time.Time `json:"since"`
	Final bool      `json:"final,omitempty"` // a user asked for the agent to stay stopped
	// the start failed; Exit is the exit of an earlier session
	Failed bool       `json:"failed,omitempty"`
	Exit   *city.Exit `json:"exit,omitempty"`
}

// SavedDrain is a drain in progress.
type SavedDrain struct {
	Session  string    `json:"session"` // ID of the session
	Since    time.Time `json:"since"`
	By       string    `json:"by"`
	Sender   string    `json:"sender,omitempty"` // actor that requested the drain
	Why      string    `json:"why"`
	Final    bool      `json:"final,omitempty"`
	Acked    bool      `json:"acked,omitempty"`
	Unmarked bool      `json:"unmarked,omitempty"` // the session provider does not support marks
	// the drain was canceled, but the session still has its marks
	Canceled bool `json:"canceled,omitempty"`
}

// Continues reports whether a session still has the drain that was handed over.
func (d *SavedDrain) Continues(s *session.Status) bool {
	return d != nil && d.Session == s.ID &&
		(d.Unmarked || !s.Drain.Since.IsZero() && s.Drain.Since.Unix() == d.Since.Unix())
}

// FailedStarts describes consecutive starts that failed before anything ran.
type FailedStarts struct {
	Why   string    `json:"why"`
	Tries int       `json:"tries"`
	Since time.Time `json:"since"`
}

// Histories is the content of the crash history file.
type Histories struct {
	Agents map[string]SavedAgent // by name
	// the controller left its agents running on purpose
	HandedOver bool
}

// For returns the histories for a new controller. onDisk means that crash_history is "disk". Otherwise, crashes are
// kept only if the previous controller handed its agents over.
func (h Histories) For(onDisk bool) Histories {
	if onDisk || h.HandedOver {
		return h
	}
	return h.WithoutCrashes()
}

// WithoutCrashes removes the crash histories. It keeps only pool members, and agents with a reason to stay stopped.
func (h Histories) WithoutCrashes() Histories {
	kept := Histories{Agents: map[string]SavedAgent{}}
	for name, a := range h.Agents {
		if a.Stopped != nil || a.Member != (SavedMember{}) {
			kept.Agents[name] = SavedAgent{Fingerprint: a.Fingerprint, Stopped: a.Stopped,
				Member: a.Member}
		}
	}
	return kept
}

// RecentCrashes returns the crashes that count under a policy. It replaces times in the future with the current time
// (L13).
func (m *SavedAgent) RecentCrashes(now time.Time, p restart.Policy) restart.History {
	var crashes []time.Time
	for _, t := range m.Crashes {
		if t = NotInFuture(now, t); now.Sub(t) < p.Window {
			crashes = append(crashes, t)
		}
	}
	slices.SortFunc(crashes, time.Time.Compare)
	crashes = crashes[max(0, len(crashes)-p.MaxRestarts):]
	return restart.History{Crashes: crashes, Streak: max(0, m.Streak)}
}

// WaitsUntil returns when the saved wait ends, but no later than a new wait under the policy could end.
func (m *SavedAgent) WaitsUntil(now time.Time, p restart.Policy) time.Time {
	longest := p.MaxBackoff + p.MaxBackoff/10
	if m.State == city.Quarantined {
		longest = p.Window
	}
	return now.Add(min(m.Until.Sub(now), longest))
}

// NotInFuture returns t, or the current time if t is in the future.
func NotInFuture(now, t time.Time) time.Time { return now.Add(min(0, t.Sub(now))) }

// Same reports whether the saved history, state and wait equal the given ones.
func (m *SavedAgent) Same(is restart.History, state city.State, until time.Time) bool {
	if len(is.Crashes) != len(m.Crashes) || is.Streak != m.Streak || m.State != state {
		return false
	}
	if n := len(is.Crashes); n > 0 && !is.Crashes[n-1].Equal(m.Crashes[n-1]) {
		return false
	}
	return m.State == "" || m.Until.Round(0).Equal(until.Round(0))
}

// IsStopped reports whether the configuration kept the saved agent stopped in the given state. The zero state matches
// an agent that the configuration allowed to run.
func (m *SavedAgent) IsStopped(state SavedState) bool {
	if m.Stopped == nil {
		return state.State == ""
	}
	return m.Stopped.State == state.State && m.Stopped.Since.Equal(state.Since)
}

// Before returns the saved crash history without the given number of newest crashes, or nil if no crash is left. The
// next controller counts the removed crashes again.
func (m *SavedAgent) Before(crashes int) *SavedAgent {
	if m == nil || len(m.Crashes) <= crashes {
		return nil
	}
	left := len(m.Crashes) - crashes
	return &SavedAgent{Fingerprint: m.Fingerprint,
		History: restart.History{Crashes: m.Crashes[:left], Streak: max(0, m.Streak-crashes)}}
}

// UnrecordedEnd is an exit that is not in the log when the agent's next session starts. The provider drops the exit at
// that start, so a file keeps it for the next controller.
type UnrecordedEnd struct {
	Exit  session.Exit `json:"exit"`
	Event events.Event `json:"event"`
}

// Inherited is what the previous controller left behind. It is returned with the first list of sessions.
type Inherited struct {
	Recorded map[string]bool // IDs of sessions with an exit in the log
	Started  map[string]bool // IDs of sessions with a start in the log
	Agents   map[string]bool // names of agents with an event in the log
	// time of the oldest event searched; zero = unknown
	Since time.Time
	Ends  []UnrecordedEnd // exits that the previous controller saved in files
}

// SearchLog stores which exits, starts and agents these events record. The newest event must be first.
func (i *Inherited) SearchLog(newest []events.Event) {
	i.Recorded, i.Started = RecordedEnds(newest), map[string]bool{}
	i.Agents = map[string]bool{}
	for n := range newest {
		e := &newest[n]
		if strings.HasPrefix(e.Type, "agent.") {
			i.Agents[e.Subject] = true
		}
		if i.Since = e.TS; e.Type == events.AgentStarted {
			i.Started[sessionOf(e)] = true
		}
	}
}

// IsUnrecordedStart reports whether the previous controller did not record the start of this session. It returns false
// if i is nil or if the log's events are too new.
func (i *Inherited) IsUnrecordedStart(s *session.Status) bool {
	return i != nil && !i.Started[s.ID] && !i.Since.IsZero() && s.Started.After(i.Since)
}

// IsUnrecorded reports whether the previous controller did not record the exit of this session. It returns false if i
// is nil.
func (i *Inherited) IsUnrecorded(id string) bool { return i != nil && !i.Recorded[id] }

// NewestEvents is how many of the newest log events are searched.
const NewestEvents = events.MaxLimit

// RecordedEnds returns the IDs of the sessions for which these events record an exit.
func RecordedEnds(newest []events.Event) map[string]bool {
	recorded := map[string]bool{}
	for i := range newest {
		if id := EndedSession(&newest[i]); id != "" {
			recorded[id] = true
		}
	}
	return recorded
}

// EndedSession returns the session ID of the exit that an event records, or "" if the event records no exit.
func EndedSession(e *events.Event) string {
	switch e.Type {
	case events.AgentCrashed, events.AgentStopped, events.AgentSuspended:
		return sessionOf(e)
	}
	return ""
}

func sessionOf(e *events.Event) string {
	var about struct{ Session string }
	if json.Unmarshal(e.Payload, &about) != nil {
		return ""
	}
	return about.Session
}

// Death converts an exit to the form that the restart policy uses.
func Death(e *session.Exit) restart.Death {
	return restart.Death{Code: e.Code, Signal: e.Signal, Uptime: e.Uptime, Lost: e.Lost}
}

// LateEnd returns the event for an exit that the previous controller did not record. earlier means that the agent's
// next session has already started.
func LateEnd(x *session.Exit, earlier bool) events.Event {
	e := events.Event{Type: events.AgentStopped, Message: "stopped", Payload: ExitPayload(*x)}
	if !x.Asked {
		e.Message = Death(x).String()
		if earlier {
			e.Message += ", before the current session started"
		}
	}
	if !x.Asked && !x.Lost && x.Code != 0 {
		e.Type = events.AgentCrashed
	}
	return e
}

// Session converts the status of a session to the form that clients get.
func Session(life *session.Status) *city.Session {
	s := &city.Session{
		Name: life.Name, ID: life.ID, Started: life.Started, Output: life.Output,
		Attached: life.Attached > 0, Viewers: life.Attached, Details: life.Details,
	}
	if !life.Activity.IsZero() {
		s.LastActivity = new(life.Activity)
	}
	return s
}

// ExitPayload returns the payload of an event that reports an exit.
func ExitPayload(e session.Exit) json.RawMessage {
	about := map[string]any{"session": e.ID, "code": e.Code, "uptime_ms": e.Uptime.Milliseconds()}
	if e.Signal != "" {
		about["signal"] = e.Signal
	}
	if e.Lost {
		about["cause"] = "host_lost"
	}
	if e.Reason != "" {
		about["reason"] = e.Reason
	}
	data, err := json.Marshal(about)
	if err != nil {
		return nil
	}
	return data
}

// LoggedRuns summarizes the newest log events about runs.
type LoggedRuns struct {
	// time of the oldest event searched
	Since time.Time
	Fired map[string]bool // IDs of runs with a start event
	Ended map[string]bool // IDs of runs with an end event
}

// Retry describes the next retry of a failed run.
type Retry struct {
	Try int       `json:"try"`
	Of  int       `json:"of"`
	At  time.Time `json:"at"`
}

// RunsIn summarizes events about runs. The newest event must be first.
func RunsIn(newest []events.Event) *LoggedRuns {
	t := &LoggedRuns{Fired: map[string]bool{}, Ended: map[string]bool{}}
	for i := range newest {
		e := &newest[i]
		of := t.Ended
		switch t.Since = e.TS; e.Type {
		case events.AutomationFired:
			of = t.Fired
		case events.AutomationCompleted, events.AutomationFailed:
		default:
			continue
		}
		var about struct{ Run string }
		if json.Unmarshal(e.Payload, &about) == nil {
			of[about.Run] = true
		}
	}
	return t
}
