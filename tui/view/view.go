// Package view draws the control room from its state: header, panels, dialogs, footer, and the all-cities room. It
// changes only cached lines and list offsets.
package view

import (
	"fmt"
	"strings"
	"time"

	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// Screen is a drawn screen: exactly h lines of exactly w columns, and the position of the cursor (-1 = hidden).
type Screen struct {
	Lines []string
	X, Y  int
}

// Draw draws the whole screen: the panels of a city or the list of all cities, and the open dialogs.
func Draw(m *state.Room) Screen {
	defer func(now time.Time) { m.Now = now }(m.Now)
	m.Now = m.FrameTime()
	p := m.Plan()
	s := Screen{X: -1, Y: -1}
	if m.W <= 0 || m.H <= 0 {
		return s
	}
	if p.Tier == state.Tiny {
		s = drawTiny(m, s)
	} else if m.FleetRoom {
		s = fleetScreen(m, s)
	} else {
		s.Lines = append(make([]string, 0, m.H), header(m, m.W))
		s.Lines = append(s.Lines, state.AlertLines(m, p.Problems)...)
		s.Lines = append(s.Lines, drawAsOfLastResponse(m, &p)...)
		s.Lines = append(s.Lines, m.Hint()...)
		s = addFooter(m, s)
		s.Lines = widget.FillRows(s.Lines, m.W, m.H)
		if c := m.Dialogs.Composer(); c != nil && c.IsMultiline() {
			f := c.Draw(m.Canvas())
			top := max(0, len(s.Lines)-len(f.Lines))
			copy(s.Lines[top:], f.Lines)
			s.X, s.Y = f.X, min(top+f.Y, len(s.Lines)-1)
		}
	}
	s = drawOverlay(m, s)
	if m.ASCII {
		for i, l := range s.Lines {
			s.Lines[i] = widget.ToASCII(l)
		}
	}
	return s
}

// drawAsOfLastResponse draws the body. While the city's state is unknown, it uses the time of the last response, so
// that ages do not grow.
func drawAsOfLastResponse(m *state.Room, p *state.Plan) []string {
	stopped := state.HasStopped(m) && state.RunningAgents(m) == 0
	if m.Unreachable != "" && !stopped {
		defer func(now time.Time) { m.Now = now }(m.Now)
		m.Now = m.SilentSince
	}
	return drawBody(m, p)
}

func drawTiny(m *state.Room, s Screen) Screen {
	first := summary(m, m.W)
	switch {
	case m.FleetRoom && !m.Typing():
		first = fleetSummary(m, m.W)
	case m.Typing():
		c := m.Canvas()
		c.Line = true
		f := m.Dialogs.FootDialog().Draw(c)
		first, s.X = f.Lines[0], f.X
	}
	if m.Typing() {
		s.X, s.Y = min(s.X, m.W-1), 0
	}
	lines := []string{widget.Crop(first, m.W)}
	if m.H > 1 && !m.Typing() {
		needs := fmt.Sprintf("needs %dx%d", state.MinWidth, state.MinHeight)
		if is := fmt.Sprintf(", this is %dx%d", m.W, m.H); widget.Width(needs+is) <= m.W {
			needs += is
		}
		lines = append(lines,
			widget.Crop(m.Look.Paint(themes.Dim, widget.Cut(needs, m.W, m.Look.Glyphs.More)), m.W))
	}
	s.Lines = widget.FillRows(lines, m.W, m.H)
	return s
}

func drawBody(m *state.Room, p *state.Plan) []string {
	leftLines, leftRules := drawStack(m, p.Left, p.LeftWidth)
	lines := leftLines
	if len(p.Right) > 0 {
		rightLines, rightRules := drawStack(m, p.Right, m.W-p.LeftWidth-1)
		lines = make([]string, len(leftLines))
		for i := range leftLines {
			joins := m.Look.Glyphs.Join
			if i == 0 {
				joins = m.Look.Glyphs.Top
			}
			bar := m.Look.Paint(themes.Rule, joins[leftRules[i]][rightRules[i]])
			lines[i] = leftLines[i] + bar + rightLines[i]
		}
	}
	if len(p.Above) > 0 {
		above, _ := drawStack(m, p.Above, m.W)
		lines = append(above, lines...)
	}
	if len(p.Across) > 0 {
		below, rules := drawStack(m, p.Across, m.W)
		below = append([]string{m.Look.JoinRule(below[0], p.LeftWidth, rules[0], m.W)},
			below[1:]...)
		lines = append(lines, below...)
	}
	if p.Closing {
		lines = append(lines, m.Look.Paint(themes.Rule, closingRule(m, p)))
	}
	return lines
}

func closingRule(m *state.Room, p *state.Plan) string {
	thin := m.Look.Glyphs.Thin
	if len(p.Right) == 0 || len(p.Across) > 0 {
		return strings.Repeat(thin, m.W)
	}
	return strings.Repeat(thin, p.LeftWidth) + m.Look.Glyphs.Foot[1] +
		strings.Repeat(thin, m.W-p.LeftWidth-1)
}

// drawStack returns the stack's lines and the kind of rule in each row: 0 = none, 1 = thin, 2 = heavy.
func drawStack(m *state.Room, places []state.Place, w int) (lines []string, rules []int) {
	for _, at := range places {
		focus := at.Panel == m.Focus && !m.Dialogs.Covers()
		rule := 1
		if focus {
			rule = 2
		}
		rules = append(rules, rule)
		for range at.H - 1 {
			rules = append(rules, 0)
		}
		lines = append(lines, drawPanel(m, at, w, focus)...)
	}
	return lines, rules
}

func drawPanel(m *state.Room, at state.Place, w int, focus bool) []string {
	if at.H <= 0 {
		return nil
	}
	switch at.Panel {
	case panel.IDDetail:
		return selectionSummary(m, w, at.H)
	case panel.IDPeek:
		return peekPanel(m, w, at.H, focus, TabsFor(m, at, w))
	}
	return m.PanelOf(at.Panel).Draw(m.Env(), panel.Box{W: w, H: at.H, Focus: focus,
		Tabs: TabsFor(m, at, w)})
}

func selectionSummary(m *state.Room, w, h int) []string {
	e := m.Env()
	p := m.ActionPanel()
	lines := p.Summary(e, w)
	_, _, shown, total := p.Cursor()
	switch r := state.Selected(m); {
	case lines != nil:
	case r != nil:
		lines = m.Agents.SummaryOf(e, r, w)
	case shown == 0 && total > 0:
		lines = append([]string{m.Look.Title(w, false, nil, "")},
			m.Look.Notes(w, nothingSelected(m, p))...)
	}
	return m.Look.FillDetails(lines, w, h)
}

// TabsFor returns the tabs for the line above a panel that is w columns wide.
func TabsFor(m *state.Room, at state.Place, w int) []widget.Tab {
	e := m.Env()
	own := tabFor(m, e, at, w)
	switch {
	case at.Shared:
		return state.SharedTabs(m, e, own, w)
	case !at.Tabs:
		return []widget.Tab{own}
	}
	var all []widget.Tab
	for _, p := range m.Panels {
		switch {
		case p.About().ID == at.Panel:
			all = append(all, own)
		case m.Present(p):
			all = append(all, p.Title(e))
		}
	}
	if state.TierOf(m.W, m.H) == state.Single {
		pane := peekTab(m)
		if at.Panel == panel.IDPeek {
			pane = own
		}
		pane.ID, pane.Name, pane.Count = string(panel.IDPeek), "Pane", ""
		all = append(all, pane)
	}
	return widget.ShortTabs(all, state.TabsRoom(m, at.Panel, m.W), m.Look.Glyphs.More)
}

func tabFor(m *state.Room, e *panel.Env, at state.Place, w int) widget.Tab {
	var own widget.Tab
	if at.Panel == panel.IDPeek {
		own = peekTab(m)
		own.ID = string(panel.IDPeek)
		if m.Snap == nil {
			own.Count = ""
		}
	} else {
		p := m.PanelOf(at.Panel)
		own = p.Title(e)
		own.Hidden = m.Look.Hidden(p.Hidden(e, w, at.H))
		if text, found := p.Search(e); text != "" && at.Tabs && m.W < minSearchWidth(m) {
			own.Search, own.Count, own.Alert = text, found, false
		}
	}
	own.Active = true
	return own
}

func minSearchWidth(m *state.Room) int {
	w := 120
	for _, p := range m.Panels {
		if a := p.About(); (a.Optional || a.InSlot) && m.Present(p) { // its title needs room
			w += 24
		}
	}
	return w
}
