package city

import (
	"strings"
	"time"

	"gcity/internal/suggest"
)

// State is the state of an agent. Every state has a reason, a start time and, if known, an end time (L14).
type State string

const (
	Waiting     State = "waiting" // a dependency is not ready yet
	Starting    State = "starting"
	Running     State = "running"     // the agent's process tree is alive
	Draining    State = "draining"    // asked to finish
	Stopping    State = "stopping"    // interrupted, but still running
	Backoff     State = "backoff"     // crashed; restarts at Until
	Quarantined State = "quarantined" // too many crashes; restarts at Until
	Suspended   State = "suspended"   // the agent, its rig or the city is suspended
	Exited      State = "exited"      // exited, and `restart` says not to restart it
	Stopped     State = "stopped"     // has no session, and no controller is running to start one
	Failed      State = "failed"      // cannot start; the next attempt is at Until
	// the provider does not respond
	Unknown State = "unknown"
)

// States lists all states in the order in which they are shown. States that need attention come first.
var States = [...]State{Failed, Quarantined, Unknown, Backoff, Stopping, Draining, Starting,
	Waiting, Running, Stopped, Exited, Suspended}

// Is returns the state as the predicate of a sentence: "is running", "is in backoff", "has failed".
func (s State) Is() string {
	switch s {
	case Failed, Exited:
		return "has " + string(s)
	case Unknown:
		return "is in an unknown state"
	}
	return "is " + s.Phrase()
}

// Was returns Is in the past tense: "was running", "was in backoff", "had failed".
func (s State) Was() string {
	if rest, ok := strings.CutPrefix(s.Is(), "has "); ok {
		return "had " + rest
	}
	return "was " + strings.TrimPrefix(s.Is(), "is ")
}

// Phrase returns the state in a form that can follow a name or "now": "running", "in backoff".
func (s State) Phrase() string {
	if s == Backoff {
		return "in backoff"
	}
	return string(s)
}

// Urgency returns the position of a state in States, counted from 1, or 0 for an unknown state.
func (s State) Urgency() int {
	for i, t := range States {
		if s == t {
			return i + 1
		}
	}
	return 0
}

// Level says where a suspension comes from. It is "" without a suspension.
type Level string

const (
	AgentLevel Level = "agent" // the agent itself, or its pool
	RigLevel   Level = "rig"
	CityLevel  Level = "city"
)

// Snapshot is the state of a city at one point in time. A published snapshot is immutable.
type Snapshot struct {
	Name        string       `json:"name"`
	Path        string       `json:"path"`
	Host        string       `json:"host"`
	Version     string       `json:"version"` // of the controller
	Rev         uint64       `json:"rev"`     // incremented with every published snapshot
	Seq         uint64       `json:"seq"`     // of the newest event
	At          time.Time    `json:"at"`
	Started     time.Time    `json:"started"` // of the controller
	PID         int          `json:"pid"`     // of the controller
	Mode        string       `json:"mode"`    // "console", "headless", "supervised", "settle"
	Suspended   bool         `json:"suspended"`
	Config      ConfigInfo   `json:"config"`
	Patrol      Patrol       `json:"patrol"`
	Agents      []Agent      `json:"agents"`              // sorted by name
	Pools       []Pool       `json:"pools"`               // sorted by name
	Rigs        []Rig        `json:"rigs"`                // sorted by name
	Automations []Automation `json:"automations"`         // sorted by scoped name
	Watchdogs   []Watchdog   `json:"watchdogs,omitempty"` // sorted by name
	Work        Work         `json:"work"`
	// sorted by agent name
	Stranded []Stranded `json:"stranded,omitempty"`
	// addressed to neither an agent nor a pool
	Mail    MailCount `json:"mail,omitzero"`
	Store   WorkStore `json:"store,omitzero"`
	Console Console   `json:"console"`
	// the city's TCP address; "" = none
	API string `json:"api,omitempty"`
	// file with the token for API; "" = none
	APIToken string   `json:"api_token_file,omitempty"`
	Degraded []string `json:"degraded"`
	// why the city's folder is not at its path
	Away     string  `json:"away,omitempty"`
	ShutDown bool    `json:"shutting_down,omitempty"`
	Ending   *Ending `json:"ending,omitempty"` // set while the city stops its agents
	// seq of the first event about work that the counts of work and mail do not include yet; 0 = none
	Uncounted uint64 `json:"-"`
}

// Index returns the seq of the newest event that the snapshot reflects completely. It is lower than Seq while changed
// work has not been counted.
func (s *Snapshot) Index() uint64 {
	if s.Uncounted > 0 {
		return min(s.Seq, s.Uncounted-1)
	}
	return s.Seq
}

