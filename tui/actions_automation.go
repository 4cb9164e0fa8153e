package tui

import (
	"fmt"
	"strings"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// automationActions are about the automation under the cursor of Automations.
func automationActions() []action {
	here := []keymap.Zone{keymap.InAutomations}
	return []action{
		{ID: "automation.details",
			Key: keymap.Bind(
				"show the automation in detail: gate, action, last run and its output, the "+
					"runs before", "enter"),
			Short: "details", In: here, Why: needAutomation, Run: showAutomation},
		{ID: "automation.fire",
			Key:   keymap.Bind("fire the automation now: shows what its gate says", "t"),
			Short: "fire", In: here,
			Risk: keymap.Confirmed, Why: needFire, Run: askFire},
		{ID: "automation.stop",
			Key:  keymap.Bind("end the automation's run under way, with all its processes"),
			In:   here,
			Risk: keymap.Confirmed, Why: needRuns, Run: askEndRun},
	}
}

// automation is what the verbs of automations are about, nil if there is none.
func automation(m *model) *panel.AutomationRow {
	if m.worked() != panel.Panel(m.Automations) {
		return nil
	}
	return m.Automations.Current()
}

func needAutomation(m *model) string {
	if automation(m) == nil {
		return "no automation is selected; " + m.keys.KeyOf("focus.automations") + " goes to them"
	}
	return ""
}

// automationTargets are the automations a verb acts on: the marked ones, else the one under the cursor.
func automationTargets(m *model) []*panel.AutomationRow {
	if automation(m) == nil {
		return nil
	}
	return m.Automations.Targets()
}

func needFire(m *model) string {
	if why := needWritable(m); why != "" {
		return why
	}
	rows := automationTargets(m)
	if len(rows) == 0 {
		return needAutomation(m)
	}
	return brokenOf(rows)
}

// brokenOf says which of some automations cannot be fired, "" if all can.
func brokenOf(rows []*panel.AutomationRow) string {
	for _, r := range rows {
		if r.State == panel.AutomationBroken {
			return r.Shown + " is broken: " + r.Reason
		}
	}
	return ""
}

func needRuns(m *model) string {
	if why := needWritable(m); why != "" {
		return why
	}
	rows := automationTargets(m)
	if len(rows) == 0 {
		return needAutomation(m)
	}
	return idleOf(rows)
}

// idleOf says which of some automations has no run to end, "" if all have one.
func idleOf(rows []*panel.AutomationRow) string {
	for _, r := range rows {
		if !r.Goes() {
			return "no run of " + r.Shown + " goes"
		}
	}
	return ""
}

func askEndRun(m *model) []feed.Effect { return endRuns(m, automationTargets(m)) }

// endRuns asks whether runs are to be ended, and ends them.
func endRuns(m *model, rows []*panel.AutomationRow) []feed.Effect {
	var names []string
	var commands []city.Command
	for _, r := range rows {
		names = append(names, r.Shown)
		commands = append(commands, city.EndRun{Automation: r.Name, By: "operator"})
	}
	what := strings.Join(names, ", ")
	ask(m, question{title: "End the run of " + what + "?", verb: "end", count: len(rows),
		body: []string{"It ends at once with all its processes, has failed then, and is not " +
			"tried again."},
		do: func(m *model) []feed.Effect {
			m.Automations.Marks = map[string]bool{}
			return carry(m, "ending the run of", what, commands)
		}})
	return nil
}

// firing is an automation that was fired from here, until its run has ended.
type firing struct {
	id     int // of the action
	name   string
	before string // the run that was its newest then
}

func askFire(m *model) []feed.Effect { return fire(m, automationTargets(m)) }

// fire fires automations that only wait for it; where something stands against one of them, it asks.
func fire(m *model, rows []*panel.AutomationRow) []feed.Effect {
	if len(rows) > 1 {
		return fireMany(m, rows)
	}
	r := *rows[0]
	do := func(m *model) []feed.Effect {
		m.Automations.Marks = map[string]bool{}
		m.fired = firing{name: r.Name}
		if r.Last != nil {
			m.fired.before = r.Last.ID
		}
		todo := carry(m, "firing", r.Shown+" ("+r.Reason+")",
			[]city.Command{city.Fire{Automation: r.Name, By: "operator"}})
		m.fired.id = m.status.id
		return todo
	}
	against := against(m, &r)
	switch {
	case len(against) == 0:
		return perhaps(m, question{title: "Fire " + r.Shown + " now?", verb: "fire", do: do})
	case r.State != panel.AutomationRunning:
		against = append(against, "It runs once, now.")
	}
	ask(m, question{title: "Fire " + r.Shown + " now?", body: against, verb: "fire", do: do})
	return nil
}

// fireMany asks: whether all gates are open is not seen at a glance.
func fireMany(m *model, rows []*panel.AutomationRow) []feed.Effect {
	var names []string
	var commands []city.Command
	closed := 0
	for _, r := range rows {
		names = append(names, r.Shown)
		commands = append(commands, city.Fire{Automation: r.Name, By: "operator"})
		if len(against(m, r)) > 0 {
			closed++
		}
	}
	what := widget.Count(len(rows), "automation")
	q := question{title: "Fire " + what + " now?", whom: []string{strings.Join(names, ", ")},
		verb: "fire", count: len(rows),
		body: []string{"Each runs once, now."},
		do: func(m *model) []feed.Effect {
			m.Automations.Marks = map[string]bool{}
			return carry(m, "firing", what, commands)
		}}
	if closed > 0 {
		q.body = []string{fmt.Sprintf("Of %d the gate is closed, or something else speaks "+
			"against it. Each runs once, now.", closed)}
	}
	ask(m, q)
	return nil
}

// against is what speaks against a run now, nothing if nothing does.
func against(m *model, r *panel.AutomationRow) []string {
	var lines []string
	rig := rigCalled(m, r.Rig)
	switch {
	case r.Always:
	case m.snap.Suspended:
		lines = append(lines, cityName(m)+" is suspended: nothing fires there by itself.")
	case rig != nil && rig.Suspended:
		lines = append(lines, "rig "+widget.Plain(rig.Name)+
			" is suspended: nothing fires there by itself.")
	}
	dot := " " + m.look.Glyphs.Dot + " "
	gate := r.Opens()
	if says := r.Says(); says != "" {
		gate += dot + says
	}
	if soon := r.Soon(m.now).Full; soon != "" {
		gate += dot + soon
	}
	switch r.State {
	case panel.AutomationDue, panel.AutomationManual:
		return lines
	case panel.AutomationRunning:
		return append(lines, "A run goes "+r.Soon(m.now).Full+
			`. Another follows it where overlap = "queue" is written; else the city refuses.`)
	case panel.AutomationOff:
		if len(lines) == 0 {
			lines = append(lines, "It is off: "+r.Reason+".")
		}
		return lines
	}
	return append(lines, "Its gate is closed: "+gate+".")
}

// firedEnded tells how the run ended that was fired from here.
func firedEnded(m *model) {
	r := m.Automations.Find(m.fired.name)
	asked := m.status.pending && m.status.id == m.fired.id // the city has not answered yet
	if asked || r == nil || r.Last == nil || r.Last.ID == m.fired.before || r.Last.Ended == nil {
		return
	}
	took := widget.Elapsed(r.Last.Ended.Sub(r.Last.Opened))
	m.fired = firing{}
	how := panel.Ran
	if r.Last.Made != "" {
		how = "made " + widget.Plain(r.Last.Made)
	}
	switch {
	case r.Last.Outcome != panel.Ran:
		complain(m, r.Shown+" failed after "+took+": "+panel.RunFailure(r.Last))
	case !m.status.failed && !m.status.pending:
		say(m, r.Shown+": "+how+" in "+took)
	}
}
