package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"gcity/themes"
	"gcity/tui/widget"
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
		s.lines = widget.FillRows(s.lines, m.w, m.h)
		if c := m.dialogs.composer(); c != nil && c.Many() {
			f := c.Draw(m.canvas())
			top := max(0, len(s.lines)-len(f.Lines))
			copy(s.lines[top:], f.Lines)
			s.x, s.y = f.X, min(top+f.Y, len(s.lines)-1)
		}
	}
	s = m.sheet(s)
	if m.ascii {
		for i, l := range s.lines {
			s.lines[i] = widget.ToASCII(l)
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
	case m.typing():
		c := m.canvas()
		c.Line = true
		f := m.dialogs.foot().Draw(c)
		first, s.x = f.Lines[0], f.X
	}
	if m.typing() {
		s.x, s.y = min(s.x, m.w-1), 0
	}
	lines := []string{widget.Crop(first, m.w)}
	if m.h > 1 && !m.typing() {
		needs := fmt.Sprintf("needs %dx%d", leastWidth, leastHeight)
		if is := fmt.Sprintf(", this is %dx%d", m.w, m.h); widget.Width(needs+is) <= m.w {
			needs += is
		}
		lines = append(lines,
			widget.Crop(m.look.Paint(themes.Dim, widget.Cut(needs, m.w, m.look.Glyphs.More)), m.w))
	}
	s.lines = widget.FillRows(lines, m.w, m.h)
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
			joins := m.look.Glyphs.Join
			if i == 0 {
				joins = m.look.Glyphs.Top
			}
			bar := m.look.Paint(themes.Rule, joins[leftRules[i]][rightRules[i]])
			lines[i] = leftLines[i] + bar + rightLines[i]
		}
	}
	if len(p.across) > 0 {
		below, rules := m.stack(p.across, m.w)
		below = append([]string{m.footed(below[0], p.leftWidth, rules[0])}, below[1:]...)
		lines = append(lines, below...)
	}
	if p.closing {
		lines = append(lines, m.look.Paint(themes.Rule, m.closingRule(p)))
	}
	return lines
}

func (m *model) closingRule(p *plan) string {
	thin := m.look.Glyphs.Thin
	if len(p.right) == 0 || len(p.across) > 0 {
		return strings.Repeat(thin, m.w)
	}
	return strings.Repeat(thin, p.leftWidth) + m.look.Glyphs.Foot[1] + strings.Repeat(thin, m.w-p.leftWidth-1)
}

// footed is a rule that a bar above it meets at column x, unless a title is there.
func (m *model) footed(rule string, x, kind int) string {
	if sign := ansi.Strip(ansi.Cut(rule, x, x+1)); sign != m.look.Glyphs.Thin && sign != m.look.Glyphs.Heavy {
		return rule
	}
	foot := m.look.Paint(themes.Rule, m.look.Glyphs.Foot[kind])
	return ansi.Cut(rule, 0, x) + widget.Reset + foot + ansi.Cut(rule, x+1, m.w) + widget.Reset
}

