package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/city"
	"gcity/internal/color"
	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func header(m *state.Room, w int) string {
	h := headerLayout(m, w, 0)
	mode := " " + m.Look.Glyphs.Dot + " " + m.Mode.String()
	if w >= 100 || m.Mode != state.Hosting {
		mode = ""
	}
	if mode != "" && severalCities(m) && h.free(w) <= widget.Width(mode) {
		// the footer has the key that switches to another city, so the header can omit the city's position
		if brief := headerLayout(m, w, briefKey); brief.lost == h.lost {
			h = brief
		}
	}
	l := h.start
	if h.free(w) > widget.Width(mode) {
		l.Add(themes.Dim, mode)
	}
	l.Space(w - l.Width - widget.CountersWidth(h.counts) - widget.Width(h.end) - 4)
	for _, c := range h.counts {
		if m.Unreachable != "" {
			c.Token = themes.Dim // the counts are out of date
		}
		l.Add(c.Token, c.Text)
	}
	l.Space(w - l.Width - widget.Width(h.end) - 1)
	loop := themes.Dim
	if state.Stalled(m) {
		loop = themes.Bad
	}
	l.Add(loop, h.end)
	return widget.Crop(l.Fill(w), w)
}

type layout struct {
	start  widget.Line
	counts []widget.Counter
	lost   int    // what is missing in the counts; see headerCounts
	end    string // state of the controller, and the time
}

func (h *layout) free(w int) int {
	return w - h.start.Width - widget.CountersWidth(h.counts) - widget.Width(h.end) - 4
}

// The short forms of the left part of the header. Each form omits more than the previous one.
const (
	briefPlace = 1 + iota // without the host and the mode
	briefKey              // only the key and the number of problems of other cities
	briefest              // without the key if there is only one city
)

// headerLayout returns the parts of the header that fit into w columns. The left part has the given form or a shorter
// one.
func headerLayout(m *state.Room, w, brief int) (best layout) {
	ends, least := clockTexts(m)
	found := false
	try := func(brief int, end string) {
		if found && best.lost == 0 {
			return
		}
		h := layout{start: headerStart(m, w, brief), end: end}
		room := w - h.start.Width - widget.Width(end) - min(3, 1+2*widget.Width(end))
		h.counts, h.lost = headerCounts(m, room)
		if !found || h.lost < best.lost {
			best, found = h, true
		}
	}
	for _, end := range ends {
		try(brief, end)
	}
	try(brief, least)
	for b := brief + 1; b <= briefest; b++ {
		try(b, ends[len(ends)-1])
		try(b, least)
	}
	return best
}

// headerStart returns the left part of the header. The parameter brief says how much to abbreviate, from 0 to briefest.
func headerStart(m *state.Room, w, brief int) widget.Line {
	l := widget.Line{Styles: &m.Look}
	dot := " " + m.Look.Glyphs.Dot + " "
	cityBadge(m, &l, state.CityTitle(m, w/3))
	if m.Snap != nil && m.Snap.Suspended {
		l.Add(themes.Warn, dot+"suspended")
	}
	addCityPosition(m, &l, w, brief)
	if badge := mailBadge(m, w); badge != "" {
		l.Add(themes.Accent, dot+badge)
	}
	if calls := callBadge(m, w); calls != "" {
		l.Add(themes.Bad, dot+calls)
	}
	if m.Mode == state.ReadOnly && w-l.Width > 40 {
		l.Add(themes.Warn, dot+m.Mode.String())
	}
	if w >= 100 && brief < briefPlace {
		addPlace(m, &l, dot)
	}
	return l
}

// addPlace adds the host, the mode, and the progress of a large group of agents that are starting or stopping.
func addPlace(m *state.Room, l *widget.Line, dot string) {
	room := m.W - l.Width - widget.Width(clockText(m)) - 4
	if m.Snap != nil && m.Snap.Host != "" {
		l.Add(themes.Dim, dot+widget.Plain(m.Snap.Host))
	}
	if m.Mode == state.Hosting {
		l.Add(themes.Dim, dot+m.Mode.String())
	}
	if text := dot + m.Wave.String(); m.Wave.Large() && room > widget.Width(text)+40 {
		l.Add(themes.Dim, text)
	}
}

