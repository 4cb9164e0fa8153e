// Package agent turns configuration into who should run and with what: command, environment, folder, setup, restart
// policy. It reads nothing but its arguments.
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
	Declared    string // what the configuration calls it, qualified: its own name, or its pool's
	Description string
	Rig         string
	Provider    string   // of its sessions, for display
	Program     string   // the provider that says what it runs, "" = a start_command does
	Found       bool     // and nothing names it: it is the first that is found on this host
	Source      string   // "city.toml:12:1"
	Patched     []string // the same of what changes it

	Pool  string // qualified name of its pool, "" = it is in none
	Index int    // which member, from 1

	Spec    session.Spec // ID empty, and GC_SESSION_ID not in Env: Start fills both in, see Spawn
	MakeDir bool         // Spec.Dir is made if it is missing
	Policy  restart.Policy
	// why it must not run: "by agent", "by rig demo", "by city"; "" = it should run
	Suspended string
	Problem   string // why it cannot be started, "" = it can
	Lack      Lack   // with a Problem: the programs that would mend it

	Prompt Prompt // what it is told, and how that reaches it

	Overlay string   // a folder whose files go into Spec.Dir at its start, absolute; "" = none
	Hooks   []string // kinds of hook files that are written there

	IdleTimeout time.Duration // restarted after so long without activity; 0 = never
	// shown as stuck after so long without output, while it has work; 0 = never
	StuckAfter time.Duration
	// the watchdog whose triage it is: it is started by the beats of that alone; "" = it always runs
	TriageOf  string
	DependsOn []string         // qualified names of agents and pools, sorted, no cycle
	Strategy  restart.Strategy // who else restarts when it crashes
}

// Prompt says how an agent is told what it is for.
type Prompt struct {
	Mode string // "arg", "flag", "typed" or "none"; "" = none
	Flag string // with "flag": what comes before the text

	Draft *prompt.Draft // what it is told, to be filled in at its start; nil = nothing
	File  string        // the template, for display
}

// Lack is what is not on this host. The zero value: nothing.
type Lack struct {
	Programs []string // any of them will do
	Path     string   // where they are looked for
}

// Ended reports whether one of the programs has come.
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
	Check        string   // shell line; "" = the pool's open work is counted
	CheckTimeout time.Duration
	DrainTimeout time.Duration // 0 = a drain never ends by itself
	Dir          string        // where the check runs, absolute
	MakeDir      bool          // Dir is made if it is missing
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

// Host is what the machine and the controller's own environment contribute. It never enters a fingerprint.
type Host struct {
	Environ []string // of the controller, "K=V"
	BinDir  string   // first on every agent's PATH

	// Find reports whether a PATH leads to a program of that name, or whether there is one at an absolute path. It
	// does not wait for folders that do not answer. nil: nobody looks. What is named is taken to be there then, and
	// what is not is not found.
	Find func(program, path string) bool
}
