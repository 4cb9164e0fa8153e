package tui

import (
	"fmt"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/panel"
	"gcity/tui/widget"
	"time"
)

// unread returns the number of unread messages for people.
func unread(m *model) int {
	if m.snap == nil {
		return 0
	}
	return max(0, m.snap.Mail.Unread)
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

// mistakesOf returns the problems of the preferences and of the city's theme, for the header.
func mistakesOf(m *model) []string {
	var all []string
	for _, p := range append(m.person.Problems[:len(m.person.Problems):len(m.person.Problems)],
		m.unbound...) {
		all = append(all, "preferences: "+widget.PlainText(p))
	}
	if name := cityTheme(m); name != "" && themeCalled(m, name) == nil && name != AutoTheme {
		all = append(all, fmt.Sprintf("city.toml asks for the unknown theme %q",
			widget.Plain(name)))
	}
	return all
}
