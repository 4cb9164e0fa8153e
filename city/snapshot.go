package city

import "time"

// State is where an agent stands. Every state comes with a reason and a since; those that end by themselves at a known
// time come with an until (law L14).
type State string

const (
	Waiting     State = "waiting"     // a dependency is not up yet
	Starting    State = "starting"    // pre_start, session, setup, readiness
	Running     State = "running"     // the process tree lives
	Draining    State = "draining"    // told to finish
	Stopping    State = "stopping"    // interrupted, not yet gone
	Backoff     State = "backoff"     // died; started again at Until
	Quarantined State = "quarantined" // too many crashes; started again at Until
	Suspended   State = "suspended"   // by agent, rig or city
	Exited      State = "exited"      // ended, and `restart` says to leave it
	Failed      State = "failed"      // cannot be started; tried again at Until
	// its process lived when last seen, and what holds it does not answer
	Unknown State = "unknown"
)

// States lists all, those that need a person first: the order in which lists show them.
var States = [...]State{Failed, Quarantined, Unknown, Backoff, Stopping, Draining, Starting,
	Waiting, Running, Exited, Suspended}

// Urgency orders states for lists: 0 is the most urgent. A state that is not in States comes first.
func (s State) Urgency() int {
	for i, t := range States {
		if s == t {
			return i + 1
		}
	}
	return 0
}

// Snapshot is a city at one moment. It is never changed once published: copy before altering.
type Snapshot struct {
	Name        string       `json:"name"`
	Path        string       `json:"path"`
	Host        string       `json:"host"`
	Version     string       `json:"version"` // of the program that runs the loop
	Rev         uint64       `json:"rev"`     // grows with every published snapshot
	Seq         uint64       `json:"seq"`     // newest event
	At          time.Time    `json:"at"`      // when it was made
	Started     time.Time    `json:"started"` // of the controller
	PID         int          `json:"pid"`     // of the controller
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
	// work of agents that do not run, in the order of their names
	Stranded []Stranded `json:"stranded,omitempty"`
	// for people: what is addressed to no agent and no pool
	Mail    MailCount `json:"mail,omitzero"`
	Store   WorkStore `json:"store,omitzero"`
	Console Console   `json:"console"`
	// where it answers over TCP: "127.0.0.1:8080"; "" = nowhere
	API string `json:"api,omitempty"`
	// the file with the token for that; "" = none is asked for
	APIToken string   `json:"api_token_file,omitempty"`
	Degraded []string `json:"degraded"`
	// why the city's folder is not at its path; nothing starts meanwhile
	Away     string  `json:"away,omitempty"`
	ShutDown bool    `json:"shutting_down,omitempty"`
	Ending   *Ending `json:"ending,omitempty"` // of a city that stops its agents
}

