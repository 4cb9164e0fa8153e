package panel

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"gcity/city"
	"gcity/describe"
	"gcity/tui/widget"
)

// AgentRow is an agent made ready to be shown: every text cleaned, once.
type AgentRow struct {
	Name     string // as the city knows it
	Shown    string
	State    city.State
	Why      string
	Pool     string
	Rig      string
	Provider string
	Task     string // what it works on, "" = nothing that is known
	Since    time.Time
	Until    time.Time // zero = none
	Restarts int
	Crashes  int
	PID      int
	Exit     *city.Exit
	Session  *city.Session
	Usage    *city.Usage
	drain    *city.DrainInfo
	Waiting  []city.Send // texts that wait to be typed, the next one first
	next     *city.Next
	idle     time.Duration // it is restarted after so long without activity, 0 = never
	Frozen   bool
	Drifted  bool
	Running  bool
	mail     int // unread messages to it
	Stuck    *city.Stuck
	Called   bool // a watchdog calls for a person because of it
}

func NewAgentRow(a *city.Agent) AgentRow {
	r := AgentRow{
		Name: a.Name, Shown: widget.Plain(a.Name), State: city.State(widget.Plain(string(a.State))),
		Why:  widget.Plain(reason(a)),
		Task: widget.Plain(a.Task), Pool: a.Pool, Rig: a.Rig, Provider: a.Provider, Since: a.Since,
		Restarts: a.Restarts, Crashes: a.Crashes, PID: a.PID, Exit: a.Exit, Session: a.Session,
		Usage: a.Usage, drain: a.Drain, next: a.Next, idle: a.IdleTimeout, Frozen: a.Frozen,
		Drifted: len(a.Drift) > 0, Running: a.Running, Waiting: waitingIn(a.Sends),
		mail: max(0, a.Mail), Stuck: a.Stuck,
	}
	if a.Until != nil {
		r.Until = *a.Until
	}
	switch {
	case r.Frozen:
		r.Why = "frozen: a signal has stopped it, nothing goes on until it is continued"
	case r.Stuck != nil:
		r.Why = "its screen is as it was, with " + widget.Plain(a.Stuck.Task)
	case a.AwaitsGate != "" && r.State == city.Running:
		r.Why = city.AwaitingGate + " " + widget.Plain(a.AwaitsGate)
	case len(r.Waiting) > 0 && r.State == city.Running:
		r.Why = r.waits()
	case r.Drifted:
		r.Why = widget.Plain(describe.HeldBack(a.Drift))
	case r.Task != "" && a.State == city.Running:
		r.Why = r.Task
	case a.Description != "" && (a.State == city.Running || r.Why == ""):
		r.Why = widget.Plain(a.Description)
	}
	if waits := r.waits(); waits != "" && r.State != city.Running {
		r.Why = strings.TrimPrefix(r.Why+"; "+waits, "; ")
	}
	return r
}

// reason is why an agent is in its state; that it is declared somewhere, or was adopted and runs, goes without
// saying in a list.
func reason(a *city.Agent) string {
	if a.Pool != "" && a.Reason == "member of pool "+a.Pool {
		return ""
	}
	// every agent that outlived a controller
	if a.State == city.Running && strings.HasPrefix(a.Reason, "adopted:") {
		return ""
	}
	place, ok := strings.CutPrefix(a.Reason, "declared at ")
	if !ok {
		return SuspendedBy(a.Reason)
	}
	if _, err := strconv.Atoi(place[strings.LastIndexByte(place, ':')+1:]); err != nil {
		return a.Reason
	}
	return ""
}

// SuspendedBy says who is suspended when not its rig or the city is, but it alone.
func SuspendedBy(reason string) string {
	if reason == "by agent" {
		return "by its own setting"
	}
	return reason
}

