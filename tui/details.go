package tui

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"gcity/city"
	"gcity/describe"
	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// details is everything known of an agent, the reasons first.
func details(m *model, name string, w int) []string {
	r := m.Agents.Find(name)
	a, ok := m.snap.Agent(name)
	if r == nil || !ok {
		return []string{"This agent is no longer part of the city."}
	}
	dot := " " + m.look.Glyphs.Dot + " "
	lines := stateFields(m, r, a)
	if s := a.Stuck; s != nil {
		lines = append(lines, m.look.Field("stuck", "its screen is as it was since "+
			widget.Clock(s.Since, m.now)+", with "+widget.Plain(s.Task)+"; "+
			m.keys.KeyOf("agent.attach")+" attaches"))
	}
	if a.AwaitsGate != "" {
		lines = append(lines, m.look.Field("awaits", "gate "+widget.Plain(a.AwaitsGate)))
	}
	for _, d := range m.Watchdogs.Over(name) {
		lines = append(lines, m.look.Field("watched", "by "+d.Shown+dot+d.Word+dot+"heartbeat "+
			d.Heart(m.now).Full))
	}
	lines = append(lines, sendFields(m, a.Sends)...)
	if len(a.Drift) > 0 {
		lines = append(lines, m.look.Field("drift", widget.Plain(describe.HeldBack(a.Drift))))
	}
	if a.UnavailableReason != "" {
		lines = append(lines, m.look.Field("problem", widget.Plain(a.UnavailableReason)))
	}
	if p := m.Pools.Find(a.Pool); p != nil {
		lines = append(lines, m.look.Field("pool", p.Shown+", "+string(p.State(m.now))+", "+
			p.Sizes()))
	}
	if r.Task != "" {
		lines = append(lines, m.look.Field("works on", r.Task))
	}
	lines = append(lines, mailField(m, a)...)
	if a.Rig != "" {
		lines = append(lines, m.look.Field("rig", rigText(m, a.Rig)))
	}
	if len(a.DependsOn) > 0 {
		lines = append(lines, m.look.Field("needs", needsText(m, a.DependsOn)))
	}
	if a.IdleTimeout > 0 {
		lines = append(lines, m.look.Field("idle", idleText(m, a)))
	}
	if a.Description != "" {
		lines = append(lines, m.look.Field("about", widget.Plain(a.Description)))
	}
	return append(append(lines, lifeFields(m, a, w)...), panel.Decisions(m.env(), a.Decisions)...)
}

// lifeFields say what an agent runs, its session, and how its lives have ended.
func lifeFields(m *model, a *city.Agent, w int) []string {
	dot := " " + m.look.Glyphs.Dot + " "
	lines := []string{
		m.look.Field("command", widget.Plain(a.Command)),
		m.look.Field("folder", widget.Plain(a.Dir)),
		m.look.Field("declared", declaredText(m, a.Source, a.Patched)),
		m.look.Field("session", sessionText(m, a)),
	}
	if drawn := m.Agents.Pulses.Draw(a.Name, m.now, &m.look.Glyphs); drawn != "" {
		lines = append(lines, m.look.Field("activity", m.look.Paint(themes.Accent, drawn)+
			m.look.Paint(themes.Dim, "  output of the last 10 minutes")))
	}
	if u := a.Usage; u != nil {
		lines = append(lines, m.look.Field("takes", widget.CPU(u)+" of a processor, "+
			widget.Memory(u)+" in "+describe.Processes(u.Procs)))
	}
	lines = append(lines,
		m.look.Field("restarts", restartsText(a, dot)),
		m.look.Field("last exit", exitText(m, a.Exit)),
	)
	if a.Exit != nil && a.Exit.File != "" {
		lines = append(lines, m.look.Field("last words",
			keptIn(m, a.Exit.File, w-widget.FieldWidth)))
	}
	return lines
}

// restartsText says how often an agent was restarted, and how many crashes are counted against it.
func restartsText(a *city.Agent, dot string) string {
	text := "none"
	if a.Restarts > 0 {
		text = widget.Number(a.Restarts)
	}
	if a.Crashes > 0 {
		text += dot + "crashes that count: " + widget.Number(a.Crashes)
	}
	return text
}

