package city

import (
	"fmt"
	"strings"
	"time"
)

// Remedy is what a beat of a watchdog decides.
type Remedy string

const (
	// it does not live: it is made to, what is left of it ended first
	RemedyStart   Remedy = "start"
	RemedyWake    Remedy = "wake"    // it has said nothing for too long: the wake text is typed
	RemedyRestart Remedy = "restart" // the same, where nothing can be typed
	RemedyNudge   Remedy = "nudge"   // it is late and mail waits: the nudge text is typed
	RemedyNothing Remedy = "nothing"
)

// Freshness classes how old a heartbeat is.
type Freshness string

const (
	Fresh     Freshness = "fresh"
	Stale     Freshness = "stale"
	VeryStale Freshness = "very stale"
	Dead      Freshness = "dead" // no session lives
)

// WatchMode is who judges.
type WatchMode string

const (
	ByTriage     WatchMode = "triage"     // an agent that is started for each beat
	ByThresholds WatchMode = "thresholds" // ages alone
	// ages alone, and the provider cannot type: what is very stale is started anew
	ByRestart WatchMode = "restart"
)

// Watchdog is a tier: who is looked after, how that is, and what was decided last. JSON shape: the API's.
type Watchdog struct {
	Name    string `json:"name"`
	Watches string `json:"watches"` // an agent
	Triage  string `json:"triage,omitempty"`

	Every     time.Duration `json:"every_ns"`
	Fresh     time.Duration `json:"fresh_ns"`
	VeryStale time.Duration `json:"very_stale_ns"`
	TTL       time.Duration `json:"triage_ttl_ns,omitempty"`

	Mode WatchMode `json:"mode"` // that the next beat has
	// why that is not what is declared: "triage scout said nothing within 5m"
	Degraded string `json:"degraded,omitempty"`

	// the newest, by the controller's clock; where none was ever written, since when one is waited for; of another
	// one's triage, when it decided last
	Heartbeat *time.Time `json:"heartbeat,omitempty"`
	Freshness Freshness  `json:"freshness"`
	Mail      int        `json:"mail,omitempty"`    // unread, of the watched
	Problem   string     `json:"problem,omitempty"` // why its heartbeat file counts as none

	// as the watched agent's heartbeat reports; nil = it does not
	HealthyAgents   *int `json:"healthy_agents,omitempty"`
	UnhealthyAgents *int `json:"unhealthy_agents,omitempty"`

	Next    *time.Time `json:"next,omitempty"` // beat; nil = none while suspended or stopping
	Triaged *TriageRun `json:"triaged,omitempty"`
	Last    *Judgement `json:"last,omitempty"`
	// newest last, at most MaxDecisions, those that decided nothing left out
	Recent []Judgement `json:"recent,omitempty"`
	Failed int         `json:"failed,omitempty"` // wakes in a row after which it was no better

	Escalated *Escalation `json:"escalated,omitempty"`

	// it does not beat: its city is, or whom it watches
	Suspended bool   `json:"suspended,omitempty"`
	Source    string `json:"source,omitempty"` // "city.toml:40:1"
}

// TriageRun is a triage agent at work.
type TriageRun struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until"` // when the thresholds decide in its place
	Beat  string    `json:"beat"`  // which beat it judges
}

// Judgement is what a beat came to.
type Judgement struct {
	At       time.Time `json:"at"`
	Decision Remedy    `json:"decision"`
	Reason   string    `json:"reason"`
	// the triage agent's name, "thresholds" or an operator
	By     string        `json:"by"`
	Took   time.Duration `json:"took_ns,omitempty"` // of the triage
	Result string        `json:"result,omitempty"`  // what became of it: "typed", "failed: …"
}

// Escalation is a call for a person.
type Escalation struct {
	At      time.Time `json:"at"`
	To      string    `json:"to"` // a mailbox
	Message string    `json:"message"`
	Seen    bool      `json:"seen,omitempty"` // acknowledged
	By      string    `json:"by,omitempty"`   // who did
}

// Stuck says that an agent has work and its screen is as it was for too long.
type Stuck struct {
	Since time.Time `json:"since"` // of the newest change of its output
	Task  string    `json:"task"`
}

// Reports returns what a heartbeat reports of other agents: "agents: 3 healthy, 1 unhealthy", "" = nothing.
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

// Watchdog finds a tier by its name.
func (s *Snapshot) Watchdog(name string) (*Watchdog, bool) {
	for i := range s.Watchdogs {
		if s.Watchdogs[i].Name == name {
			return &s.Watchdogs[i], true
		}
	}
	return nil, false
}

type (
	// Beat has a watchdog look now, past its interval.
	Beat struct {
		Watchdog string `json:"-"`
	}
	// Decide is a triage agent's word, or a person's: what a beat is to do.
	Decide struct {
		Watchdog string `json:"-"`
		Decision Remedy `json:"decision"`
		Reason   string `json:"reason"`
		// that was judged; "" = the one that goes on. Of one that is over: Conflict
		Beat string `json:"beat,omitempty"`
		By   string `json:"by,omitempty"`
	}
	// Acknowledge says that a person has seen an escalation: it is not shown as new any more, and not said again
	// until it changes.
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
