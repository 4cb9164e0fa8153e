package effect

import (
	"time"

	"gcity/agent"
	"gcity/automation"
	"gcity/city"
	"gcity/config"
	"gcity/formula"
)

// Configuration is the configuration in the form that the machine needs.
type Configuration struct {
	Name      string
	Revision  string
	Suspended bool
	Wants     []agent.Want // in name order; all possible members of pools too
	Pools     []agent.Pool // in name order
	Rigs      []agent.Rig  // in name order
	Tiers     []config.Watchdog
	Overrides map[string]int // sizes of pools set by a user
	OnDisk    bool           // crash_history = "disk"

	Dir     string       // the folder of the city
	Source  *config.City // the configuration that this was made from
	Backups bool         // work is backed up once a day
	// the city has no stores: no counts, no automations
	NoWork             bool
	Layers             []formula.Layer
	Automations        automation.Options
	WispEvery, WispTTL time.Duration // both or none are 0
	Warnings           []string
	Environ            []string // variables that override the file
	Console            city.Console
	API                config.API // zero = it does not listen
	Store              city.WorkStore
	Patrol             time.Duration
	Grace              time.Duration // shutdown_timeout
	Window             time.Duration // restart_window
}
