// Package agent derives the agents that should run from the configuration: command, environment, folder, setup,
// restart policy. It is pure.
package agent

import (
	"slices"
	"time"

	"gcity/pool"
	"gcity/prompt"
	"gcity/restart"
	"gcity/session"
)

// Want is one agent that should exist. Immutable.
type Want struct {
	Name        string // qualified
	Declared    string // the name in the configuration, qualified: its own, or its pool's
	Description string
	Rig         string
	Provider    string   // of its sessions, for display
	Program     string   // the provider that defines its command, "" = start_command defines it
	Found       bool     // no key names it: it is the first provider found on this host
	Source      string   // "city.toml:12:1"
	Patched     []string // the same for the tables that change it

	Pool  string // qualified name of its pool, "" = none
	Index int    // number of the member, from 1

	Spec    session.Spec // without ID and GC_SESSION_ID, see Spawn
	MakeDir bool         // create Spec.Dir if it is missing
	Policy  restart.Policy
	// why it must not run: "by agent", "by rig demo", "by city"; "" = it should run
	Suspended string
	Problem   string // why it cannot start, "" = it can
	Lack      Lack   // with a Problem: programs whose installation would solve it

	Prompt Prompt // its instructions, and how they are delivered

	// folder whose files are copied into Spec.Dir at each start, absolute; "" = none
	Overlay string
	Hooks   []string // kinds of hook files to install there

	IdleTimeout time.Duration // restart after this time without activity; 0 = never
	// shown as stuck after this time without output while it has work; 0 = never
	StuckAfter time.Duration
	// the watchdog that starts it as its triage agent; "" = it always runs
	TriageOf  string
	DependsOn []string         // qualified names of agents and pools, sorted, no cycle
	Strategy  restart.Strategy // which other agents restart when it crashes
}

// Prompt is the instructions of an agent and their delivery.
type Prompt struct {
	Mode string // "arg", "flag", "typed" or "none"; "" = none
	Flag string // with "flag": the flag before the text

	Draft *prompt.Draft // rendered at each start; nil = no prompt
	File  string        // the template, for display
}

// Lack lists programs that are missing on this host. The zero value lists none.
type Lack struct {
	Programs []string // any one of them is enough
	Path     string   // where they were searched
}

// Ended reports whether one of the programs is now present.
func (l *Lack) Ended(h Host) bool {
	return h.Find != nil && slices.ContainsFunc(l.Programs, func(program string) bool {
		return h.Find(program, l.Path)
	})
}

// Pool is one pool that should exist. Its possible members are among the wants. Immutable.
type Pool struct {
	pool.Spec
	Description  string
	Rig          string
	Source       string
	Patched      []string // as of a Want
	Check        string   // shell command; "" = the number of open beads of the pool
	CheckTimeout time.Duration
	DrainTimeout time.Duration // 0 = a drain has no time limit
	Dir          string        // where the check runs, absolute
	MakeDir      bool          // create Dir if it is missing
	Env          []string      // of the check, without GC_RUN
	Suspended    string        // as of a Want
}

// Rig is a project folder. Immutable.
type Rig struct {
	Name, Path, Prefix string
	Suspended          bool
	Problem            string // why its folder cannot be used
	Source             string
}

// Host is the part of the plan that comes from the machine and the controller's environment. It never affects a
// fingerprint.
type Host struct {
	Environ []string // of the controller, "K=V"
	BinDir  string   // first on every agent's PATH

	// Find reports whether a program exists on a PATH, or at an absolute path. It does not wait for folders that do
	// not answer. nil = no check: named programs count as present, and no other program is found.
	Find func(program, path string) bool
}
