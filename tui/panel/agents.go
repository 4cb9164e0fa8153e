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

// Unavailable says why an agent cannot start until its configuration changes.
type Unavailable struct {
	OffAt   city.Level // the level at which the agent is suspended; "" = not suspended, or unknown
	Problem string     // why a failed agent is not retried; "" = it is retried, or can be released
}

// AgentRow is an agent ready to be drawn. The fields of the row itself are sanitized, but not those of the snapshot's
// agent.
type AgentRow struct {
	*city.Agent
	Shown string
	State city.State
	Unavailable
	Why      string
	whyBrief string        // Why in a narrow column; "" = Why is cut
	cause    string        // the last crash before a quarantine; "" = unknown
	Task     string        // title of the work in progress
	Until    time.Time     // when its state ends; zero = not known
	Session  *city.Session // without the user's own visit
	Waiting  []city.Send   // nudges to be typed, the next one first
	HasCall  bool
	Refusal  city.Refusal
}

func NewAgentRow(a *city.Agent) AgentRow {
	r := AgentRow{
		Agent: a, Shown: widget.Plain(a.Name), State: city.State(widget.Plain(string(a.State))),
		Why: widget.Plain(reason(a)), whyBrief: widget.Plain(describe.CauseFirst(a)),
		Task: widget.Plain(a.Task), Session: a.Session, Waiting: waiting(a.Sends),
		Unavailable: Unavailable{OffAt: a.SuspendedBy}, Refusal: a.Refusal,
	}
	// older controllers do not send the refusal
	r.Refusal.Surplus = r.Refusal.Surplus || r.Surplus()
	if a.Until != nil {
		r.Until = *a.Until
	}
	if a.State == city.Failed && a.Until == nil {
		r.Problem = widget.Plain(a.UnavailableReason)
	}
	if a.Quarantine != nil {
		r.cause = widget.Plain(a.Quarantine.LastCrash)
	}
	switch {
	case r.Frozen:
		r.Why = "stopped by a signal; frozen until SIGCONT"
	case r.Asks != nil && (r.State == city.Running || r.State == city.Draining):
		r.Why = widget.Plain(describe.Asks(r.Asks, ""))
		r.whyBrief, _, _ = strings.Cut(r.Why, ";")
	case r.Stuck != nil:
		r.Why = "screen unchanged, with " + widget.Plain(a.Stuck.Task)
	case a.AwaitsGate != "" && r.State == city.Running:
		r.Why = city.AwaitingGate + " " + widget.Plain(a.AwaitsGate)
	case len(r.Waiting) > 0 && r.State == city.Running:
		r.Why = r.waitText()
	case len(a.Drift) > 0:
		r.Why = widget.Plain(describe.HeldBack(a.Drift))
	case r.Task != "" && a.State == city.Running:
		r.Why = r.Task
	case a.Description != "" && (a.State == city.Running || r.Why == ""):
		r.Why = widget.Plain(a.Description)
	}
	if waits := r.waitText(); waits != "" && r.State != city.Running {
		r.Why = strings.TrimPrefix(r.Why+"; "+waits, "; ")
	}
	return r
}

// reason returns the reason for an agent's state, or "" if it is obvious in a list.
func reason(a *city.Agent) string {
	if a.Pool != "" && a.Reason == "member of pool "+a.Pool {
		return ""
	}
	// every agent that outlives a controller has this reason
	if a.State == city.Running && strings.HasPrefix(a.Reason, "adopted:") {
		return ""
	}
	place, ok := strings.CutPrefix(a.Reason, "declared at ")
	if !ok {
		return describe.Reason(a)
	}
	if _, err := strconv.Atoi(place[strings.LastIndexByte(place, ':')+1:]); err != nil {
		return a.Reason
	}
	return ""
}

// Surplus reports whether the agent is draining because its pool is scaling down. Only scaling the pool up cancels this
// drain.
func (r *AgentRow) Surplus() bool {
	return r.State == city.Draining && r.Pool != "" && r.Drain != nil && r.Drain.By == "pool"
}

// Undrainable reports whether the agent's drain can be canceled.
func (r *AgentRow) Undrainable() bool { return r.State == city.Draining && !r.Surplus() }

func (r *AgentRow) attached() bool { return r.Session != nil && r.Session.Attached }

// MaxWait is how long an agent can wait, or drain without a deadline, before it needs attention.
const MaxWait = 10 * time.Minute

