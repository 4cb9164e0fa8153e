package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// header shows which city this is, its state, and whether its controller responds.
func header(m *model, w int) string {
	l := widget.Line{Styles: &m.look}
	dot := " " + m.look.Glyphs.Dot + " "
	cityBadge(m, &l, widget.Cut(cityName(m), w/3, m.look.Glyphs.More))
	if m.snap != nil && m.snap.Suspended {
		l.Add(themes.Warn, dot+"suspended")
	}
	addCityMark(m, &l, w)
	end := clockText(m)
	if w < 50 {
		end = ""
	}
	mode := themes.Dim
	if m.mode == ReadOnly {
		mode = themes.Warn
	}
	badge := mailBadge(m, w)
	if badge != "" {
		l.Add(themes.Accent, dot+badge)
	}
	if calls := callBadge(m, w); calls != "" {
		l.Add(themes.Bad, dot+calls)
	}
	room := w - l.Width - widget.Width(end) - 4
	if m.snap != nil && m.snap.Host != "" && w >= 100 {
		l.Add(themes.Dim, dot+widget.Plain(m.snap.Host))
	}
	// the count of running agents has priority over the mode
	if text := dot + m.mode.String(); m.mode != Joined && room > widget.Width(text)+14 &&
		(badge == "" || w >= 100 || m.mode == ReadOnly) {
		l.Add(mode, text)
	}
	// the counts of agents have priority over the progress of a wave
	if text := dot + m.wave.String(); m.wave.Large() && room > widget.Width(text)+40 {
		l.Add(themes.Dim, text)
	}
	counts := countParts(m, w-l.Width-widget.Width(end)-min(5, 1+4*widget.Width(end)))
	// the count of agents in trouble has priority over the full clock
	if m.snap != nil && w >= 50 && !stalled(m) {
		short := m.now.Format("15:04")
		if more := countParts(m, w-l.Width-widget.Width(short)-3); len(
			counts) <= headcounts(m) && len(more) > len(counts) {
			end, counts = short, more
		}
	}
	l.Space(w - l.Width - widget.TalliesWidth(counts) - widget.Width(end) - 4)
	for _, c := range counts {
		l.Add(c.Token, c.Text)
	}
	l.Space(w - l.Width - widget.Width(end) - 1)
	loop := themes.Dim
	if stalled(m) {
		loop = themes.Bad
	}
	l.Add(loop, end)
	return widget.Crop(l.Fill(w), w)
}

// unread returns the number of unread messages for people.
func unread(m *model) int {
	if m.snap == nil {
		return 0
	}
	return max(0, m.snap.Mail.Unread)
}

// mailBadge returns the number of unread messages for people, or "".
func mailBadge(m *model, w int) string {
	n := unread(m)
	switch {
	case n == 0:
		return ""
	case w < 100:
		return m.look.Glyphs.Mail + strconv.Itoa(min(n, 999))
	}
	return fmt.Sprintf("%s %d unread", m.look.Glyphs.Mail, n)
}

// byState counts the agents by state. urgent has the states that need attention; rest has running and all other states.
func byState(m *model) (urgent, rest []widget.Tally) {
	n := m.snap.Count()
	known := 0
	part := func(s city.State) []widget.Tally {
		if n[s] == 0 {
			return nil
		}
		known += n[s]
		_, token := panel.AgentSign(&m.look, s)
		text := fmt.Sprintf("  %d %s", n[s], s)
		return []widget.Tally{{Text: text, Token: token, N: n[s]}}
	}
	urgent = append(part(city.Failed), part(city.Quarantined)...)
	rest = part(city.Running)
	for _, s := range city.States {
		if s != city.Failed && s != city.Quarantined && s != city.Running {
			rest = append(rest, part(s)...)
		}
	}
	if n := len(m.snap.Agents) - known; n > 0 {
		urgent = append(urgent, widget.Tally{
			Text:  fmt.Sprintf("  %d in states unknown to this version", n),
			Token: themes.Bad, N: n})
	}
	return urgent, rest
}

// headcounts returns how many counts the header reserves room for: agents that need attention, and running agents.
func headcounts(m *model) int {
	urgent, rest := byState(m)
	return len(urgent) + min(1, len(rest))
}

