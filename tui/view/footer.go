package view

import (
	"slices"
	"strings"

	"gcity/themes"
	"gcity/tui/actions"
	"gcity/tui/details"
	"gcity/tui/fleet"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func addFooter(m *state.Room, s Screen) Screen {
	status := StatusRows(m, m.W)
	if d := m.Dialogs.FootDialog(); d != nil {
		if f := d.Draw(m.Canvas()); len(f.Lines) == 1 {
			status = f.Lines
			s.X, s.Y = f.X, len(s.Lines)
		}
	}
	withStatus, withFooter := state.FootParts(m)
	if withStatus {
		s.Lines = append(s.Lines, status...)
	}
	if withFooter {
		s.Lines = append(s.Lines, Footer(m, m.W))
	}
	return s
}

func alwaysShown(m *state.Room, a *state.Action, w int) bool {
	switch a.ID {
	case "view.palette":
		return w >= 140 || w >= 120 && !severalCities(m)
	case "view.attention":
		return w >= 140
	case "focus.mail":
		return w >= 100
	case "view.filter":
		return w >= 60
	case "city.switch":
		return w >= wideFooter // below this width, the header has the key
	case "quit":
		return w >= 50
	}
	return true
}

// wideFooter is the minimum screen width at which the footer always contains the key for other cities.
const wideFooter = 120

func severalCities(m *state.Room) bool {
	return m.Directory && m.Fleet != nil && slices.ContainsFunc(state.Listed(m),
		func(c fleet.City) bool { return !state.IsHere(m, &c) })
}

// urgency returns an action's rank in the footer; lower ranks come first.
func urgency(m *state.Room, a *state.Action) int {
	order := []string{"agent.zoom", "agent.attach.zoomed", "agent.attach", state.ReleaseID,
		"agent.restart", state.DrainID, state.SuspendID, "agent.send"}
	switch at := slices.Index(order, a.ID); {
	case a.ID == state.BackID:
		return -2
	case a.ID == state.ReleaseID && state.CanUndo(m):
		return -1
	case at >= 0:
		return at
	}
	return len(order)
}

func footActions(m *state.Room) (keys, tail []*state.Action) {
	last := []string{"focus.mail", "view.filter", "view.attention", "view.palette", "city.switch",
		"view.help", "quit"}
	lost := state.Uncontrollable(m)
	for i := range m.Keys.Actions {
		a := &m.Keys.Actions[i]
		switch {
		case a.Short == "" || len(a.Key.Keys()) == 0 || !actions.KeyWorks(m, a) ||
			actions.Elsewhere(m, a) ||
			a.WhyUnavailable(m) != "" || lost && changes(m, a):
		case a.ID == state.BackID && !m.Zoomed, a.ID == state.ReleaseID && undrainsOnly(m):
		case a.ID == "focus.mail" && (state.Unread(m) == 0 || m.Focus == panel.IDMail) ||
			a.ID == "city.switch" && !severalCities(m) && m.W < wideFooter:
		case (a.ID == "view.filter" || a.ID == "view.attention") && nothingListed(m):
		case slices.Contains(last, a.ID):
			tail = append(tail, a)
		default:
			keys = append(keys, a)
		}
	}
	slices.SortStableFunc(keys, func(a, b *state.Action) int {
		return urgency(m, a) - urgency(m, b)
	})
	if m.Zone() != keymap.InLists { // order: back, undo, own actions, others
		undoes := func(a *state.Action) bool { return urgency(m, a) < 0 }
		at := slices.IndexFunc(keys, func(a *state.Action) bool { return !undoes(a) })
		slices.SortStableFunc(keys[max(0, at):], func(a, b *state.Action) int {
			return actions.RankHere(m, a) - actions.RankHere(m, b)
		})
	}
	return keys, tail
}

func nothingListed(m *state.Room) bool {
	p := m.Focused()
	_, _, shown, total := p.Cursor()
	return !p.Query().Active() && !m.OnlyAttention && m.Focus != panel.IDPeek &&
		(total == 0 || shown == 0 && p.About().Subset)
}

// Footer draws as many keys as fit.
func Footer(m *state.Room, w int) string {
	if m.FleetRoom {
		return fleetFooter(m, w)
	}
	l := widget.Line{Styles: &m.Look}
	l.Space(1)
	keys, tail := footActions(m)
	if m.Typing() || m.Dialogs.Covers() {
		return l.Fill(w)
	}
	room := w + 2 // the last key is not followed by spaces
	for _, a := range tail {
		if alwaysShown(m, a, w) {
			room -= footWidth(m, a)
		}
	}
	if text := footMarks(m); text != "" {
		l.Add(themes.Accent, text+"  ")
	}
	undoKey(m, &l)
	named, shown := false, map[string]bool{}
	for _, a := range keys {
		if shown[footText(m, a)] { // another key with the same effect is already in the footer
			continue
		}
		whose := ""
		if !named {
			whose = footAgent(m, a)
		}
		if l.Width+widget.Width(whose)+footWidth(m, a) <= room {
			l.Add(themes.Text, whose)
			footKey(m, &l, a)
			shown[footText(m, a)] = true
			named = named || whose != ""
		}
	}
	room -= l.Width
	for _, a := range tail {
		if alwaysShown(m, a, w) || footWidth(m, a) <= room {
			if !alwaysShown(m, a, w) {
				room -= footWidth(m, a)
			}
			footKey(m, &l, a)
		}
	}
	return l.Row(w)
}

func footMarks(m *state.Room) string {
	p := m.ActionPanel()
	if n := len(*p.Marking().Marks); n > 0 && p.About().NoAgent == "" {
		return widget.Number(n) + " marked"
	}
	return ""
}

func footAgent(m *state.Room, a *state.Action) string {
	if m.Focused().About().NoAgent == "" || !strings.HasPrefix(a.ID, "agent.") ||
		a.ID == "agent.details" ||
		a.ID == state.ReleaseID && (state.CanUndo(m) || state.AcknowledgeableWatchdog(m) != nil) {
		return ""
	}
	if r := state.SingleAgent(m); r != nil {
		return m.Look.Cut(r.Shown, 24) + ": "
	}
	return ""
}

func changes(m *state.Room, a *state.Action) bool {
	looking := *m
	looking.Mode = state.ReadOnly
	return a.WhyUnavailable(&looking) == state.NeedWritable(&looking)
}

func undrainsOnly(m *state.Room) bool {
	return !state.Undoable(m) && state.AcknowledgeableWatchdog(m) == nil &&
		!slices.ContainsFunc(state.Releasable(m),
			func(r *panel.AgentRow) bool { return !r.Undrainable() })
}

func footText(m *state.Room, a *state.Action) string {
	undoes := (a.ID == state.ReleaseID || a.ID == "mail.unread") && state.Undoable(m)
	switch {
	case a.ID == state.ReleaseID && state.AcknowledgeableWatchdog(m) != nil:
		return "ack"
	case undoes:
		return state.UndoText(m)
	case a.ID == state.ReleaseID && state.CanUndo(m):
		what := state.TargetNames(m, state.Releasable(m))
		return "release " + m.Look.Cut(what, 24)
	case a.ID == state.SuspendID && suspended(m):
		return "resume"
	case a.ID == state.DrainID:
		t := state.DrainTargetsAt(m)
		if drain, undrain := t.Split(); len(drain) == 0 && len(undrain) > 0 {
			return "undrain"
		}
	case a.ID == "agent.attach.zoomed" && !m.Zoomed:
		return "zoom"
	case a.ID == "agent.zoom" && m.Focus == panel.IDQuarantine:
		return "show crashes"
	case a.ID == "fleet.next" && m.OnNeeds:
		return "cities"
	case a.ID == "fleet.suspend" && state.ChosenCity(m) != nil &&
		state.ChosenCity(m).Summary.Suspended:
		return "resume"
	case a.ID == "mail.others" && m.Mail.Others:
		return "for users"
	case a.ID == "rig.toggle" && m.Rigs.Suspended():
		return "resume"
	case a.ID == "view.attention" && m.OnlyAttention:
		return "all"
	}
	return a.Short
}

func suspended(m *state.Room) bool {
	all := actions.SuspendTargets(m)
	on, _ := details.SplitBySuspended(all)
	return len(all) > 0 && len(on) == 0
}

func footWidth(m *state.Room, a *state.Action) int {
	return widget.Width(a.Key.Keys()[0]) + 1 + widget.Width(footText(m, a)) + 2
}

func undoKey(m *state.Room, l *widget.Line) {
	if line := state.UndoLine(m); line != "" {
		l.Add(themes.Key, line)
		l.Add(themes.Dim, " "+strings.TrimPrefix(state.UndoText(m), "undo ")+"  ")
	}
}

func footKey(m *state.Room, l *widget.Line, a *state.Action) {
	l.Add(themes.Key, a.Key.Keys()[0])
	l.Add(themes.Dim, " "+footText(m, a)+"  ")
}
