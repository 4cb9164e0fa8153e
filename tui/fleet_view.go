package tui

import (
	"fmt"
	"slices"
	"strings"

	"gcity/themes"
	"gcity/tui/fleet"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// fleetPlan is the layout of the room of all cities: the number of rows of each part with its title; 0 = hidden.
type fleetPlan struct {
	head, cities, needs int // head is the number of rows above the lists
	detail              int // details of the city under the cursor
	tabs                bool
}

func planFleet(m *model) fleetPlan {
	p := fleetPlan{head: 1}
	if fleetProblem(m) != "" {
		p.head++
	}
	foot := 2
	if tierOf(m.w, m.h) == single {
		foot = 1
	}
	body := max(0, m.h-p.head-foot-max(0, len(failureParts(m, m.w))-1))
	n := len(allNeeds(m))
	const strip, roomy = 6, 26
	if body >= roomy && len(m.cities.Rows) > 0 {
		p.detail = strip
		body -= strip
	}
	switch {
	case body < 12 && n > 0 && m.onNeeds:
		p.needs, p.tabs = body, true
	case body < 12 || n == 0 && body < 20:
		p.cities, p.tabs = body, n > 0
	default:
		list := len(m.cities.List.Shown) + 2
		p.cities = max(6, min(list, body-min(n+1, body*2/5)))
		p.needs = body - p.cities
	}
	return p
}

func fleetScreen(m *model, s screenful) screenful {
	at := planFleet(m)
	s.lines = append(make([]string, 0, m.h), fleetHeader(m, m.w))
	if text := fleetProblem(m); text != "" {
		l := widget.Line{Styles: &m.look}
		l.Add(themes.Bad, " "+m.look.Glyphs.Alert+" ")
		l.Add(themes.Warn, widget.Cut(text, m.w-l.Width-1, m.look.Glyphs.More))
		s.lines = append(s.lines, widget.Crop(l.Fill(m.w), m.w))
	}
	focus := !m.dialogs.covers()
	if at.cities > 0 {
		s.lines = append(s.lines, citiesPanel(m, m.w, at.cities, focus && !m.onNeeds, at.tabs)...)
	}
	if at.needs > 0 {
		s.lines = append(s.lines, needsPanel(m, m.w, at.needs, focus && m.onNeeds, at.tabs)...)
	}
	if at.detail > 0 {
		s.lines = append(s.lines, cityStrip(m, m.w, at.detail)...)
	}
	p := plan{tier: tierOf(m.w, m.h), statusRow: tierOf(m.w, m.h) != single}
	s = foot(m, s, &p)
	s.lines = widget.FillRows(s.lines, m.w, m.h)
	return s
}

// fleetProblem returns why the list is outdated, or "".
func fleetProblem(m *model) string {
	if m.fleet == nil || m.fleet.Gone == "" {
		return ""
	}
	return "the list of cities cannot be read: " + widget.Plain(m.fleet.Gone) +
		"; the list is outdated"
}

// fleetHeader counts cities by health, cities that need attention first.
func fleetHeader(m *model, w int) string {
	l := widget.Line{Styles: &m.look}
	l.Add(themes.Title, " "+widget.Cut("all cities", w/3, m.look.Glyphs.More))
	if m.mode == ReadOnly {
		l.Add(themes.Warn, " "+m.look.Glyphs.Dot+" "+m.mode.String())
	}
	if m.hosts && w >= 70 {
		l.Add(themes.Dim, " "+m.look.Glyphs.Dot+" this program runs "+
			widget.Cut(m.home, 24, m.look.Glyphs.More))
	}
	end := m.now.Format("15:04:05")
	if m.calm {
		end = m.now.Format("15:04")
	}
	if w < 50 {
		end = ""
	}
	parts := fleetCounts(m)
	for len(parts) > 1 && l.Width+widget.TalliesWidth(parts)+widget.Width(end)+4 > w {
		parts = parts[:len(parts)-1]
	}
	l.Space(w - l.Width - widget.TalliesWidth(parts) - widget.Width(end) - 4)
	for _, p := range parts {
		l.Add(p.Token, p.Text)
	}
	l.Space(w - l.Width - widget.Width(end) - 1)
	l.Add(themes.Dim, end)
	return widget.Crop(l.Fill(w), w)
}

// fleetCounts returns the number of cities by health, the most urgent first, after the number of agents that need
// attention.
func fleetCounts(m *model) []widget.Tally {
	var parts []widget.Tally
	switch n := len(allNeeds(m)); {
	case n == 1:
		parts = append(parts,
			widget.Tally{Text: "  1 agent needs attention", Token: themes.Bad, N: n})
	case n > 1:
		parts = append(parts,
			widget.Tally{Text: fmt.Sprintf("  %d agents need attention", n),
				Token: themes.Bad, N: n})
	}
	for i := range m.cities.Rows {
		h := fleet.HealthOf(&m.look, &m.cities.Rows[i])
		found := false
		for k := range parts {
			if strings.HasSuffix(parts[k].Text, " "+h.Word) {
				parts[k].N++
				parts[k].Text, found = fmt.Sprintf("  %d %s", parts[k].N, h.Word), true
			}
		}
		if !found {
			parts = append(parts, widget.Tally{Text: "  1 " + h.Word, Token: h.Token, N: 1})
		}
	}
	return parts
}

// fleetTabs returns the titles of the lists.
func fleetTabs(m *model, needs, shared bool) []widget.Tab {
	all := []widget.Tab{{Name: "Cities", Extra: fmt.Sprint(len(m.cities.Rows)), Active: !needs},
		{Name: "Agents that need attention", Extra: fmt.Sprint(len(allNeeds(m))), Active: needs,
			Alert: true}}
	if m.cityFilter.Active() {
		all[0].Search, all[0].Extra = "/"+m.cityFilter.Text, m.cities.List.Found()
	}
	switch {
	case shared:
		return all
	case needs:
		return all[1:]
	}
	return all[:1]
}

// needsPanel lists the agents of all cities that need attention.
func needsPanel(m *model, w, h int, focus, shared bool) []string {
	all, room := allNeeds(m), h-1
	m.needOffset = widget.ScrollTo(m.needAt, m.needOffset, room, len(all))
	tabs := fleetTabs(m, true, shared)
	tabs[len(tabs)-1].Hidden = m.look.Hidden(m.needOffset, max(0, len(all)-m.needOffset-room))
	if widget.TabsWidth(tabs) > w {
		tabs = widget.WithoutHidden(tabs)
	}
	lines := append(make([]string, 0, h), m.look.Title(w, focus, tabs, ""))
	if len(all) == 0 {
		return widget.FillRows(append(lines, m.look.Note("No agent needs attention.", w)), w, h)
	}
	state, town, who := panel.StateWidth+2, 4, 5
	for _, n := range all {
		town, who = max(town, widget.Width(n.city.Shown)), max(who, widget.Width(n.need.Shown))
	}
	town, who = min(town, max(8, w/6)), min(who, max(8, w/5))
	worded := w >= 60
	if !worded {
		state = 1
	}
	for i := m.needOffset; i < min(len(all), m.needOffset+room); i++ {
		n := all[i]
		l := m.look.RowStart(widget.RowState{Cursor: i == m.needAt && m.onNeeds, Focus: focus})
		sign, word, token := panel.AgentCondition(&m.look, n.need.State, n.need.Stuck)
		if worded {
			sign += " " + word
		}
		l.Add(token, widget.Fit(sign, state, m.look.Glyphs.More))
		l.Space(2)
		l.Add(themes.Dim, widget.FitName(n.city.Shown, town, m.look.Glyphs.More))
		l.Space(2)
		l.Add(themes.Text, widget.FitName(n.need.Shown, who, m.look.Glyphs.More))
		l.Space(2)
		why := n.need.Why
		if !n.need.Until.IsZero() && n.need.Until.After(m.now) {
			why += " " + m.look.Glyphs.Dot + " retries in " +
				widget.Remaining(n.need.Until.Sub(m.now))
		}
		if old := widget.Width(widget.Age(m.now.Sub(n.need.Since))) + 2; w-l.Width-old > 10 {
			l.Add(themes.Text, widget.Fit(why, w-l.Width-6, m.look.Glyphs.More))
			l.Add(themes.Dim, "  "+widget.FitRight(widget.Age(m.now.Sub(n.need.Since)), 4, ""))
		}
		lines = append(lines, widget.Crop(l.Fill(w), w))
	}
	return widget.FillRows(lines, w, h)
}

// cityStrip shows as many details of the city under the cursor as fit.
func cityStrip(m *model, w, h int) []string {
	c := chosenCity(m)
	if c == nil {
		return widget.FillRows([]string{m.look.Title(w, false, []widget.Tab{{}}, "")}, w, h)
	}
	lines := []string{m.look.Title(w, false, []widget.Tab{{Name: c.Shown, Active: true}},
		widget.Plain(c.Info.Path))}
	all := widget.WrapAll(sisterLines(m, c), w-4)
	if len(all) > h-1 {
		all = append(all[:h-2], m.look.Paint(themes.Dim, m.keys.KeyOf("fleet.details")+
			" shows all"))
	}
	for _, text := range all {
		l := widget.Line{Styles: &m.look}
		l.Space(3)
		lines = append(lines, widget.Crop(l.String()+text, w))
	}
	return widget.FillRows(lines, w, h)
}

// fleetFooter returns the keys that work in the room of all cities.
func fleetFooter(m *model, w int) string {
	l := widget.Line{Styles: &m.look}
	l.Space(1)
	last, room := []*action{m.keys.ByID("fleet.verbs"), m.keys.ByID("fleet.quit")}, w
	for _, a := range last {
		if len(a.Key.Keys()) > 0 {
			room -= footWidth(m, a)
		}
	}
	for _, a := range m.keys.In(keymap.InFleet) {
		if a.Short == "" || len(a.Key.Keys()) == 0 || a.Refused(m) != "" ||
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
	return widget.Crop(l.Fill(w), w)
}

// fleetSummary describes all cities in one line.
func fleetSummary(m *model, w int) string {
	text := widget.Count(len(m.cities.Rows), "city")
	text = strings.Replace(text, "citys", "cities", 1)
	for _, p := range fleetCounts(m) {
		text += " " + m.look.Glyphs.Dot + p.Text[1:]
	}
	return widget.Cut(text, w, m.look.Glyphs.More)
}