// Attention reports whether the agent needs a user's attention.
func (r *AgentRow) Attention(now time.Time) bool {
	switch r.State {
	case city.Failed, city.Quarantined, city.Unknown, city.Backoff:
		return true
	case city.Waiting, city.Draining:
		if r.HasCall || r.Condition() != r.State {
			return true
		}
	}
	switch r.State {
	case city.Waiting:
		return now.Sub(r.Since) >= MaxWait
	case city.Draining:
		return r.Until.IsZero() && now.Sub(r.Since) >= MaxWait
	}
	return r.Frozen || len(r.Drift) > 0 || r.Condition() != r.State || r.HasCall ||
		r.State.Urgency() == 0 || r.flaps(now)
}

// alertState returns the agent's state for alerts. While a failed agent starts again, the state is still city.Failed,
// so that the alert does not disappear for a moment.
func (a *Agents) alertState(r *AgentRow) city.State {
	if a.retried[r.Name] {
		return city.Failed
	}
	return r.Condition()
}

// Condition returns the row's state, or a state of package describe.
func (r *AgentRow) Condition() city.State { return describe.AlertState(r.State, &r.Blocker) }

// ConditionSince returns when the row's condition began.
func (r *AgentRow) ConditionSince() time.Time {
	switch r.Condition() {
	case describe.Asking:
		return r.Asks.Since
	case describe.Stuck:
		return r.Stuck.Since
	}
	return r.Since
}

func (r *AgentRow) flaps(now time.Time) bool {
	return r.Crashes > 1 && (r.State == city.Running || r.State == city.Starting) &&
		now.Sub(r.Since) < time.Minute
}

func (r *AgentRow) urgency(now time.Time) int {
	if r.flaps(now) {
		return city.Backoff.Urgency()
	}
	return r.State.Urgency()
}

func rank(a, b *AgentRow, now time.Time) int {
	if d := a.urgency(now) - b.urgency(now); d != 0 {
		return d
	}
	return cmp.Or(a.Rank()-b.Rank(), city.CompareNames(a.Name, b.Name))
}

func (r *AgentRow) Key() string { return r.Name }

func agentSorts(now time.Time) []widget.SortKey[*AgentRow] {
	usage := func(r *AgentRow) city.Usage {
		if r.Usage == nil {
			return city.Usage{CPU: -1, RSS: -1}
		}
		return *r.Usage
	}
	return []widget.SortKey[*AgentRow]{
		{Name: "state", Desc: true, Cmp: func(a, b *AgentRow) int { return rank(a, b, now) }},
		{Name: "name"},
		{Name: "why", Cmp: func(a, b *AgentRow) int { return widget.CompareText(a.Why, b.Why) }},
		{Name: "for", Cmp: func(a, b *AgentRow) int { return b.Since.Compare(a.Since) }},
		{Name: "cpu", Desc: true, Cmp: widget.GreatestFirst(func(r *AgentRow) float64 {
			return usage(r).CPU
		})},
		{Name: "mem", Desc: true, Cmp: widget.GreatestFirst(func(r *AgentRow) int64 {
			return usage(r).RSS
		})},
		{Name: "restarts", Desc: true, Cmp: widget.GreatestFirst(func(r *AgentRow) int {
			return r.Restarts
		})},
		{Name: "pid", Cmp: func(a, b *AgentRow) int { return cmp.Compare(a.PID, b.PID) }},
	}
}

// IsSuspended reports whether the agent is suspended, even if its session is still stopping.
func (r *AgentRow) IsSuspended() bool { return r.State == city.Suspended || r.OffAt != "" }

// Held reports whether a user can release the agent from a quarantine, a backoff, a failure or a drain.
func (r *AgentRow) Held() bool {
	switch r.State {
	case city.Quarantined, city.Backoff:
		return true
	case city.Failed:
		return r.Problem == ""
	}
	return r.Undrainable()
}

// Drainable reports whether an agent can be drained.
func (r *AgentRow) Drainable() bool {
	return r.Running && r.State != city.Draining && r.State != city.Stopping
}

// CanFinish reports whether an agent's session is, or can be, drained. The controller does not drain an agent that is
// starting.
func (r *AgentRow) CanFinish() bool {
	return r.Running && r.Session != nil && r.State != city.Starting
}

// AcceptsText reports whether text can be sent to the agent, possibly after a restart.
func (r *AgentRow) AcceptsText() bool {
	return r.Running || r.State == city.Starting || r.State == city.Backoff ||
		r.State == city.Waiting
}

// HasOutput reports whether the output of an exited agent is in a file.
func (r *AgentRow) HasOutput() bool { return !r.Running && r.Exit != nil && r.Exit.File != "" }
