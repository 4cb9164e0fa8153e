package actions

import (
	"fmt"
	"slices"
	"strconv"

	"gcity/tui/feed"
	"gcity/tui/palette"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

type (
	verb = palette.Verb[*state.Room, feed.Effect]
	// parts of a verb
	verbWords = func(*state.Room, []string) []state.Word
	verbWhy   = func(*state.Room, []string) string
	verbRun   = func(*state.Room, []string) ([]feed.Effect, string)
)

// Verbs returns the palette's commands.
func Verbs() []verb {
	return append(agentVerbs(), []verb{
		{Name: "suspend", Usage: "AGENT|POOL|RIG|city", ID: state.SuspendID, Noun: true,
			Description: "suspend an agent, a pool, a rig or the city", Args: firstArg(switchNames),
			Why: whySuspended(true), Run: suspendVerb(true)},
		{Name: "resume", Usage: "AGENT|POOL|RIG|city", ID: state.SuspendID, Noun: true,
			Description: "resume an agent, a pool, a rig or the city", Args: firstArg(switchNames),
			Why: whySuspended(false), Run: suspendVerb(false)},
		{Name: "scale", Usage: "POOL SIZE|auto", Description: "set a pool's size, or let " +
			"its check decide again", ID: "pool.scale", Args: scaleWords, Run: scaleLine},
		{Name: "fire", Usage: "AUTOMATION", Description: "fire an automation now",
			ID: "automation.fire", Names: []string{"run"},
			Args: firstArg(automationNames), Why: automationWhy(palette.CannotFire), Run: fireLine},
		{Name: "stop", Usage: "AGENT|AUTOMATION|city", ID: "automation.stop",
			Description: "stop an agent, an automation's current run, or the city",
			Args:        firstArg(stopNames), Why: stopWhy, Run: stopLine},
		{Name: "check", Usage: "POOL|WATCHDOG",
			Description: "run the check of a pool or a watchdog now",
			ID:          "pool.check", Args: firstArg(checkedNames), Run: checkLine},
		{Name: "sort", Usage: "COLUMN", Description: "sort the list; repeat to reverse it",
			ID: "list.sort", ReadOnly: true, Args: firstArg(sortWords), Run: sortLine},
		{Name: "acknowledge", Usage: "WATCHDOG", Description: "acknowledge a watchdog's call",
			ID: state.ReleaseID, Args: firstArg(watchdogNames), Run: acknowledgeLine},
		{Name: "send", Usage: "TEXT…", Description: "send text to the selected or marked agents",
			ID: "agent.send", Text: 1, Args: noWords, Run: sendLine},
		{Name: "nudge", Usage: "AGENT TEXT…", Description: "send text to an agent",
			ID:   "agent.send",
			Text: 2, Args: firstArg(agentNames), Run: nudgeLine},
		{Name: "mail", Usage: "WHO SUBJECT…",
			Description: "write a message to an agent, a pool or a user",
			ID:          state.MailID, Text: 2, Args: firstArg(mailNames), Run: writeLine},
		{Name: "sling", Usage: "AGENT|POOL ID",
			Description: "sling a bead to an agent or a pool, and notify it",
			ID:          state.SlingID, Args: firstArg(flaggedNames), Run: slingLine},
		{Name: "unsend", Usage: "AGENT…", Description: "cancel nudges that are queued for agents",
			ID: state.UnsendID, Args: otherAgents,
			Why: agentsWhy(state.UnsendID, palette.CannotUnsend), Run: onAgents(state.UnsendID)},
		{Name: "city", Usage: "NAME", Description: "switch to another city", ID: "city.switch",
			Names: []string{"city", "cities"}, ReadOnly: true,
			Args: firstArg(cityNames), Run: cityLine},
		{Name: "messages", Description: "show past status lines", ID: "view.messages",
			ReadOnly: true,
			Run:      runAsKey("view.messages")},
		{Name: "undo", Description: "undo the latest action", ID: state.ReleaseID,
			Run: runAsKey("verb.undo")},
	}...)
}

func agentVerbs() []verb {
	return []verb{
		{Name: "goto", Usage: "NAME",
			Description: "go to an agent, a pool, an automation or a watchdog",
			ReadOnly:    true, Args: firstArg(anyNames), Run: GoTo},
		{Name: "attach", Usage: "AGENT", Description: "work in an agent's terminal",
			ID: "agent.attach", Args: firstArg(agentNames),
			Why: agentsWhy("", palette.CannotAttach), Run: goAndRun("agent.attach")},
		{Name: "details", Usage: "NAME", Description: "show details", ID: "agent.details",
			Names: []string{"why"}, ReadOnly: true, Args: firstArg(anyNames),
			Run: goAndRun("agent.details")},
		{Name: "peek", Usage: "AGENT", Description: "zoom into an agent's terminal",
			ID: "agent.zoom", ReadOnly: true, Args: firstArg(agentNames),
			Why: agentsWhy("", nil), Run: inPane("agent.zoom")},
		{Name: "logs", Usage: "AGENT", Description: "show all stored output of an agent",
			ID: "peek.logs", ReadOnly: true, Args: firstArg(agentNames),
			Why: agentsWhy("", nil), Run: inPane("peek.logs")},
		{Name: "restart", Usage: "POOL|AGENT…",
			Description: "restart agents, or the members of a pool",
			ID:          "agent.restart", Args: restartNames, Noun: true, Why: restartWhy,
			Run: restartLine},
		{Name: "drain", Usage: "AGENT…", Description: "drain agents: let them finish",
			ID:   state.DrainID,
			Args: otherAgents, Why: agentsWhy(state.DrainID, palette.CannotDrain),
			Run: onAgents(state.DrainID)},
		{Name: "undrain", Usage: "AGENT…", Description: "cancel a drain", ID: state.DrainID,
			Args: otherAgents, Why: agentsWhy(state.DrainID, palette.CannotUndrain),
			Run: onAgents(state.DrainID)},
		{Name: "release", Usage: "AGENT…", Description: "release agents from quarantine or backoff",
			ID: state.ReleaseID, Args: otherAgents, Why: agentsWhy("", palette.CannotRelease),
			Run: onAgents("")},
		{Name: "kill", Usage: "AGENT…", Description: "stop agents immediately; they restart",
			ID: "agent.end", Args: otherAgents, Why: agentsWhy("agent.end", nil),
			Run: onAgents("agent.end")},
	}
}

// Table returns the palette's commands for a room.
func Table(m *state.Room) *palette.Table[*state.Room, feed.Effect] {
	return &palette.Table[*state.Room, feed.Effect]{Verbs: Verbs(), KeysOf: m.Keys.KeysOf,
		Denied: func(v *verb) string {
			if v.ReadOnly {
				return ""
			}
			return state.NeedWritable(m)
		},
		Hidden: func(v *verb) bool {
			return m.Mode == state.ReadOnly && !v.ReadOnly || v.Name == "city" && !m.Directory
		},
		Open: openPaletteAt, Fail: state.ShowFailure}
}

func firstArg(words func(*state.Room) []state.Word) verbWords {
	return func(m *state.Room, before []string) []state.Word {
		if len(before) > 0 {
			return nil
		}
		return words(m)
	}
}

func agentNames(m *state.Room) []state.Word { return otherAgents(m, nil) }

func otherAgents(m *state.Room, before []string) []state.Word {
	selected := ""
	if r := state.Selected(m); r != nil {
		selected = r.Name
	}
	return palette.Agents(&m.Lists, before, selected)
}

func poolNames(m *state.Room) []state.Word { return palette.Pools(&m.Lists) }

func automationNames(m *state.Room) []state.Word { return palette.Automations(&m.Lists) }

func watchdogNames(m *state.Room) []state.Word { return palette.Watchdogs(&m.Lists) }

func flaggedNames(m *state.Room) []state.Word { return append(agentNames(m), poolNames(m)...) }

func anyNames(m *state.Room) []state.Word {
	return slices.Concat(flaggedNames(m), automationNames(m), watchdogNames(m))
}

func scaleWords(m *state.Room, before []string) []state.Word {
	const most = 100
	switch len(before) {
	case 0:
		return poolNames(m)
	case 1:
		p := m.Pools.Find(before[0])
		if p == nil {
			return nil
		}
		all := []state.Word{{Word: "auto", Note: p.CheckResult()}}
		for n := p.Min; n <= min(p.Max, p.Min+most); n++ {
			all = append(all, state.Word{Word: strconv.Itoa(n)})
		}
		return all
	}
	return nil
}

// onNamed calls do with the named agents as its targets, whatever is marked, selected or focused.
func onNamed(m *state.Room, names []string, do func() ([]feed.Effect, string)) ([]feed.Effect,
	string) {
	for _, name := range names {
		if m.Agents.Find(name) == nil {
			return nil, palette.Unknown("agent", name, agentNames(m))
		}
	}
	m.NamedAgents = names
	defer func() { m.NamedAgents = nil }()
	return do()
}

func agentsWhy(id string, whyAgent func(r *panel.AgentRow) string) verbWhy {
	return func(m *state.Room, names []string) string {
		_, why := onNamed(m, names, func() ([]feed.Effect, string) {
			for _, r := range state.Targets(m) {
				if whyAgent != nil && whyAgent(r) != "" {
					return nil, r.Shown + " " + r.State.Is() + whyAgent(r)
				}
			}
			if id == "" {
				return nil, ""
			}
			return nil, m.Keys.ByID(id).WhyUnavailable(m)
		})
		return why
	}
}

// onAgents returns a function that runs the action id on the named agents. If id is "", the function releases the
// agents.
func onAgents(id string) verbRun {
	return func(m *state.Room, names []string) ([]feed.Effect, string) {
		return onNamed(m, names, func() ([]feed.Effect, string) {
			if id == "" {
				return release(m), ""
			}
			return m.Keys.ByID(id).Run(m), ""
		})
	}
}

func scaleLine(m *state.Room, args []string) ([]feed.Effect, string) {
	p := m.Pools.Find(args[0])
	if p == nil {
		return nil, palette.Unknown("pool", args[0], poolNames(m))
	}
	if len(args) != 2 {
		return nil, fmt.Sprintf("the size is missing; use %s, or auto", p.Bounds())
	}
	size, auto, why := p.SizeOf(args[1])
	switch {
	case why != "":
		return nil, why
	case auto:
		return autoScale(m, p), ""
	}
	return scale(m, p, size), ""
}

// GoTo moves the focus and the cursor to a name. It clears the panel's filter and the attention filter.
func GoTo(m *state.Room, args []string) ([]feed.Effect, string) {
	name := args[0]
	for _, p := range m.Panels {
		if !p.Has(name) {
			continue
		}
		goToRow(m, p, name)
		return nil, ""
	}
	return nil, palette.Unknown("agent, pool, automation or watchdog", name, anyNames(m))
}

func goToRow(m *state.Room, p panel.Panel, key string) {
	state.FocusOn(m, p.About().ID)
	*p.Query(), m.OnlyAttention = widget.Filter{}, false
	m.Refill()
	if p.About().ID == panel.IDAgents {
		state.SelectAgent(m, key)
	} else {
		p.Select(key)
	}
}

func goAndRun(id string) verbRun {
	return func(m *state.Room, args []string) ([]feed.Effect, string) {
		if _, why := GoTo(m, args); why != "" {
			return nil, why
		}
		return runAsKey(id)(m, nil)
	}
}

// inPane is like goAndRun, for an action that shows the agent in the pane. The pane does not keep earlier logs.
func inPane(id string) verbRun {
	return func(m *state.Room, args []string) ([]feed.Effect, string) {
		if m.Peek.Logs {
			m.Peek.Logs = false
			m.Peek.Follow()
		}
		return goAndRun(id)(m, args)
	}
}

func runAsKey(id string) verbRun {
	return func(m *state.Room, _ []string) ([]feed.Effect, string) {
		a := m.Keys.ByID(id)
		if why := a.WhyUnavailable(m); why != "" {
			return nil, why
		}
		return a.Run(m), ""
	}
}
