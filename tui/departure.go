package tui

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

// departure is the state of leaving the room after all agents have drained. The zero value waits for no agent.
type departure struct {
	id int // ID of the action that drained the agents
	// agents with a drain command that has not failed, in the order of the commands
	draining []string
	answered bool // the results of the drain commands are known
	// the user stays; the drains are canceled once their results are known
	canceled bool
	sessions map[string]string // session IDs of the awaited agents, by name
	total    int
	until    time.Time // when to leave even if agents have not finished
}

func (d *departure) waits() bool { return d.total > 0 && !d.canceled }

// refusedToDepart stops waiting for agents that could not be drained.
func refusedToDepart(m *model, r *feed.Result) {
	d := &m.departure
	if d.total == 0 || d.id != r.ID {
		return
	}
	var told []string
	for i, name := range d.draining {
		if slices.Contains(r.Refused, i) {
			delete(d.sessions, name)
		} else {
			told = append(told, name)
		}
	}
	d.draining, d.answered = told, true
	if d.canceled {
		m.todo = append(m.todo, stayHere(m)...)
	}
}

// unfinished returns the awaited agents that still have their sessions.
func unfinished(m *model) []*panel.AgentRow {
	var rows []*panel.AgentRow
	for i := range m.Agents.Rows {
		r := &m.Agents.Rows[i]
		if id, ok := m.departure.sessions[r.Name]; ok && r.Running && r.Session != nil &&
			r.Session.ID == id {
			rows = append(rows, r)
		}
	}
	return rows
}

// leaveWhenDone leaves when all awaited agents have finished or the time is up.
func leaveWhenDone(m *model) {
	if m.departure.waits() && (len(unfinished(m)) == 0 || !m.now.Before(m.departure.until)) {
		m.departure = departure{}
		m.todo = append(m.todo, feed.Quit{Exit: feed.StopCity})
	}
}

// stayHere cancels the departure and the drains that it started. Agents that have finished start again. Drains of other
// users continue. If the results of the departure's own drain commands are unknown, it waits for them first.
func stayHere(m *model) []feed.Effect {
	d := &m.departure
	if len(d.draining) > 0 && !d.answered {
		d.canceled = true
		say(m, "staying; the drains are canceled as soon as the city has answered")
		return nil
	}
	var rows []*panel.AgentRow
	waits := unfinished(m)
	for i := range m.Agents.Rows {
		r := &m.Agents.Rows[i]
		over := r.State == city.Draining || r.State == city.Exited
		if slices.Contains(d.draining, r.Name) && (over || slices.Contains(waits, r)) {
			rows = append(rows, r)
		}
	}
	m.departure = departure{}
	if len(rows) == 0 {
		say(m, "staying")
		return nil
	}
	commands := make([]city.Command, len(rows))
	for i, r := range rows {
		commands[i] = city.Undrain{Agent: r.Name}
	}
	return carry(m, "staying, and canceling the drain of", details.TargetNames(rows), commands)
}

// departureText describes the progress of a departure, or "".
func departureText(m *model) string {
	d := &m.departure
	if !d.waits() {
		return ""
	}
	left := len(unfinished(m))
	return fmt.Sprintf("leaving when all have finished: %d of %d done, at most %s left",
		d.total-left,
		d.total, widget.Age(d.until.Sub(m.now)))
}
