package tui

import (
	"gcity/tui/panel"
	"gcity/tui/state"
	"slices"
)

func newRegistry(all []panel.Panel) *state.Registry {
	r := &state.Registry{}
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
