package tui

import (
	"gcity/beads"
	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/widget"
)

const (
	runType = "run" // bead type of runs
	runRows = 10
)

func showAutomation(m *model) []feed.Effect {
	r := automation(m)
	if r == nil {
		return nil
	}
	h := &details.RunHistory{Name: r.Name}
	m.read(&reader{Title: "automation " + r.Shown, About: h, Follow: h,
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

func askRuns(m *model, h *details.RunHistory) {
	h.Newest = newestRun(m, h.Name)
	h.Asked = seekBeads(m, beads.Query{Labels: []string{city.RunLabel + h.Name}, Type: runType,
		Limit: runRows})
}

// newestRun returns a key that changes when a newer run starts or the newest run ends.
func newestRun(m *model, name string) string {
	r := m.Automations.Find(name)
	if r == nil || r.Last == nil {
		return ""
	}
	return r.Last.ID + " " + r.Last.Outcome
}

// runsChanged requests the runs again if the open list is outdated.
func runsChanged(m *model) {
	if h := m.dialogs.history(); h != nil && h.Asked == 0 && h.Newest != newestRun(m, h.Name) {
		askRuns(m, h)
	}
}

// seekBeads requests beads from the city and returns the ID of the request.
func seekBeads(m *model, q beads.Query) int {
	m.seeks++
	m.todo = append(m.todo, feed.QueryBeads{ID: m.seeks, Query: q})
	return m.seeks
}

// takeFound handles an answer with beads. It ignores answers to outdated requests.
func takeFound(m *model, f feed.FoundBeads) {
	if h := m.dialogs.history(); h != nil && h.Asked == f.ID {
		h.Asked, h.Known, h.Problem = 0, true, widget.Plain(f.Problem)
		if f.Problem == "" {
			h.Runs = h.Runs[:0]
			for _, b := range f.Beads {
				h.Runs = append(h.Runs, city.RunOf(b))
			}
		}
		runsChanged(m)
	}
	if list := m.dialogs.finder(); list != nil {
		if ready, ok := list.About.(*readyList); ok && ready.asked != 0 && ready.asked == f.ID {
			takeReady(m, list, ready, f)
		}
	}
	tellLists(m, f)
}
