package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gcity/city"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

const (
	releaseID = "agent.release" // the verb that takes things back
	drainID   = "agent.drain"   // in Pools it is about all members
)

// agentActions are the verbs: they act on the marked agents, else on the selected one, whichever panel has the
// focus, but Pools and Automations: there s, D and d are about the pool, d about the automation, and the others,
// about an agent that nobody looks at, are refused.
func agentActions() []action {
	global := []keymap.Zone{keymap.Everywhere}
	return []action{
		{ID: "agent.zoom", Key: keymap.Bind("zoom into the terminal; in Quarantine: the crashes",
			"enter"), Short: "zoom", In: []keymap.Zone{keymap.InLists},
			Why: needAgent, Run: (*model).enterAgent},
		{ID: "agent.attach.zoomed", Key: keymap.Bind("zoom into the terminal, once more: attach",
			"enter"), Short: "attach",
			In: []keymap.Zone{keymap.InPeek}, Why: needAgent, Run: (*model).zoomOrAttach},
		{ID: "agent.attach",
			Key:   keymap.Bind("attach: work in the agent's terminal, ctrl+q leaves it", "a"),
			Short: "attach",
			In:    global, Why: needTerminal, Run: (*model).attach},
		{ID: "agent.send", Key: keymap.Bind("send a text to the agent", "i"), Short: "send",
			In:  global,
			Why: needRunning, Run: (*model).askSend},
		{ID: releaseID,
			Key: keymap.Bind(
				"undo or release: the last verb for 10 s; else quarantine, backoff, drain; a "+
					"watchdog's call", "u"),
			Short: "release", In: global, Why: needUndoOrHeld, Run: (*model).undoOrRelease},
		{ID: "agent.restart", Key: keymap.Bind("restart the agent", "r"), Short: "restart",
			In: global, Risk: keymap.Confirmed,
			Why: needVerb, Run: (*model).askRestart},
		{ID: drainID,
			Key: keymap.Bind(
				"drain the agent: tell it, or all of the pool, to finish; or take that back", "D"),
			Short: "drain", In: global,
			Risk: keymap.Confirmed, Why: needDrain, Run: (*model).askDrain},
		{ID: "agent.suspend", Key: keymap.Bind("suspend the agent or the pool, or resume it", "s"),
			Short: "suspend", In: global,
			Risk: keymap.Confirmed, Why: needSuspend, Run: (*model).askSuspend},
		{ID: "agent.end", Key: keymap.Bind("kill or stop the agent", "ctrl+k"), Short: "",
			In: global, Risk: keymap.Typed,
			Why: needVerb, Run: (*model).askEnd},
		{ID: "agent.details",
			Key: keymap.Bind(
				"show the agent, pool, automation or watchdog in detail: why, what next, last "+
					"decisions or runs", "d"), Short: "details",
			In: global, Why: needSubject, Run: (*model).showDetails},
	}
}

func needAgent(m *model) string {
	if m.selected() == nil {
		return "no agent is selected"
	}
	return ""
}

// needSubject is for what is about the thing under the cursor, else about the agent that it stands for.
func needSubject(m *model) string {
	p := m.worked()
	switch {
	case p.About().Details != "" && p.Subject().Name == "":
		return m.noneIn(p)
	case p.About().Details == "" && m.single() == nil:
		return m.nobody()
	}
	return ""
}

// noneIn says that a panel has nothing selected, and which key leads there.
func (m *model) noneIn(p panel.Panel) string {
	a := p.About()
	return "no " + a.Noun + " is selected; " + m.keys.KeyOf("focus."+string(a.ID)) + " goes to them"
}

// amongPools is why an agent's verb is not done while Pools has the focus.
func (m *model) amongPools() string {
	k := m.keys
	return fmt.Sprintf("press %s for the agents; %s, %s, %s, %s and %s act on pools",
		k.KeyOf("focus.agents"), k.KeyOf(suspendID), k.KeyOf(drainID), k.KeyOf("pool.scale"),
		k.KeyOf("pool.less"), k.KeyOf("pool.more"))
}

func needVerb(m *model) string {
	switch {
	case m.mode == ReadOnly:
		return "this control room is read-only"
	case actsOn(m, panel.KindPool) && len(m.aim) == 0:
		return m.amongPools()
	case m.showsRun() && len(m.aim) == 0:
		return m.amongRuns()
	}
	if len(m.targets()) == 0 {
		return m.nobody()
	}
	return ""
}

// nobody is why there is no agent to do something with.
func (m *model) nobody() string {
	return cmp.Or(m.focused().About().Proxy, "no agent is selected")
}

func needTerminal(m *model) string {
	r := m.single()
	switch {
	case m.mode == ReadOnly:
		return "this control room is read-only"
	case actsOn(m, panel.KindPool):
		return m.needMember()
	case m.showsRun():
		return m.amongRuns()
	case r == nil:
		return m.nobody()
	case !r.Running:
		return fmt.Sprintf("%s is %s: there is no terminal to attach to", r.Shown,
			panel.InState(r.State))
	}
	return ""
}

func needHeld(m *model) string {
	if why := needVerb(m); why != "" {
		return why
	}
	if rows := m.targets(); len(rows) == 1 && rows[0].Surplus() {
		return m.isSurplus(rows[0])
	}
	if len(m.heldBack()) == 0 {
		return "nothing is held back: only an agent in quarantine or backoff, or one that " +
			"drains, is released"
	}
	return ""
}

