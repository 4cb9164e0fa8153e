package tui

import "fmt"

// leaveActions end the control room, or refuse to.
func leaveActions() []action {
	global := []zone{everywhere}
	return []action{
		{id: "quit", key: bind("leave: asks what becomes of the agents", "q", "ctrl+c"), short: "quit", in: global,
			risk: confirmed, run: (*model).askQuit},
		{id: "quit.suspend", key: bind("why this program is not suspended", "ctrl+z"), in: global, run: (*model).explainSuspend},
	}
}

func (m *model) askQuit() []effect {
	leave := func(e Exit) func(*model) []effect {
		return func(*model) []effect { return []effect{finish{e}} }
	}
	if m.lost() { // nothing to choose
		return leave(Leave)(m)
	}
	running := 0
	for i := range m.roster.rows {
		if m.roster.rows[i].running {
			running++
		}
	}
	c := &choice{title: "Leave " + m.cityName() + "?", since: m.now, leaving: true}
	switch m.mode {
	case Hosting:
		c.body = []string{fmt.Sprintf("%s running, and the controller runs in this program.", areRunning(running))}
		c.answers = []answer{
			{key: "h", title: "hand over: everything goes on, without a screen", do: leave(HandOver)},
			{key: "a", title: "keep the agents, stop the controller: nobody looks after them", do: leave(KeepAgents)},
			{key: "s", title: "stop all agents, then leave", do: leave(StopCity)},
			{key: "n", title: "stay", safe: true},
		}
		c.at = 3
	case Joined:
		c.body = []string{fmt.Sprintf("%s running; the controller runs elsewhere.", areRunning(running))}
		c.answers = []answer{
			{key: "l", title: "leave: everything keeps running", do: leave(Leave)},
			{key: "s", title: "stop the city: all agents and the controller", do: leave(StopCity)},
			{key: "n", title: "stay", safe: true},
		}
	default:
		c.body = []string{"Everything keeps running."}
		c.answers = []answer{{key: "l", title: "leave", do: leave(Leave)}, {key: "n", title: "stay", safe: true}}
	}
	m.choice = c
	return nil
}

// askLost puts what can still be chosen in the place of an open question how to leave: the city ended meanwhile.
func (m *model) askLost() {
	c := m.choice
	c.body = []string{lead(m.problems()[0])}
	c.answers = []answer{
		{key: "l", title: "leave", do: func(*model) []effect { return []effect{finish{Leave}} }},
		{key: "n", title: "stay", safe: true},
	}
	c.at = min(c.at, 1)
}

func areRunning(n int) string {
	if n == 1 {
		return "1 agent is"
	}
	return fmt.Sprintf("%d agents are", n)
}

func (m *model) explainSuspend() []effect {
	body := []string{"Suspending this program would freeze the controller in it: nobody would", "look after the agents until it goes on.", "",
		"q leaves it and keeps the agents running; gcity comes back to them."}
	if m.mode != Hosting {
		body = []string{"Nothing is lost by leaving with q; gcity comes back to this city."}
	}
	m.choice = &choice{title: "Not suspended", body: body, answers: []answer{{key: "n", title: "go on", safe: true}}, since: m.now}
	return nil
}
