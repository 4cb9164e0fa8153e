package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"gcity/themes"
)

// screenful is a drawn screen: exactly h lines of exactly w columns, and where the cursor is (-1: hidden).
type screenful struct {
	lines []string
	x, y  int
}

// draw is the whole screen as it follows from the state.
func (m *model) draw() screenful {
	p := m.plan()
	s := screenful{x: -1, y: -1}
	if m.w <= 0 || m.h <= 0 {
		return s
	}
	if p.tier == tiny {
		s = m.tiny(s)
	} else if m.lobby {
		s = m.fleetScreen(s)
	} else {
		s.lines = append(make([]string, 0, m.h), m.header(m.w))
		s.lines = append(s.lines, m.problemLines(m.w, p.problems)...)
		s.lines = append(s.lines, m.asHeard(&p)...)
		s = m.foot(s, &p)
		s.lines = fillRows(s.lines, m.w, m.h)
		if m.composer != nil && m.composer.many() {
			s = m.composed(s)
		}
	}
	s = m.sheet(s)
	if m.ascii {
		for i, l := range s.lines {
			s.lines[i] = typewritten(l)
		}
	}
	return s
}

// asHeard is the body as it was when the city was heard last: no age goes on of what nobody knows any more.
func (m *model) asHeard(p *plan) []string {
	if m.gone != "" {
		defer func(now time.Time) { m.now = now }(m.now)
		m.now = m.lone
	}
	return m.body(p)
}

// tiny is a screen with room for a line: what is typed, else how the city is.
func (m *model) tiny(s screenful) screenful {
	first := m.summary(m.w)
	switch {
	case m.lobby && !m.typing():
		first = m.fleetSummary(m.w)
	case m.prompt != nil:
		first, s.x = m.promptLine(m.w)
	case m.composer != nil:
		first, s.x = m.composerLine(m.w)
	}
	if m.typing() {
		s.x, s.y = min(s.x, m.w-1), 0
	}
	lines := []string{crop(first, m.w)}
	if m.h > 1 && !m.typing() {
		needs := fmt.Sprintf("needs %dx%d", leastWidth, leastHeight)
		if is := fmt.Sprintf(", this is %dx%d", m.w, m.h); width(needs+is) <= m.w {
			needs += is
		}
		lines = append(lines, crop(m.look.paint(themes.Dim, cut(needs, m.w, m.look.glyph.More)), m.w))
	}
	s.lines = fillRows(lines, m.w, m.h)
	return s
}

// body joins the stacks, with a bar between them whose signs meet the rules on both sides.
func (m *model) body(p *plan) []string {
	leftLines, leftRules := m.stack(p.left, p.leftWidth)
	lines := leftLines
	if len(p.right) > 0 {
		rightLines, rightRules := m.stack(p.right, m.w-p.leftWidth-1)
		lines = make([]string, len(leftLines))
		for i := range leftLines {
			joins := m.look.glyph.Join
			if i == 0 {
				joins = m.look.glyph.Top
			}
			bar := m.look.paint(themes.Rule, joins[leftRules[i]][rightRules[i]])
			lines[i] = leftLines[i] + bar + rightLines[i]
		}
	}
	if len(p.across) > 0 {
		below, rules := m.stack(p.across, m.w)
		below = append([]string{m.footed(below[0], p.leftWidth, rules[0])}, below[1:]...)
		lines = append(lines, below...)
	}
	if p.closing {
		lines = append(lines, m.look.paint(themes.Rule, m.closingRule(p)))
	}
	return lines
}

func (m *model) closingRule(p *plan) string {
	thin := m.look.glyph.Thin
	if len(p.right) == 0 || len(p.across) > 0 {
		return strings.Repeat(thin, m.w)
	}
	return strings.Repeat(thin, p.leftWidth) + m.look.glyph.Foot[1] + strings.Repeat(thin, m.w-p.leftWidth-1)
}

// footed is a rule that a bar above it meets at column x, unless a title is there.
func (m *model) footed(rule string, x, kind int) string {
	if sign := ansi.Strip(ansi.Cut(rule, x, x+1)); sign != m.look.glyph.Thin && sign != m.look.glyph.Heavy {
		return rule
	}
	foot := m.look.paint(themes.Rule, m.look.glyph.Foot[kind])
	return ansi.Cut(rule, 0, x) + reset + foot + ansi.Cut(rule, x+1, m.w) + reset
}

// stack draws panels below each other; rules says for each row whether it is a rule: 0 no, 1 thin, 2 heavy.
func (m *model) stack(places []place, w int) (lines []string, rules []int) {
	for _, at := range places {
		focus := at.panel == m.focus && m.choice == nil && m.reader == nil && m.finder == nil && (!m.listed() || m.typing())
		rule := 1
		if focus {
			rule = 2
		}
		rules = append(rules, rule)
		for range at.h - 1 {
			rules = append(rules, 0)
		}
		lines = append(lines, m.panel(at, w, focus)...)
	}
	return lines, rules
}

