package tui

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"gcity/city"
	"gcity/tui/widget"
)

// agentRow is an agent made ready to be shown: every text cleaned, once.
type agentRow struct {
	name     string // as the city knows it
	shown    string
	state    city.State
	why      string
	pool     string
	rig      string
	provider string
	task     string // what it works on, "" = nothing that is known
	since    time.Time
	until    time.Time // zero = none
	restarts int
	crashes  int
	pid      int
	exit     *city.Exit
	session  *city.Session
	usage    *city.Usage
	drain    *city.DrainInfo
	waiting  []city.Send // texts that wait to be typed, the next one first
	next     *city.Next
	idle     time.Duration // it is restarted after so long without activity, 0 = never
	frozen   bool
	drifted  bool
	running  bool
	mail     int // unread messages to it
	stuck    *city.Stuck
	called   bool // a watchdog calls for a person because of it
}

func newAgentRow(a *city.Agent) agentRow {
	r := agentRow{
		name: a.Name, shown: widget.Plain(a.Name), state: city.State(widget.Plain(string(a.State))),
		why:  widget.Plain(reason(a)),
		task: widget.Plain(a.Task), pool: a.Pool, rig: a.Rig, provider: a.Provider, since: a.Since,
		restarts: a.Restarts, crashes: a.Crashes, pid: a.PID, exit: a.Exit, session: a.Session,
		usage: a.Usage, drain: a.Drain, next: a.Next, idle: a.IdleTimeout, frozen: a.Frozen,
		drifted: len(a.Drift) > 0, running: a.Running, waiting: waitingIn(a.Sends),
		mail: max(0, a.Mail), stuck: a.Stuck,
	}
	if a.Until != nil {
		r.until = *a.Until
	}
	switch {
	case r.frozen:
		r.why = "frozen: a signal has stopped it, nothing goes on until it is continued"
	case r.stuck != nil:
		r.why = "its screen is as it was, with " + widget.Plain(a.Stuck.Task)
	case a.AwaitsGate != "" && r.state == city.Running:
		r.why = city.AwaitingGate + " " + widget.Plain(a.AwaitsGate)
	case len(r.waiting) > 0 && r.state == city.Running:
		r.why = r.waits()
	case r.drifted:
		r.why = "a restart is held back: " + widget.Plain(strings.Join(a.Drift, ", "))
	case r.task != "" && a.State == city.Running:
		r.why = r.task
	case a.Description != "" && (a.State == city.Running || r.why == ""):
		r.why = widget.Plain(a.Description)
	}
	if waits := r.waits(); waits != "" && r.state != city.Running {
		r.why = strings.TrimPrefix(r.why+"; "+waits, "; ")
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
		return suspendedBy(a.Reason)
	}
	if _, err := strconv.Atoi(place[strings.LastIndexByte(place, ':')+1:]); err != nil {
		return a.Reason
	}
	return ""
}

// suspendedBy says who is suspended when not its rig or the city is, but it alone.
func suspendedBy(reason string) string {
	if reason == "by agent" {
		return "by its own setting"
	}
	return reason
}

// surplus reports whether it finishes because its pool wants fewer members: only a larger pool takes that back.
func (r *agentRow) surplus() bool {
	return r.state == city.Draining && r.pool != "" && r.drain != nil && r.drain.By == "pool"
}

// undrainable reports whether its drain can be taken back.
func (r *agentRow) undrainable() bool { return r.state == city.Draining && !r.surplus() }

// attached reports whether somebody works in its terminal.
func (r *agentRow) attached() bool { return r.session != nil && r.session.Attached }

// patient is how long an agent may wait for another one, or drain without a deadline, before somebody should look
// at it.
const patient = 10 * time.Minute

// attention reports whether a person should look at it.
func (r *agentRow) attention(now time.Time) bool {
	switch r.state {
	case city.Failed, city.Quarantined, city.Unknown, city.Backoff:
		return true
	case city.Waiting:
		return now.Sub(r.since) >= patient
	case city.Draining:
		return r.until.IsZero() && now.Sub(r.since) >= patient
	}
	return r.frozen || r.drifted || r.stuck != nil || r.called || r.state.Urgency() == 0
}

// rank orders rows: what needs a person first, in each state who is stuck, then by name as a person counts.
func rank(a, b *agentRow) int {
	if d := a.state.Urgency() - b.state.Urgency(); d != 0 {
		return d
	}
	if a, b := a.stuck != nil, b.stuck != nil; a != b {
		if a {
			return -1
		}
		return 1
	}
	return city.CompareNames(a.name, b.name)
}

func (r *agentRow) Key() string { return r.name }

// agentWays are the orders of agents: what needs a person first; by name; what changed last first; the busiest, the
// largest, the most often restarted first.
func agentWays() []widget.Way[agentRow] {
	names := func(a, b *agentRow) int { return city.CompareNames(a.name, b.name) }
	use := func(of func(*city.Usage) float64) func(a, b *agentRow) int {
		known := func(r *agentRow) float64 {
			if r.usage == nil {
				return -1
			}
			return of(r.usage)
		}
		return func(a, b *agentRow) int { return cmp.Compare(known(b), known(a)) }
	}
	return []widget.Way[agentRow]{
		{Name: "need", Rank: rank}, {Name: "name", Rank: names},
		{Name: "age", Rank: func(a, b *agentRow) int { return b.since.Compare(a.since) }},
		{Name: "cpu", Rank: use(func(u *city.Usage) float64 { return u.CPU })},
		{Name: "mem", Rank: use(func(u *city.Usage) float64 { return float64(u.RSS) })},
		{Name: "restarts", Rank: func(a, b *agentRow) int {
			return cmp.Compare(b.restarts, a.restarts)
		}},
	}
}

// inState is a state behind "is".
func inState(s city.State) string {
	if s == city.Backoff {
		return "in backoff"
	}
	return string(s)
}
