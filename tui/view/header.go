package view

import (
	"fmt"
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

// header draws the first row: the city's name and state, and a note about whether its controller responds.
func header(m *state.Room, w int) string {
	dot := " " + m.Look.Glyphs.Dot + " "
	l := headerStart(m, w, false)
	// on narrow screens, the counts and the state of the controller have priority
	mode := ""
	if w < 100 && m.Mode == state.Hosting {
		mode = dot + m.Mode.String()
	}
	end, counts := countsAndClock(m, w-l.Width)
	free := func() int {
		return w - l.Width - widget.CountersWidth(counts) - widget.Width(end) - 4
	}
	if mode != "" && m.Snap != nil && severalCities(m) && free() <= widget.Width(mode) {
		// the footer has the key that switches to another city, so the header can omit the city's position
		brief := headerStart(m, w, true)
		at, fewer := countsAndClock(m, w-brief.Width-widget.Width(mode)-1)
		if len(fewer) >= min(len(counts), reservedCounts(m)) {
			l, end, counts = brief, at, fewer
		}
	}
	if mode != "" && free() > widget.Width(mode) {
		l.Add(themes.Dim, mode)
	}
	l.Space(free())
	for _, c := range counts {
		if m.Unreachable != "" {
			c.Token = themes.Dim // the counts are out of date
		}
		l.Add(c.Token, c.Text)
	}
	l.Space(w - l.Width - widget.Width(end) - 1)
	loop := themes.Dim
	if state.Stalled(m) {
		loop = themes.Bad
	}
	l.Add(loop, end)
	return widget.Crop(l.Fill(w), w)
}

// headerStart returns the left part of the header: the city's name, notes about the city, and the host. If brief is
// set, other cities are mentioned only briefly.
func headerStart(m *state.Room, w int, brief bool) widget.Line {
	l := widget.Line{Styles: &m.Look}
	dot := " " + m.Look.Glyphs.Dot + " "
	cityBadge(m, &l, widget.Cut(state.CityName(m), w/3, m.Look.Glyphs.More))
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
	if w >= 100 {
		addPlace(m, &l, dot)
	}
	return l
}

// addPlace adds the host, the mode of this program, and the progress of a large group of agents that are starting or
// stopping. The progress is omitted if it would take room from the counts of agents.
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

// countsAndClock returns the counts of agents, and the state of the controller with the time, for w columns. The counts
// of agents in trouble have priority over the seconds, then over the state of a controller that works normally.
func countsAndClock(m *state.Room, w int) (end string, counts []widget.Counter) {
	end = clockText(m)
	if m.W < 50 {
		end = ""
	}
	counts = countParts(m, w-widget.Width(end)-min(5, 1+4*widget.Width(end)))
	if m.Snap == nil || m.W < 50 || state.Stalled(m) {
		return end, counts
	}
	at := m.Now.Format("15:04")
	loop, _, found := strings.Cut(end, "  ")
	for _, short := range []string{loop + "  " + at, at} {
		more := countParts(m, w-widget.Width(short)-3)
		if (found || short == at) && len(counts) < reservedCounts(m) && len(more) > len(counts) {
			end, counts = short, more
		}
	}
	return end, counts
}

// mailBadge returns the number of unread messages for people, or "".
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

// byState counts the agents by state. urgent contains the counts of states that need attention; rest contains the other
// counts, starting with running.
func byState(m *state.Room) (urgent, rest []widget.Counter) {
	n := m.Snap.Count()
	known := 0
	part := func(s city.State) []widget.Counter {
		if n[s] == 0 {
			return nil
		}
		known += n[s]
		_, token := panel.AgentSign(&m.Look, s)
		text := fmt.Sprintf("  %d %s", n[s], s)
		return []widget.Counter{{Text: text, Token: token, N: n[s]}}
	}
	urgent = append(part(city.Failed), part(city.Quarantined)...)
	rest = part(city.Running)
	for _, s := range city.States {
		if s != city.Failed && s != city.Quarantined && s != city.Running {
			rest = append(rest, part(s)...)
		}
	}
	if n := len(m.Snap.Agents) - known; n > 0 {
		urgent = append(urgent, widget.Counter{
			Text:  fmt.Sprintf("  %d in states unknown to this version", n),
			Token: themes.Bad, N: n})
	}
	return urgent, rest
}

// reservedCounts returns the number of counts for which the header reserves room: one for each state that needs
// attention, and one for running agents.
func reservedCounts(m *state.Room) int {
	urgent, rest := byState(m)
	return len(urgent) + min(1, len(rest))
}

// countParts returns the counts of agents by state in at most w columns, those that need attention first. Counts that
// do not fit are combined. Agents that need attention are always counted.
func countParts(m *state.Room, w int) []widget.Counter {
	if m.Snap == nil {
		return nil
	}
	urgent, parts := byState(m)
	return widget.FitCounters(urgent, parts, w)
}

// clockText returns the age of the last patrol, and the time of day.
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
	case turn < m.Snap.Patrol.Interval+4*time.Second: // the known time may be a few seconds old
		loop = "controller ok"
		if m.W < 80 {
			return at
		}
	}
	return loop + "  " + at
}

// summary draws the city in one line of w columns: its name, its problems, and as many counts as fit.
func summary(m *state.Room, w int) string {
	dot := " " + m.Look.Glyphs.Dot + " "
	lead := widget.Cut(state.CityName(m), max(12, w/2), m.Look.Glyphs.More)
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
		// No count fits.
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

// callBadge returns text that says how many watchdogs are calling for attention, or "" if none is.
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

// cityPosition returns text for the header that says which of the listed cities this is, and whether other cities need
// attention. If brief is set, it returns only the number of problems.
func cityPosition(m *state.Room, w int, brief bool) (position, wanting string) {
	if !m.Directory || m.Fleet == nil {
		return "", ""
	}
	rows := state.Listed(m)
	at, others := 0, len(rows)
	for i := range rows {
		if state.IsHere(m, &rows[i]) {
			at = i + 1
			others--
		}
	}
	if others == 0 {
		return "", ""
	}
	key, n := m.Keys.KeyText("city.switch"), m.Fleet.AttentionElsewhere(m.At)
	switch {
	case (w < 60 || brief) && n > 0:
		return "", key + m.Look.Glyphs.Alert + fmt.Sprint(min(n, 99))
	case brief:
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
	if n > 0 { // the key follows the text that comes last
		position, _ = strings.CutSuffix(position, " "+key)
		wanting = widget.Count(n, "problem") + " in other cities " + key
		if w < 100 {
			position, wanting = "", widget.Count(n, "problem")+" elsewhere "+key
		}
	}
	return position, wanting
}

func addCityPosition(m *state.Room, l *widget.Line, w int, brief bool) {
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
// cities. Without a color, the name is drawn as a title.
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
