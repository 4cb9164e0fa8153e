// Package agent turns configuration into who should run and with what: command, environment, folder, setup, restart
// policy. It reads nothing but its arguments.
package agent

import (
	"gcity/restart"
	"gcity/session"
)

// Want is one agent that should exist. Immutable.
type Want struct {
	Name        string // qualified
	Description string
	Rig         string
	Provider    string // of its sessions, for display
	Source      string // "city.toml:12:1"

	Spec      session.Spec // ID empty, and GC_SESSION_ID not in Env: Start fills both in, see Spawn
	MakeDir   bool         // Spec.Dir is made if it is missing
	Policy    restart.Policy
	Suspended string // why it must not run: "by agent", "by city"; "" = it should run
	Problem   string // why it cannot be started, "" = it can
}

// Host is what the machine and the controller's own environment contribute. It never enters a fingerprint.
type Host struct {
	Environ []string // of the controller, "K=V"
	BinDir  string   // first on every agent's PATH
}