// Surplus reports whether it finishes because its pool wants fewer members: only a larger pool takes that back.
func (r *AgentRow) Surplus() bool {
	return r.State == city.Draining && r.Pool != "" && r.drain != nil && r.drain.By == "pool"
}

// Undrainable reports whether its drain can be taken back.
func (r *AgentRow) Undrainable() bool { return r.State == city.Draining && !r.Surplus() }

// attached reports whether somebody works in its terminal.
func (r *AgentRow) attached() bool { return r.Session != nil && r.Session.Attached }

// Patient is how long an agent may wait for another one, or drain without a deadline, before somebody should look
// at it.
const Patient = 10 * time.Minute

// Attention reports whether a person should look at it.
func (r *AgentRow) Attention(now time.Time) bool {
	switch r.State {
	case city.Failed, city.Quarantined, city.Unknown, city.Backoff:
		return true
	case city.Waiting:
		return now.Sub(r.Since) >= Patient
	case city.Draining:
		return r.Until.IsZero() && now.Sub(r.Since) >= Patient
	}
	return r.Frozen || r.Drifted || r.Stuck != nil || r.Called || r.State.Urgency() == 0
}

// rank orders rows: what needs a person first, in each state who is stuck, then by name as a person counts.
func rank(a, b *AgentRow) int {
	if d := a.State.Urgency() - b.State.Urgency(); d != 0 {
		return d
	}
	if a, b := a.Stuck != nil, b.Stuck != nil; a != b {
		if a {
			return -1
		}
		return 1
	}
	return city.CompareNames(a.Name, b.Name)
}

func (r *AgentRow) Key() string { return r.Name }

// agentWays are the orders of agents: what needs a person first; by name; what changed last first; the busiest, the
// largest, the most often restarted first.
func agentWays() []widget.Way[AgentRow] {
	names := func(a, b *AgentRow) int { return city.CompareNames(a.Name, b.Name) }
	use := func(of func(*city.Usage) float64) func(a, b *AgentRow) int {
		known := func(r *AgentRow) float64 {
			if r.Usage == nil {
				return -1
			}
			return of(r.Usage)
		}
		return func(a, b *AgentRow) int { return cmp.Compare(known(b), known(a)) }
	}
	return []widget.Way[AgentRow]{
		{Name: "need", Rank: rank}, {Name: "name", Rank: names},
		{Name: "age", Rank: func(a, b *AgentRow) int { return b.Since.Compare(a.Since) }},
		{Name: "cpu", Rank: use(func(u *city.Usage) float64 { return u.CPU })},
		{Name: "mem", Rank: use(func(u *city.Usage) float64 { return float64(u.RSS) })},
		{Name: "restarts", Rank: func(a, b *AgentRow) int {
			return cmp.Compare(b.Restarts, a.Restarts)
		}},
	}
}

// InState is a state behind "is".
func InState(s city.State) string {
	if s == city.Backoff {
		return "in backoff"
	}
	return string(s)
}

// Held reports whether something keeps an agent back that a person may lift.
func (r *AgentRow) Held() bool {
	switch r.State {
	case city.Quarantined, city.Backoff, city.Failed:
		return true
	}
	return r.Undrainable()
}

// Drainable reports whether an agent can be told to finish.
func (r *AgentRow) Drainable() bool {
	return r.Running && r.State != city.Draining && r.State != city.Stopping
}

// Hears reports whether a text for it would be typed, now or once it runs again by itself.
func (r *AgentRow) Hears() bool {
	return r.Running || r.State == city.Starting || r.State == city.Backoff ||
		r.State == city.Waiting
}

// HeldBack reports whether releasing changes anything.
func (r *AgentRow) HeldBack() bool {
	switch r.State {
	case city.Quarantined, city.Backoff, city.Failed, city.Draining:
		return true
	}
	return false
}

// Keeps reports whether an agent has ended and left a file.
func (r *AgentRow) Keeps() bool { return !r.Running && r.Exit != nil && r.Exit.File != "" }
