package actions

import (
	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/palette"
	"gcity/tui/panel"
	"gcity/tui/state"
)

func acknowledgeCall(m *state.Room, r *panel.WatchdogRow) []feed.Effect {
	return state.SendCommands(m, "acknowledging", r.Shown,
		city.Acknowledge{Watchdog: r.Name,
			By: "operator"})
}

func acknowledgeLine(m *state.Room, args []string) ([]feed.Effect, string) {
	r := m.Watchdogs.Find(args[0])
	switch {
	case r == nil:
		return nil, palette.Unknown("watchdog", args[0], watchdogNames(m, nil))
	case !r.Info.IsEscalated():
		return nil, r.Shown + " is not calling for attention"
	}
	return acknowledgeCall(m, r), ""
}
