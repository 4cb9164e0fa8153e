package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"gcity/city"
	"gcity/describe"
	"gcity/internal/color"
	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// Omissions from the header if the screen is too narrow. Each level also omits what the previous levels omit. The
// city's name, the number of agents in trouble and a late controller always stay.
const (
	omitNothing = iota
	omitHost
	omitController // "controller ok"
	omitSeconds
	omitPosition // which of the cities this is
	omitMode     // that this control room runs the city
	omitTime
	omitCalm     // states without problems
	omitProgress // the progress of a large group of agents
	omitCities   // the word after the key for other cities
	omitStates   // the agents in trouble share one count
	omitTotal
	omitKey // the key for other cities, unless they are in trouble
	omitRunning
	omitEverything
)

func header(m *state.Room, w int) string {
	omit := omitNothing
	if w < 100 {
		omit = omitPosition // always, so that the layout does not change whenever a count changes
	}
	h, fits := headerLayout(m, w, omit)
	for ; !fits && omit < omitEverything; h, fits = headerLayout(m, w, omit) {
		omit++
	}
	l := h.start
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
	return l.Row(w)
}

type layout struct {
	start  widget.Line
	counts []widget.Counter
	end    string // state of the controller, and the time
}

func headerLayout(m *state.Room, w, omit int) (h layout, fits bool) {
	h = layout{start: headerStart(m, w, omit), end: clockText(m, omit)}
	room := w - h.start.Width - widget.Width(h.end) - min(3, 1+2*widget.Width(h.end))
	h.counts = headerCounts(m, room, omit)
	return h, widget.CountersWidth(h.counts) <= room
}

func headerStart(m *state.Room, w, omit int) widget.Line {
	l := widget.Line{Styles: &m.Look}
	dot := m.Look.Between()
	cityBadge(m, &l, state.CityTitle(m, w/3))
	if m.Snap != nil && m.Snap.Suspended {
		l.Add(themes.Warn, dot+"suspended")
	}
	addCityPosition(m, &l, w, omit)
	if n := state.Unread(m); n > 0 {
		l.Add(themes.Accent, dot+badge(m.Look.Glyphs.Mail, n, " unread", w))
	}
	if n := len(m.Watchdogs.Calling()); n > 0 {
		l.Add(themes.Bad, dot+badge(m.Look.Glyphs.Alert, n, " calling", w))
	}
	switch {
	case m.Mode == state.ReadOnly && w-l.Width > 40:
		l.Add(themes.Warn, dot+m.Mode.String())
	case m.Mode == state.Hosting && omit < omitMode:
		l.Add(themes.Dim, dot+m.Mode.String())
	}
	if m.Snap != nil && m.Snap.Host != "" && omit < omitHost {
		l.Add(themes.Dim, dot+widget.Plain(m.Snap.Host))
	}
	if m.Wave.Large() && omit < omitProgress {
		l.Add(themes.Dim, dot+m.Wave.String())
	}
	return l
}

const controllerOK = "controller ok"

func badge(sign string, n int, what string, w int) string {
	if w < 100 {
		return sign + widget.Number(min(n, 999))
	}
	return sign + " " + strconv.Itoa(n) + what
}

func byState(m *state.Room) (urgent []widget.Counter, running widget.Counter,
	rest []widget.Counter) {
	n := m.Snap.Count()
	for i := range m.Snap.Agents {
		a := &m.Snap.Agents[i]
		n[a.State]--
		n[describe.AlertState(a.State, &a.Blocker)]++
	}
	known := n[describe.Asking] + n[describe.Stuck]
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
	for _, s := range []city.State{describe.Asking, describe.Stuck} {
		if n[s] > 0 {
			_, word, token := panel.AgentCondition(&m.Look, s)
			urgent = append(urgent, widget.Counter{Text: fmt.Sprintf("  %d %s", n[s], word),
				Token: token, N: n[s]})
		}
	}
	if n := len(m.Snap.Agents) - known; n > 0 {
		urgent = append(urgent, widget.Counter{
			Text:  fmt.Sprintf("  %d in states unknown to this version", n),
			Token: themes.Bad, N: n})
	}
	return urgent, running, rest
}

