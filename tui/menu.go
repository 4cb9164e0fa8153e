package tui

import (
	"slices"
	"strings"

	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// menuActions open lists of what can be done with what is selected.
func menuActions() []action {
	return []action{
		{ID: "menu.verbs", Key: keymap.Bind("show all verbs for what is selected, and why not",
			"x"), In: []keymap.Zone{keymap.Everywhere}, Run: (*model).showVerbs},
		{ID: "menu.yank",
			Key: keymap.Bind("copy from what is selected: name, folder, command, session and more",
				"y"), In: []keymap.Zone{keymap.Everywhere},
			Why: needCopies, Run: (*model).showCopies},
		{ID: "work.verbs", Key: keymap.Bind("show all verbs for it", "x"),
			In: []keymap.Zone{keymap.InWork}, Why: needBead, Run: (*model).showVerbs},
		{ID: "work.yank", Key: keymap.Bind("copy from it", "y"), In: []keymap.Zone{keymap.InWork},
			Why: needBead, Run: (*model).showCopies},
	}
}

// nouns are the actions' first words that are about what is selected.
func (m *model) nouns() []string {
	switch m.matter() {
	case ofMail:
		return []string{"mail"}
	case ofWork:
		return []string{"work"}
	case ofPools:
		return []string{"pool", "rig"}
	case ofAutomations:
		return []string{"automation", "rig"}
	case ofWatchdogs:
		return []string{"watchdog", "agent"}
	case ofEvents:
		if m.eventAgent() != nil {
			return []string{"event", "agent", "rig"}
		}
		return []string{"event"}
	}
	return []string{"agent", "rig"}
}

// subjectTitle names what is selected: "worker-2", "3 agents", "pool worker".
func (m *model) subjectTitle() string {
	switch m.matter() {
	case ofMail:
		if l := m.inbox.under(); l != nil {
			return widget.Plain(l.ID)
		}
	case ofWork:
		if b := m.work.under(); b != nil {
			return widget.Plain(b.ID)
		}
	case ofPools:
		if rows := m.poolTargets(); len(rows) == 1 {
			return "pool " + rows[0].shown
		} else if len(rows) > 1 {
			return widget.Count(len(rows), "pool")
		}
	case ofAutomations:
		if rows := m.automationTargets(); len(rows) == 1 {
			return rows[0].shown
		} else if len(rows) > 1 {
			return widget.Count(len(rows), "automation")
		}
	case ofWatchdogs:
		if r := m.watchdogs.Current(); r != nil {
			return r.shown
		}
	case ofEvents:
		if r := m.events.selected(); r != nil {
			return r.kind
		}
	default:
		if rows := m.targets(); len(rows) > 0 {
			return whom(rows)
		}
	}
	return m.cityName()
}

// showVerbs lists all that can be done with what is selected.
func (m *model) showVerbs() []effect {
	title := m.subjectTitle()
	if r := m.eventAgent(); m.matter() == ofEvents && r != nil {
		title += " and " + r.shown
	}
	if r := m.guarded(); m.matter() == ofWatchdogs && r != nil {
		title += " and " + r.shown
	}
	f := &finder{Title: "Verbs for " + title, None: "No verb is called that.", Reasons: true}
	nouns := m.nouns()
	for i := range m.keys.Actions {
		a := &m.keys.Actions[i]
		noun, _, _ := strings.Cut(a.ID, ".")
		here := (m.heard(a) || m.matter() == ofAutomations &&
			slices.Contains(a.In, keymap.InAutomations)) && !m.elsewhere(a)
		switch m.matter() {
		case ofMail:
			here = slices.Contains(a.In, keymap.InMail) && a.ID != "mail.verbs"
		case ofWork:
			here = slices.Contains(a.In, keymap.InWork) && a.ID != "work.verbs"
		}
		verb := slices.Contains(nouns, noun) || a.ID == "menu.yank" || m.focus == panelEvents && a.ID == "view.event" ||
			m.matter() == ofPools && alsoOfPools(a.ID) || a.ID == "config.edit" && (m.matter() == ofAgents || m.matter() == ofPools)
		if !here || !verb || m.unseen(a) || movesAbout(a) {
			continue
		}
		t := actionItem(m, a)
		t.Tail = a.Risk.String()
		f.All = append(f.All, t)
	}
	m.open(f)
	return nil
}

// movesAbout reports whether an action only moves about in a list, or marks in it.
func movesAbout(a *action) bool {
	last := a.ID[strings.LastIndexByte(a.ID, '.')+1:]
	return strings.HasPrefix(a.ID, "agent.mark") || slices.Contains([]string{"down", "up", "first", "last", "close", "refresh"}, last)
}
