package tui

import (
	"slices"

	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
)

// action is one command of the control room, with its key.
type action = keymap.Action[*model, feed.Effect]

// registry is the list of the control room's actions.
type registry = keymap.Registry[*model, feed.Effect]

// CheckKeys returns the problems of a user's key bindings.
func CheckKeys(p feed.Person) []string {
	r := newRegistry(panel.NewLists().Panels)
	r.Include(themeActions(p.Themes))
	return r.Rebind(p.Keys)
}

func newRegistry(all []panel.Panel) *registry {
	r := &registry{}
	r.Include(slices.Concat(
		agentActions(), sendActions(), poolActions(), automationActions(), panelActions(all),
		workActions(), mailActions(), rigActions(), configActions(), focusActions(all),
		viewActions(all),
		peekActions(), editActions(), inspectActions(), eventActions(), moveActions(all),
		sortActions(all), markActions(all), messageActions(), menuActions(), mouseActions(),
		leaveActions(), dialogActions(), fleetActions(),
	))
	return r
}
