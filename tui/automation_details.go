package tui

import (
	"fmt"

	"gcity/beads"
	"gcity/city"
	"gcity/describe"
	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// history is the runs of an automation that is looked at.
type history struct {
	name    string
	runs    []city.Run // newest first
	problem string     // why they could not be read, "" = they could
	newest  string     // what the city had as the newest one when it was asked
	asked   int        // the question under way, 0 = none
	known   bool       // there was an answer

	end   int  // line of the text with which the newest run and its output end
	live  bool // that run went while it was looked at
	moved bool // somebody has scrolled
}

const (
	runType = "run" // of the bead of a run
	runRows = 10
)

func showAutomation(m *model) []effect {
	r := automation(m)
	if r == nil {
		return nil
	}
	h := &history{name: r.Name}
	m.read(&reader{Title: "automation " + r.Shown, About: h, Follow: h,
		Lines: func(w int) []string {
			lines := widget.WrapAll(automationDetails(m, h), w)
			if h.end = len(lines); m.Automations.Find(h.name) == nil {
				return lines
			}
			return append(lines, widget.WrapAll(runLines(m, h), w)...)
		}})
	askRuns(m, h)
	return nil
}

// askRuns asks for the runs of an automation.
func askRuns(m *model, h *history) {
	h.newest = newestRun(m, h.name)
	h.asked = seekBeads(m, beads.Query{Labels: []string{city.RunLabel + h.name}, Type: runType,
		Limit: runRows})
}

// newestRun tells one run, and how far it has come, from the one before.
func newestRun(m *model, name string) string {
	r := m.Automations.Find(name)
	if r == nil || r.Last == nil {
		return ""
	}
	return r.Last.ID + " " + r.Last.Outcome
}

// runsChanged asks anew when the runs that are shown are no longer the newest.
func runsChanged(m *model) {
	if h := m.dialogs.history(); h != nil && h.asked == 0 && h.newest != newestRun(m, h.name) {
		askRuns(m, h)
	}
}

// seek asks the city for beads and returns the id that the answer will carry.
func seekBeads(m *model, q beads.Query) int {
	m.seeks++
	m.todo = append(m.todo, seek{id: m.seeks, query: q})
	return m.seeks
}

// answered takes an answer in; one that nobody waits for any more is let go.
func takeFound(m *model, f found) {
	if h := m.dialogs.history(); h != nil && h.asked == f.id {
		h.asked, h.known, h.problem = 0, true, widget.Plain(f.problem)
		if f.problem == "" {
			h.runs = h.runs[:0]
			for _, b := range f.beads {
				h.runs = append(h.runs, city.RunOf(b))
			}
		}
		runsChanged(m)
	}
	if list := m.dialogs.finder(); list != nil {
		if ready, ok := list.About.(*readyList); ok && ready.asked != 0 && ready.asked == f.id {
			takeReady(m, list, ready, f)
		}
	}
	if m.dialogs.inbox() != nil && m.dialogs.inbox().asked == f.id {
		takeMail(m, f)
		mailChanged(m)
	}
	if m.dialogs.work() != nil && m.dialogs.work().asked == f.id {
		m.dialogs.work().take(f)
		workChanged(m)
	}
}

// automationDetails is everything known of an automation but its earlier runs: when it runs, what it does, how it went.
func automationDetails(m *model, h *history) []string {
	r := m.Automations.Find(h.name)
	a, ok := m.snap.Automation(h.name)
	if r == nil || !ok {
		return []string{"This automation is no longer part of the city."}
	}
	sign, token := panel.AutomationSign(&m.look, r.State)
	state := m.look.Paint(token, sign+" "+string(r.State))
	if soon := r.Soon(m.now).Full; soon != "" {
		state += " " + m.look.Glyphs.Dot + " " + soon
		if !r.Next.IsZero() {
			state += " (" + widget.Clock(r.Next, m.now) + ")"
		}
	}
	lines := []string{m.look.Field("state", state), m.look.Field("gate", r.Opens())}
	if a.State == city.AutomationBroken {
		lines = append(lines, fieldLines(m, "it says", a.Reason)...)
	} else if says := r.Says(); says != "" { // else the time that is left says it
		lines = append(lines, m.look.Field("it says", says))
	}
	if r.Failures > 0 {
		lines = append(lines, m.look.Field("failures", fmt.Sprintf("%d in a row", r.Failures)))
	}
	if a.Exec != "" {
		lines = append(lines, m.look.Field("runs", widget.Plain(a.Exec)))
	}
	if a.Formula != "" {
		lines = append(lines, m.look.Field("cooks", "formula "+widget.Plain(a.Formula)))
	}
	if a.Pool != "" {
		lines = append(lines, m.look.Field("for", "pool "+widget.Plain(a.Pool)))
	}
	if a.Timeout > 0 {
		lines = append(lines, m.look.Field("limits", widget.Plain(describe.Limits(a))))
	}
	if a.Rig != "" {
		lines = append(lines, m.look.Field("rig", rigText(m, a.Rig)))
	}
	if a.Description != "" {
		lines = append(lines, m.look.Field("about", widget.Plain(a.Description)))
	}
	lines = append(lines, m.look.Field("file", r.Source))
	if a.Layer != "" {
		lines = append(lines, m.look.Field("layer", widget.Plain(a.Layer)))
	}
	for _, w := range a.Warnings {
		lines = append(lines, m.look.Field("warning", m.look.Paint(themes.Warn, widget.Plain(w))))
	}
	h.live = h.live || a.Last != nil && a.Last.Ended == nil
	return append(lines, lastRun(m, a.Last)...)
}

// lastRun is the newest run with the end of what it printed.
func lastRun(m *model, run *city.Run) []string {
	lines := []string{"", m.look.Paint(themes.Title, "Last run")}
	if run == nil {
		return append(lines, m.look.Paint(themes.Dim, "It never ran."))
	}
	outcome, token := panel.RunOutcome(run)
	how := m.look.Paint(token, outcome)
	if run.Ended == nil {
		how += " for " + widget.Age(m.now.Sub(run.Opened))
	} else {
		how += " in " + widget.Elapsed(run.Ended.Sub(run.Opened)) + ", " +
			widget.Age(m.now.Sub(*run.Ended)) + " ago"
	}
	lines = append(lines, m.look.Field("outcome", how),
		m.look.Field("because", panel.RunReason(run)),
		m.look.Field("record", widget.Plain(run.ID)))
	if run.Error != "" {
		lines = append(lines, m.look.Field("problem",
			m.look.Paint(themes.Bad, widget.Plain(run.Error))))
	}
	if run.Made != "" {
		lines = append(lines, m.look.Field("made", widget.Plain(run.Made)))
	}
	return append(lines, outputFields(m, run)...)
}

// runLines are the runs, newest first.
func runLines(m *model, h *history) []string {
	lines := []string{"", m.look.Paint(themes.Title, "Runs")}
	if h.problem != "" {
		lines = append(lines, m.look.Paint(themes.Bad, "cannot be read: "+h.problem))
	}
	switch {
	case !h.known:
		return append(lines, m.look.Paint(themes.Dim, "asking "+m.look.Glyphs.More))
	case len(h.runs) == 0 && h.problem == "":
		return append(lines, m.look.Paint(themes.Dim, "None is recorded."))
	}
	for i := range h.runs {
		run := &h.runs[i]
		outcome, token := panel.RunOutcome(run)
		took := ""
		if run.Ended != nil {
			took = widget.Elapsed(run.Ended.Sub(run.Opened))
		}
		text := panel.RunReason(run)
		if run.Error != "" {
			text += ": " + widget.Plain(run.Error)
		}
		lines = append(lines, m.look.Paint(themes.Dim,
			widget.Fit(widget.Clock(run.Opened, m.now), 12, ""))+"  "+
			m.look.Paint(token, widget.Fit(outcome, 11, m.look.Glyphs.More))+"  "+
			widget.FitRight(took, 5, "")+"  "+text)
	}
	return lines
}
