package state

import (
	"fmt"
	"slices"
	"time"

	"gcity/describe"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Unread returns the number of unread messages for users.
func Unread(m *Room) int {
	if m.Snap == nil {
		return 0
	}
	return max(0, m.Snap.Mail.Unread)
}

// Stalled reports whether the controller's patrol is long overdue.
func Stalled(m *Room) bool {
	if m.Snap == nil || m.Snap.Patrol.Last.IsZero() || HasStopped(m) {
		return false
	}
	return m.Snap.Patrol.Age(m.Now) > 3*m.Snap.Patrol.Interval+5*time.Second
}

// HasStopped reports whether the city has shut down cleanly, according to its last snapshot.
func HasStopped(m *Room) bool { return m.Unreachable != "" && m.Snap != nil && m.Snap.ShutDown }

// Uncontrollable reports whether a city that another process runs has stopped or does not respond.
func Uncontrollable(m *Room) bool { return m.Unreachable != "" && m.Mode != Hosting }

// SetUnreachable stores the reason why the city is unreachable; "" = it responds.
func (m *Room) SetUnreachable(why string) {
	if m.Unreachable == "" {
		m.SilentSince = m.Now
	}
	if why != m.Unreachable {
		m.Unreachable = why
		m.UI++
	}
}

// NoController returns text that says for how long the controller has not responded, and why.
func NoController(m *Room) string {
	since := widget.Since(m.SilentSince, m.Now)
	if HasStopped(m) {
		return "the city stopped " + since + " ago" + restartHint(m)
	}
	if hasNoController(m) {
		return "no controller for " + since + restartHint(m) + "; agents keep running"
	}
	return "no response for " + since + ": " + m.Unreachable + restartHint(m) +
		"; the data shown is outdated"
}

func hasNoController(m *Room) bool {
	return HasStopped(m) || m.Unreachable == feed.Exited || m.Unreachable == feed.NotRunning
}

// Alerts returns the problems with the city as a whole, most severe first.
func Alerts(m *Room) []panel.Alert {
	var p []panel.Alert
	bad := func(text string) { p = append(p, panel.Alert{Text: text}) }
	switch {
	case HasStopped(m):
		bad(NoController(m) + "; this is its last known state")
	case Uncontrollable(m):
		bad(NoController(m))
	case m.Unreachable != "":
		bad("the city cannot be reached: " + m.Unreachable + "; the data shown is outdated")
	}
	s := m.Snap
	if s == nil {
		return p
	}
	if s.ShutDown && !HasStopped(m) {
		bad("the city is shutting down")
	}
	if Stalled(m) {
		bad("the controller's last patrol was " + widget.Age(s.Patrol.Age(m.Now)) + " ago")
	}
	if s.Suspended {
		p = append(p, suspendedCity(m))
	}
	held := ""
	if s.Config.Held != nil {
		held = fleet.HeldText(s.Config.Held)
	}
	return append(p, m.Alerts(m.Env(), rejectedConfig(m), held, preferenceProblems(m))...)
}

// FindAlert returns the first matching problem, or nil.
func FindAlert(m *Room, is func(*panel.Alert) bool) *panel.Alert {
	return widget.First(Alerts(m), is)
}

func suspendedCity(m *Room) panel.Alert {
	a := panel.Alert{Text: "the city is suspended", Pending: true}
	switch own := m.Keys.MainKey("city.suspend"); {
	case NeedWritable(m) != "":
	case own != "":
		a.Key, a.Effect, a.Action = own, "resumes it", "city.suspend"
	default:
		a.Action = "view.palette"
		a.Key, a.Effect = m.Keys.MainKey(a.Action), `, then type "resume city"`
	}
	return a
}

// rejectedConfig returns the alert about a rejected configuration, if any. The error comes early in the text, because a
// narrow screen shows only the beginning.
func rejectedConfig(m *Room) []panel.Alert {
	if m.Snap.Config.Rejected == "" {
		return nil
	}
	if trust := m.Snap.Config.Trust; trust != "" {
		return []panel.Alert{{Text: "changes not trusted: run `" + widget.Plain(trust) + "`: " +
			widget.PlainText(m.Snap.Config.Rejected)}}
	}
	a := panel.Alert{Text: "config invalid: " + widget.PlainText(m.Snap.Config.Rejected)}
	if m.Mode != ReadOnly && m.Files != nil {
		a.Action = "config.edit"
		a.Key, a.Effect = m.Keys.MainKey(a.Action), "edits it"
	}
	return []panel.Alert{a}
}

// restartHint returns a hint on how to start the city, to be appended to the city's state. Both together must fit into
// 80 columns.
func restartHint(m *Room) string {
	key := m.Keys.MainKey("city.switch")
	switch {
	case !Uncontrollable(m) || m.Unreachable == feed.NoResponseYet:
		return ""
	case startsHere(m) && key != "":
		return "; " + key + " starts it"
	case m.Snap == nil && !hasNoController(m):
		return ""
	}
	mode := ""
	if m.Snap != nil {
		mode = m.Snap.Mode
	}
	hint := "; run `" + describe.StartCommand(mode) + "`"
	if m.OpenedAs != "" {
		hint += " in its folder"
	}
	return hint
}

// startsHere reports whether the key for switching cities can start the room's city.
func startsHere(m *Room) bool {
	return !m.Departure.Leaves() && !(m.Directory && m.All) && StartableHere(m) != nil
}

// AlertLines returns at most n lines with alerts, to be shown below the header.
func AlertLines(m *Room, n int) []string {
	return panel.AlertLines(&m.Look, Alerts(m), m.W, n, m.Keys.KeyText("city.details"))
}

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
