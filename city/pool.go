package city

import (
	"strings"
	"time"
)

// Pool is a group of identical agents.
type Pool struct {
	Name        string `json:"name"` // qualified name: "rig/name" or "name"
	Description string `json:"description,omitempty"`
	Rig         string `json:"rig,omitempty"`
	Min         int    `json:"min"`
	Max         int    `json:"max"`

	Size    int `json:"size"` // running members, except draining ones
	Desired int `json:"desired"`
	// "check returned 3", "override by operator", …
	Reason   string    `json:"reason"`
	Since    time.Time `json:"since"` // when Desired got this value
	Override *int      `json:"override,omitempty"`
	Draining []string  `json:"draining,omitempty"`

	Suspended bool `json:"suspended"`
	// completes the phrase "suspended …": "in city.toml", "with rig demo", "with the city"
	SuspendedReason string `json:"suspended_reason,omitempty"`
	SuspendedBy     Level  `json:"suspended_by,omitempty"`

	Check   Check         `json:"check"`
	Timeout time.Duration `json:"drain_timeout_ns"` // 0 = a drain has no time limit

	Source string `json:"source,omitempty"`
	// see Agent.Patched
	Patched   []string   `json:"patched,omitempty"`
	Decisions []Decision `json:"decisions,omitempty"` // newest last, at most MaxDecisions
	Next      *Next      `json:"next,omitempty"`
}

// Check is the latest state of a pool's size check.
type Check struct {
	Command string `json:"command,omitempty"` // "" = count the pool's open work
	// start of the run in progress
	Running *time.Time    `json:"running,omitempty"`
	At      *time.Time    `json:"at,omitempty"` // end of the latest run
	Took    time.Duration `json:"took_ns,omitempty"`
	// before Min and Max are applied
	Value   int        `json:"value"`
	Good    *time.Time `json:"good,omitempty"`    // end of the latest successful run
	Problem string     `json:"problem,omitempty"` // why the latest run failed; "" = it succeeded
	// end of the latest run's output, without control sequences
	Output string `json:"output,omitempty"`
}

// Rig is a project folder with agents.
type Rig struct {
	Name      string `json:"name"`
	Path      string `json:"path"` // absolute
	Prefix    string `json:"prefix"`
	Suspended bool   `json:"suspended"`
	Agents    int    `json:"agents"`
	Running   int    `json:"running"`
	Problem   string `json:"problem,omitempty"` // why the folder cannot be used
	Source    string `json:"source,omitempty"`

	Work *RigWork `json:"work,omitempty"` // nil = not counted
}

// RigWork counts the beads in a rig's store.
type RigWork struct {
	Open       int `json:"open"`
	InProgress int `json:"in_progress"`
}

// DrainInfo describes a request to an agent to finish its work.
type DrainInfo struct {
	Since    time.Time  `json:"since"`
	Deadline *time.Time `json:"deadline,omitempty"` // nil = no time limit
	By       string     `json:"by"`                 // "pool", "host" or an actor
	Acked    bool       `json:"acked"`
	Final    bool       `json:"final,omitempty"` // no new session starts after the drain
}

// Usage is the resource usage of a session's process tree.
type Usage struct {
	CPU   float64 `json:"cpu"` // since the previous sample, in percent of one processor
	RSS   int64   `json:"rss"` // memory in bytes
	Procs int     `json:"procs"`
}

// Next says what will happen if nothing changes.
type Next struct {
	At *time.Time `json:"at,omitempty"` // nil = no fixed time; What contains the condition
	// such as "is stopped again"; it can end with one of the conditions below
	What string `json:"what"`
}

// Conditions at the end of Next.What.
const (
	UnlessItPrints = " unless it prints something"
	IfStillRunning = " if still running"
	IfNotDone      = " if it has not reported done"
	IfCityRuns     = " if the city is running"
)

// Condition returns the condition at the end of n.What, or "".
func (n *Next) Condition() string {
	for _, c := range []string{UnlessItPrints, IfStillRunning, IfNotDone, IfCityRuns} {
		if strings.HasSuffix(n.What, c) {
			return c
		}
	}
	return ""
}

// Held is a configuration that is waiting for confirmation.
type Held struct {
	Revision string    `json:"revision"` // 12 hex digits
	Since    time.Time `json:"since"`
	Removes  []string  `json:"removes"` // running agents that the configuration does not declare
	Running  int       `json:"running"` // number of running agents when the configuration was read
	Plan     []string  `json:"plan"`    // "added x, y", "changed z", …
}

// Pool returns the pool with this qualified name.
func (s *Snapshot) Pool(name string) (*Pool, bool) {
	return find(s.Pools, func(p *Pool) bool { return p.Name == name })
}

// PoolSetBy begins Pool.Reason if Pool.Override determines the size.
const PoolSetBy = "set "

// While a pool restarts, Pool.Reason ends with text such as "; restarting, 1 of 3 done".
const (
	ReasonGap    = "; "
	PoolRestarts = "restarting, "
)

// Restarting returns the progress of a pool's restart: "restarting, 1 of 3 done", or "" if it is not restarting.
func (p *Pool) Restarting() string {
	_, progress, ok := strings.Cut(p.Reason, ReasonGap+PoolRestarts)
	if !ok {
		return ""
	}
	return PoolRestarts + progress
}
