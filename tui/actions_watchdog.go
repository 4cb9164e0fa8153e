package tui

import (
	"fmt"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/palette"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// answerable returns the watchdog under the cursor if it calls for attention and can be acknowledged, or nil.
func answerable(m *model) *panel.WatchdogRow {
	if r := m.Watchdogs.Current(); actsOn(m, panel.KindWatchdog) && m.mode != ReadOnly &&
		r != nil &&
		r.Dog.Calls() {
		return r
	}
	return nil
}

// answerCall acknowledges a watchdog's call for attention.
func answerCall(m *model, r *panel.WatchdogRow) []feed.Effect {
	return carry(m, "acknowledging", r.Shown, []city.Command{city.Acknowledge{Watchdog: r.Name,
		By: "operator"}})
}

func heardLine(m *model, args []string) ([]feed.Effect, string) {
	r := m.Watchdogs.Find(args[0])
	switch {
	case r == nil:
		return nil, palette.Unknown("watchdog", args[0], watchdogNames(m, nil))
	case !r.Dog.Calls():
		return nil, r.Shown + " does not call for attention"
	}
	return answerCall(m, r), ""
}

// callBadge returns a note with the number of watchdogs that call for attention, or "".
func callBadge(m *model, w int) string {
	n := len(m.Watchdogs.Calling())
	switch {
	case n == 0:
		return ""
	case w < 100:
		return m.look.Glyphs.Alert + widget.Number(n)
	}
	return fmt.Sprintf("%s %d calling", m.look.Glyphs.Alert, n)
}
