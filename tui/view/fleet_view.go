package view

import (
	"fmt"
	"slices"
	"strings"

	"gcity/themes"
	"gcity/tui/fleet"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// FleetPlan is the layout of the all-cities room: the rows of each part, including its title; 0 = hidden.
type FleetPlan struct {
	Header, Cities, Needs int // Header is the number of rows above the lists
	detail                int
	tabs                  bool
}

// PlanFleet computes the layout of the all-cities room.
func PlanFleet(m *state.Room) FleetPlan {
	p := FleetPlan{Header: 1}
	if fleetProblem(m) != "" {
		p.Header++
	}
	body := max(0, m.H-p.Header-state.FootHeight(m))
	n := len(state.AllNeeds(m))
	const strip, roomy = 6, 26
	if body >= roomy && len(m.Cities.Rows) > 0 {
		p.detail = strip
		body -= strip
	}
	switch {
	case body < 12 && n > 0 && m.OnNeeds:
		p.Needs, p.tabs = body, true
	case body < 12 || n == 0 && body < 20:
		p.Cities, p.tabs = body, n > 0
	default:
		list := len(m.Cities.List.Shown) + 2
		p.Cities = max(6, min(list, body-min(n+1, body*2/5)))
		p.Needs = body - p.Cities
	}
	return p
}

func fleetScreen(m *state.Room, s Screen) Screen {
	at := PlanFleet(m)
	s.Lines = append(make([]string, 0, m.H), fleetHeader(m, m.W))
	if text := fleetProblem(m); text != "" {
		l := widget.Line{Styles: &m.Look}
		l.Add(themes.Bad, " "+m.Look.Glyphs.Alert+" ")
		l.Add(themes.Warn, m.Look.Cut(text, m.W-l.Width-1))
		s.Lines = append(s.Lines, l.Row(m.W))
	}
	focus := !m.Dialogs.Covers()
	if at.Cities > 0 {
		s.Lines = append(s.Lines, citiesPanel(m, m.W, at.Cities, focus && !m.OnNeeds, at.tabs)...)
	}
	if at.Needs > 0 {
		s.Lines = append(s.Lines, needsPanel(m, m.W, at.Needs, focus && m.OnNeeds, at.tabs)...)
	}
	if at.detail > 0 {
		s.Lines = append(s.Lines, selectedCitySummary(m, m.W, at.detail)...)
	}
	s = addFooter(m, s)
	s.Lines = widget.FillRows(s.Lines, m.W, m.H)
	return s
}

func fleetProblem(m *state.Room) string {
	if m.Fleet == nil || m.Fleet.Problem == "" {
		return ""
	}
	return "the list of cities cannot be read: " + widget.Plain(m.Fleet.Problem) +
		"; the list is outdated"
}

func fleetHeader(m *state.Room, w int) string {
	l := widget.Line{Styles: &m.Look}
	l.Add(themes.Title, " "+m.Look.Cut("all cities", w/3))
	if m.Mode == state.ReadOnly {
		l.Add(themes.Warn, m.Look.Between()+m.Mode.String())
	}
	if m.HostsHome && w >= 70 {
		l.Add(themes.Dim, " "+m.Look.Glyphs.Dot+" this program runs "+
			state.HomeTitle(m, 24))
	}
	end := m.Now.Format("15:04:05")
	if m.ReducedMotion {
		end = m.Now.Format("15:04")
	}
	if w < 50 {
		end = ""
	}
	parts := fleetCounts(m)
	for len(parts) > 1 && l.Width+widget.CountersWidth(parts)+widget.Width(end)+4 > w {
		parts = parts[:len(parts)-1]
	}
	l.Space(w - l.Width - widget.CountersWidth(parts) - widget.Width(end) - 4)
	for _, p := range parts {
		l.Add(p.Token, p.Text)
	}
	l.Space(w - l.Width - widget.Width(end) - 1)
	l.Add(themes.Dim, end)
	return l.Row(w)
}

func fleetCounts(m *state.Room) []widget.Counter {
	var parts []widget.Counter
	switch n := len(state.AllNeeds(m)); {
	case n == 1:
		parts = append(parts,
			widget.Counter{Text: "  1 agent needs attention", Token: themes.Bad, N: n})
	case n > 1:
		parts = append(parts,
			widget.Counter{Text: fmt.Sprintf("  %d agents need attention", n),
				Token: themes.Bad, N: n})
	}
	for i := range m.Cities.Rows {
		h := fleet.HealthOf(&m.Look, m.Cities.Rows[i])
		if h.Word == "trouble" {
			h.Word = "in trouble"
		}
		found := false
		for k := range parts {
			if strings.HasSuffix(parts[k].Text, " "+h.Word) {
				parts[k].N++
				parts[k].Text, found = fmt.Sprintf("  %d %s", parts[k].N, h.Word), true
			}
		}
		if !found {
			parts = append(parts, widget.Counter{Text: "  1 " + h.Word, Token: h.Token, N: 1})
		}
	}
	return parts
}

func fleetTabs(m *state.Room, needs, shared bool) []widget.Tab {
	all := []widget.Tab{{Name: "Cities", Count: fmt.Sprint(len(m.Cities.Rows)), Active: !needs},
		{Name: "Agents that need attention", Count: fmt.Sprint(len(state.AllNeeds(m))),
			Active: needs,
			Alert:  true}}
	if m.CityFilter.Active() {
		all[0].Search, all[0].Count = "/"+m.CityFilter.Text, m.Cities.List.CountText()
	}
	switch {
	case shared:
		return all
	case needs:
		return all[1:]
	}
	return all[:1]
}

func needsPanel(m *state.Room, w, h int, focus, shared bool) []string {
	all, room := state.AllNeeds(m), h-1
	m.NeedOffset = widget.ScrollTo(m.NeedCursor, m.NeedOffset, room, len(all))
	tabs := fleetTabs(m, true, shared)
	tabs[len(tabs)-1].Hidden = m.Look.Hidden(m.NeedOffset, max(0, len(all)-m.NeedOffset-room))
	if widget.TabsWidth(tabs) > w {
		tabs = widget.WithoutHidden(tabs)
	}
	lines := append(make([]string, 0, h), m.Look.Title(w, focus, tabs, ""))
	if len(all) == 0 {
		return widget.FillRows(append(lines, m.Look.Note("No agent needs attention.", w)), w, h)
	}
	state, town, who := panel.StateWidth+2, 4, 5
	for _, n := range all {
		town, who = max(town, widget.Width(n.City.DisplayName)),
			max(who, widget.Width(n.Need.DisplayName))
	}
	town, who = min(town, max(8, w/6)), min(who, max(8, w/5))
	worded := w >= 60
	if !worded {
		state = 1
	}
	for i := m.NeedOffset; i < min(len(all), m.NeedOffset+room); i++ {
		n := all[i]
		l := m.Look.RowStart(widget.RowState{Cursor: i == m.NeedCursor && m.OnNeeds, Focus: focus})
		sign, word, token := panel.AgentCondition(&m.Look, n.Need.Condition())
		if worded {
			sign += " " + word
		}
		l.Add(token, m.Look.Fit(sign, state))
		l.Space(2)
		l.Add(themes.Dim, m.Look.FitName(n.City.DisplayName, town))
		l.Space(2)
		l.Add(themes.Text, m.Look.FitName(n.Need.DisplayName, who))
		l.Space(2)
		why := widget.Reason{Text: n.Need.Why, Token: themes.Text, NextToken: themes.Text}
		next := panel.ChangeIn(n.Need.State, widget.Until(n.Need.Until, m.Now))
		if n.Need.Until.After(m.Now) && w-l.Width-6 >= widget.Width(next.Full) {
			why.Next = next
		}
		if age := widget.Since(n.Need.Since, m.Now); w-l.Width-widget.Width(age)-2 > 10 {
			m.Look.Reason(&l, why, w-l.Width-6)
			l.Add(themes.Dim, "  "+widget.FitRight(age, 4, ""))
		}
		lines = append(lines, l.Row(w))
	}
	return widget.FillRows(lines, w, h)
}

func selectedCitySummary(m *state.Room, w, h int) []string {
	c := state.ChosenCity(m)
	if c == nil {
		return widget.FillRows([]string{m.Look.Title(w, false, []widget.Tab{{}}, "")}, w, h)
	}
	lines := []string{m.Look.Title(w, false, []widget.Tab{{Name: c.DisplayName, Active: true}},
		widget.Plain(c.Info.Path))}
	all := widget.WrapAll(m.Fleet.Details(c, state.RunnerText(m, c), &m.Look, m.Now), w-4)
	if len(all) > h-1 {
		all = append(all[:h-2], m.Look.Paint(themes.Dim, m.Keys.KeyText("fleet.details")+
			" shows all details"))
	}
	for _, text := range all {
		l := widget.Line{Styles: &m.Look}
		l.Space(3)
		lines = append(lines, widget.Crop(l.String()+text, w))
	}
	return widget.FillRows(lines, w, h)
}

func fleetFooter(m *state.Room, w int) string {
	l := widget.Line{Styles: &m.Look}
	l.Space(1)
	last, room := []*state.Action{m.Keys.ByID("fleet.verbs"), m.Keys.ByID("fleet.quit")}, w
	for _, a := range last {
		if len(a.Key.Keys()) > 0 {
			room -= footWidth(m, a)
		}
	}
	for _, a := range m.Keys.ActionsIn(keymap.InFleet) {
		if a.Short == "" || len(a.Key.Keys()) == 0 || a.WhyUnavailable(m) != "" ||
			a.ID == "fleet.return" && m.All ||
			slices.Contains(last, a) || l.Width+footWidth(m, a) > room {
			continue
		}
		footKey(m, &l, a)
	}
	for _, a := range last {
		if len(a.Key.Keys()) > 0 {
			footKey(m, &l, a)
		}
	}
	return l.Row(w)
}

func fleetSummary(m *state.Room, w int) string {
	text := widget.Count(len(m.Cities.Rows), "city")
	text = strings.Replace(text, "citys", "cities", 1)
	for _, p := range fleetCounts(m) {
		text += " " + m.Look.Glyphs.Dot + p.Text[1:]
	}
	return m.Look.Cut(text, w)
}
