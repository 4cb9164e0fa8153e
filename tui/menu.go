package tui

import (
	"gcity/tui/widget"
	"slices"
	"strings"
)

// menuActions open lists of what can be done with what is selected.
func menuActions() []action {
	return []action{
		{id: "menu.verbs", key: bind("show all verbs for what is selected, and why not", "x"), in: []zone{everywhere}, run: (*model).showVerbs},
		{id: "menu.yank", key: bind("copy from what is selected: name, folder, command, session and more", "y"), in: []zone{everywhere},
			why: needCopies, run: (*model).showCopies},
		{id: "work.verbs", key: bind("show all verbs for it", "x"), in: []zone{inWork}, why: needBead, run: (*model).showVerbs},
		{id: "work.yank", key: bind("copy from it", "y"), in: []zone{inWork}, why: needBead, run: (*model).showCopies},
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
	f := &finder{title: "Verbs for " + title, none: "No verb is called that.", reasons: true}
	nouns := m.nouns()
	for i := range m.keys.actions {
		a := &m.keys.actions[i]
		noun, _, _ := strings.Cut(a.id, ".")
		here := (m.heard(a) || m.matter() == ofAutomations && slices.Contains(a.in, inAutomations)) && !m.elsewhere(a)
		switch m.matter() {
		case ofMail:
			here = slices.Contains(a.in, inMail) && a.id != "mail.verbs"
		case ofWork:
			here = slices.Contains(a.in, inWork) && a.id != "work.verbs"
		}
		verb := slices.Contains(nouns, noun) || a.id == "menu.yank" || m.focus == panelEvents && a.id == "view.event" ||
			m.matter() == ofPools && alsoOfPools(a.id) || a.id == "config.edit" && (m.matter() == ofAgents || m.matter() == ofPools)
		if !here || !verb || m.unseen(a) || movesAbout(a) {
			continue
		}
		t := actionItem(a)
		t.tail = a.risk.String()
		f.all = append(f.all, t)
	}
	m.open(f)
	return nil
}

// movesAbout reports whether an action only moves about in a list, or marks in it.
func movesAbout(a *action) bool {
	last := a.id[strings.LastIndexByte(a.id, '.')+1:]
	return strings.HasPrefix(a.id, "agent.mark") || slices.Contains([]string{"down", "up", "first", "last", "close", "refresh"}, last)
}
