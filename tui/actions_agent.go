package tui

import (
	"fmt"
	"strings"

	"gcity/city"
)

// agentActions are the verbs: they act on the marked agents, else on the selected one, whichever panel has the focus, but
// Pools: there s and d are about the pool, and the others, about an agent that nobody looks at, are refused.
func agentActions() []action {
	global := []zone{everywhere}
	return []action{
		{id: "agent.zoom", key: bind("zoom into the agent's terminal", "enter"), short: "zoom", in: []zone{inLists},
			why: needAgent, run: (*model).zoomIn},
		{id: "agent.attach.zoomed", key: bind("zoom into the terminal, once more: attach", "enter"), short: "attach",
			in: []zone{inPeek}, why: needAgent, run: (*model).zoomOrAttach},
		{id: "agent.attach", key: bind("attach: work in the agent's terminal, ctrl+q leaves it", "a"), short: "attach",
			in: global, why: needTerminal, run: (*model).attach},
		{id: "agent.send", key: bind("send one line to the agent", "i"), short: "send", in: global,
			why: needRunning, run: (*model).askSend},
		{id: "agent.release", key: bind("release the agent from quarantine, backoff or a drain, now", "u"), short: "release",
			in: global, why: needHeld, run: (*model).release},
		{id: "agent.restart", key: bind("restart the agent", "r"), short: "restart", in: global, risk: confirmed,
			why: needVerb, run: (*model).askRestart},
		{id: "agent.drain", key: bind("drain the agent: tell it to finish, or take that back", "D"), short: "drain", in: global,
			risk: confirmed, why: needDrain, run: (*model).askDrain},
		{id: "agent.suspend", key: bind("suspend the agent or the pool, or resume it", "s"), short: "suspend", in: global,
			risk: confirmed, why: needSuspend, run: (*model).askSuspend},
		{id: "agent.end", key: bind("kill or stop the agent", "ctrl+k"), short: "", in: global, risk: typed,
			why: needVerb, run: (*model).askEnd},
		{id: "agent.details", key: bind("show the agent, pool or automation in detail: why, what next, last decisions or runs", "d"), short: "details",
			in: global, why: needSubject, run: (*model).showDetails},
		{id: "agent.mark", key: bind("mark the agent; verbs act on all that are marked", "space"), short: "",
			in: []zone{inLists}, why: needAgent, run: (*model).mark},
		{id: "agent.mark.all", key: bind("mark all that are shown, or none", "*"), short: "", in: []zone{inLists},
			why: needAgent, run: (*model).markAll},
	}
}

func needAgent(m *model) string {
	if m.selected() == nil {
		return "no agent is selected"
	}
	return ""
}

// needSubject is for what is about the pool or the automation where these have the focus, else about the agent.
func needSubject(m *model) string {
	switch m.focus {
	case panelPools:
		return needPool(m)
	case panelAutomations:
		return needAutomation(m)
	}
	return needAgent(m)
}

// amongPools is why an agent's verb is not done while Pools has the focus.
const amongPools = "press 1 for the agents; s, S, < and > act on pools"

func needVerb(m *model) string {
	switch {
	case m.mode == ReadOnly:
		return "this control room is read-only"
	case m.focus == panelPools:
		return amongPools
	}
	if len(m.targets()) == 0 {
		return "no agent is selected"
	}
	return ""
}

func needRunning(m *model) string {
	if why := needVerb(m); why != "" {
		return why
	}
	for _, r := range m.targets() {
		if !r.running {
			return fmt.Sprintf("%s is %s: nobody there to hear it", r.shown, r.state)
		}
	}
	return ""
}

func needTerminal(m *model) string {
	r := m.selected()
	switch {
	case m.mode == ReadOnly:
		return "this control room is read-only"
	case m.focus == panelPools:
		return amongPools
	case r == nil:
		return "no agent is selected"
	case !r.running:
		return fmt.Sprintf("%s is %s: there is no terminal to attach to", r.shown, r.state)
	}
	return ""
}

func needHeld(m *model) string {
	if why := needVerb(m); why != "" {
		return why
	}
	if len(m.heldBack()) == 0 {
		return "nothing is held back: only an agent in quarantine or backoff, or one that drains, is released"
	}
	return ""
}

// heldBack are the targets that u releases.
func (m *model) heldBack() []*agentRow {
	var held []*agentRow
	for _, r := range m.targets() {
		switch r.state {
		case city.Quarantined, city.Backoff, city.Failed, city.Draining:
			held = append(held, r)
		}
	}
	return held
}

// selected is the agent that verbs and the pane are about, nil if there is none.
func (m *model) selected() *agentRow { return m.roster.find(m.chosen) }

