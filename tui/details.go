package tui

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"gcity/city"
	"gcity/themes"
)

// details is everything known of an agent, the reasons first.
func (m *model) details(name string, w int) []string {
	r := m.agents.find(name)
	a, ok := m.snap.Agent(name)
	if r == nil || !ok {
		return []string{"This agent is no longer part of the city."}
	}
	dot := " " + m.look.glyph.Dot + " "
	lines := m.stateFields(r, a)
	if s := a.Stuck; s != nil {
		lines = append(lines, m.field("stuck", "its screen is as it was since "+clock(s.Since, m.now)+", with "+plain(s.Task)+"; "+m.keys.keyOf("agent.attach")+" attaches"))
	}
	if a.AwaitsGate != "" {
		lines = append(lines, m.field("awaits", "gate "+plain(a.AwaitsGate)))
	}
	for _, d := range m.over(name) {
		lines = append(lines, m.field("watched", "by "+d.shown+dot+d.word+dot+"heartbeat "+d.heart(m.now).full))
	}
	lines = append(lines, m.sendFields(a.Sends)...)
	if len(a.Drift) > 0 {
		lines = append(lines, m.field("drift", "a restart is held back: "+plain(strings.Join(a.Drift, ", "))))
	}
	if a.UnavailableReason != "" {
		lines = append(lines, m.field("problem", plain(a.UnavailableReason)))
	}
	if p := m.pools.find(a.Pool); p != nil {
		lines = append(lines, m.field("pool", p.shown+", "+string(p.state(m.now))+", "+p.sizes()))
	}
	if r.task != "" {
		lines = append(lines, m.field("works on", r.task))
	}
	lines = append(lines, m.mailField(a)...)
	if a.Rig != "" {
		lines = append(lines, m.field("rig", m.rigText(a.Rig)))
	}
	if len(a.DependsOn) > 0 {
		lines = append(lines, m.field("needs", m.needsText(a.DependsOn)))
	}
	if a.IdleTimeout > 0 {
		lines = append(lines, m.field("idle", m.idleText(a)))
	}
	if a.Description != "" {
		lines = append(lines, m.field("about", plain(a.Description)))
	}
	lines = append(lines,
		m.field("command", plain(a.Command)),
		m.field("folder", plain(a.Dir)),
		m.field("declared", m.declaredText(a.Source, a.Patched)),
		m.field("session", m.sessionText(a)),
	)
	if drawn := m.agents.pulses.draw(a.Name, m.now, &m.look.glyph); drawn != "" {
		lines = append(lines, m.field("activity", m.look.paint(themes.Accent, drawn)+m.look.paint(themes.Dim, "  output of the last 10 minutes")))
	}
	if u := a.Usage; u != nil {
		lines = append(lines, m.field("takes", cpuText(u)+" of a processor, "+memText(u)+" in "+process(u.Procs)))
	}
	lines = append(lines,
		m.field("restarts", restartsText(a, dot)),
		m.field("last exit", m.exitText(a.Exit)),
	)
	if a.Exit != nil && a.Exit.File != "" {
		lines = append(lines, m.field("last words", m.keptIn(a.Exit.File, w-fieldWidth)))
	}
	return append(lines, m.decisions(a.Decisions)...)
}

// restartsText says how often an agent was restarted, and how many crashes are counted against it.
func restartsText(a *city.Agent, dot string) string {
	text := "none"
	if a.Restarts > 0 {
		text = number(a.Restarts)
	}
	if a.Crashes > 0 {
		text += dot + "crashes that count: " + number(a.Crashes)
	}
	return text
}

// stateFields say how an agent is, why, and what happens next.
func (m *model) stateFields(r *agentRow, a *city.Agent) []string {
	sign, token := m.stateSign(r)
	dot := " " + m.look.glyph.Dot + " "
	state := m.look.paint(token, sign) + " for " + age(m.now.Sub(r.since))
	if r.stuck != nil {
		state = m.look.paint(token, sign) + " for " + age(m.now.Sub(r.stuck.Since)) + dot + "running for " + age(m.now.Sub(r.since))
	}
	if e := m.ends(r).full; e != "" {
		state += dot + e
		if !r.until.IsZero() {
			state += " (" + clock(r.until, m.now) + ")"
		}
	}
	lines := []string{m.field("state", state), m.field("why", suspendedBy(plain(a.Reason)))}
	told := m.ends(r).full != "" && a.Next != nil && a.Next.At != nil && a.Next.At.Equal(r.until) // in the line of the state
	if next := m.nextText(a.Next); next != "" && !told {
		if a.Next.At != nil {
			next += " (" + clock(*a.Next.At, m.now) + ")"
		}
		lines = append(lines, m.field("next", next))
	}
	if a.Drain != nil {
		lines = append(lines, m.field("drain", m.drainText(a.Drain, r.until)))
	}
	return lines
}

// drainText says who has told an agent to finish, when, and what it has said to it; until is the end that is told already.
func (m *model) drainText(d *city.DrainInfo, until time.Time) string {
	text := "told to finish by " + plain(d.By) + " " + age(m.now.Sub(d.Since)) + " ago"
	switch {
	case d.Acked:
		return text + "; it has answered"
	case d.Deadline == nil:
		return text + "; it has not answered, and is waited for without end"
	}
	text += "; it has not answered"
	if d.Deadline.Equal(until) {
		return text
	}
	return text + ", and has until " + clock(*d.Deadline, m.now)
}

// rigText is a rig by its name, and how it is as far as it is known.
func (m *model) rigText(name string) string {
	for i := range m.snap.Rigs {
		if r := &m.snap.Rigs[i]; r.Name == name {
			return m.rigLine(r)
		}
	}
	return plain(name)
}

// needsText says how that is on which an agent depends.
func (m *model) needsText(names []string) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = plain(name)
		if r := m.agents.find(name); r != nil {
			texts[i] += " " + string(r.state)
		} else if p := m.pools.find(name); p != nil {
			texts[i] += " " + p.sizes()
		}
	}
	return strings.Join(texts, ", ")
}

// idleText says after how long without activity an agent is restarted, and how long there was none.
func (m *model) idleText(a *city.Agent) string {
	text := "restarted after " + span(a.IdleTimeout) + " without activity"
	switch {
	case a.Session == nil:
	case a.Session.Attached:
		text += "; not while somebody is attached"
	case a.Session.LastActivity != nil:
		text += "; quiet for " + age(m.now.Sub(*a.Session.LastActivity))
	}
	return text
}

func process(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}

func (m *model) sessionText(a *city.Agent) string {
	if a.Session == nil {
		return "none"
	}
	s := "up " + age(m.now.Sub(a.Session.Started))
	if a.PID > 0 {
		s = fmt.Sprintf("pid %d, %s", a.PID, s)
	}
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

// decisions are the last ones, the newest first, with the day where it is not today.
func (m *model) decisions(all []city.Decision) []string {
	lines := []string{"", m.look.paint(themes.Title, "Last decisions")}
	if len(all) == 0 {
		return append(lines, m.look.paint(themes.Dim, "None yet."))
	}
	room := 0
	for i := range all {
		room = max(room, width(clock(all[i].At, m.now)))
	}
	for i := len(all) - 1; i >= 0; i-- {
		d := &all[i]
		lines = append(lines, m.look.paint(themes.Dim, fit(clock(d.At, m.now), room, ""))+"  "+fit(plain(d.What), 10, "")+"  "+plain(d.Why))
	}
	return lines
}
