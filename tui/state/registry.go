package state

import (
	"gcity/tui/feed"
	"gcity/tui/keymap"
)

// Action is one command of the control room, with its key.
type Action = keymap.Action[*Room, feed.Effect]

// Registry is the list of the control room's actions.
type Registry = keymap.Registry[*Room, feed.Effect]

const (
	ReleaseID = "agent.release" // releases agents, or undoes the latest verb
	DrainID   = "agent.drain"   // in Pools it drains all members of the pool
)

const (
	MailID  = "agent.mail"
	SlingID = "agent.sling"
)

const (
	UnsendID  = "agent.unsend"
	SendNowID = "agent.send.now"
)

// BackID is the ID of the action that goes back one step.
const BackID = "view.back"

// SuspendID is the ID of the action that suspends agents, or pools if Pools has the focus.
const SuspendID = "agent.suspend"

// AutoTheme is the theme that follows the terminal's background: dark or light.
const AutoTheme = "auto"

// ThemeID is the prefix of the IDs of the actions that choose a theme.
const ThemeID = "theme."
