package tui

import (
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/widget"
)

func showAutomation(m *model) []feed.Effect {
	r := automation(m)
	if r == nil {
		return nil
	}
	h := &details.RunHistory{Name: r.Name}
	openReader(m, &reader{Title: "automation " + r.Shown, About: h, Follow: h,
		Lines: func(w int) []string {
			lines := widget.WrapAll(details.Automation(m.details(), h), w)
			if h.End = len(lines); m.Automations.Find(h.Name) == nil {
				return lines
			}
			return append(lines, widget.WrapAll(details.Runs(m.details(), h), w)...)
		}})
	askRuns(m, h)
	return nil
}
