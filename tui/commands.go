package tui

import (
	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
	"time"
)

// do sends one command per target.
func do(m *model, doing string, rows []*panel.AgentRow,
	command func(name string) city.Command) []feed.Effect {
	commands := make([]city.Command, len(rows))
	for i, r := range rows {
		commands[i] = command(r.Name)
	}
	unmark(m, commands)
	return carry(m, doing, details.TargetNames(rows), commands)
}

// carry sends commands. Until their results arrive, the status line shows the texts doing and what.
func carry(m *model, doing, what string, commands []city.Command) []feed.Effect {
	id := begin(m, doing+" "+what+" "+m.look.Glyphs.More)
	offer(m, doing+" "+what, commands)
	m.status.starts = panel.StartsOf(m.Agents, commands)
	return []feed.Effect{feed.Perform{ID: id, Title: doing, Commands: commands}}
}

// firing describes an automation that was fired from this control room. It is reset when the run has ended.
type firing struct {
	id     int // ID of the action
	name   string
	before string // ID of its newest run when it was fired
}

// firedEnded reports the end of a run that was fired here.
func firedEnded(m *model) {
	r := m.Automations.Find(m.fired.name)
	asked := m.status.pending && m.status.id == m.fired.id // the city has not answered yet
	if asked || r == nil || r.Last == nil || r.Last.ID == m.fired.before || r.Last.Ended == nil {
		return
	}
	took := widget.Elapsed(r.Last.Ended.Sub(r.Last.Opened))
	m.fired = firing{}
	how := panel.Ran
	if r.Last.Made != "" {
		how = "created " + widget.Plain(r.Last.Made)
	}
	switch {
	case r.Last.Outcome != panel.Ran:
		complain(m, r.Shown+" failed after "+took+": "+panel.RunFailure(r.Last))
	case !m.status.failed && !m.status.pending:
		say(m, r.Shown+": "+how+" in "+took)
	}
}

// scaling is a pool size that the user requested. It replaces the size in the snapshot until snapshots reflect it.
type scaling struct {
	pool string
	size int
	at   time.Time
}

// wanted returns the size that pool.less and pool.more change by one.
func wanted(m *model, p *panel.PoolRow) int {
	if isScaling(m, p) {
		return m.scaled.size
	}
	if p.Override != nil {
		return *p.Override
	}
	return min(max(p.Desired, p.Min), p.Max)
}

// isScaling reports whether a size was requested so recently that the snapshot may not reflect it yet.
func isScaling(m *model, p *panel.PoolRow) bool {
	const echo = 2 * time.Second
	return m.scaled.pool == p.Name && m.now.Sub(m.scaled.at) < echo && !m.status.failed
}

// send runs tasks. Until they end, the status line shows the texts doing and what.
func send(m *model, doing, what string, tasks ...feed.Task) []feed.Effect {
	id := begin(m, doing+" "+what+" "+m.look.Glyphs.More)
	m.undo = undo{}
	return []feed.Effect{feed.RunTasks{ID: id, Title: doing, Tasks: tasks}}
}
