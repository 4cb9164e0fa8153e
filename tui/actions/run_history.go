package actions

import (
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func showAutomation(m *state.Room) []feed.Effect {
	r := state.Automation(m)
	if r == nil {
		return nil
	}
	h := &details.RunHistory{Name: r.Name}
	openReader(m, &state.Reader{Title: "automation " + r.Shown, About: h, Follow: h,
		Lines: func(w int) []string {
			lines := widget.WrapAll(details.Automation(m.Details(), h), w)
			if h.End = len(lines); m.Automations.Find(h.Name) == nil {
				return lines
			}
			return append(lines, widget.WrapAll(details.Runs(m.Details(), h), w)...)
		}})
	state.RequestRuns(m, h)
	return nil
}
