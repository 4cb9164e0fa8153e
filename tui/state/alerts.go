package state

import (
	"fmt"
	"slices"
	"time"

	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Unread returns the number of unread messages for people.
func Unread(m *Room) int {
	if m.Snap == nil {
		return 0
	}
	return max(0, m.Snap.Mail.Unread)
}

// Stalled reports whether the controller's patrol is long overdue.
func Stalled(m *Room) bool {
	if m.Snap == nil || m.Snap.Patrol.Last.IsZero() || announcedStop(m) {
		return false
	}
	return m.Snap.Patrol.Age(m.Now) > 3*m.Snap.Patrol.Interval+5*time.Second
}

// announcedStop reports whether the city does not respond and its last snapshot announced a clean shutdown.
func announcedStop(m *Room) bool { return m.Unreachable != "" && m.Snap != nil && m.Snap.ShutDown }

// Uncontrollable reports whether a city that another process runs cannot be controlled, because it has stopped or does
// not respond.
func Uncontrollable(m *Room) bool { return m.Unreachable != "" && m.Mode != Hosting }

// Alerts returns the problems with the city as a whole, the worst first.
func Alerts(m *Room) []panel.Alert {
	var p []panel.Alert
	bad := func(text string) { p = append(p, panel.Alert{Text: text}) }
	switch {
	case announcedStop(m):
		bad("the city stopped " + widget.Age(m.Now.Sub(m.SilentSince)) + " ago" + restartHint(m) +
			"; this is its last known state")
	case Uncontrollable(m):
		bad("no response for " + widget.Age(m.Now.Sub(m.SilentSince)) + ": " + m.Unreachable +
			restartHint(m) +
			"; the data shown is outdated")
	case m.Unreachable != "":
		bad("the city cannot be reached: " + m.Unreachable + "; the data shown is outdated")
	}
	s := m.Snap
	if s == nil {
		return p
	}
	if s.ShutDown && !announcedStop(m) {
		bad("the city is shutting down")
	}
	if Stalled(m) {
		bad("the controller's last patrol was " + widget.Age(s.Patrol.Age(m.Now)) + " ago")
	}
	held := ""
	if s.Config.Held != nil {
		held = fleet.HeldText(s.Config.Held)
	}
	return append(p, m.Alerts(m.Env(), held, preferenceProblems(m))...)
}

// restartHint returns a hint how to start a city that does not respond, or "".
func restartHint(m *Room) string {
	switch {
	case !Uncontrollable(m) || m.Unreachable == feed.NoResponseYet:
		return ""
	case m.OpenedAs != "":
		return "; run `gcity start` there to start it again"
	}
	return "; run `gcity` there to start it again"
}

// AlertLines returns the rows below the header.
func AlertLines(m *Room, n int) []string {
	return panel.AlertLines(&m.Look, Alerts(m), m.W, n, m.Keys.KeyText("city.details"))
}

// preferenceProblems returns the problems with the preferences and with the city's theme, for the header.
func preferenceProblems(m *Room) []string {
	var all []string
	for _, p := range slices.Concat(m.Preferences.Problems, m.Unbound) {
		all = append(all, "preferences: "+widget.PlainText(p))
	}
	if name := cityTheme(m); name != "" && findTheme(m, name) == nil && name != AutoTheme {
		all = append(all, fmt.Sprintf("city.toml sets an unknown theme: %q",
			widget.Plain(name)))
	}
	return all
}
