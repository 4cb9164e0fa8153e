package actions

import (
	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/palette"
	"gcity/tui/panel"
	"gcity/tui/state"
)

func acknowledgeCall(m *state.Room, r *panel.WatchdogRow) []feed.Effect {
	name, shown := r.Name, r.Shown
	return askIfWanted(m, question{title: "Acknowledge the call of " + shown + "?",
		verb: "acknowledge it", do: sending("acknowledging", shown,
			city.Acknowledge{Watchdog: name, By: "operator"})})
}

func acknowledgeLine(m *state.Room, args []string) ([]feed.Effect, string) {
	r := m.Watchdogs.Find(args[0])
	switch {
	case r == nil:
		return nil, palette.Unknown("watchdog", args[0], watchdogNames(m))
	case !r.Info.IsEscalated():
		return nil, r.Shown + " is not calling for attention"
	}
	return acknowledgeCall(m, r), ""
}
