package state

import (
	"fmt"
	"slices"
	"time"

	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// CommandRows sends one command per target.
func CommandRows(m *Room, doing string, rows []*panel.AgentRow,
	command func(name string) city.Command) []feed.Effect {
	commands := make([]city.Command, len(rows))
	for i, r := range rows {
		commands[i] = command(r.Name)
	}
	what := TargetNames(m, rows)
	Unmark(m, commands)
	return SendCommands(m, doing, what, commands)
}

// Release releases agents, or cancels their drains. It cannot be undone, because the release key is also the undo key,
// and a second press must not drain an agent again.
func Release(m *Room, rows []*panel.AgentRow) []feed.Effect {
	return CommandRows(m, "releasing", rows, func(name string) city.Command {
		if r := m.Agents.Find(name); r != nil && r.State == city.Draining {
			return city.Undrain{Agent: name}
		}
		return city.Release{Agent: name}
	})
}

// TargetNames returns text that names the agents that a verb acts on, and says whether they are marked.
func TargetNames(m *Room, rows []*panel.AgentRow) string {
	marked := len(m.NamedAgents) == 0 && len(rows) > 0 &&
		(len(rows) > 1 || rows[0] != Selected(m))
	for _, r := range rows {
		marked = marked && m.Agents.Marks[r.Name]
	}
	return details.TargetNames(rows, marked)
}

// TargetLines returns lines that name the targets, or nil if the title already names them.
func TargetLines(m *Room, rows []*panel.AgentRow) []string {
	if len(rows) <= 1 {
		return nil
	}
	lines, hidden := []string{details.ListRows(rows)}, 0
	for _, r := range rows {
		if m.Agents.Marks[r.Name] && len(m.NamedAgents) == 0 &&
			!slices.Contains(m.Agents.List.IDs, r.Name) {
			hidden++
		}
	}
	if hidden > 0 {
		lines = append(lines, fmt.Sprintf("The filter in Agents hides %d of them.", hidden))
	}
	return lines
}

// SendCommands sends commands. Until their results arrive, the status line shows the progress.
func SendCommands(m *Room, doing, what string, commands []city.Command) []feed.Effect {
	id := BeginAction(m, doing+" "+what+" "+m.Look.Glyphs.More)
	offerUndo(m, doing+" "+what, commands)
	m.Status.Starts = startsOf(m.Agents, commands)
	title := doing
	if len(commands) > 1 {
		title += " " + what
	}
	return []feed.Effect{feed.SendCommands{ID: id, Title: title, Commands: commands}}
}

// Firing describes an automation that was fired from this control room.
type Firing struct {
	ID     int
	Name   string
	Before string // ID of its latest run before it was fired
}

// ReportFiredRun reports the result of a run that was started in this room.
func ReportFiredRun(m *Room) {
	r := m.Automations.Find(m.Fired.Name)
	asked := m.Status.Pending && m.Status.ID == m.Fired.ID // the city has not responded yet
	if asked || r == nil || r.Last == nil || r.Last.ID == m.Fired.Before || r.Last.Ended == nil {
		return
	}
	took := widget.Elapsed(r.Last.Ended.Sub(r.Last.Opened))
	m.Fired = Firing{}
	how := panel.RunOK + " in " + took
	if r.Last.Made != "" {
		how = "took " + took + " and created " + widget.Plain(r.Last.Creation())
	}
	switch {
	case r.Last.Outcome != panel.RunOK:
		ShowFailure(m, r.Shown+" failed after "+took+": "+panel.RunFailure(r.Last))
	case !m.Status.Failed && !m.Status.Pending:
		ShowSuccess(m, r.Shown+": "+how)
	}
}

// Scaling is a pool size that the user has requested. It replaces the size in older snapshots.
type Scaling struct {
	Pool string
	Size int
	At   time.Time
}

// WantedSize returns the size that pool.less decreases and pool.more increases by one.
func WantedSize(m *Room, p *panel.PoolRow) int {
	if isScaling(m, p) {
		return m.Scaled.Size
	}
	if p.Override != nil {
		return *p.Override
	}
	return min(max(p.Desired, p.Min), p.Max)
}

// isScaling reports whether the snapshot might not reflect a requested size yet.
func isScaling(m *Room, p *panel.PoolRow) bool {
	const echo = 2 * time.Second
	return m.Scaled.Pool == p.Name && m.Now.Sub(m.Scaled.At) < echo && !m.Status.Failed
}

// RunTasks runs tasks. Until they end, the status line shows the progress. Tasks cannot be undone.
func RunTasks(m *Room, doing, what string, tasks ...feed.Task) []feed.Effect {
	id := BeginAction(m, doing+" "+what+" "+m.Look.Glyphs.More)
	refuseUndo(m, doing+" "+what)
	return []feed.Effect{feed.RunTasks{ID: id, Title: doing, Tasks: tasks}}
}