// stack draws panels below each other; rules says for each row whether it is a rule: 0 no, 1 thin, 2 heavy.
func (m *model) stack(places []place, w int) (lines []string, rules []int) {
	for _, at := range places {
		focus := at.panel == m.focus && !m.dialogs.covers() &&
			(!m.listed() || m.typing())
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
func (m *model) tabsFor(at place, w int) []widget.Tab {
	held, ills := len(m.quarantine.List.Shown)-len(m.quarantine.List.Strays), m.pools.ills(m.now)
	troubles, alert := m.automations.ills()
	calls, called := m.watchdogs.ills()
	all := []widget.Tab{
		{Key: m.keys.KeyOf("focus.agents"), Name: "Agents", Extra: strconv.Itoa(len(m.agents.Rows))},
		{Key: m.keys.KeyOf("focus.pools"), Name: "Pools", Extra: strconv.Itoa(len(m.pools.Rows)), Alert: ills != ""},
		{Key: m.keys.KeyOf("focus.quarantine"), Name: "Quarantine", Extra: strconv.Itoa(held), Alert: held > 0},
		{Key: m.keys.KeyOf("focus.automations"), Name: "Automations", Extra: strconv.Itoa(len(m.automations.Rows)), Alert: alert},
		{Key: m.keys.KeyOf("focus.events"), Name: "Events"},
		{Key: m.keys.KeyOf("focus.watchdogs"), Name: "Watchdogs", Extra: strconv.Itoa(len(m.watchdogs.Rows)), Note: calls, Alert: called},
		m.peekTab(),
	}
	if m.snap == nil { // that there is none would be said of what nobody knows
		for p := range all {
			all[p].Extra = ""
		}
	}
	all[panelPools].Note, all[panelAutomations].Note = ills, troubles
	for p, marks := range map[panel]map[string]bool{panelAgents: m.agents.Marks, panelPools: m.pools.Marks, panelAutomations: m.automations.Marks} {
		if len(marks) > 0 {
			all[p].Note = widget.Number(len(marks)) + " marked"
		}
	}
	if m.events.frozen && m.events.fresh > 0 {
		all[panelEvents].Extra = "+" + widget.Number(m.events.fresh)
	}
	for i := range all {
		all[i].ID = i
	}
	own := &all[min(at.panel, panelPeek)]
	own.Active = true
	own.Hidden = m.hiddenIn(at, w)
	if at.tabs && m.w < m.roomy() {
		m.searching(own, at.panel)
	}
	switch {
	case !at.tabs:
		return []widget.Tab{*own}
	case tierOf(m.w, m.h) == single:
		all[panelPeek].Name, all[panelPeek].Extra = "Peek", ""
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
func (m *model) searching(t *widget.Tab, p panel) {
	text, found := "", ""
	switch p {
	case panelAgents:
		text, found = m.search(&m.agents.Filter), m.agents.List.Found()
	case panelPools:
		text, found = m.search(&m.pools.Filter), m.pools.List.Found()
	case panelAutomations:
		text, found = m.search(&m.automations.Filter), m.automations.List.Found()
	case panelWatchdogs:
		text, found = m.search(&m.watchdogs.Filter), m.watchdogs.List.Found()
	case panelEvents:
		if text = m.eventSearch(); text != "" {
			found = fmt.Sprintf("%d of %d", len(m.events.shown), len(m.events.rows))
		}
	}
	if text != "" {
		t.Search, t.Extra, t.Alert = text, found, false
	}
}

// shortTabs are the titles where panels share one place, brought into w columns: notes go first, then, from the right, the
// names of panels that are not seen, for which their keys stand alone; then what is searched for is cut, and at last the
// keys go. What is said of hidden rows takes the place of a name, but of nothing else.
func (m *model) shortTabs(all []widget.Tab, w int) []widget.Tab {
	all = slices.Clone(all)
	over := func() int { return widget.TabsWidth(all) - w }
	for i := len(all) - 1; i >= 0 && widget.TabsWidth(widget.WithoutHidden(all)) > w; i-- {
		all[i].Note = ""
	}
	if over() > 0 && slices.ContainsFunc(all, func(t widget.Tab) bool { return t.Note != "" }) {
		all = widget.WithoutHidden(all)
	}
	for i := len(all) - 1; i >= 0 && over() > 0; i-- {
		if !all[i].Active {
			all[i].Name = ""
		}
	}
	if over() > 0 {
		all = widget.WithoutHidden(all)
	}
	const beginning = 6 // of what is searched for
	for i := range all {
		if text := all[i].Search; text != "" && over() > 0 {
			all[i].Search = widget.Cut(text, max(beginning, widget.Width(text)-over()),
				m.look.Glyphs.More)
		}
	}
	for i := len(all) - 1; i >= 0 && over() > 0 && widget.Searched(all); i-- {
		if !all[i].Active {
			all = slices.Delete(all, i, i+1)
		}
	}
	return all
}