// ConfigInfo describes the active configuration, and a newer one that was rejected or is waiting for confirmation.
type ConfigInfo struct {
	Revision string    `json:"revision"` // 12 hex digits
	Loaded   time.Time `json:"loaded"`   // when the configuration became active
	// why the configuration on disk is not active; "" = it is active
	Rejected string `json:"rejected,omitempty"`
	// the command with which the user can trust a rejected configuration; "" = it was rejected for another reason
	Trust    string   `json:"trust,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	Held     *Held    `json:"held,omitempty"` // waits for confirmation
	// environment variables that override the file: "GC_SESSION=tmux"
	Environ []string `json:"environ,omitempty"`
}

// WorkStore describes the city's bead store. The zero value means the embedded store.
type WorkStore struct {
	Provider string `json:"provider,omitempty"` // "bd" or "exec:SCRIPT"
	// of bd's database server
	Host string `json:"host,omitempty"`
	Port int    `json:"port,omitempty"`
}

// Console contains a city's settings for the control room.
type Console struct {
	// a user's own choice overrides it
	Theme string `json:"theme,omitempty"`
	// a number from 0 to 255, or "#rrggbb"
	Color string `json:"colour,omitempty"`
}

// Patrol shows whether the controller's loop is running.
type Patrol struct {
	Interval time.Duration `json:"interval_ns"`
	// end of the loop's last pass; always current in Control.Snapshot
	Last time.Time `json:"last"`
}

// Age returns the time since the loop's last pass.
func (p Patrol) Age(now time.Time) time.Duration { return max(0, now.Sub(p.Last)) }

// Agent is an agent in a snapshot.
type Agent struct {
	Name        string `json:"name"` // qualified name: "dir/name" or "name"
	Description string `json:"description,omitempty"`
	Rig         string `json:"rig,omitempty"`
	Pool        string `json:"pool,omitempty"`
	Provider    string `json:"provider,omitempty"` // the agent's session provider

	State  State      `json:"state"`
	Reason string     `json:"reason"`
	Since  time.Time  `json:"since"`
	Until  *time.Time `json:"until,omitempty"`
	Next   *Next      `json:"next,omitempty"`

	Running           bool   `json:"running"`
	Suspended         bool   `json:"suspended"`
	Available         bool   `json:"available"`
	UnavailableReason string `json:"unavailable_reason,omitempty"`

	Session *Session `json:"session,omitempty"`
	PID     int      `json:"pid,omitempty"`
	Frozen  bool     `json:"frozen,omitempty"` // stopped by SIGSTOP
	// restarts by a user do not count
	Restarts int `json:"restarts"`
	RecentCrashes
	Exit *Exit `json:"exit,omitempty"`
	// fields in which the session differs from the configuration; set while a restart is delayed
	Drift []string   `json:"drift,omitempty"`
	Drain *DrainInfo `json:"drain,omitempty"` // set if the agent has been asked to finish
	Usage *Usage     `json:"usage,omitempty"` // nil = no measurement

	// unfinished nudges, and up to five that finished in the last minute
	Sends []Send `json:"sends,omitempty"`

	Workload

	Blocker
	Refusal
	Declaration
	LastOutput string     `json:"last_output,omitempty"` // only if the client requests it
	Decisions  []Decision `json:"decisions,omitempty"`   // newest last, at most MaxDecisions
}

// Blocker says why an agent does not continue, although its process is alive.
type Blocker struct {
	// the agent asks its user a question
	Asks *Question `json:"asks,omitempty"`
	// the agent has work but no new output for stuck_after
	Stuck *Stuck `json:"stuck,omitempty"`
}

// Rank orders agents: the one with the lower rank needs attention first.
func (b *Blocker) Rank() int {
	switch {
	case b.Asks != nil:
		return 0
	case b.Stuck != nil:
		return 1
	}
	return 2
}

// Refusal says whether the controller refuses to restart an agent, and why.
type Refusal struct {
	// "" = the agent can be restarted
	NoRestart string `json:"no_restart,omitempty"`
	// the pool no longer wants the agent
	Surplus bool `json:"surplus,omitempty"`
}

// Workload describes an agent's mail and work.
type Workload struct {
	// unread, for the agent and its pool
	Mail int `json:"mail,omitempty"`
	// newest bead in progress: "gc-214 fix the retry test"
	Task string `json:"task,omitempty"`

	// open gate that blocks the bead in Task: "gc-12 release approved"
	AwaitsGate string `json:"awaits_gate,omitempty"`
}

// Declaration contains the settings that determine how an agent runs.
type Declaration struct {
	// provider that selects the program: "claude"; "" = start_command
	Program string `json:"program,omitempty"`

	DependsOn   []string      `json:"depends_on,omitempty"`
	IdleTimeout time.Duration `json:"idle_timeout_ns,omitempty"` // 0 = no timeout

	SuspendedBy Level `json:"suspended_by,omitempty"`
	// "city.toml:12:1"
	Source string `json:"source,omitempty"`
	// where patches change the agent: "city.toml:40:1"
	Patched []string `json:"patched,omitempty"`
	// first 12 hex digits of the fingerprint of the agent's configuration
	Declared string `json:"declared,omitempty"`
	Command  string `json:"command,omitempty"`
	Dir      string `json:"dir,omitempty"`
}

// MaxDecisions is the maximum length of Agent.Decisions.
const MaxDecisions = 12

// Session is the current or latest session of an agent.
type Session struct {
	Name         string     `json:"name"`
	ID           string     `json:"id"`
	Started      time.Time  `json:"started"`
	LastActivity *time.Time `json:"last_activity,omitempty"`
	// bytes of output at LastActivity; 0 can also mean unknown
	Output   uint64 `json:"output,omitempty"`
	Attached bool   `json:"attached"`
	Viewers  int    `json:"viewers,omitempty"`
	// from the provider: "node n1"
	Details []string `json:"details,omitempty"`
}

// DetailText returns the details as text to append to a line: " · node n1 · image x".
func (s *Session) DetailText() string {
	text := ""
	for _, d := range s.Details {
		text += " · " + d
	}
	return text
}

// Exit is the end of a session that exited on its own.
type Exit struct {
	Code   int           `json:"code"`
	Signal string        `json:"signal,omitempty"`
	At     time.Time     `json:"at"`
	Uptime time.Duration `json:"uptime_ns"`
	File   string        `json:"file,omitempty"` // stored output, relative to the city
	// gcity has stopped a later session
	Earlier bool `json:"earlier,omitempty"`
}

// BeforeOther returns e with Earlier set. It does not change e, because snapshots share it.
func (e *Exit) BeforeOther() *Exit {
	if e == nil || e.Earlier {
		return e
	}
	earlier := *e
	earlier.Earlier = true
	return &earlier
}

// RecentCrashes describes an agent's latest crashes.
type RecentCrashes struct {
	// within the restart window; in quarantine, the number that led to it
	Crashes int `json:"crashes"`
	// nil = unknown, or no quarantine
	Quarantine *Quarantine `json:"quarantine,omitempty"`
}

// Quarantine describes the crashes that led to a quarantine.
type Quarantine struct {
	LastCrash string        `json:"last_crash"` // "exit 3"
	Span      time.Duration `json:"span_ns"`    // from the first crash to the last
}

// Decision is what the controller decided about an agent, and why.
type Decision struct {
	At   time.Time `json:"at"`
	What string    `json:"what"` // "start", "stop", "quarantine", …
	Why  string    `json:"why"`
}

// CannotStart is the value of Decision.What for a start that was not attempted.
const CannotStart = "cannot start"

// Agent returns the agent with this qualified name.
func (s *Snapshot) Agent(name string) (*Agent, bool) {
	return find(s.Agents, func(a *Agent) bool { return a.Name == name })
}

// Count returns the number of agents in each state.
func (s *Snapshot) Count() map[State]int {
	n := map[State]int{}
	for i := range s.Agents {
		n[s.Agents[i].State]++
	}
	return n
}

// Running returns the number of agents with a running process, in any state.
func (s *Snapshot) Running() (n int) {
	for i := range s.Agents {
		if s.Agents[i].Running {
			n++
		}
	}
	return n
}

// Declares returns the maximum number of agents that the city can have, including pool members.
func (s *Snapshot) Declares() (n int) {
	for i := range s.Agents {
		if s.Agents[i].Pool == "" {
			n++
		}
	}
	for i := range s.Pools {
		n += max(s.Pools[i].Max, s.Pools[i].Size)
	}
	return n
}

// Rig returns the rig with the given name.
func (s *Snapshot) Rig(name string) (*Rig, bool) {
	return find(s.Rigs, func(r *Rig) bool { return r.Name == name })
}

// Names returns the names of all objects of a kind, in the order of the snapshot.
func (s *Snapshot) Names(k suggest.Kind) []string {
	switch k {
	case suggest.Agent:
		return namesOf(s.Agents, func(a *Agent) string { return a.Name })
	case suggest.Pool:
		return namesOf(s.Pools, func(p *Pool) string { return p.Name })
	case suggest.Rig:
		return namesOf(s.Rigs, func(r *Rig) string { return r.Name })
	case suggest.Automation:
		return namesOf(s.Automations, func(a *Automation) string { return a.Name })
	case suggest.Watchdog:
		return namesOf(s.Watchdogs, func(w *Watchdog) string { return w.Name })
	}
	return nil
}

func find[T any](all []T, is func(*T) bool) (*T, bool) {
	for i := range all {
		if is(&all[i]) {
			return &all[i], true
		}
	}
	return nil, false
}

func namesOf[T any](all []T, name func(*T) string) []string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = name(&all[i])
	}
	return names
}
