// Package agent derives from the configuration which agents should run, with their command, environment, folder,
// setup and restart policy. It has no side effects.
package agent

import (
	"fmt"
	"slices"
	"time"

	"gcity/pool"
	"gcity/prompt"
	"gcity/restart"
	"gcity/session"
)

// Want describes one agent that should exist. It is immutable.
type Want struct {
	Name string // qualified name
	// qualified name of the declared agent or pool
	Declared    string
	Description string
	Rig         string
	Provider    string // session provider, for display
	// name of the provider that defines the command; "" = start_command
	Program string
	Found   bool     // the program was found on the host, not configured
	Source  string   // position of the agent's table: "city.toml:12:1"
	Patched []string // positions of the tables that change the agent

	Pool  string // qualified name of the agent's pool; "" = none
	Index int    // number of the member, counted from 1

	Spec      session.Spec // the session to start, without ID and GC_SESSION_ID; see Spawn
	MakeDir   bool         // create Spec.Dir if it is missing
	Policy    restart.Policy
	Suspended Suspension
	Problem   string // why the agent cannot start, or ""
	// set if Problem is due to missing programs
	MissingPrograms MissingPrograms

	Prompt Prompt

	// absolute path of the folder that is copied into Spec.Dir at each start; "" = none
	Overlay string
	Hooks   []string // kinds of hook files to install in Spec.Dir

	IdleTimeout time.Duration // restart after this period without activity; 0 = never
	// an agent with work is stuck after this long without output; 0 = never
	StuckAfter time.Duration
	// name of the watchdog that uses this agent for triage; "" = none
	TriageOf  string
	DependsOn []string         // sorted qualified names of agents and pools
	Strategy  restart.Strategy // which other agents restart when this agent crashes
}

// Prompt describes an agent's instructions and how its program receives them.
type Prompt struct {
	Mode string // "arg", "flag", "typed" or "none"; "" means "none"
	Flag string // the flag that precedes the text if Mode is "flag"

	Draft *prompt.Draft // nil = no instructions
	File  string        // name of the template file, for display
}

// MissingPrograms lists programs that are missing on this host.
type MissingPrograms struct {
	Programs []string // installing one of them is enough
	Path     string   // the PATH that was searched
}

// Installed reports whether one of the programs is now installed.
func (l *MissingPrograms) Installed(h Host) bool {
	return h.Find != nil && slices.ContainsFunc(l.Programs, func(program string) bool {
		return h.Find(program, l.Path)
	})
}

// Pool describes one pool that should exist. It is immutable. Each possible member is a separate Want.
type Pool struct {
	pool.Spec
	Description  string
	Rig          string
	Source       string
	Patched      []string // positions of the tables that change the pool
	Check        string   // shell command; "" = the size is the number of the pool's open beads
	CheckTimeout time.Duration
	DrainTimeout time.Duration // 0 = unlimited
	Dir          string        // absolute path of the folder in which the check runs
	MakeDir      bool          // create Dir if it is missing
	Env          []string      // environment for the check, without GC_RUN
	Suspended    Suspension
}

// OutOfBounds returns the reason why the pool cannot be scaled to n members, or "" if it can.
func (p *Pool) OutOfBounds(n int) string {
	bounds := fmt.Sprintf("the pool's limits are %d to %d", p.Min, p.Max)
	switch {
	case n == p.Size(n):
		return ""
	case p.Max == 0:
		bounds = "the pool is off, because its max is 0"
	}
	return fmt.Sprintf("cannot scale %s to %d: %s (%s)", p.Name, n, bounds, p.Source)
}

// Rig describes a project folder. It is immutable.
type Rig struct {
	Name, Path, Prefix string
	Suspended          bool
	Problem            string // why the folder cannot be used, or ""
	Source             string
}

// Host describes the machine and the controller's environment.
type Host struct {
	Environ []string // the controller's environment: "K=V"
	BinDir  string   // prepended to each agent's PATH

	// Find reports whether a program exists in a folder of a PATH, or at an absolute path. It must not block. If Find
	// is nil, the configured programs are assumed to exist, and no presets are found.
	Find func(program, path string) bool
}
