package tui

import (
	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
)

// Callers of Run use these types without importing the packages that define them.
type (
	// Preferences are the user's preferences.
	Preferences = feed.Preferences
	// ConfigFile is the configuration that the room edits.
	ConfigFile = feed.ConfigFile
	// Plan lists the changes that an edited configuration would cause.
	Plan = feed.Plan
	// Change is the planned effect on one agent.
	Change = feed.Change
	// Mode determines what the user is allowed to do, and what happens when the user leaves.
	Mode = state.Mode
	// Exit says how the control room was left.
	Exit = feed.Exit
)

// The modes; see state.Mode.
const (
	Hosting  = state.Hosting
	Joined   = state.Joined
	ReadOnly = state.ReadOnly
)

// The exits; see feed.Exit.
const (
	Ended       = feed.Ended
	Leave       = feed.Leave
	HandOver    = feed.HandOver
	KeepAgents  = feed.KeepAgents
	StopCity    = feed.StopCity
	Hangup      = feed.Hangup
	Terminated  = feed.Terminated
	Interrupted = feed.Interrupted
)

// SweepDrafts removes old drafts of a city's configuration.
func SweepDrafts(dir string) { feed.SweepDrafts(dir) }

// CheckKeys returns the problems with a user's key bindings.
func CheckKeys(p feed.Preferences) []string {
	r := actions.NewRegistry(panel.NewLists().Panels)
	r.Add(actions.ThemeActions(p.Themes))
	return r.Rebind(p.Keys)
}