// heldBack are the targets that u releases.
func (m *model) heldBack() []*panel.AgentRow {
	var held []*panel.AgentRow
	for _, r := range m.targets() {
		if r.Held() {
			held = append(held, r)
		}
	}
	return held
}

// selected is the agent that verbs and the pane are about, nil if there is none.
func (m *model) selected() *panel.AgentRow { return m.Agents.Find(m.Agents.Chosen) }

// targets are the agents a verb acts on: those that were named; in a panel whose rows stand for agents
// the one under the cursor; else the marked ones, else the selected one.
func (m *model) targets() []*panel.AgentRow {
	if len(m.aim) > 0 {
		rows := make([]*panel.AgentRow, len(m.aim))
		for i, name := range m.aim {
			rows[i] = m.Agents.Find(name)
		}
		return rows
	}
	if m.focused().About().Proxy != "" {
		if r := m.stoodFor(); r != nil {
			return []*panel.AgentRow{r}
		}
		return nil
	}
	if len(m.Agents.Marks) > 0 {
		var rows []*panel.AgentRow
		for i := range m.Agents.Rows {
			if m.Agents.Marks[m.Agents.Rows[i].Name] {
				rows = append(rows, &m.Agents.Rows[i])
			}
		}
		return rows
	}
	if r := m.selected(); r != nil {
		return []*panel.AgentRow{r}
	}
	return nil
}

// whom names the targets: "worker", "3 agents".
func whom(rows []*panel.AgentRow) string {
	if len(rows) == 1 {
		return rows[0].Shown
	}
	return widget.Count(len(rows), "agent")
}

// do carries one command per target out.
func (m *model) do(doing string, rows []*panel.AgentRow,
	command func(name string) city.Command) []effect {
	commands := make([]city.Command, len(rows))
	for i, r := range rows {
		commands[i] = command(r.Name)
	}
	m.unmark(commands)
	return m.carry(doing, whom(rows), commands)
}

// carry carries commands out; doing and what say in the status line that they are under way.
func (m *model) carry(doing, what string, commands []city.Command) []effect {
	id := m.begin(doing + " " + what + " " + m.look.Glyphs.More)
	m.offer(doing+" "+what, commands)
	return []effect{perform{id: id, title: doing, commands: commands}}
}

func (m *model) zoomIn() []effect {
	m.before = m.focus
	m.focus, m.zoomed = panel.IDPeek, true
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

func (m *model) attach() []effect {
	if actsOn(m, panel.KindPool) {
		return m.attachMember()
	}
	m.choose(m.single().Name)
	return []effect{attach{agent: m.Agents.Chosen}}
}

func (m *model) askRestart() []effect {
	rows := m.targets()
	do := func(m *model) []effect {
		return m.do("restarting", rows, func(name string) city.Command {
			return city.Restart{Agent: name}
		})
	}
	body := "The session ends and a new one begins. It is not counted as a crash."
	if !slices.ContainsFunc(rows, func(r *panel.AgentRow) bool { return r.Running }) {
		body = "There is no session to end; a new one begins."
	}
	m.ask(question{title: "Restart " + whom(rows) + "?", whom: m.names(rows), verb: "restart",
		count: len(rows), do: do, body: []string{body}})
	return nil
}

func (m *model) release() []effect {
	rows := m.heldBack()
	return m.perhaps(question{title: "Release " + whom(rows) + "?", whom: m.names(rows),
		verb: "release", do: func(m *model) []effect {
			return m.do("releasing", rows, func(name string) city.Command {
				if r := m.Agents.Find(name); r != nil && r.State == city.Draining {
					return city.Undrain{Agent: name}
				}
				return city.Release{Agent: name}
			})
		}})
}

func (m *model) askEnd() []effect {
	rows := m.targets()
	kill := func(m *model) []effect {
		return m.do("killing", rows, func(name string) city.Command {
			return city.Kill{Agent: name}
		})
	}
	stop := func(m *model) []effect {
		return m.do("stopping", rows, func(name string) city.Command {
			return city.Stop{Agent: name}
		})
	}
	m.dialogs.Open(&choice{
		Title: "End " + whom(rows),
		Body:  m.names(rows),
		Must:  confirmation(rows),
		Edit:  widget.NewEntry(""),
		Answers: []answer{
			{Title: "kill: end it at once; it is started again", Do: kill},
			{Title: "stop: let it finish, keep it ended until it is resumed", Do: stop},
			{Title: "cancel", Safe: true},
		},
		Since: m.now,
	})
	return nil
}

// confirmation is what must be typed before agents are ended: the name of one, the number of several.
func confirmation(rows []*panel.AgentRow) string {
	if len(rows) == 1 {
		return rows[0].Shown
	}
	return fmt.Sprint(len(rows))
}

// names lists who is meant, where the title does not say it, and how many of them are marked where nobody sees it.
func (m *model) names(rows []*panel.AgentRow) []string {
	if len(rows) <= 1 {
		return nil
	}
	lines, hidden := []string{listedRows(rows)}, 0
	for _, r := range rows {
		if m.Agents.Marks[r.Name] && len(m.aim) == 0 &&
			!slices.Contains(m.Agents.List.IDs, r.Name) {
			hidden++
		}
	}
	if hidden > 0 {
		lines = append(lines, fmt.Sprintf("The filter of Agents hides %d of them.", hidden))
	}
	return lines
}

// listedRows names agents one by one.
func listedRows(rows []*panel.AgentRow) string {
	all := make([]string, len(rows))
	for i, r := range rows {
		all[i] = r.Shown
	}
	return strings.Join(all, ", ")
}