// clockTexts returns the controller's state and the time in several forms. If the patrol is late, it also returns the
// controller's state alone.
func clockTexts(m *state.Room) (forms []string, least string) {
	end, at := clockText(m), m.Now.Format("15:04")
	loop, _, found := strings.Cut(end, "  ")
	switch {
	case m.W < 50:
		return []string{""}, ""
	case !found:
		return []string{end, at}, ""
	case loop != controllerOK:
		return []string{end, loop + "  " + at}, loop
	}
	return []string{end, loop + "  " + at, at}, ""
}

const controllerOK = "controller ok"

func mailBadge(m *state.Room, w int) string {
	n := state.Unread(m)
	switch {
	case n == 0:
		return ""
	case w < 100:
		return m.Look.Glyphs.Mail + strconv.Itoa(min(n, 999))
	}
	return fmt.Sprintf("%s %d unread", m.Look.Glyphs.Mail, n)
}

func byState(m *state.Room) (urgent []widget.Counter, running widget.Counter,
	rest []widget.Counter) {
	n := m.Snap.Count()
	known := 0
	for _, s := range city.States {
		_, token := panel.AgentSign(&m.Look, s)
		c := widget.Counter{Text: fmt.Sprintf("  %d %s", n[s], s), Token: token, N: n[s]}
		known += n[s]
		switch {
		case s == city.Running:
			running = c
		case n[s] == 0:
		case s == city.Failed, s == city.Quarantined, s == city.Unknown, s == city.Backoff:
			urgent = append(urgent, c)
		default:
			rest = append(rest, c)
		}
	}
	if n := len(m.Snap.Agents) - known; n > 0 {
		urgent = append(urgent, widget.Counter{
			Text:  fmt.Sprintf("  %d in states unknown to this version", n),
			Token: themes.Bad, N: n})
	}
	return urgent, running, rest
}

// headerCounts returns the counts of agents by state in at most w columns. The result lost is 0 if nothing important is
// missing, 1 if the agents in trouble share one count, and 2 if more is missing.
func headerCounts(m *state.Room, w int) (counts []widget.Counter, lost int) {
	if m.Snap == nil || len(m.Snap.Agents) == 0 {
		return nil, 0
	}
	urgent, running, rest := byState(m)
	of := fmt.Sprintf(" of %d", len(m.Snap.Agents))
	if all := allCounts(m); widget.CountersWidth(all) <= w {
		return all, 0
	}
	first := append(slices.Clone(urgent), running)
	if widget.CountersWidth(first)+widget.Width(of) <= w {
		return widget.FitCounters(first, rest, w), 0
	}
	running.Text += of
	together := widget.Together(urgent)
	if both := append(together, running); len(together) > 0 && widget.CountersWidth(both) <= w {
		return both, 1
	}
	running.Text = strings.TrimSuffix(running.Text, of)
	if both := append(together, running); len(together) > 0 && widget.CountersWidth(both) <= w {
		return both, 2
	}
	return countParts(m, w), 2
}

func allCounts(m *state.Room) []widget.Counter {
	all, running, rest := byState(m)
	if running.N > 0 {
		all = append(all, running)
	}
	return append(all, rest...)
}

// countParts returns the counts of agents by state in at most w columns. Agents that need attention are always counted.
func countParts(m *state.Room, w int) []widget.Counter {
	if m.Snap == nil {
		return nil
	}
	urgent, _, _ := byState(m)
	return widget.FitCounters(urgent, allCounts(m)[len(urgent):], w)
}

func clockText(m *state.Room) string {
	at := m.Now.Format("15:04:05")
	if m.ReducedMotion {
		at = m.Now.Format("15:04")
	}
	// if the controller does not respond, its latest patrol is unknown
	if m.Snap == nil || m.Unreachable != "" || m.W < 60 {
		return at
	}
	turn := m.Snap.Patrol.Age(m.Now)
	loop := "last pass " + widget.Age(turn) + " ago"
	switch {
	case m.Snap.Patrol.Last.IsZero():
		loop = "controller starting"
	case turn < m.Snap.Patrol.Interval+4*time.Second: // the known time might be a few seconds old
		loop = controllerOK
		if m.W < 80 {
			return at
		}
	}
	return loop + "  " + at
}

