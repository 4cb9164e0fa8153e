package actions

import (
	"cmp"
	"slices"
	"strings"

	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
)

func menuActions() []state.Action {
	return []state.Action{
		{ID: "menu.verbs", Key: keymap.Bind("show all actions for the selection, and why some are "+
			"not available",
			"x"), Run: noEffects(showVerbs)},
		{ID: "menu.yank",
			Key: keymap.Bind("copy from the selection: name, folder, command, session and more",
				"y"),
			Why: needCopies, Run: showCopies},
	}
}

func nouns(m *state.Room) []string {
	p := m.ActionPanel()
	if a := p.About(); a.NoAgent == "" || m.Agents.Has(p.Agent()) {
		return a.Nouns
	}
	return p.About().Nouns[:1]
}

func subjectTitle(m *state.Room) string {
	title := ""
	switch p := m.ActionPanel(); {
	case p.About().Kind == panel.KindAgent:
		if rows := state.Targets(m); len(rows) > 0 {
			title = state.TargetNames(m, rows)
		}
	default:
		title = p.Called()
	}
	return cmp.Or(title, state.CityTitle(m, 50))
}

func showVerbs(m *state.Room) {
	title := subjectTitle(m)
	if r := state.RowAgent(m); r != nil {
		title += " and " + r.Shown
	}
	f := &state.Finder{Title: "Actions for " + title, EmptyText: "No action matches.",
		Reasons: true}
	for i := range m.Keys.Actions {
		a := &m.Keys.Actions[i]
		// agent.details also shows the details of a pool
		if !ActsOnRow(m, a) || Unseen(m, a) || a.ID == "pool.details" {
			continue
		}
		t := actionItem(m, a)
		t.Note = a.Risk.Mark()
		f.All = append(f.All, t)
	}
	openFinderOf(m, f)
}

// ActsOnRow reports whether an action acts on the selection, and does more than move the cursor or mark rows.
func ActsOnRow(m *state.Room, a *state.Action) bool {
	noun, _, _ := strings.Cut(a.ID, ".")
	pools := m.Subject().Kind == panel.KindPool
	verb := slices.Contains(nouns(m), noun) || a.ID == "menu.yank" ||
		a.ID == "view.event" && state.ActsOn(m, panel.KindEvent) ||
		pools && alsoOfPools(a.ID) ||
		a.ID == "config.edit" && (pools || m.Subject().Kind == panel.KindAgent)
	return verb && hasVerb(m, a) && !Elsewhere(m, a) && !movesAbout(a)
}

func hasVerb(m *state.Room, a *state.Action) bool {
	return KeyWorks(m, a) || state.ShowsRun(m) && slices.Contains(a.In, m.Automations.About().Zone)
}

func movesAbout(a *state.Action) bool {
	last := a.ID[strings.LastIndexByte(a.ID, '.')+1:]
	return strings.HasPrefix(a.ID, "agent.mark") ||
		slices.Contains([]string{"down", "up", "first", "last", "close", "refresh"}, last)
}

func alsoOfPools(id string) bool {
	return slices.Contains([]string{state.SuspendID, state.DrainID, "agent.attach", "agent.restart",
		"agent.details", state.MailID, state.SlingID}, id)
}

// Elsewhere reports whether an action acts on something that the focused panel does not show. An undo does not depend
// on the focus.
func Elsewhere(m *state.Room, a *state.Action) bool {
	if a.ID == state.ReleaseID && state.Undoable(m) {
		return false
	}
	p := m.Focused().About()
	agents := p.Kind == panel.KindAgent || p.NoAgent != "" || m.Focus == panel.IDPeek
	return !agents && strings.HasPrefix(a.ID, "agent.") &&
		!(p.Kind == panel.KindPool && alsoOfPools(a.ID))
}

// RankHere returns the rank of an action in a panel's footer.
func RankHere(m *state.Room, a *state.Action) int {
	switch {
	case a.ID == state.BackID:
		return -1
	case a.ID == "pool.less", a.ID == "pool.more":
		return 2
	case len(a.In) == 1 && a.In[0] == m.Zone() || a.ID == state.ReleaseID &&
		state.AcknowledgeableWatchdog(m) != nil:
		return 0
	case state.ActsOn(m, panel.KindPool) && !Elsewhere(m, a) && strings.HasPrefix(a.ID, "agent."):
		return 1
	case slices.Contains(a.In, keymap.Everywhere):
		return 3
	}
	return 2
}

// KeyWorks reports whether an action's key works with the current focus.
func KeyWorks(m *state.Room, a *state.Action) bool {
	return slices.Contains(a.In, keymap.Everywhere) || slices.Contains(a.In, m.Zone())
}
