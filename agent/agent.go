// Package agent turns configuration into who should run and with what: command, environment, folder, setup, restart
// policy. It reads nothing but its arguments.
package agent

import (
	"time"

	"gcity/pool"
	"gcity/restart"
	"gcity/session"
)

// Want is one agent that should exist. Immutable.
type Want struct {
	Name        string // qualified
	Declared    string // what the configuration calls it, qualified: its own name, or its pool's
	Description string
	Rig         string
	Provider    string // of its sessions, for display
	Source      string // "city.toml:12:1"

	Pool  string // qualified name of its pool, "" = it is in none
	Index int    // which member, from 1

	Spec      session.Spec // ID empty, and GC_SESSION_ID not in Env: Start fills both in, see Spawn
	MakeDir   bool         // Spec.Dir is made if it is missing
	Policy    restart.Policy
	Suspended string // why it must not run: "by agent", "by rig demo", "by city"; "" = it should run
	Problem   string // why it cannot be started, "" = it can

	IdleTimeout time.Duration    // restarted after so long without activity; 0 = never
	DependsOn   []string         // qualified names of agents and pools, sorted, no cycle
	Strategy    restart.Strategy // who else restarts when it crashes
}

// Pool is one pool that should exist. Its possible members are among the wants. Immutable.
type Pool struct {
	pool.Spec
	Description  string
	Rig          string
	Source       string
	Check        string // shell line; "" = the pool's open work is counted
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
}
