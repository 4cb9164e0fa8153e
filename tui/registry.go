package tui

import (
	"gcity/tui/feed"
	"gcity/tui/keymap"
)

// action is one command of the control room, with its key.
type action = keymap.Action[*model, feed.Effect]

// registry is the list of the control room's actions.
type registry = keymap.Registry[*model, feed.Effect]

const (
	releaseID = "agent.release" // releases agents; also undoes the last verb
	drainID   = "agent.drain"   // in Pools it drains all members of the pool
)

const (
	mailID  = "agent.mail"
	slingID = "agent.sling"
)

const (
	unsendID  = "agent.unsend"
	sendNowID = "agent.send.now"
)

// backID is the ID of the action that goes back one step.
const backID = "view.back"

// suspendID is the ID of the action that suspends agents, or pools if Pools has the focus.
const suspendID = "agent.suspend"

// AutoTheme follows the terminal: dark or light. While its background is unknown, the theme of Options applies.
const AutoTheme = "auto"

const themeID = "theme."