func summary(m *state.Room, w int) string {
	dot := " " + m.Look.Glyphs.Dot + " "
	lead := state.CityTitle(m, max(12, w/2))
	// the agents in trouble are counted below
	if n := len(state.Alerts(m)) - len(m.Agents.Alerts(m.Env())); n > 0 {
		lead += dot + widget.Count(n, "problem")
	}
	if n := state.Unread(m); n > 0 {
		lead += fmt.Sprintf("%s%d unread", dot, n)
	}
	for room := w - widget.Width(lead); ; {
		parts, text := countParts(m, room), lead
		for _, p := range parts {
			text += dot + strings.TrimSpace(p.Text)
		}
		if len(parts) == 0 && m.Snap != nil && len(m.Snap.Agents) > 0 {
			text += dot + widget.Number(m.Snap.Count()[city.Running]) + " running" +
				m.Look.Glyphs.More
		}
		over := widget.Width(text) - w
		if over <= 0 || len(parts) == 0 {
			return widget.Cut(text, w, m.Look.Glyphs.More)
		}
		room -= over
	}
}

func callBadge(m *state.Room, w int) string {
	n := len(m.Watchdogs.Calling())
	switch {
	case n == 0:
		return ""
	case w < 100:
		return m.Look.Glyphs.Alert + widget.Number(n)
	}
	return fmt.Sprintf("%s %d calling", m.Look.Glyphs.Alert, n)
}

// cityPosition returns two texts for the header: which of the listed cities this is, and how many other cities need
// attention. In a narrow header, either text can be empty.
func cityPosition(m *state.Room, w, brief int) (position, wanting string) {
	key := m.Keys.KeyText("city.switch")
	if !m.Directory || m.Fleet == nil {
		return onlyCity(key, w, brief), ""
	}
	rows := state.Listed(m)
	at, others := 0, len(rows)
	for i := range rows {
		if state.IsHere(m, &rows[i]) {
			at = i + 1
			others--
		}
	}
	n := m.Fleet.TroubledElsewhere(m.At)
	switch {
	case others == 0:
		return onlyCity(key, w, brief), ""
	case (w < 60 || brief >= briefKey) && n > 0:
		return "", key + m.Look.Glyphs.Alert + fmt.Sprint(min(n, 99))
	case brief >= briefKey:
		return "", ""
	case w < 60:
		return key, ""
	case state.Unlisted(m) != nil || at == 0:
		position = fmt.Sprintf("%d cities %s", max(len(rows), others+1), key)
	case w < 100:
		position = fmt.Sprintf("city %d/%d %s", at, len(rows), key)
	default:
		position = fmt.Sprintf("city %d of %d %s", at, len(rows), key)
	}
	if n > 0 {
		position, _ = strings.CutSuffix(position, " "+key)
		wanting = "1 city in trouble " + key
		if n > 1 {
			wanting = fmt.Sprintf("%d cities in trouble %s", n, key)
		}
		if w < 100 {
			position = ""
		}
	}
	return position, wanting
}

// onlyCity returns the key that the header shows if there is only one city. On a wide screen it returns "", because the
// footer shows the key.
func onlyCity(key string, w, brief int) string {
	switch {
	case w < 60 || w >= wideFooter || key == "" || brief == briefest:
		return ""
	case brief < briefKey:
		return key + " cities"
	}
	return key
}

func addCityPosition(m *state.Room, l *widget.Line, w, brief int) {
	dot := " " + m.Look.Glyphs.Dot + " "
	if w < 60 {
		dot = " "
	}
	position, wanting := cityPosition(m, w, brief)
	if position != "" {
		l.Add(themes.Dim, dot+position)
	}
	if wanting != "" {
		l.Add(themes.Warn, dot+wanting)
	}
}

// cityBadge adds the city's name to the header. Its background is the city's own color, so that users do not confuse
// cities.
func cityBadge(m *state.Room, l *widget.Line, name string) {
	own := ""
	if m.Snap != nil && m.Snap.Console.Color != "" && !m.Terminal.NoColor {
		// A newer controller might allow colors that this client does not support.
		own, _ = color.Parse(m.Snap.Console.Color)
	}
	if own == "" {
		l.Add(themes.Title, " "+name)
		return
	}
	l.Badge(own, " "+name+" ")
}
