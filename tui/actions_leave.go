package tui

import (
	"fmt"

	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// leaveActions returns the actions that leave the control room.
func leaveActions() []action {
	global := []keymap.Zone{keymap.Everywhere}
	return []action{
		{ID: "quit", Key: keymap.Bind("leave; asks first if this program runs the city", "q",
			"ctrl+c"), Short: "quit", In: global, Run: askQuit},
		{ID: "quit.suspend", Key: keymap.Bind("explain why this program is not suspended",
			"ctrl+z"),
			In: global, Run: explainSuspend},
	}
}

// askQuit leaves immediately if everything keeps running without this program. Otherwise it asks about the city.
func askQuit(m *model) []feed.Effect {
	leave := func(e feed.Exit) func(*model) []feed.Effect {
		return func(*model) []feed.Effect { return []feed.Effect{feed.Quit{Exit: e}} }
	}
	switch {
	case m.hosts && m.home != "":
		return askHosted(m)
	case m.mode != Hosting || m.home != "" || m.all || m.fleetRoom:
		return leave(feed.Leave)(m)
	}
	m.dialogs.Open(&choice{Title: "Leave " + cityName(m) + "?", Since: m.now, Leaving: true,
		Body: []string{areRunning(runningAgents(m)) + " running. " + m.person.ClosingText(),
			"Run `gcity` in the city's folder to return, or to start it again."},
		Answers: []answer{
			{Key: "h", Title: "keep the city running in the background, with its agents",
				Do: leave(feed.HandOver)},
			{Key: "a", Title: "keep only the agents running: no restarts, no automations",
				Do: leave(feed.KeepAgents)},
			{Key: "d", Title: "let all agents finish (drain), then stop the city",
				Do: askDrainAll},
			{Key: "s", Title: "stop all agents and the city", Do: askStopCity},
			{Key: "n", Title: "stay", Safe: true},
		}, At: 4})
	return nil
}

// askStopCity stops the city. If agents would stop, it asks for confirmation first.
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

// askLost reduces an open leave question to the answers that are still possible after the city has stopped.
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

// askHosted switches to the city that this program runs, and asks there how to leave.
func askHosted(m *model) []feed.Effect {
	return leaveFor(m, feed.SwitchCity{Home: true, Name: m.home, Leaving: true})
}

// askDrainAll asks whether to drain all agents before the city stops.
func askDrainAll(m *model) []feed.Effect {
	var rows []*panel.AgentRow
	for i := range m.Agents.Rows {
		if r := &m.Agents.Rows[i]; r.Running && r.Session != nil {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return []feed.Effect{feed.Quit{Exit: feed.StopCity}}
	}
	body := []string{details.DrainMeans(m.Pools, rows)[0],
		"The city stops when the last agent has finished, or after " +
			widget.Duration(details.LongestDrain(m.Pools, rows)) + ".",
		"Agents that finish do not restart; " + m.keys.KeyOf("view.back") +
			" stays and restarts them."}
	ask(m, question{title: "Drain " + details.TargetNames(rows) + ", then leave?",
		whom: names(m, rows),
		body: body,
		verb: "drain, then leave", no: "stay", count: len(rows),
		do: func(m *model) []feed.Effect { return depart(m, rows) }})
	return nil
}

// depart drains agents and starts waiting for their sessions to end.
func depart(m *model, rows []*panel.AgentRow) []feed.Effect {
	d := departure{sessions: map[string]string{}, total: len(rows),
		until: m.now.Add(details.LongestDrain(m.Pools, rows) + panel.Slack)}
	var commands []city.Command
	for _, r := range rows {
		d.sessions[r.Name] = r.Session.ID
		if r.Drainable() {
			commands = append(commands, city.Drain{Agent: r.Name, Final: true})
			d.draining = append(d.draining, r.Name)
		}
	}
	var todo []feed.Effect
	if len(commands) > 0 {
		todo = carry(m, "draining", widget.Count(len(commands), "agent"), commands)
		m.undo = undo{} // esc cancels the drains
		d.id = m.status.id
	}
	m.departure = d
	return todo
}
