package tui

import (
	"fmt"
	"strings"
	"time"

	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// screenful is a drawn screen: exactly h lines of exactly w columns, and the position of the cursor (-1: hidden).
type screenful struct {
	lines []string
	x, y  int
}

func draw(m *model) screenful {
	p := m.plan()
	s := screenful{x: -1, y: -1}
	if m.w <= 0 || m.h <= 0 {
		return s
	}
	if p.tier == tiny {
		s = drawTiny(m, s)
	} else if m.fleetRoom {
		s = fleetScreen(m, s)
	} else {
		s.lines = append(make([]string, 0, m.h), header(m, m.w))
		s.lines = append(s.lines, alertLines(m, p.problems)...)
		s.lines = append(s.lines, asHeard(m, &p)...)
		s.lines = append(s.lines, m.hint()...)
		s = foot(m, s, &p)
		s.lines = widget.FillRows(s.lines, m.w, m.h)
		if c := m.dialogs.composer(); c != nil && c.Many() {
			f := c.Draw(m.canvas())
			top := max(0, len(s.lines)-len(f.Lines))
			copy(s.lines[top:], f.Lines)
			s.x, s.y = f.X, min(top+f.Y, len(s.lines)-1)
		}
	}
	s = drawSheet(m, s)
	if m.ASCII {
		for i, l := range s.lines {
			s.lines[i] = widget.ToASCII(l)
		}
	}
	return s
}

// asHeard draws the body as of the city's last answer: ages do not grow while the state is unknown.
func asHeard(m *model, p *plan) []string {
	if m.gone != "" {
		defer func(now time.Time) { m.now = now }(m.now)
		m.now = m.lone
	}
	return drawBody(m, p)
}

// drawTiny draws a screen that is too small for a list: the typed line, or otherwise the state of the city.
func drawTiny(m *model, s screenful) screenful {
	first := summary(m, m.w)
	switch {
	case m.fleetRoom && !m.typing():
		first = fleetSummary(m, m.w)
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

// drawBody joins the stacks, with a bar between them that joins the rules on both sides.
func drawBody(m *model, p *plan) []string {
	leftLines, leftRules := drawStack(m, p.left, p.leftWidth)
	lines := leftLines
	if len(p.right) > 0 {
		rightLines, rightRules := drawStack(m, p.right, m.w-p.leftWidth-1)
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
	if len(p.above) > 0 {
		above, _ := drawStack(m, p.above, m.w)
		lines = append(above, lines...)
	}
	if len(p.across) > 0 {
		below, rules := drawStack(m, p.across, m.w)
		below = append([]string{m.look.Footed(below[0], p.leftWidth, rules[0], m.w)}, below[1:]...)
		lines = append(lines, below...)
	}
	if p.closing {
		lines = append(lines, m.look.Paint(themes.Rule, closingRule(m, p)))
	}
	return lines
}

func closingRule(m *model, p *plan) string {
	thin := m.look.Glyphs.Thin
	if len(p.right) == 0 || len(p.across) > 0 {
		return strings.Repeat(thin, m.w)
	}
	return strings.Repeat(thin, p.leftWidth) + m.look.Glyphs.Foot[1] +
		strings.Repeat(thin, m.w-p.leftWidth-1)
}

// drawStack draws panels below each other. rules has the kind of each row: 0 not a rule, 1 a thin rule, 2 a heavy rule.
func drawStack(m *model, places []place, w int) (lines []string, rules []int) {
	for _, at := range places {
		focus := at.panel == m.focus && !m.dialogs.covers()
		rule := 1
		if focus {
			rule = 2
		}
		rules = append(rules, rule)
		for range at.h - 1 {
			rules = append(rules, 0)
		}
		lines = append(lines, drawPanel(m, at, w, focus)...)
	}
	return lines, rules
}

func drawPanel(m *model, at place, w int, focus bool) []string {
	if at.h <= 0 {
		return nil
	}
	switch at.panel {
	case panel.IDDetail:
		return detailStrip(m, w, at.h)
	case panel.IDPeek:
		return peekPanel(m, w, at.h, focus, tabsFor(m, at, w))
	}
	return m.panelOf(at.panel).Draw(m.env(), panel.Box{W: w, H: at.h, Focus: focus,
		Tabs: tabsFor(m, at, w)})
}

// detailStrip shows a few lines about the object that verbs act on, or otherwise about the selected agent.
func detailStrip(m *model, w, h int) []string {
	e := m.env()
	lines := m.worked().Strip(e, w)
	if lines == nil {
		if r := selected(m); r != nil {
			lines = m.Agents.StripOf(e, r, w)
		}
	}
	return m.look.FillDetails(lines, w, h)
}

// tabsFor returns the titles in the rule of a panel of w columns.
func tabsFor(m *model, at place, w int) []widget.Tab {
	e := m.env()
	own := tabFor(m, e, at, w)
	switch {
	case at.slot:
		return slotTabs(m, e, own, w)
	case !at.tabs:
		return []widget.Tab{own}
	}
	var all []widget.Tab
	for _, p := range m.Panels {
		switch {
		case p.About().ID == at.panel:
			all = append(all, own)
		default: // also for hidden panels, so that every key has its place
			t := p.Title(e)
			if !m.present(p) {
				t.Name = ""
			}
			all = append(all, t)
		}
	}
	if tierOf(m.w, m.h) == single {
		pane := peekTab(m)
		if at.panel == panel.IDPeek {
			pane = own
		}
		pane.ID, pane.Name, pane.Extra = string(panel.IDPeek), "Peek", ""
		all = append(all, pane)
	}
	return widget.ShortTabs(all, tabsRoom(m, at.panel, m.w), m.look.Glyphs.More)
}

// tabFor returns the title of the panel at a place.
func tabFor(m *model, e *panel.Env, at place, w int) widget.Tab {
	var own widget.Tab
	if at.panel == panel.IDPeek {
		own = peekTab(m)
		own.ID = string(panel.IDPeek)
		if m.snap == nil {
			own.Extra = ""
		}
	} else {
		p := m.panelOf(at.panel)
		own = p.Title(e)
		own.Hidden = m.look.Hidden(p.Hidden(e, w, at.h))
		if text, found := p.Search(e); text != "" && at.tabs && m.w < roomy(m) {
			own.Search, own.Extra, own.Alert = text, found, false
		}
	}
	own.Active = true
	return own
}

// roomy returns the smallest width at which a rule shows the search at its end. On narrower screens the title shows
// the search.
func roomy(m *model) int {
	w := 120
	for _, p := range m.Panels {
		if a := p.About(); (a.Optional || a.Slot) && m.present(p) { // the panel adds a title
			w += 24
		}
	}
	return w
}
