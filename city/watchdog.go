package city

import (
	"fmt"
	"strings"
	"time"
)

// Remedy is what a watchdog decides to do at a check.
type Remedy string

const (
	// no session is running
	RemedyStart Remedy = "start"
	RemedyWake  Remedy = "wake" // silent for too long
	// silent for too long, but the provider cannot type
	RemedyRestart Remedy = "restart"
	RemedyNudge   Remedy = "nudge" // the heartbeat is late and there is mail
	RemedyNothing Remedy = "nothing"
)

// Freshness classifies the age of a heartbeat.
type Freshness string

const (
	Fresh     Freshness = "fresh"
	Stale     Freshness = "stale"
	VeryStale Freshness = "very stale"
	Dead      Freshness = "dead" // no session is running
	// the session is older than the limit for Fresh, and its heartbeat has not been read yet
	Unchecked Freshness = "unchecked"
)

// WatchMode says how a watchdog decides.
type WatchMode string

const (
	ByTriage     WatchMode = "triage"     // an agent that is started for each check decides
	ByThresholds WatchMode = "thresholds" // the age of the heartbeat decides
	// like ByThresholds, for providers that cannot type
	ByRestart WatchMode = "restart"
)

// Watchdog is a watchdog in a snapshot.
type Watchdog struct {
	Name    string `json:"name"`
	Watches string `json:"watches"` // name of the monitored agent
	Triage  string `json:"triage,omitempty"`

	Every     time.Duration `json:"every_ns"`
	Fresh     time.Duration `json:"fresh_ns"`
	VeryStale time.Duration `json:"very_stale_ns"`
	TTL       time.Duration `json:"triage_ttl_ns,omitempty"`

	Mode WatchMode `json:"mode"` // of the next check
	// why the mode is not the configured one: "triage scout said nothing within 5m"
	Degraded string `json:"degraded,omitempty"`

	// time of the latest heartbeat, by the controller's clock; before a session's first heartbeat, the time at which
	// the controller began to wait for it; nil = unknown
	Heartbeat *time.Time `json:"heartbeat,omitempty"`
	Freshness Freshness  `json:"freshness"`
	Mail      int        `json:"mail,omitempty"`    // unread, for the monitored agent
	Problem   string     `json:"problem,omitempty"` // why the heartbeat file is invalid

	// as reported in the heartbeat; nil = not reported
	HealthyAgents   *int `json:"healthy_agents,omitempty"`
	UnhealthyAgents *int `json:"unhealthy_agents,omitempty"`

	// next check; nil = suspended or stopping
	Next    *time.Time `json:"next,omitempty"`
	Triaged *TriageRun `json:"triaged,omitempty"`
	Last    *Judgement `json:"last,omitempty"`
	// newest last, at most MaxDecisions; only checks that led to an action
	Recent []Judgement `json:"recent,omitempty"`
	Failed int         `json:"failed,omitempty"` // consecutive actions that did not help

	Escalated *Escalation `json:"escalated,omitempty"`

	// the city or the monitored agent is suspended
	Suspended bool   `json:"suspended,omitempty"`
	Source    string `json:"source,omitempty"` // "city.toml:40:1"
}

// TriageRun is a running triage agent.
type TriageRun struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until"` // after this time, the thresholds decide
	Beat  string    `json:"beat"`  // ID of the check
}

// Judgement is the result of a check.
type Judgement struct {
	At       time.Time `json:"at"`
	Decision Remedy    `json:"decision"`
	Reason   string    `json:"reason"`
	// triage agent, "thresholds", or a user
	By     string        `json:"by"`
	Took   time.Duration `json:"took_ns,omitempty"` // of the triage
	Result string        `json:"result,omitempty"`  // of the action: "typed", "failed: …"
}

// Escalation is a call: a watchdog's request to a user for help.
type Escalation struct {
	At      time.Time `json:"at"`
	To      string    `json:"to"` // a mail address
	Message string    `json:"message"`
	Seen    bool      `json:"seen,omitempty"`
	By      string    `json:"by,omitempty"` // the user that acknowledged it
}

// WatchdogSender is the beginning of the sender of a watchdog's mail. The watchdog's name follows.
const WatchdogSender = "watchdog "

// Question is a question that an agent asks its user.
type Question struct {
	Since time.Time `json:"since"`
	// what the question is about: "trust in the folder"; "" = unknown
	About string `json:"about,omitempty"`
}

// Stuck means that an agent has work, but its output has not changed for too long.
type Stuck struct {
	Since time.Time `json:"since"` // when the agent's output last changed
	Task  string    `json:"task"`
}

// Reports returns the counts in a heartbeat: "agents: 3 healthy, 1 unhealthy", or "".
func (w *Watchdog) Reports() string {
	var parts []string
	if n := w.HealthyAgents; n != nil {
		parts = append(parts, fmt.Sprintf("%d healthy", *n))
	}
	if n := w.UnhealthyAgents; n != nil {
		parts = append(parts, fmt.Sprintf("%d unhealthy", *n))
	}
	if len(parts) == 0 {
		return ""
	}
	return "agents: " + strings.Join(parts, ", ")
}

// Watchdog returns the watchdog with this name.
func (s *Snapshot) Watchdog(name string) (*Watchdog, bool) {
	return find(s.Watchdogs, func(w *Watchdog) bool { return w.Name == name })
}

type (
	// Beat makes a watchdog check its agent immediately.
	Beat struct {
		Watchdog string `json:"-"`
	}
	// Decide submits a decision about a check.
	Decide struct {
		Watchdog string `json:"-"`
		Decision Remedy `json:"decision"`
		Reason   string `json:"reason"`
		// ID of the check; "" = the current one; the error for an ended check has code Conflict
		Beat string `json:"beat,omitempty"`
		By   string `json:"by,omitempty"`
	}
	// Acknowledge records that a user has seen a watchdog's call. An unchanged call is not sent again.
	Acknowledge struct {
		Watchdog string `json:"-"`
		By       string `json:"by,omitempty"`
	}
)

func (Beat) Verb() string        { return "beat" }
func (Decide) Verb() string      { return "decide" }
func (Acknowledge) Verb() string { return "acknowledge" }

func (c Beat) Target() string        { return c.Watchdog }
func (c Decide) Target() string      { return c.Watchdog }
func (c Acknowledge) Target() string { return c.Watchdog }
