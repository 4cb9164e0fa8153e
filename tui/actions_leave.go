package tui

import (
	"fmt"

	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// leaveActions returns the actions that leave the control room.
func leaveActions() []action {
	global := []keymap.Zone{keymap.Everywhere}
	return []action{
		{ID: "quit", Key: keymap.Bind("leave: asks what happens to the agents", "q", "ctrl+c"),
			Short: "quit", In: global,
			Risk: keymap.Confirmed, Run: askQuit},
		{ID: "quit.suspend", Key: keymap.Bind("explain why this program is not suspended",
			"ctrl+z"),
			In: global, Run: explainSuspend},
	}
}

func askQuit(m *model) []feed.Effect {
	leave := func(e feed.Exit) func(*model) []feed.Effect {
		return func(*model) []feed.Effect { return []feed.Effect{feed.Quit{Exit: e}} }
	}
	if m.hosts && m.home != "" {
		return askHosted(m)
	}
	if lost(m) { // only leaving is possible
		return leave(feed.Leave)(m)
	}
	running := runningAgents(m)
	c := &choice{Title: "Leave " + cityName(m) + "?", Since: m.now, Leaving: true}
	switch {
	case m.lobby:
		c.Title, c.Body = "Leave?", []string{"All cities keep running."}
		c.Answers = []answer{{Key: "l", Title: "leave", Do: leave(feed.Leave)},
			{Key: "n", Title: "stay", Safe: true}}
	case m.home != "" || m.all: // only the list of cities can stop a city here
		c.Body = []string{fmt.Sprintf("%s running; this city and all others keep running.",
			areRunning(running))}
		c.Answers = []answer{{Key: "l", Title: "leave: everything keeps running",
			Do: leave(feed.Leave)},
			{Key: "n", Title: "stay", Safe: true}}
	case m.mode == Hosting:
		c.Body = []string{fmt.Sprintf("%s running, and the controller runs in this program.",
			areRunning(running))}
		c.Answers = []answer{
			{Key: "h", Title: "keep the city running in the background",
				Do: leave(feed.HandOver)},
			{Key: "a", Title: "keep the agents, stop the controller (no restarts, no automations)",
				Do: leave(feed.KeepAgents)},
			{Key: "d", Title: "drain all agents, then leave",
				Do: askDrainAll},
			{Key: "s", Title: "stop all agents, then leave", Do: askStopCity},
			{Key: "n", Title: "stay", Safe: true},
		}
		c.At = 4
	case m.mode == Joined:
		c.Body = []string{fmt.Sprintf("%s running; the controller runs elsewhere.",
			areRunning(running))}
		c.Answers = []answer{
			{Key: "l", Title: "leave: everything keeps running", Do: leave(feed.Leave)},
			{Key: "s", Title: "stop the city: all agents and the controller",
				Do: askStopCity},
			{Key: "n", Title: "stay", Safe: true},
		}
	default:
		c.Body = []string{"Everything keeps running."}
		c.Answers = []answer{{Key: "l", Title: "leave", Do: leave(feed.Leave)},
			{Key: "n", Title: "stay", Safe: true}}
	}
	m.dialogs.Open(c)
	return nil
}

// askStopCity asks for confirmation if any agents would stop.
func askStopCity(m *model) []feed.Effect {
	stop := func(*model) []feed.Effect { return []feed.Effect{feed.Quit{Exit: feed.StopCity}} }
	n := runningAgents(m)
	if n == 0 {
		return stop(m)
	}
	ask(m, question{title: "Stop " + widget.Count(n, "agent") + " and the controller?",
		verb: "stop the city", no: "stay", count: n, plan: true, do: stop,
		body: []string{"The sessions stop, even in the middle of work, and none starts until " +
			"gcity is started again."}})
	if c := m.dialogs.choice(); c != nil {
		c.Leaving = true
	}
	return nil
}

// askLost reduces an open leave question to what is still possible after the city has stopped.
func askLost(m *model) {
	c := m.dialogs.choice()
	c.Title, c.Must = "Leave "+cityName(m)+"?", ""
	c.Body = []string{widget.Lead(alerts(m)[0].Text)}
	c.Answers = []answer{
		{Key: "l", Title: "leave", Do: func(*model) []feed.Effect {
			return []feed.Effect{feed.Quit{Exit: feed.Leave}}
		}},
		{Key: "n", Title: "stay", Safe: true},
	}
	c.At, c.Since, c.Asked = min(c.At, 1), m.now, false
}

func runningAgents(m *model) int {
	n := 0
	for i := range m.Agents.Rows {
		if m.Agents.Rows[i].Running {
			n++
		}
	}
	return n
}

func areRunning(n int) string {
	if n == 1 {
		return "1 agent is"
	}
	return fmt.Sprintf("%d agents are", n)
}

func explainSuspend(m *model) []feed.Effect {
	body := []string{"Suspending this program would freeze the controller in it:",
		"no agent would be restarted until it resumes.", "",
		m.keys.KeyOf("quit") + " leaves and keeps the agents running; run gcity to come back."}
	if m.mode != Hosting {
		body = []string{"Leave with " + m.keys.KeyOf("quit") +
			" instead; run gcity to come back to this city."}
	}
	m.dialogs.Open(&choice{Title: "Not suspended", Body: body,
		Answers: []answer{{Key: "n", Title: "continue", Safe: true}}, Since: m.now})
	return nil
}
