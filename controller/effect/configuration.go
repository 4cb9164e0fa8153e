package effect

import (
	"time"

	"gcity/agent"
	"gcity/automation"
	"gcity/city"
	"gcity/config"
	"gcity/formula"
)

// Configuration is a configuration as the machine needs it.
type Configuration struct {
	Name      string
	Revision  string
	Suspended bool
	Wants     []agent.Want // in name order; all possible members of pools too
	Pools     []agent.Pool // in name order
	Rigs      []agent.Rig  // in name order
	Tiers     []config.Watchdog
	Overrides map[string]int // of pools, by hand
	OnDisk    bool           // crash_history = "disk"

	Dir     string       // of the city
	Source  *config.City // what all this was made of
	Backups bool         // work is backed up once a day
	// there are no stores: nothing is counted, nothing runs by itself
	NoWork             bool
	Layers             []formula.Layer
	Automations        automation.Options
	WispEvery, WispTTL time.Duration // both or none are 0
	Warnings           []string
	Environ            []string // that beats the file
	Console            city.Console
	API                config.API // zero = nowhere
	Store              city.WorkStore
	Patrol             time.Duration
	Grace              time.Duration // shutdown_timeout
	Window             time.Duration // restart_window
}