// targets are the agents a verb acts on: the marked ones, else the selected one.
func (m *model) targets() []*agentRow {
	if len(m.marks) > 0 {
		var rows []*agentRow
		for i := range m.roster.rows {
			if m.marks[m.roster.rows[i].name] {
				rows = append(rows, &m.roster.rows[i])
			}
		}
		return rows
	}
	if r := m.selected(); r != nil {
		return []*agentRow{r}
	}
	return nil
}

// whom names the targets: "worker", "3 agents".
func whom(rows []*agentRow) string {
	if len(rows) == 1 {
		return rows[0].shown
	}
	return count(len(rows), "agent")
}

// do carries one command per target out.
func (m *model) do(doing string, rows []*agentRow, command func(name string) city.Command) []effect {
	commands := make([]city.Command, len(rows))
	for i, r := range rows {
		commands[i] = command(r.name)
	}
	m.marks = map[string]bool{}
	return m.carry(doing, whom(rows), commands)
}

// carry carries commands out; doing and what say in the status line that they are under way.
func (m *model) carry(doing, what string, commands []city.Command) []effect {
	id := m.begin(doing + " " + what + " " + m.look.glyph.More)
	return []effect{perform{id: id, title: doing, commands: commands}}
}

func (m *model) zoomIn() []effect {
	m.before = m.focus
	m.focus, m.zoomed = panelPeek, true
	return nil
}

func (m *model) zoomOrAttach() []effect {
	if !m.zoomed {
		m.before = m.focus
		m.zoomed = true
		return nil
	}
	if why := needTerminal(m); why != "" {
		m.complain(why)
		return nil
	}
	return m.attach()
}

func (m *model) attach() []effect { return []effect{attach{agent: m.chosen}} }

func (m *model) askSend() []effect {
	rows := m.targets()
	send := func(m *model, text string) []effect {
		if strings.TrimSpace(text) == "" {
			return nil
		}
		return m.do("sending to", rows, func(name string) city.Command { return city.Nudge{Agent: name, Text: text} })
	}
	m.prompt = &prompt{label: "send to " + whom(rows), hint: "enter sends  esc leaves", edit: newEntry(""), done: send}
	return nil
}

func (m *model) askRestart() []effect {
	rows := m.targets()
	do := func(m *model) []effect {
		return m.do("restarting", rows, func(name string) city.Command { return city.Restart{Agent: name} })
	}
	m.ask(question{title: "Restart " + whom(rows) + "?", whom: names(rows), verb: "restart", count: len(rows), do: do,
		body: []string{"The session ends and a new one begins. It is not counted as a crash."}})
	return nil
}

func (m *model) release() []effect {
	return m.do("releasing", m.heldBack(), func(name string) city.Command {
		if m.roster.find(name).state == city.Draining {
			return city.Undrain{Agent: name}
		}
		return city.Release{Agent: name}
	})
}

func (m *model) askEnd() []effect {
	rows := m.targets()
	kill := func(m *model) []effect {
		return m.do("killing", rows, func(name string) city.Command { return city.Kill{Agent: name} })
	}
	stop := func(m *model) []effect {
		return m.do("stopping", rows, func(name string) city.Command { return city.Stop{Agent: name} })
	}
	m.choice = &choice{
		title: "End " + whom(rows),
		body:  names(rows),
		must:  confirmation(rows),
		edit:  newEntry(""),
		answers: []answer{
			{title: "kill: end it at once; it is started again", do: kill},
			{title: "stop: let it finish, keep it ended until it is resumed", do: stop},
			{title: "cancel", safe: true},
		},
		since: m.now,
	}
	return nil
}

// confirmation is what must be typed before agents are ended: the name of one, the number of several.
func confirmation(rows []*agentRow) string {
	if len(rows) == 1 {
		return rows[0].shown
	}
	return fmt.Sprint(len(rows))
}

// names lists who is meant, where the title does not say it.
func names(rows []*agentRow) []string {
	if len(rows) <= 1 {
		return nil
	}
	return []string{listedRows(rows)}
}

// listedRows names agents one by one.
func listedRows(rows []*agentRow) string {
	all := make([]string, len(rows))
	for i, r := range rows {
		all[i] = r.shown
	}
	return strings.Join(all, ", ")
}

func (m *model) mark() []effect {
	m.marks = cloned(m.marks)
	if m.marks[m.chosen] {
		delete(m.marks, m.chosen)
	} else {
		m.marks[m.chosen] = true
	}
	m.step(1)
	return nil
}

func (m *model) markAll() []effect {
	l := m.list()
	marks := cloned(m.marks)
	for _, i := range l.shown {
		marks[m.roster.rows[i].name] = true
	}
	if len(marks) == len(m.marks) {
		marks = map[string]bool{}
	}
	m.marks = marks
	return nil
}