// stateFields say how an agent is, why, and what happens next.
func stateFields(m *model, r *panel.AgentRow, a *city.Agent) []string {
	sign, token := panel.ConditionOf(&m.look, r)
	dot := " " + m.look.Glyphs.Dot + " "
	state := m.look.Paint(token, sign) + " for " + widget.Age(m.now.Sub(r.Since))
	if r.Stuck != nil {
		state = m.look.Paint(token, sign) + " for " + widget.Age(m.now.Sub(r.Stuck.Since)) + dot +
			"running for " + widget.Age(m.now.Sub(r.Since))
	}
	if e := r.Ends(m.env()).Full; e != "" {
		state += dot + e
		if !r.Until.IsZero() {
			state += " (" + widget.Clock(r.Until, m.now) + ")"
		}
	}
	lines := []string{m.look.Field("state", state),
		m.look.Field("why", panel.SuspendedBy(widget.Plain(a.Reason)))}
	// in the line of the state
	told := r.Ends(m.env()).Full != "" && a.Next != nil && a.Next.At != nil &&
		a.Next.At.Equal(r.Until)
	if next := panel.NextText(a.Next, m.now); next != "" && !told {
		if a.Next.At != nil {
			next += " (" + widget.Clock(*a.Next.At, m.now) + ")"
		}
		lines = append(lines, m.look.Field("next", next))
	}
	if a.Drain != nil {
		lines = append(lines, m.look.Field("drain", drainText(m, a.Drain, r.Until)))
	}
	return lines
}

// drainText says who has told an agent to finish, when, and what it has said to it; until is the end that is told
// already.
func drainText(m *model, d *city.DrainInfo, until time.Time) string {
	text := describe.ToldToFinish(widget.Plain(d.By)) + " " + widget.Age(m.now.Sub(d.Since)) +
		" ago"
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
	return text + ", and has until " + widget.Clock(*d.Deadline, m.now)
}

// rigText is a rig by its name, and how it is as far as it is known.
func rigText(m *model, name string) string {
	for i := range m.snap.Rigs {
		if r := &m.snap.Rigs[i]; r.Name == name {
			return rigLine(m, r)
		}
	}
	return widget.Plain(name)
}

// needsText says how that is on which an agent depends.
func needsText(m *model, names []string) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = widget.Plain(name)
		if r := m.Agents.Find(name); r != nil {
			texts[i] += " " + string(r.State)
		} else if p := m.Pools.Find(name); p != nil {
			texts[i] += " " + p.Sizes()
		}
	}
	return strings.Join(texts, ", ")
}

// idleText says after how long without activity an agent is restarted, and how long there was none.
func idleText(m *model, a *city.Agent) string {
	text := describe.Idle(a.IdleTimeout)
	switch {
	case a.Session == nil:
	case a.Session.Attached:
		text += describe.NotWhileAttached
	case a.Session.LastActivity != nil:
		text += "; quiet for " + widget.Age(m.now.Sub(*a.Session.LastActivity))
	}
	return text
}

func sessionText(m *model, a *city.Agent) string {
	if a.Session == nil {
		return "none"
	}
	s := "up " + widget.Age(m.now.Sub(a.Session.Started))
	if a.PID > 0 {
		s = fmt.Sprintf("pid %d, %s", a.PID, s)
	}
	if t := a.Session.LastActivity; t != nil {
		s += ", last output " + widget.Age(m.now.Sub(*t)) + " ago"
	}
	if a.Session.Viewers > 0 {
		s += ", " + widget.Count(a.Session.Viewers, "viewer")
	}
	return s + ", id " + widget.Plain(a.Session.ID+a.Session.DetailText())
}

// keptIn names a file of the city so that it can be copied: in full where that fits into one line.
func keptIn(m *model, file string, w int) string {
	if full := widget.Plain(filepath.Join(m.snap.Path, file)); widget.Width(full) <= w {
		return full
	}
	return widget.Plain(file)
}

func exitText(m *model, e *city.Exit) string {
	if e == nil {
		return "none"
	}
	return panel.LastExit(e) + ", " + widget.Age(m.now.Sub(e.At)) + " ago"
}

// sendFields are the texts on their way into an agent, as far as they have come.
func sendFields(m *model, sends []city.Send) []string {
	var lines []string
	label := "texts"
	for i := range sends {
		s := &sends[i]
		token := themes.Good
		switch s.Stage {
		case city.Queued:
			token = themes.Warn
		case city.Typing:
			token = themes.Busy
		case city.GivenUp:
			token = themes.Bad
		}
		text := m.look.Paint(token, widget.Plain(string(s.Stage))) + " for " +
			widget.Age(m.now.Sub(s.Since))
		if s.Stage.Over() {
			text = m.look.Paint(token, widget.Plain(string(s.Stage))) + " " +
				widget.Age(m.now.Sub(s.Since)) + " ago"
		}
		if s.Why != "" {
			text += ": " + widget.Plain(s.Why)
		}
		lines = append(lines, m.look.Field(label, text),
			m.look.Field("", m.look.Paint(themes.Dim, panel.Quoted(s))))
		label = ""
	}
	return lines
}