func (m *model) panel(at place, w int, focus bool) []string {
	if at.h <= 0 {
		return nil
	}
	tabs := m.tabsFor(at, w)
	switch at.panel {
	case panelAgents:
		return m.agentsPanel(w, at.h, focus, tabs)
	case panelPools:
		return m.poolsPanel(w, at.h, focus, tabs)
	case panelQuarantine:
		return m.quarantinePanel(w, at.h, focus, tabs)
	case panelAutomations:
		return m.automationsPanel(w, at.h, focus, tabs)
	case panelEvents:
		return m.eventsPanel(w, at.h, focus, tabs)
	case panelWatchdogs:
		return m.watchdogsPanel(w, at.h, focus, tabs)
	case panelPeek:
		return m.peekPanel(w, at.h, focus, tabs)
	}
	return m.detailStrip(w, at.h)
}

// tabsFor are the titles in the rule of a panel of w columns.
func (m *model) tabsFor(at place, w int) []tab {
	held, ills := len(m.quarantine.list.shown)-len(m.quarantine.list.strays), m.pools.ills(m.now)
	troubles, alert := m.automations.ills()
	calls, called := m.watchdogs.ills()
	all := []tab{
		{key: m.keys.keyOf("focus.agents"), name: "Agents", extra: strconv.Itoa(len(m.agents.rows))},
		{key: m.keys.keyOf("focus.pools"), name: "Pools", extra: strconv.Itoa(len(m.pools.rows)), alert: ills != ""},
		{key: m.keys.keyOf("focus.quarantine"), name: "Quarantine", extra: strconv.Itoa(held), alert: held > 0},
		{key: m.keys.keyOf("focus.automations"), name: "Automations", extra: strconv.Itoa(len(m.automations.rows)), alert: alert},
		{key: m.keys.keyOf("focus.events"), name: "Events"},
		{key: m.keys.keyOf("focus.watchdogs"), name: "Watchdogs", extra: strconv.Itoa(len(m.watchdogs.rows)), note: calls, alert: called},
		m.peekTab(),
	}
	if m.snap == nil { // that there is none would be said of what nobody knows
		for p := range all {
			all[p].extra = ""
		}
	}
	all[panelPools].note, all[panelAutomations].note = ills, troubles
	for p, marks := range map[panel]map[string]bool{panelAgents: m.agents.marks, panelPools: m.pools.marks, panelAutomations: m.automations.marks} {
		if len(marks) > 0 {
			all[p].note = number(len(marks)) + " marked"
		}
	}
	if m.events.frozen && m.events.fresh > 0 {
		all[panelEvents].extra = "+" + number(m.events.fresh)
	}
	for i := range all {
		all[i].id = i
	}
	own := &all[min(at.panel, panelPeek)]
	own.active = true
	own.hidden = m.hiddenIn(at, w)
	if at.tabs && m.w < m.roomy() {
		m.searching(own, at.panel)
	}
	switch {
	case !at.tabs:
		return []tab{*own}
	case tierOf(m.w, m.h) == single:
		all[panelPeek].name, all[panelPeek].extra = "Peek", ""
	default:
		all = all[:panelPeek]
	}
	if !m.guards() {
		all = slices.Delete(all, int(panelWatchdogs), int(panelWatchdogs)+1)
	}
	return m.shortTabs(all, m.w)
}

// roomy is the width from which on a rule has room at its end for what is searched for; below it stands in the title.
func (m *model) roomy() int {
	if m.guards() { // one title more
		return 144
	}
	return 120
}

// searching puts into the title of a list what it is searched for, and how much was found.
func (m *model) searching(t *tab, p panel) {
	text, found := "", ""
	switch p {
	case panelAgents:
		text, found = m.search(&m.agents.filter), m.agents.list.found()
	case panelPools:
		text, found = m.search(&m.pools.filter), m.pools.list.found()
	case panelAutomations:
		text, found = m.search(&m.automations.filter), m.automations.list.found()
	case panelWatchdogs:
		text, found = m.search(&m.watchdogs.filter), m.watchdogs.list.found()
	case panelEvents:
		if text = m.eventSearch(); text != "" {
			found = fmt.Sprintf("%d of %d", len(m.events.shown), len(m.events.rows))
		}
	}
	if text != "" {
		t.search, t.extra, t.alert = text, found, false
	}
}

// shortTabs are the titles where panels share one place, brought into w columns: notes go first, then, from the right, the
// names of panels that are not seen, for which their keys stand alone; then what is searched for is cut, and at last the
// keys go. What is said of hidden rows takes the place of a name, but of nothing else.
func (m *model) shortTabs(all []tab, w int) []tab {
	all = slices.Clone(all)
	over := func() int { return tabsWidth(all) - w }
	for i := len(all) - 1; i >= 0 && tabsWidth(bare(all)) > w; i-- {
		all[i].note = ""
	}
	if over() > 0 && slices.ContainsFunc(all, func(t tab) bool { return t.note != "" }) {
		all = bare(all)
	}
	for i := len(all) - 1; i >= 0 && over() > 0; i-- {
		if !all[i].active {
			all[i].name = ""
		}
	}
	if over() > 0 {
		all = bare(all)
	}
	const beginning = 6 // of what is searched for
	for i := range all {
		if text := all[i].search; text != "" && over() > 0 {
			all[i].search = cut(text, max(beginning, width(text)-over()), m.look.glyph.More)
		}
	}
	for i := len(all) - 1; i >= 0 && over() > 0 && titled(all); i-- {
		if !all[i].active {
			all = slices.Delete(all, i, i+1)
		}
	}
	return all
}