// ConfigInfo says which configuration is in force, and whether a newer one was refused.
type ConfigInfo struct {
	Revision string    `json:"revision"` // 12 hex digits
	Loaded   time.Time `json:"loaded"`   // when it came into force
	// why the file on disk is not in force, "" if it is
	Rejected string   `json:"rejected,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	Held     *Held    `json:"held,omitempty"` // a newer one that waits to be confirmed
	// what of the controller's environment beats the file: "GC_SESSION=tmux"
	Environ []string `json:"environ,omitempty"`
}

// WorkStore says who keeps a city's work. The zero one is the store built in.
type WorkStore struct {
	Provider string `json:"provider,omitempty"` // "bd" or "exec:SCRIPT"
	// of the database server that bd uses, as far as the configuration says
	Host string `json:"host,omitempty"`
	Port int    `json:"port,omitempty"`
}

// Console is what a city asks of whoever shows it.
type Console struct {
	Theme  string `json:"theme,omitempty"`  // a theme's name, for people who have chosen none
	Colour string `json:"colour,omitempty"` // the city's own: a number from 0 to 255, or "#rrggbb"
}

// Patrol tells whether the loop is alive.
type Patrol struct {
	Interval time.Duration `json:"interval_ns"`
	// end of the newest turn of the loop: fresh in every Snapshot call
	Last time.Time `json:"last"`
}

// Age is how long ago the loop last turned.
func (p Patrol) Age(now time.Time) time.Duration { return max(0, now.Sub(p.Last)) }

// Agent is one agent as an operator sees it. JSON shape: the API's.
type Agent struct {
	Name        string `json:"name"` // qualified: "dir/name" or "name"
	Description string `json:"description,omitempty"`
	Rig         string `json:"rig,omitempty"`
	Pool        string `json:"pool,omitempty"`
	Provider    string `json:"provider,omitempty"` // of its sessions
	// the provider that says what it runs: "claude"; "" = a start_command does
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
	// starts after an end of its own, since the controller knows it
	Restarts int `json:"restarts"`
	// within the restart window; in quarantine those that led to it
	Crashes int        `json:"crashes"`
	Exit    *Exit      `json:"exit,omitempty"`  // the newest death
	Drift   []string   `json:"drift,omitempty"` // a restart is held back because of these
	Drain   *DrainInfo `json:"drain,omitempty"` // it has been told to finish
	Usage   *Usage     `json:"usage,omitempty"` // nil = not measured, or not yet

	// texts on their way into it, and the newest that came to an end, for a minute
	Sends []Send `json:"sends,omitempty"`

	// unread messages to it, and to its pool that nobody has taken
	Mail int `json:"mail,omitempty"`
	// the work in progress that is assigned to it, the newest: "gc-214 fix the retry test"
	Task string `json:"task,omitempty"`

	// the open gate that blocks its newest work in progress: "gc-12 release approved"
	AwaitsGate string `json:"awaits_gate,omitempty"`

	// its output has not changed for its stuck_after while it has work
	Stuck *Stuck `json:"stuck,omitempty"`

	DependsOn   []string      `json:"depends_on,omitempty"`
	IdleTimeout time.Duration `json:"idle_timeout_ns,omitempty"` // 0 = none

	Source string `json:"source,omitempty"` // where it is declared: "city.toml:12:1"
	// where that is changed by patches: "city.toml:40:1"
	Patched []string `json:"patched,omitempty"`
	// 12 hex digits that change when its declaration makes another agent of it
	Declared   string     `json:"declared,omitempty"`
	Command    string     `json:"command,omitempty"`
	Dir        string     `json:"dir,omitempty"`
	LastOutput string     `json:"last_output,omitempty"` // only when asked for
	Decisions  []Decision `json:"decisions,omitempty"`   // newest last, at most MaxDecisions
}

// MaxDecisions bounds Agent.Decisions.
const MaxDecisions = 12

// Session is the life an agent is in.
type Session struct {
	Name         string     `json:"name"`
	ID           string     `json:"id"`
	Started      time.Time  `json:"started"`
	LastActivity *time.Time `json:"last_activity,omitempty"`
	// bytes that it has printed, as of LastActivity; 0 = none, or not known
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

// Exit is how an agent's last life ended.
type Exit struct {
	Code   int           `json:"code"`
	Signal string        `json:"signal,omitempty"`
	At     time.Time     `json:"at"`
	Uptime time.Duration `json:"uptime_ns"`
	File   string        `json:"file,omitempty"` // kept output, relative to the city
}

// Decision is one thing the controller decided about an agent, and why.
type Decision struct {
	At   time.Time `json:"at"`
	What string    `json:"what"` // "start", "stop", "quarantine", …
	Why  string    `json:"why"`
}

// Agent finds an agent by its qualified name.
func (s *Snapshot) Agent(name string) (*Agent, bool) {
	for i := range s.Agents {
		if s.Agents[i].Name == name {
			return &s.Agents[i], true
		}
	}
	return nil, false
}

// Count tells how many agents are in each state.
func (s *Snapshot) Count() map[State]int {
	n := map[State]int{}
	for i := range s.Agents {
		n[s.Agents[i].State]++
	}
	return n
}

// Declares returns how many agents a city may have at once, the members of its pools counted.
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
