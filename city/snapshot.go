package city

import "time"

// State is the state of an agent. Every state has a reason and a start; states that end by themselves at a known
// time have an end time (law L14).
type State string

const (
	Waiting     State = "waiting"     // a dependency is not up yet
	Starting    State = "starting"    // pre_start, session, setup, readiness
	Running     State = "running"     // its process tree is alive
	Draining    State = "draining"    // asked to finish
	Stopping    State = "stopping"    // interrupted, not exited yet
	Backoff     State = "backoff"     // crashed; restarts at Until
	Quarantined State = "quarantined" // too many crashes; restarts at Until
	Suspended   State = "suspended"   // the agent, its rig or the city is suspended
	Exited      State = "exited"      // exited, and `restart` does not restart it
	Failed      State = "failed"      // cannot be started; retried at Until
	// its process was alive when last seen, but its provider does not answer
	Unknown State = "unknown"
)

// States lists all states in the order of lists: those that need attention first.
var States = [...]State{Failed, Quarantined, Unknown, Backoff, Stopping, Draining, Starting,
	Waiting, Running, Exited, Suspended}

// Urgency returns the position of a state in lists: 0 is the most urgent. An unknown state comes first.
func (s State) Urgency() int {
	for i, t := range States {
		if s == t {
			return i + 1
		}
	}
	return 0
}

// Level is the part of the configuration that suspends an agent or a pool: its own setting, or that of its rig or
// city. It is "" if it is not suspended.
type Level string

const (
	AgentLevel Level = "agent" // the agent itself, or its pool
	RigLevel   Level = "rig"
	CityLevel  Level = "city"
)

// Snapshot is the state of a city at one moment. It is immutable once published: copy it before changing it.
type Snapshot struct {
	Name        string       `json:"name"`
	Path        string       `json:"path"`
	Host        string       `json:"host"`
	Version     string       `json:"version"` // version of the controller
	Rev         uint64       `json:"rev"`     // incremented with every published snapshot
	Seq         uint64       `json:"seq"`     // seq of the newest event
	At          time.Time    `json:"at"`      // when it was created
	Started     time.Time    `json:"started"` // start time of the controller
	PID         int          `json:"pid"`     // process ID of the controller
	Mode        string       `json:"mode"`    // "console", "headless", "supervised", "settle"
	Suspended   bool         `json:"suspended"`
	Config      ConfigInfo   `json:"config"`
	Patrol      Patrol       `json:"patrol"`
	Agents      []Agent      `json:"agents"`              // in name order
	Pools       []Pool       `json:"pools"`               // in name order
	Rigs        []Rig        `json:"rigs"`                // in name order
	Automations []Automation `json:"automations"`         // in the order of scoped names
	Watchdogs   []Watchdog   `json:"watchdogs,omitempty"` // in name order
	Work        Work         `json:"work"`
	// work assigned to agents that do not run, by agent name
	Stranded []Stranded `json:"stranded,omitempty"`
	// mail for users: addressed to neither an agent nor a pool
	Mail    MailCount `json:"mail,omitzero"`
	Store   WorkStore `json:"store,omitzero"`
	Console Console   `json:"console"`
	// its TCP address: "127.0.0.1:8080"; "" = none
	API string `json:"api,omitempty"`
	// the file with the token for it; "" = no token is needed
	APIToken string   `json:"api_token_file,omitempty"`
	Degraded []string `json:"degraded"`
	// why the city's folder is not at its path; nothing starts until it is back
	Away     string  `json:"away,omitempty"`
	ShutDown bool    `json:"shutting_down,omitempty"`
	Ending   *Ending `json:"ending,omitempty"` // set while the city stops its agents
}

