// Package agent derives from the configuration which agents should run, with their command, environment, folder,
// setup and restart policy. It has no side effects.
package agent

import (
	"slices"
	"time"

	"gcity/pool"
	"gcity/prompt"
	"gcity/restart"
	"gcity/session"
)

// Want is one agent that should exist. It is immutable.
type Want struct {
	Name        string // qualified name
	Declared    string // qualified name in the configuration: its own or, for a member, its pool's
	Description string
	Rig         string
	Provider    string // session provider, for display
	// name of the provider that defines its command; "" = start_command defines it
	Program string
	Found   bool     // the configuration names no program; this one was found on this host
	Source  string   // position of its table: "city.toml:12:1"
	Patched []string // positions of the tables that change it

	Pool  string // qualified name of its pool; "" = none
	Index int    // number of the member, starting with 1

	Spec      session.Spec // without ID and GC_SESSION_ID; see Spawn
	MakeDir   bool         // Spec.Dir must be created if it is missing
	Policy    restart.Policy
	Suspended Suspension // why it must not run
	Problem   string     // why it cannot start; "" = it can
	Lack      Lack       // if Problem is set, programs that would solve it if installed

	Prompt Prompt // its instructions, and how the program gets them

	// absolute path of the folder with files that are copied into Spec.Dir at each start; "" = none
	Overlay string
	Hooks   []string // kinds of hook files to install in Spec.Dir

	IdleTimeout time.Duration // it is restarted after this time without activity; 0 = never
	// it is shown as stuck if it has work and prints nothing for this time; 0 = never
	StuckAfter time.Duration
	// name of the watchdog for which it is the triage agent; "" = it is an ordinary agent
	TriageOf  string
	DependsOn []string         // qualified names of agents and pools, sorted and without cycles
	Strategy  restart.Strategy // which other agents restart when it crashes
}

// Prompt describes the instructions of an agent and how its program gets them.
type Prompt struct {
	Mode string // "arg", "flag", "typed" or "none"; "" means "none"
	Flag string // for "flag": the flag before the text

	Draft *prompt.Draft // rendered at each start; nil = no instructions
	File  string        // name of the template's file, for display
}

// Lack lists programs that are missing on this host. The zero value lists none.
type Lack struct {
	Programs []string // one of them is sufficient
	Path     string   // the PATH in which they were not found
}

// Ended reports whether one of the programs is installed now.
func (l *Lack) Ended(h Host) bool {
	return h.Find != nil && slices.ContainsFunc(l.Programs, func(program string) bool {
		return h.Find(program, l.Path)
	})
}

// Pool is one pool that should exist. Its possible members are Wants. It is immutable.
type Pool struct {
	pool.Spec
	Description  string
	Rig          string
	Source       string
	Patched      []string // positions of the tables that change it
	Check        string   // shell command; "" = the size is the number of open beads of the pool
	CheckTimeout time.Duration
	DrainTimeout time.Duration // 0 = unlimited
	Dir          string        // absolute path of the folder in which the check runs
	MakeDir      bool          // Dir must be created if it is missing
	Env          []string      // environment of the check, without GC_RUN
	Suspended    Suspension    // like Want.Suspended
}

// Rig is a project folder. It is immutable.
type Rig struct {
	Name, Path, Prefix string
	Suspended          bool
	Problem            string // why its folder cannot be used; "" = it can
	Source             string
}

// Host is what the plan depends on besides the configuration: the machine and the controller's environment.
// Fingerprints do not depend on it.
type Host struct {
	Environ []string // environment of the controller: "K=V"
	BinDir  string   // added at the front of each agent's PATH

	// Find reports whether a program exists on a PATH or at an absolute path. It must not wait for folders that do
	// not respond. If it is nil, programs that the configuration names are assumed to exist, and no others are
	// found.
	Find func(program, path string) bool
}
