package effect

import (
	"time"

	"gcity/agent"
	"gcity/automation"
	"gcity/city"
	"gcity/config"
	"gcity/formula"
)

// Configuration is a city's configuration in the form that the machine uses.
type Configuration struct {
	Name      string
	Revision  string
	Suspended bool
	Wants     []agent.Want // sorted by name; contains all possible members of pools
	Pools     []agent.Pool // sorted by name
	Rigs      []agent.Rig  // sorted by name
	Tiers     []config.Watchdog
	Overrides map[string]int // sizes that users have set, by pool
	OnDisk    bool           // crash histories are saved: crash_history = "disk"

	Dir     string       // the city's folder
	Source  *config.City // the configuration that this one was converted from
	Backups bool         // work is backed up once a day
	// the city has no stores, so work is not counted and no automation runs
	NoWork      bool
	Layers      []formula.Layer
	Automations automation.Options
	// wisp_gc_interval and wisp_ttl; both are 0 or both are positive
	WispEvery, WispTTL time.Duration
	Warnings           []string
	Environ            []string // environment variables that override the file
	Console            city.Console
	API                config.API // the TCP listener; zero = none
	Store              city.WorkStore
	Patrol             time.Duration
	Grace              time.Duration // shutdown_timeout
	Window             time.Duration // restart_window
}
