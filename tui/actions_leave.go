package tui

import (
	"fmt"

	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// leaveActions end the control room, or refuse to.
func leaveActions() []action {
	global := []keymap.Zone{keymap.Everywhere}
	return []action{
		{ID: "quit", Key: keymap.Bind("leave: asks what becomes of the agents", "q", "ctrl+c"),
			Short: "quit", In: global,
			Risk: keymap.Confirmed, Run: (*model).askQuit},
		{ID: "quit.suspend", Key: keymap.Bind("why this program is not suspended", "ctrl+z"),
			In: global, Run: (*model).explainSuspend},
	}
}

func (m *model) askQuit() []effect {
	leave := func(e Exit) func(*model) []effect {
		return func(*model) []effect { return []effect{finish{e}} }
	}
	if m.hosts && m.home != "" {
		return m.askHosted()
	}
	if m.lost() { // nothing to choose
		return leave(Leave)(m)
	}
	running := m.living()
	c := &choice{title: "Leave " + m.cityName() + "?", since: m.now, leaving: true}
	switch {
	case m.lobby:
		c.title, c.body = "Leave?", []string{"All cities go on as they are."}
		c.answers = []answer{{key: "l", title: "leave", do: leave(Leave)}, {key: "n", title: "stay", safe: true}}
	case m.home != "" || m.all: // it is stopped where it is listed
		c.body = []string{fmt.Sprintf("%s running; this city and all others go on.", areRunning(running))}
		c.answers = []answer{{key: "l", title: "leave: everything keeps running", do: leave(Leave)}, {key: "n", title: "stay", safe: true}}
	case m.mode == Hosting:
		c.body = []string{fmt.Sprintf("%s running, and the controller runs in this program.", areRunning(running))}
		c.answers = []answer{
			{key: "h", title: "hand over: everything goes on, without a screen", do: leave(HandOver)},
			{key: "a", title: "keep the agents, stop the controller: nobody looks after them", do: leave(KeepAgents)},
			{key: "d", title: "drain all, then leave: everybody finishes first", do: (*model).askDrainAll},
			{key: "s", title: "stop all agents, then leave", do: (*model).askStopCity},
			{key: "n", title: "stay", safe: true},
		}
		c.at = 4
	case m.mode == Joined:
		c.body = []string{fmt.Sprintf("%s running; the controller runs elsewhere.", areRunning(running))}
		c.answers = []answer{
			{key: "l", title: "leave: everything keeps running", do: leave(Leave)},
			{key: "s", title: "stop the city: all agents and the controller", do: (*model).askStopCity},
			{key: "n", title: "stay", safe: true},
		}
	default:
		c.body = []string{"Everything keeps running."}
		c.answers = []answer{{key: "l", title: "leave", do: leave(Leave)}, {key: "n", title: "stay", safe: true}}
	}
	m.choice = c
	return nil
}

// askStopCity asks once more where agents end for it, as ending one of them would.
func (m *model) askStopCity() []effect {
	stop := func(*model) []effect { return []effect{finish{StopCity}} }
	n := m.living()
	if n == 0 {
		return stop(m)
	}
	m.ask(question{title: "Stop " + widget.Count(n, "agent") + " and the controller?",
		verb: "stop the city", no: "stay", count: n, plan: true, do: stop,
		body: []string{"The sessions end, whatever is done in them, and none begins until gcity is started again."}})
	m.choice.leaving = true
	return nil
}

// askLost puts what can still be chosen in the place of an open question how to leave: the city ended meanwhile.
func (m *model) askLost() {
	c := m.choice
	c.title, c.must = "Leave "+m.cityName()+"?", ""
	c.body = []string{widget.Lead(m.problems()[0])}
	c.answers = []answer{
		{key: "l", title: "leave", do: func(*model) []effect { return []effect{finish{Leave}} }},
		{key: "n", title: "stay", safe: true},
	}
	c.at, c.since = min(c.at, 1), m.now
}

// living is how many agents run.
func (m *model) living() int {
	n := 0
	for i := range m.agents.Rows {
		if m.agents.Rows[i].running {
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

func (m *model) explainSuspend() []effect {
	body := []string{"Suspending this program would freeze the controller in it: nobody would", "look after the agents until it goes on.", "",
		m.keys.KeyOf("quit") + " leaves it and keeps the agents running; gcity comes back to them."}
	if m.mode != Hosting {
		body = []string{"Nothing is lost by leaving with " + m.keys.KeyOf("quit") + "; gcity comes back to this city."}
	}
	m.choice = &choice{title: "Not suspended", body: body, answers: []answer{{key: "n", title: "go on", safe: true}}, since: m.now}
	return nil
}
