package actions

import (
	"slices"
	"strings"

	"gcity/tui/feed"
	"gcity/tui/palette"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func named(args []string) (noun, name string) {
	if len(args) > 1 {
		return args[0], args[1]
	}
	return "", args[0]
}

func restartNames(m *state.Room, before []string) []state.Word {
	if len(before) > 0 {
		return otherAgents(m, before)
	}
	return flaggedNames(m)
}

func restartedPool(m *state.Room, args []string) *panel.PoolRow {
	switch {
	case len(args) == 1:
		return m.Pools.Find(args[0])
	case len(args) == 2 && args[0] == palette.NounPool:
		return m.Pools.Find(args[1])
	}
	return nil
}

func restartedAgents(args []string) []string {
	if len(args) > 1 && (args[0] == palette.NounAgent || args[0] == palette.NounPool) {
		return args[1:]
	}
	return args
}

func restartWhy(m *state.Room, args []string) string {
	if restartedPool(m, args) != nil {
		return ""
	}
	return agentsWhy("agent.restart", nil)(m, restartedAgents(args))
}

func restartLine(m *state.Room, args []string) ([]feed.Effect, string) {
	if p := restartedPool(m, args); p != nil {
		return askRestartOf(m, p), ""
	}
	return onAgents("agent.restart")(m, restartedAgents(args))
}

func switchNames(m *state.Room) []state.Word {
	all := flaggedNames(m)
	if m.Snap != nil {
		for i := range m.Snap.Rigs {
			r := &m.Snap.Rigs[i]
			all = append(all, state.Word{Word: r.Name, Line: palette.NounRig + " " + r.Name,
				Noun: palette.NounRig,
				Note: "rig, " + widget.Count(r.Agents, palette.NounAgent)})
		}
	}
	return append(all, state.Word{Word: palette.NounCity, Note: "the whole city",
		Noun: palette.NounCity})
}

func whySuspended(off bool) verbWhy {
	return func(m *state.Room, args []string) string {
		noun, name := named(args)
		if p := m.Pools.Find(name); p != nil && (noun == "" || noun == palette.NounPool) {
			return palette.FlaggedAlready(p.Shown, p.Suspended != "", off)
		}
		if r := m.Agents.Find(name); r != nil && (noun == "" || noun == palette.NounAgent) {
			return palette.FlaggedAlready(r.Shown, r.IsSuspended(), off)
		}
		if r := state.FindRig(m, name); r != nil && (noun == "" || noun == palette.NounRig) {
			return palette.FlaggedAlready("rig "+widget.Plain(r.Name), r.Suspended, off)
		}
		if name == palette.NounCity && noun == "" && m.Snap != nil {
			return palette.FlaggedAlready("the city", m.Snap.Suspended, off)
		}
		return palette.Unknown("agent, pool or rig", name, switchNames(m))
	}
}

func suspendVerb(off bool) verbRun {
	return func(m *state.Room, args []string) ([]feed.Effect, string) {
		noun, name := named(args)
		p, r := m.Pools.Find(name), m.Agents.Find(name)
		switch {
		case p != nil && (noun == "" || noun == palette.NounPool):
			return askSuspendPools(m, []*panel.PoolRow{p}), ""
		case r != nil && (noun == "" || noun == palette.NounAgent):
			return onNamed(m, []string{name}, func() ([]feed.Effect, string) {
				return askSuspend(m), ""
			})
		case noun == "" && state.FindRig(m, name) == nil:
			return askSuspendCity(m), ""
		case off:
			return askSuspendRigOf(m, *state.FindRig(m, name)), ""
		}
		return resumeRigOf(m, name), ""
	}
}

func automationWhy(cond func([]*panel.AutomationRow) string) verbWhy {
	return func(m *state.Room, args []string) string {
		r := m.Automations.Find(args[0])
		if r == nil {
			return palette.Unknown("automation", args[0], automationNames(m))
		}
		return cond([]*panel.AutomationRow{r})
	}
}

func fireLine(m *state.Room, args []string) ([]feed.Effect, string) {
	return fire(m, []*panel.AutomationRow{m.Automations.Find(args[0])}), ""
}

func stopNames(m *state.Room) []state.Word {
	whole := state.Word{Word: palette.NounCity, Noun: palette.NounCity,
		Note: "all agents and the controller"}
	return slices.Concat(automationNames(m), []state.Word{whole}, agentNames(m))
}

// stopsAgent reports whether the verb stop applies to an agent. The city and automations take precedence.
func stopsAgent(m *state.Room, name string) bool {
	return name != palette.NounCity && m.Automations.Find(name) == nil && m.Agents.Find(name) != nil
}

func stopWhy(m *state.Room, args []string) string {
	switch {
	case stopsAgent(m, args[0]):
		return agentsWhy("agent.end", nil)(m, args)
	case m.Automations.Find(args[0]) != nil:
		return automationWhy(palette.CannotStop)(m, args)
	case args[0] != palette.NounCity:
		return palette.Unknown("agent or automation", args[0], stopNames(m))
	case m.Home != "" || m.All:
		return "this city is one of several; stop it in the list of all cities"
	case m.Mode != state.Hosting && state.Uncontrollable(m):
		return "the city does not respond"
	}
	return ""
}

func stopLine(m *state.Room, args []string) ([]feed.Effect, string) {
	if stopsAgent(m, args[0]) {
		return onAgents("agent.end")(m, args)
	}
	if r := m.Automations.Find(args[0]); r != nil {
		return endRuns(m, []*panel.AutomationRow{r}), ""
	}
	return askStopCity(m, nil), ""
}

func checkedNames(m *state.Room) []state.Word {
	return append(poolNames(m), watchdogNames(m)...)
}

func checkLine(m *state.Room, args []string) ([]feed.Effect, string) {
	p, w := m.Pools.Find(args[0]), m.Watchdogs.Find(args[0])
	switch {
	case p == nil && w == nil:
		return nil, palette.Unknown("pool or watchdog", args[0], checkedNames(m))
	case p == nil && w.CheckedNow(m.Now) != "":
		return nil, w.CheckedNow(m.Now)
	case p == nil:
		return runRequest(m, panel.CheckNow(w)), ""
	}
	if why := palette.CannotCheck(p); why != "" {
		return nil, why
	}
	return checkOf(m, p.Name), ""
}

func sortWords(m *state.Room) []state.Word {
	_, ways := m.Focused().Sorting(m.Now)
	all := make([]state.Word, len(ways))
	for i, name := range ways {
		all[i] = state.Word{Word: name, Note: "a column of " + m.Focused().About().Title}
	}
	return all
}

func sortLine(m *state.Room, args []string) ([]feed.Effect, string) {
	o, ways := m.Focused().Sorting(m.Now)
	if o == nil {
		return nil, needSorted(m)
	}
	name := strings.Join(args, " ")
	at := slices.Index(ways, name)
	if at < 0 {
		return nil, palette.Unknown("column", name, sortWords(m)) + ": " +
			strings.Join(ways, ", ")
	}
	SortBy(m, at)
	return nil, ""
}
