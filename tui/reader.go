package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"charm.land/lipgloss/v2"

	"gcity/city"
	"gcity/themes"
)

// reader is a text in a sheet of its own.
type reader struct {
	title  string
	lines  func(m *model, w int) []string // drawn anew with every frame, so that it lives
	offset int
	length int // of the text when it was last drawn
}

func (r *reader) scroll(n, h int) {
	r.offset = max(0, min(r.offset+n, r.length-h))
}

func (m *model) showEvent() []effect {
	row := *m.events.selected()
	m.reader = &reader{title: row.kind, lines: func(m *model, w int) []string { return wrapAll(m.eventDetail(&row), w) }}
	return nil
}

func (m *model) showDetails() []effect {
	name := m.chosen
	m.reader = &reader{title: m.selected().shown, lines: func(m *model, w int) []string { return wrapAll(m.details(name, w), w) }}
	return nil
}

func (m *model) showCity() []effect {
	m.reader = &reader{title: m.cityName(), lines: func(m *model, w int) []string { return wrapAll(m.cityDetails(), w) }}
	return nil
}

// cityDetails is what is known of the city as a whole, its problems first.
func (m *model) cityDetails() []string {
	var lines []string
	for _, p := range m.problems() {
		lines = append(lines, m.look.paint(themes.Bad, m.look.glyph.Alert)+" "+p)
	}
	if len(lines) == 0 {
		lines = append(lines, m.look.paint(themes.Good, m.look.glyph.Done)+" no problems")
	}
	s := m.snap
	return append(lines, "",
		m.field("folder", plain(s.Path)),
		m.field("host", plain(s.Host)),
		m.field("version", plain(s.Version)),
		m.field("controller", fmt.Sprintf("pid %d, %s, up %s", s.PID, plain(s.Mode), age(m.now.Sub(s.Started)))),
		m.field("config", fmt.Sprintf("revision %s, in force since %s", plain(s.Config.Revision), clock(s.Config.Loaded, m.now))),
		m.field("patrol", fmt.Sprintf("every %s, the last %s ago", s.Patrol.Interval, age(s.Patrol.Age(m.now)))),
		m.field("events", fmt.Sprintf("%d so far", s.Seq)),
	)
}

// details is everything known of an agent, the reasons first.
func (m *model) details(name string, w int) []string {
	r := m.roster.find(name)
	a, ok := m.snap.Agent(name)
	if r == nil || !ok {
		return []string{"This agent is no longer part of the city."}
	}
	sign, token := m.look.sign(r.state)
	dot := " " + m.look.glyph.Dot + " "
	state := m.look.paint(token, sign+" "+string(r.state)) + " for " + age(m.now.Sub(r.since))
	if e := m.ends(r).full; e != "" {
		state += dot + e
		if !r.until.IsZero() {
			state += " (" + clock(r.until, m.now) + ")"
		}
	}
	lines := []string{
		m.field("state", state),
		m.field("why", plain(a.Reason)),
	}
	if len(a.Drift) > 0 {
		lines = append(lines, m.field("drift", "a restart is held back: "+plain(strings.Join(a.Drift, ", "))))
	}
	if a.UnavailableReason != "" {
		lines = append(lines, m.field("problem", plain(a.UnavailableReason)))
	}
	lines = append(lines,
		m.field("about", plain(a.Description)),
		m.field("command", plain(a.Command)),
		m.field("folder", plain(a.Dir)),
		m.field("declared", plain(a.Source)),
		m.field("session", m.sessionText(a)),
		m.field("restarts", number(a.Restarts)+dot+"crashes that count: "+number(a.Crashes)),
		m.field("last exit", m.exitText(a.Exit)),
	)
	if a.Exit != nil && a.Exit.File != "" {
		lines = append(lines, m.field("last words", m.keptIn(a.Exit.File, w-fieldWidth)))
	}
	lines = append(lines, "", m.look.paint(themes.Title, "Last decisions"))
	if len(a.Decisions) == 0 {
		return append(lines, m.look.paint(themes.Dim, "None yet."))
	}
	for i := len(a.Decisions) - 1; i >= 0; i-- {
		d := &a.Decisions[i]
		lines = append(lines, m.look.paint(themes.Dim, clock(d.At, m.now))+"  "+fit(plain(d.What), 10, "")+"  "+plain(d.Why))
	}
	return lines
}

func (m *model) sessionText(a *city.Agent) string {
	if a.Session == nil {
		return "none"
	}
	s := fmt.Sprintf("pid %d, up %s", a.PID, age(m.now.Sub(a.Session.Started)))
	if t := a.Session.LastActivity; t != nil {
		s += ", last output " + age(m.now.Sub(*t)) + " ago"
	}
	if a.Session.Viewers > 0 {
		s += ", " + count(a.Session.Viewers, "viewer")
	}
	return s + ", id " + plain(a.Session.ID)
}

// keptIn names a file of the city so that it can be copied: in full where that fits into one line.
func (m *model) keptIn(file string, w int) string {
	if full := plain(filepath.Join(m.snap.Path, file)); width(full) <= w {
		return full
	}
	return plain(file)
}

func (m *model) exitText(e *city.Exit) string {
	if e == nil {
		return "none"
	}
	return lastExit(e) + ", " + age(m.now.Sub(e.At)) + " ago"
}

// pretty indents a JSON value, and gives it as it is if it is none.
func pretty(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// wrapAll breaks lines where they are wider than w.
func wrapAll(lines []string, w int) []string {
	var out []string
	for _, s := range lines {
		out = append(out, wrapped(s, w)...)
	}
	return out
}

// wrapped breaks a text at blanks; styles go on in the next line.
func wrapped(s string, w int) []string {
	if width(s) <= w || w < 4 {
		return []string{s}
	}
	return strings.Split(lipgloss.Wrap(s, w, ""), "\n")
}
