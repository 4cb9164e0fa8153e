package actions

import (
	"cmp"
	"fmt"
	"strings"

	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/palette"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func automationActions() []state.Action {
	return in([]state.Action{
		{ID: "automation.details",
			Key: keymap.Bind("show details of the automation: gate, action, runs and their output",
				"enter"),
			Short: "details", Why: needAutomation, Run: showAutomation},
		{ID: "automation.fire",
			Key:   keymap.Bind("fire the automation now: even if not due", "t"),
			Short: "fire",
			Risk:  keymap.Confirmed, Why: needFire, Run: askFire},
		{ID: "automation.stop",
			Key:  keymap.Bind("stop the automation's run"),
			Risk: keymap.Confirmed, Why: needRuns, Run: askEndRun},
	}, keymap.InAutomations)
}

func needAutomation(m *state.Room) string {
	if state.Automation(m) == nil {
		return state.NothingSelected(m, m.Automations)
	}
	return ""
}

func needFire(m *state.Room) string {
	return cmp.Or(state.NeedWritable(m), needAutomation(m),
		palette.CannotFire(state.AutomationTargets(m)))
}

func needRuns(m *state.Room) string {
	return cmp.Or(state.NeedWritable(m), needAutomation(m),
		palette.CannotStop(state.AutomationTargets(m)))
}

func askEndRun(m *state.Room) []feed.Effect { return endRuns(m, state.AutomationTargets(m)) }

func endRuns(m *state.Room, rows []*panel.AutomationRow) []feed.Effect {
	return askLive(m, about(m, rows, m.Automations.Find, endRunsQuestion))
}

func endRunsQuestion(_ *state.Room, rows []*panel.AutomationRow) question {
	var names []string
	var commands []city.Command
	for _, r := range rows {
		if palette.CannotStop([]*panel.AutomationRow{r}) == "" {
			names = append(names, r.Shown)
			commands = append(commands, city.EndRun{Automation: r.Name, By: "operator"})
		}
	}
	if len(names) == 0 {
		return nothingDone("the run has ended")
	}
	what := strings.Join(names, ", ")
	return question{title: "Stop the run of " + what + "?", verb: "stop",
		count: len(names), of: "runs",
		body: []string{"The run will stop immediately with all its processes, count as failed, " +
			"and not be retried."},
		do: func(m *state.Room) []feed.Effect {
			m.Automations.Marks = nil
			return state.SendCommands(m, "stopping the run of", what, commands...)
		}}
}

func askFire(m *state.Room) []feed.Effect { return fire(m, state.AutomationTargets(m)) }

func fire(m *state.Room, rows []*panel.AutomationRow) []feed.Effect {
	switch q := fireQuestion(m, rows); {
	case len(rows) > 1:
		return askLive(m, about(m, rows, m.Automations.Find, fireManyQuestion))
	case q.body == nil:
		return askIfWanted(m, q)
	}
	return askLive(m, about(m, rows, m.Automations.Find, fireQuestion))
}

func fireQuestion(m *state.Room, rows []*panel.AutomationRow) question {
	r := *rows[0]
	if why := r.Rejects(); why != "" {
		return question{none: "not fired: " + why}
	}
	against := details.Obstacles(m.Details(), &r)
	if len(against) > 0 && r.State != panel.AutomationRunning {
		against[len(against)-1] += " Fire it now anyway?"
	}
	return question{title: "Fire " + r.Shown + " now?", body: against, verb: "fire",
		do: func(m *state.Room) []feed.Effect {
			m.Automations.Marks = nil
			m.Fired = state.Firing{Name: r.Name}
			if r.Last != nil {
				m.Fired.Before = r.Last.ID
			}
			todo := state.SendCommands(m, "firing", r.Shown+" ("+r.Reason+")",
				city.Fire{Automation: r.Name, By: "operator"})
			m.Fired.ID = m.Status.ID
			return todo
		}}
}

// The user cannot see all gates at a glance, so this question is always asked.
func fireManyQuestion(m *state.Room, rows []*panel.AutomationRow) question {
	var names []string
	var commands []city.Command
	closed := 0
	for _, r := range rows {
		names = append(names, r.Shown)
		commands = append(commands, city.Fire{Automation: r.Name, By: "operator"})
		if len(details.Obstacles(m.Details(), r)) > 0 {
			closed++
		}
	}
	what := widget.Count(len(rows), "marked automation")
	q := question{title: "Fire " + what + " now?", targets: []string{strings.Join(names, ", ")},
		verb: "fire", count: len(rows), of: "automations",
		body: []string{"Each will fire once now."},
		do: func(m *state.Room) []feed.Effect {
			m.Automations.Marks = nil
			return state.SendCommands(m, "firing", what, commands...)
		}}
	if closed > 0 {
		q.body = []string{fmt.Sprintf("Each will fire once now. Not due (gate closed or "+
			"blocked): %d.", closed)}
	}
	return q
}
