package tui

import (
	"slices"
	"strings"

	"gcity/themes"
	"gcity/tui/details"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// foot adds the status line or the typed line, and the keys that currently work.
func foot(m *model, s screenful, p *plan) screenful {
	status := statusRows(m, m.w)
	if d := m.dialogs.foot(); d != nil {
		if f := d.Draw(m.canvas()); len(f.Lines) == 1 {
			status = f.Lines
			s.x, s.y = f.X, len(s.lines)
		}
	}
	footer := footer(m, m.w)
	if p.statusRow {
		s.lines = append(append(s.lines, status...), footer)
		return s
	}
	if m.typing() || m.departure.waits() || m.status.failed || m.status.pending ||
		m.status.text != "" && m.now.Sub(m.status.since) < fade/4 {
		s.lines = append(s.lines, status...)
		return s
	}
	s.lines = append(s.lines, footer)
	return s
}

// stays reports whether the end of a footer of w columns always shows an action. In a narrow footer, verbs have
// priority over actions that are easy to find.
func stays(m *model, a *action, w int) bool {
	switch a.ID {
	case "view.palette", "view.attention":
		return w >= 120
	case "focus.mail":
		return w >= 100
	case "view.filter":
		return w >= 90 || w >= 60 && !severalCities(m)
	case "quit", "city.switch":
		return w >= 50
	}
	return true
}

// severalCities reports whether there is another city to go to.
func severalCities(m *model) bool {
	return m.directory && m.fleet != nil && len(listed(m)) > 1
}

// urgency returns the order of verbs in the footer, smaller first.
func urgency(m *model, a *action) int {
	order := []string{"agent.zoom", "agent.attach.zoomed", "agent.attach", releaseID,
		"agent.restart", drainID, suspendID, "agent.send"}
	switch at := slices.Index(order, a.ID); {
	case a.ID == backID:
		return -2
	case a.ID == releaseID && undoable(m):
		return -1
	case at >= 0:
		return at
	}
	return len(order)
}

// footActions returns the actions of the footer: verbs in order of urgency, and the actions at its end.
func footActions(m *model) (keys, tail []*action) {
	last := []string{"focus.mail", "view.filter", "view.attention", "view.palette", "city.switch",
		"view.help", "quit"}
	lost := lost(m)
	for i := range m.keys.Actions {
		a := &m.keys.Actions[i]
		switch {
		case a.Short == "" || len(a.Key.Keys()) == 0 || !keyWorks(m, a) || elsewhere(m, a) ||
			a.Refused(m) != "" || lost && changes(m, a):
		case a.ID == backID && !m.zoomed, a.ID == releaseID && undrainsOnly(m):
		case a.ID == "focus.mail" && unread(m) == 0 || a.ID == "city.switch" && !severalCities(m):
		case slices.Contains(last, a.ID):
			tail = append(tail, a)
		default:
			keys = append(keys, a)
		}
	}
	slices.SortStableFunc(keys, func(a, b *action) int { return urgency(m, a) - urgency(m, b) })
	if m.zone() != keymap.InLists { // Put the actions of only this panel first.
		slices.SortStableFunc(keys, func(a, b *action) int {
			return rankHere(m, a) - rankHere(m, b)
		})
	}
	return keys, tail
}

// footer lists the keys that work with the current focus, as many as fit. Keys that satisfy stays always remain.
func footer(m *model, w int) string {
	if m.fleetRoom {
		return fleetFooter(m, w)
	}
	l := widget.Line{Styles: &m.look}
	l.Space(1)
	keys, tail := footActions(m)
	if m.typing() || m.dialogs.covers() {
		return l.Fill(w)
	}
	room := w + 2 // no blanks follow the last key
	for _, a := range tail {
		if stays(m, a, w) {
			room -= footWidth(m, a)
		}
	}
	named, shown := false, map[string]bool{}
	for _, a := range keys {
		if shown[footText(m, a)] { // another key with the same effect is already shown
			continue
		}
		whose := ""
		if !named {
			whose = footWhose(m, a)
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
		if stays(m, a, w) || footWidth(m, a) <= room {
			if !stays(m, a, w) {
				room -= footWidth(m, a)
			}
			footKey(m, &l, a)
		}
	}
	return widget.Crop(l.Fill(w), w)
}

// footWhose names the agent that a verb acts on in Events and Watchdogs. That agent may differ from the selected agent.
func footWhose(m *model, a *action) string {
	if m.focused().About().Proxy == "" || !strings.HasPrefix(a.ID, "agent.") ||
		a.ID == "agent.details" ||
		a.ID == releaseID && (undoable(m) || answerable(m) != nil) {
		return ""
	}
	if r := singleAgent(m); r != nil {
		return widget.Cut(r.Shown, 24, m.look.Glyphs.More) + ": "
	}
	return ""
}

// changes reports whether an action would change the city. Such actions are refused in a read-only room.
func changes(m *model, a *action) bool {
	looking := *m
	looking.mode = ReadOnly
	return a.Refused(&looking) == needWritable(&looking)
}

// undrainsOnly reports whether the release verb would only cancel drains. The footer then names the drain key instead.
func undrainsOnly(m *model) bool {
	return !undoable(m) && answerable(m) == nil && !slices.ContainsFunc(releasable(m),
		func(r *panel.AgentRow) bool { return !r.Undrainable() })
}

// footText returns the name of an action in the footer, which depends on its current effect.
func footText(m *model, a *action) string {
	switch {
	case a.ID == releaseID && answerable(m) != nil:
		return "ack"
	case a.ID == releaseID && undoable(m) && m.undo.drains():
		return "drain again"
	case a.ID == releaseID && undoable(m):
		return strings.TrimSpace("undo " + widget.Cut(widget.Plain(m.undo.what), 24,
			m.look.Glyphs.More))
	case a.ID == suspendID && suspended(m):
		return "resume"
	case a.ID == drainID:
		if drain, undrain := drainTargets(m); len(drain) == 0 && len(undrain) > 0 {
			return "undrain"
		}
	case a.ID == "agent.attach.zoomed" && !m.zoomed:
		return "zoom"
	case a.ID == "agent.zoom" && m.focus == panel.IDQuarantine:
		return "crashes"
	case a.ID == "fleet.suspend" && chosenCity(m) != nil && chosenCity(m).Brief.Suspended:
		return "resume"
	case a.ID == "mail.others" && m.Mail.Others:
		return "for people"
	case a.ID == "mail.unread" && undoable(m):
		return "undo"
	case a.ID == "rig.toggle" && m.Rigs.Suspended():
		return "resume"
	case a.ID == "view.attention" && m.attention:
		return "all"
	}
	return a.Short
}

// suspended reports whether all targets of the suspend verb are suspended.
func suspended(m *model) bool {
	all := flagTargets(m)
	on, _ := details.ByFlag(all)
	return len(all) > 0 && len(on) == 0
}

func footWidth(m *model, a *action) int {
	return widget.Width(a.Key.Keys()[0]) + 1 + widget.Width(footText(m, a)) + 2
}

func footKey(m *model, l *widget.Line, a *action) {
	l.Add(themes.Key, a.Key.Keys()[0])
	l.Add(themes.Dim, " "+footText(m, a)+"  ")
}