// ConfigInfo is the revision of the effective configuration, and whether a newer one was refused.
type ConfigInfo struct {
	Revision string    `json:"revision"` // 12 hex digits
	Loaded   time.Time `json:"loaded"`   // when it became effective
	// why the file on disk is not effective, "" if it is
	Rejected string   `json:"rejected,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	Held     *Held    `json:"held,omitempty"` // a newer one that needs a confirmation
	// variables of the controller's environment that take precedence over the file: "GC_SESSION=tmux"
	Environ []string `json:"environ,omitempty"`
}

// WorkStore is the provider of a city's work. The zero value is the embedded store.
type WorkStore struct {
	Provider string `json:"provider,omitempty"` // "bd" or "exec:SCRIPT"
	// host of bd's database server, as configured
	Host string `json:"host,omitempty"`
	Port int    `json:"port,omitempty"`
}

// Console holds a city's settings for the control room.
type Console struct {
	// name of the theme for users without a choice of their own; "" = none
	Theme string `json:"theme,omitempty"`
	// colour of the city: a number from 0 to 255, or "#rrggbb"
	Colour string `json:"colour,omitempty"`
}

// Patrol shows whether the loop is alive.
type Patrol struct {
	Interval time.Duration `json:"interval_ns"`
	// end of the last pass of the loop, current in every call of Snapshot
	Last time.Time `json:"last"`
}

// Age returns the time since the last pass of the loop.
func (p Patrol) Age(now time.Time) time.Duration { return max(0, now.Sub(p.Last)) }

// Agent is an agent in a snapshot, in the JSON form of the API.
type Agent struct {
	Name        string `json:"name"` // qualified name: "dir/name" or "name"
	Description string `json:"description,omitempty"`
	Rig         string `json:"rig,omitempty"`
	Pool        string `json:"pool,omitempty"`
	Provider    string `json:"provider,omitempty"` // provider of its sessions
	// the provider that selects its program: "claude"; "" = it has a start_command
	Program string `json:"program,omitempty"`

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
	// number of automatic restarts since this controller knows the agent
	Restarts int `json:"restarts"`
	// number of crashes within the restart window; in quarantine, of those that led to it
	Crashes int   `json:"crashes"`
	Exit    *Exit `json:"exit,omitempty"` // its last exit
	// fields in which its session differs from the configuration; the restart is delayed
	Drift []string   `json:"drift,omitempty"`
	Drain *DrainInfo `json:"drain,omitempty"` // it was asked to finish
	Usage *Usage     `json:"usage,omitempty"` // nil = not measured (yet)

	// queued texts, and for a minute the last text that was typed or given up
	Sends []Send `json:"sends,omitempty"`

	Workload

	// set if it has work and its output has not changed for stuck_after
	Stuck *Stuck `json:"stuck,omitempty"`

	Declaration
	LastOutput string     `json:"last_output,omitempty"` // only on request
	Decisions  []Decision `json:"decisions,omitempty"`   // newest last, at most MaxDecisions
}

// Workload is the mail and the work of an agent.
type Workload struct {
	// number of unread messages to it, and to its pool if not taken by another member
	Mail int `json:"mail,omitempty"`
	// its newest work in progress: "gc-214 fix the retry test"
	Task string `json:"task,omitempty"`

	// the open gate that blocks its newest work in progress: "gc-12 release approved"
	AwaitsGate string `json:"awaits_gate,omitempty"`
}

// Declaration is what the configuration says about how an agent runs.
type Declaration struct {
	DependsOn   []string      `json:"depends_on,omitempty"`
	IdleTimeout time.Duration `json:"idle_timeout_ns,omitempty"` // 0 = no timeout

	SuspendedBy Level  `json:"suspended_by,omitempty"`
	Source      string `json:"source,omitempty"` // position of its declaration: "city.toml:12:1"
	// positions of patches that change it: "city.toml:40:1"
	Patched []string `json:"patched,omitempty"`
	// 12 hex digits that differ if an edit makes it a different agent
	Declared string `json:"declared,omitempty"`
	Command  string `json:"command,omitempty"`
	Dir      string `json:"dir,omitempty"`
}

// MaxDecisions is the maximum number of Agent.Decisions.
const MaxDecisions = 12

// Session is the present or last session of an agent.
type Session struct {
	Name         string     `json:"name"`
	ID           string     `json:"id"`
	Started      time.Time  `json:"started"`
	LastActivity *time.Time `json:"last_activity,omitempty"`
	// bytes of output, as of LastActivity; 0 = none, or unknown
	Output   uint64   `json:"output,omitempty"`
	Attached bool     `json:"attached"`
	Viewers  int      `json:"viewers,omitempty"`
	Details  []string `json:"details,omitempty"` // where it runs, from its provider: "node n1"
}

// DetailText returns the details as text that continues a line: " · node n1 · image x".
func (s *Session) DetailText() string {
	text := ""
	for _, d := range s.Details {
		text += " · " + d
	}
	return text
}

// Exit is the end of an agent's last session.
type Exit struct {
	Code   int           `json:"code"`
	Signal string        `json:"signal,omitempty"`
	At     time.Time     `json:"at"`
	Uptime time.Duration `json:"uptime_ns"`
	File   string        `json:"file,omitempty"` // stored output, relative to the city
}

// Decision is a decision of the controller about an agent, with its reason.
type Decision struct {
	At   time.Time `json:"at"`
	What string    `json:"what"` // "start", "stop", "quarantine", …
	Why  string    `json:"why"`
}

// CannotStart is the What of a Decision about a start that could not begin.
const CannotStart = "cannot start"

// Agent returns the agent with this qualified name.
func (s *Snapshot) Agent(name string) (*Agent, bool) {
	for i := range s.Agents {
		if s.Agents[i].Name == name {
			return &s.Agents[i], true
		}
	}
	return nil, false
}

// Count returns the number of agents in each state.
func (s *Snapshot) Count() map[State]int {
	n := map[State]int{}
	for i := range s.Agents {
		n[s.Agents[i].State]++
	}
	return n
}

// Declares returns the maximum number of agents of a city, including members of pools.
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