// countParts counts the agents by state in at most w columns, agents that need attention first. Counts that do not fit
// are summed up; agents that need attention are always counted.
func countParts(m *model, w int) []widget.Tally {
	if m.snap == nil {
		return nil
	}
	urgent, parts := byState(m)
	return widget.FitTallies(urgent, parts, w)
}

// clockText returns the age of the last patrol, and the time.
func clockText(m *model) string {
	at := m.now.Format("15:04:05")
	if m.calm {
		at = m.now.Format("15:04")
	}
	// the last patrol of a controller that does not answer is unknown
	if m.snap == nil || m.gone != "" || m.w < 60 {
		return at
	}
	turn := m.snap.Patrol.Age(m.now)
	loop := "last pass " + widget.Age(turn) + " ago"
	switch {
	case m.snap.Patrol.Last.IsZero():
		loop = "controller starts"
	case turn < 4*time.Second: // the known time of the last patrol may be a few seconds old
		loop = "controller ok"
		if m.w < 80 {
			return at
		}
	}
	return loop + "  " + at
}

// stalled reports whether the controller's patrol is long overdue.
func stalled(m *model) bool {
	if m.snap == nil || m.snap.Patrol.Last.IsZero() || stopped(m) {
		return false
	}
	return m.snap.Patrol.Age(m.now) > 3*m.snap.Patrol.Interval+5*time.Second
}

// stopped reports whether the city does not answer and its last snapshot announced a clean shutdown.
func stopped(m *model) bool { return m.gone != "" && m.snap != nil && m.snap.ShutDown }

// lost reports whether a city of another process cannot be controlled: it has ended or does not answer.
func lost(m *model) bool { return m.gone != "" && m.mode != Hosting }

// alerts returns the problems of the whole city, the worst first.
func alerts(m *model) []panel.Alert {
	var p []panel.Alert
	bad := func(text string) { p = append(p, panel.Alert{Text: text}) }
	switch {
	case stopped(m):
		bad("the city stopped " + widget.Age(m.now.Sub(m.lone)) + " ago" + startAgain(m) +
			"; this is its last known state")
	case lost(m):
		bad("no answer for " + widget.Age(m.now.Sub(m.lone)) + ": " + m.gone + startAgain(m) +
			"; the data shown is outdated")
	case m.gone != "":
		bad("the city cannot be reached: " + m.gone + "; the data shown is outdated")
	}
	s := m.snap
	if s == nil {
		return p
	}
	if s.ShutDown && !stopped(m) {
		bad("the city is shutting down")
	}
	if stalled(m) {
		bad("no patrol by the controller for " + widget.Age(s.Patrol.Age(m.now)))
	}
	held := ""
	if s.Config.Held != nil {
		held = fleet.Removes(s.Config.Held)
	}
	return append(p, m.Alerts(m.env(), held, mistakesOf(m))...)
}

// startAgain returns a hint that says how to start a city that does not answer, or "".
func startAgain(m *model) string {
	switch {
	case !lost(m) || m.gone == feed.NotYet:
		return ""
	case m.under != "":
		return "; run `gcity start` there to start it again"
	}
	return "; run `gcity` there to start it again"
}

// alertLines returns the rows below the header.
func alertLines(m *model, n int) []string {
	return panel.AlertLines(&m.look, alerts(m), m.w, n, m.keys.KeyOf("city.details"))
}

// summary describes the city in one line of w columns: its name, its problems, and as many counts as fit.
func summary(m *model, w int) string {
	dot := " " + m.look.Glyphs.Dot + " "
	lead := widget.Cut(cityName(m), max(12, w/2), m.look.Glyphs.More)
	// the agents in trouble are counted below
	if n := len(alerts(m)) - len(m.Agents.Alerts(m.env())); n > 0 {
		lead += dot + widget.Count(n, "problem")
	}
	if n := unread(m); n > 0 {
		lead += fmt.Sprintf("%s%d unread", dot, n)
	}
	for room := w - widget.Width(lead); ; {
		parts, text := countParts(m, room), lead
		for _, p := range parts {
			text += dot + strings.TrimSpace(p.Text)
		}
		// No count fits.
		if len(parts) == 0 && m.snap != nil && len(m.snap.Agents) > 0 {
			text += dot + widget.Number(m.snap.Count()[city.Running]) + " running" +
				m.look.Glyphs.More
		}
		over := widget.Width(text) - w
		if over <= 0 || len(parts) == 0 {
			return widget.Cut(text, w, m.look.Glyphs.More)
		}
		room -= over
	}
}
