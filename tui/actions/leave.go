package actions

import (
	"fmt"
	"slices"

	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func leaveActions() []state.Action {
	return []state.Action{
		{ID: "quit", Key: keymap.Bind("quit: if this program runs the city, asks what to keep "+
			"running", "q", "ctrl+c"), Short: "quit", Run: AskQuit},
		{ID: "quit.suspend",
			Key: keymap.Bind("suspend this program: not supported; shows what to do instead",
				"ctrl+z"),
			Run: explainSuspend},
	}
}

// AskQuit leaves immediately if everything keeps running without this program. Otherwise it asks how to leave.
func AskQuit(m *state.Room) []feed.Effect { return AskLeave(m, nil) }

// AskLeave is like AskQuit, but adds the given lines before the text. If the user stays, it runs the given task.
func AskLeave(m *state.Room, stay state.Task, first ...string) []feed.Effect {
	leave := func(e feed.Exit) state.Task {
		return func(m *state.Room) []feed.Effect { return state.Leave(m, e) }
	}
	switch {
	case m.HostsHome && m.Home != "":
		return askQuitElsewhere(m, leave)
	case LeavesAtOnce(m):
		return leave(feed.Leave)(m)
	}
	answers := []state.Answer{
		{Key: "b", Old: "h", Title: "keep the city running in the background, with its agents",
			Do: leave(feed.HandOver)},
		{Key: "a", Title: "keep only the agents running: no restarts, no automations",
			Do: leave(feed.KeepAgents)},
		{Key: "d", Title: "let all agents finish (drain), then stop the city",
			Do: func(m *state.Room) []feed.Effect { return askDrainAll(m, stay) }},
		{Key: "s", Title: "stop all agents and the city",
			Do: func(m *state.Room) []feed.Effect { return askStopCity(m, stay) }},
		{Key: "n", Title: "no, stay", Safe: true, Do: stay},
	}
	return askLive(m, func(m *state.Room) question {
		return question{title: "Quit " + state.CityTitle(m, 50) + "?", plan: true, cursor: 4,
			answers: answers, stay: stay, leaving: true,
			body: append(slices.Clone(first),
				areRunning(state.RunningAgents(m))+" running. "+m.Preferences.HangupText(),
				"`gcity` in the city's folder returns to it, or starts it again.")}
	})
}

// askQuitElsewhere is for a room of a city that this program does not run. To stop the home city, the user first goes
// to its room.
func askQuitElsewhere(m *state.Room, leave func(feed.Exit) state.Task) []feed.Effect {
	return askLive(m, func(m *state.Room) question {
		home := state.HomeTitle(m, 30)
		return question{title: "Quit " + state.HomeTitle(m, 50) + "?", plan: true, cursor: 3,
			body: []string{OnlyHosts(state.HomeTitle(m, 50), m), m.Preferences.HangupText()},
			answers: []state.Answer{
				{Key: "b", Old: "h", Do: leave(feed.HandOver),
					Title: "keep " + home + " running in the background, with its agents"},
				{Key: "a", Title: "keep only the agents of " + home +
					" running: no restarts, no automations", Do: leave(feed.KeepAgents)},
				{Key: "s", Title: "stop " + home + ": go to it, and choose how",
					Do: switching(feed.SwitchCity{Home: true, Name: m.Home, AskLeave: true})},
				{Key: "n", Title: "no, stay", Safe: true},
			}}
	})
}

// OnlyHosts says that this program runs only the home city, and that the shown city keeps running.
func OnlyHosts(home string, shown *state.Room) string {
	others := "The city " + state.CityTitle(shown, 50) + " keeps running."
	switch {
	case shown.FleetRoom:
		others = "The other cities keep running."
	case shown.Snap == nil && shown.At == "":
		others = "The other city keeps running."
	}
	return "Only " + home + " runs in this control room's program. " + others
}

// LeavesAtOnce reports whether the quit key leaves without asking, because everything keeps running without this
// program.
func LeavesAtOnce(m *state.Room) bool {
	hosts := m.HostsHome && m.Home != ""
	return !hosts && (m.Mode != state.Hosting || m.Home != "" || m.All || m.FleetRoom)
}

func askStopCity(m *state.Room, stay state.Task) []feed.Effect {
	stop := returning(feed.Quit{Exit: feed.StopCity})
	if state.RunningAgents(m) == 0 {
		return stop(m)
	}
	return askLive(m, func(m *state.Room) question {
		n := state.RunningAgents(m)
		return question{title: "Stop " + widget.Count(n, "agent") + " and the city?",
			verb: "stop " + widget.Count(n, "agent") + " and the city", no: "stay", count: n,
			of: "running agents", plan: true, leaving: true, do: stop, stay: stay,
			body: []string{"All sessions will stop, even busy ones, and none will start until " +
				"the city is started again."}}
	})
}

// lostQuestion is the subject of a question that AskLost has replaced.
type lostQuestion struct{ build builder }

// AskLost replaces an open question about leaving when the city has stopped or no longer responds.
func AskLost(m *state.Room) {
	c := m.Dialogs.Choice()
	body := []string{widget.FirstItem(state.Alerts(m)[0].Text)}
	build, ok := c.About.(builder)
	if !ok {
		c.Body = body // only the text changes, so that the question accepts answers
		return
	}
	*c = state.Choice{Title: "Quit " + state.CityTitle(m, 50) + "?", Body: body, Cursor: 1,
		Answers: []state.Answer{
			{Key: "l", Title: "quit", Do: returning(feed.Quit{Exit: feed.Leave})},
			{Key: "n", Title: "no, stay", Safe: true, Do: c.OnCancel},
		},
		Since: m.Now, OnCancel: c.OnCancel, AboutLeaving: true, About: lostQuestion{build}}
}

// AskAgain restores a question that AskLost has replaced, because the city responds again.
func AskAgain(m *state.Room) {
	c := m.Dialogs.Choice()
	if lost, ok := c.About.(lostQuestion); ok {
		q := lost.build(m)
		*c = *q.choice(m)
		c.About = lost.build
	}
}

func areRunning(n int) string {
	if n == 1 {
		return "1 agent is"
	}
	return fmt.Sprintf("%d agents are", n)
}

func explainSuspend(m *state.Room) []feed.Effect {
	body := []string{"Suspending this program would freeze the controller in it:",
		"no agent would be restarted until you resume the program.", "",
		m.Keys.KeyText("quit") + " quits and asks what to keep running; run gcity to return."}
	if m.Mode != state.Hosting {
		body = []string{"Quit with " + m.Keys.KeyText("quit") +
			" instead; run gcity to return to this city."}
	}
	ShowStays(m, body)
	return nil
}

// ShowStays shows in a dialog why the control room stays open.
func ShowStays(m *state.Room, body []string) {
	m.Dialogs.Open(&state.Choice{Title: "The control room stays open", Body: body,
		Answers: []state.Answer{{Key: "n", Title: "continue", Safe: true}}, Since: m.Now})
}

func askDrainAll(m *state.Room, stay state.Task) []feed.Effect {
	rows := m.Agents.Where((*panel.AgentRow).CanFinish)
	if len(rows) == 0 {
		return []feed.Effect{feed.Quit{Exit: feed.StopCity}}
	}
	if why := state.WhyNoDeparture(m); why != "" {
		state.ShowFailure(m, "cannot drain all agents again: "+why)
		return nil
	}
	build := func(m *state.Room, rows []*panel.AgentRow) question {
		q := drainAllQuestion(m, rows)
		q.stay = stay
		return q
	}
	return askLive(m, about(m, rows, m.Agents.Find, build))
}

func drainAllQuestion(m *state.Room, rows []*panel.AgentRow) question {
	rows = slices.DeleteFunc(rows, func(r *panel.AgentRow) bool { return !r.CanFinish() })
	if len(rows) == 0 {
		return nothingDone("no agent is running")
	}
	return question{title: "Drain " + details.TargetNames(rows, false) + ", then quit?",
		targets: state.TargetLines(m, rows),
		body: []string{details.DrainEffects(m.Pools, rows)[0],
			"The city will stop when the last agent has finished, or after " +
				widget.Duration(details.LongestDrain(m.Pools, rows)) + ".",
			"Agents that finish do not restart; " + m.Keys.KeyText("view.back") +
				" cancels the drain and restarts them."},
		verb: "drain, then quit", no: "stay", count: len(rows), of: "agents",
		do: func(m *state.Room) []feed.Effect { return state.DrainAndLeave(m, rows) }}
}
