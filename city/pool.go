package city

import "time"

// Pool is a group of like agents whose number follows a check. JSON shape: the API's.
type Pool struct {
	Name        string `json:"name"` // qualified: "rig/name" or "name"
	Description string `json:"description,omitempty"`
	Rig         string `json:"rig,omitempty"`
	Min         int    `json:"min"`
	Max         int    `json:"max"`

	Size    int `json:"size"`    // members that live, those that drain left out
	Desired int `json:"desired"` // as many are wanted
	// where Desired comes from: "check said 3", "override by operator", …
	Reason   string    `json:"reason"`
	Since    time.Time `json:"since"` // of Desired
	Override *int      `json:"override,omitempty"`
	Draining []string  `json:"draining,omitempty"` // members that are told to finish, by name

	Suspended bool `json:"suspended"`
	// "by agent", "by rig demo", "by city"
	SuspendedReason string `json:"suspended_reason,omitempty"`

	Check   Check         `json:"check"`
	Timeout time.Duration `json:"drain_timeout_ns"` // 0 = a drain never ends by itself

	Source    string     `json:"source,omitempty"`
	Patched   []string   `json:"patched,omitempty"`   // as of an Agent
	Decisions []Decision `json:"decisions,omitempty"` // newest last, at most MaxDecisions
	Next      *Next      `json:"next,omitempty"`
}

// Check is what a pool's size check did last.
type Check struct {
	Command string        `json:"command,omitempty"` // "" = the pool's open work is counted
	Running *time.Time    `json:"running,omitempty"` // since when one is under way
	At      *time.Time    `json:"at,omitempty"`      // end of the newest one
	Took    time.Duration `json:"took_ns,omitempty"`
	// what the newest good one said, or was counted, before the bounds
	Value   int        `json:"value"`
	Good    *time.Time `json:"good,omitempty"`    // end of the newest good one
	Problem string     `json:"problem,omitempty"` // why the newest one does not count, "" = it does
	Output  string     `json:"output,omitempty"`  // end of the newest one's output, cleaned
}

// Rig is a project folder that agents work in.
type Rig struct {
	Name      string `json:"name"`
	Path      string `json:"path"` // absolute
	Prefix    string `json:"prefix"`
	Suspended bool   `json:"suspended"`
	Agents    int    `json:"agents"`
	Running   int    `json:"running"`
	Problem   string `json:"problem,omitempty"` // its folder cannot be used
	Source    string `json:"source,omitempty"`

	Work *RigWork `json:"work,omitempty"` // in its store; nil = it was not counted
}

// RigWork counts what is to be done in the store of a rig.
type RigWork struct {
	Open       int `json:"open"`
	InProgress int `json:"in_progress"`
}

// DrainInfo says that an agent has been told to finish.
type DrainInfo struct {
	Since    time.Time  `json:"since"`
	Deadline *time.Time `json:"deadline,omitempty"` // nil = it is waited for without end
	By       string     `json:"by"`                 // "pool", "operator"
	Acked    bool       `json:"acked"`
	Final    bool       `json:"final,omitempty"` // no new session begins after it
}

// Usage is what a session's whole process tree takes.
type Usage struct {
	CPU   float64 `json:"cpu"`   // of one processor, in percent, since the sample before
	RSS   int64   `json:"rss"`   // bytes
	Procs int     `json:"procs"` // processes
}

// Next is what happens next if nothing else does.
type Next struct {
	At   *time.Time `json:"at,omitempty"` // nil = when What says so
	What string     `json:"what"`         // "started again", "ended if it does not answer", …
}

// Held is a configuration that is not in force until somebody confirms it: it would remove too many running agents.
type Held struct {
	Revision string    `json:"revision"` // 12 hex digits
	Since    time.Time `json:"since"`
	Removes  []string  `json:"removes"` // running agents that it has no longer
	Running  int       `json:"running"` // agents running when it came
	Plan     []string  `json:"plan"`    // "added x, y", "changed z", …
}

// Pool finds a pool by its qualified name.
func (s *Snapshot) Pool(name string) (*Pool, bool) {
	for i := range s.Pools {
		if s.Pools[i].Name == name {
			return &s.Pools[i], true
		}
	}
	return nil, false
}