func headerCounts(m *state.Room, w, omit int) []widget.Counter {
	if m.Snap == nil || len(m.Snap.Agents) == 0 {
		return nil
	}
	if all := allCounts(m); omit < omitCalm || widget.CountersWidth(all) <= w {
		return all
	}
	urgent, running, rest := byState(m)
	if omit >= omitStates {
		urgent, rest = widget.Together(urgent), nil
	}
	if omit >= omitRunning && len(urgent) > 0 {
		return urgent
	}
	if omit < omitTotal {
		running.Text += fmt.Sprintf(" of %d", len(m.Snap.Agents))
	}
	counts := append(urgent, running)
	for _, c := range rest {
		if widget.CountersWidth(counts)+widget.Width(c.Text) > w {
			break
		}
		counts = append(counts, c)
	}
	return counts
}

func allCounts(m *state.Room) []widget.Counter {
	all, running, rest := byState(m)
	if running.N > 0 {
		all = append(all, running)
	}
	return append(all, rest...)
}

// countParts returns the counters that fit into w columns. Counters of agents that need attention come first.
func countParts(m *state.Room, w int) []widget.Counter {
	if m.Snap == nil {
		return nil
	}
	urgent, _, _ := byState(m)
	return widget.FitCounters(urgent, allCounts(m)[len(urgent):], w)
}

func clockText(m *state.Room, omit int) string {
	at := m.Now.Format("15:04:05")
	switch {
	case omit >= omitTime || m.W < 50:
		at = ""
	case m.ReducedMotion || omit >= omitSeconds:
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
		if loop = controllerOK; omit >= omitController {
			return at
		}
	}
	return strings.TrimRight(loop+"  "+at, " ")
}

func summary(m *state.Room, w int) string {
	dot := m.Look.Between()
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
			return m.Look.Cut(text, w)
		}
		room -= over
	}
}

// cityPosition returns text for the header that says which of the listed cities this is, and how many other cities need
// attention.
func cityPosition(m *state.Room, w, omit int) (position, wanting string) {
	key := m.Keys.KeyText("city.switch")
	n, several := 0, severalCities(m)
	if several {
		n = m.Fleet.TroubledElsewhere(m.At)
	}
	switch {
	case key == "" || !several && (w < 60 || w >= wideFooter): // a wide footer has the key
		return "", ""
	case w >= 60 && omit < omitPosition && several:
		return longPosition(m, key, n)
	case w >= 60 && omit < omitCities:
		position = key + " cities"
	case n > 0:
		return "", key + m.Look.Glyphs.Alert + fmt.Sprint(min(n, 99))
	case omit < omitKey:
		return key, ""
	}
	if n > 0 {
		wanting = m.Look.Glyphs.Alert + widget.Number(n)
	}
	return position, wanting
}

// The parameter troubled is the number of other cities that need attention.
func longPosition(m *state.Room, key string, troubled int) (position, wanting string) {
	rows := state.Listed(m)
	at, others := 0, len(rows)
	for i := range rows {
		if state.IsHere(m, &rows[i]) {
			at = i + 1
			others--
		}
	}
	if state.Unlisted(m) != nil || at == 0 {
		position = fmt.Sprintf("%d cities", max(len(rows), others+1))
	} else {
		position = fmt.Sprintf("city %d of %d", at, len(rows))
	}
	if troubled == 0 {
		return position + " " + key, ""
	}
	if troubled == 1 {
		return position, "1 city in trouble " + key
	}
	return position, fmt.Sprintf("%d cities in trouble %s", troubled, key)
}

func addCityPosition(m *state.Room, l *widget.Line, w, omit int) {
	dot := m.Look.Between()
	if w < 60 {
		dot = " "
	}
	position, wanting := cityPosition(m, w, omit)
	if position != "" {
		l.Add(themes.Dim, dot+position)
	}
	if wanting != "" {
		if position != "" && omit >= omitPosition {
			dot = " "
		}
		l.Add(themes.Warn, dot+wanting)
	}
}

// The badge has the city's own color, so that users do not confuse cities.
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
