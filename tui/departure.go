package tui

import (
	"fmt"
	"slices"
	"time"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// departure is leaving after all agents have drained. The zero value waits for none.
type departure struct {
	id int // of the action that drained them
	// agents that were told to drain, without a known failure, in the order of the commands
	told  []string
	heard bool // the result of draining them is known
	// the user stays; the drains are canceled once it is known which succeeded
	given bool
	lives map[string]string // the awaited agents and their sessions
	total int
	until time.Time // when the room is left even if agents have not finished
}

func (d *departure) waits() bool { return d.total > 0 && !d.given }

// askDrainAll asks whether all agents shall finish before the city stops.
func askDrainAll(m *model) []feed.Effect {
	var rows []*panel.AgentRow
	for i := range m.Agents.Rows {
		if r := &m.Agents.Rows[i]; r.Running && r.Session != nil {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return []feed.Effect{feed.Quit{Exit: feed.StopCity}}
	}
	body := []string{drainMeans(m, rows)[0],
		"The city stops when the last one has finished, or after " +
			widget.Duration(longestDrain(m, rows)) + ".",
		"Agents that finish do not restart; " + m.keys.KeyOf("view.back") +
			" stays and restarts them."}
	ask(m, question{title: "Drain " + targetNames(rows) + ", then leave?", whom: names(m, rows),
		body: body,
		verb: "drain, then leave", no: "stay", count: len(rows),
		do: func(m *model) []feed.Effect { return depart(m, rows) }})
	return nil
}

// longestDrain returns the longest drain timeout of some agents; without a deadline it is the usual one.
func longestDrain(m *model, rows []*panel.AgentRow) time.Duration {
	longest := time.Duration(0)
	for _, r := range rows {
		d := drainTimeout(m, r)
		if d == 0 {
			d = usualDrain
		}
		longest = max(longest, d)
	}
	return longest
}

// depart drains agents and waits for the ends of their sessions.
func depart(m *model, rows []*panel.AgentRow) []feed.Effect {
	d := departure{lives: map[string]string{}, total: len(rows),
		until: m.now.Add(longestDrain(m, rows) + panel.Slack)}
	var commands []city.Command
	for _, r := range rows {
		d.lives[r.Name] = r.Session.ID
		if r.Drainable() {
			commands = append(commands, city.Drain{Agent: r.Name, Final: true})
			d.told = append(d.told, r.Name)
		}
	}
	var todo []feed.Effect
	if len(commands) > 0 {
		todo = carry(m, "draining", widget.Count(len(commands), "agent"), commands)
		m.undo = undo{} // esc cancels it
		d.id = m.status.id
	}
	m.departure = d
	return todo
}

// refusedToDepart stops waiting for agents that could not be drained.
func refusedToDepart(m *model, r *feed.Result) {
	d := &m.departure
	if d.total == 0 || d.id != r.ID {
		return
	}
	var told []string
	for i, name := range d.told {
		if slices.Contains(r.Refused, i) {
			delete(d.lives, name)
		} else {
			told = append(told, name)
		}
	}
	d.told, d.heard = told, true
	if d.given {
		m.todo = append(m.todo, stayHere(m)...)
	}
}

// unfinished returns the agents that are still awaited.
func unfinished(m *model) []*panel.AgentRow {
	var rows []*panel.AgentRow
	for i := range m.Agents.Rows {
		r := &m.Agents.Rows[i]
		if id, ok := m.departure.lives[r.Name]; ok && r.Running && r.Session != nil &&
			r.Session.ID == id {
			rows = append(rows, r)
		}
	}
	return rows
}

// leaveWhenDone leaves once no agent is awaited.
func leaveWhenDone(m *model) {
	if m.departure.waits() && (len(unfinished(m)) == 0 || !m.now.Before(m.departure.until)) {
		m.departure = departure{}
		m.todo = append(m.todo, feed.Quit{Exit: feed.StopCity})
	}
}

// stayHere cancels the departure. Drains are canceled, and agents that have finished restart. Agents that were
// drained by others keep draining. While the result of draining is unknown, it waits for it.
func stayHere(m *model) []feed.Effect {
	d := &m.departure
	if len(d.told) > 0 && !d.heard {
		d.given = true
		say(m, "staying; the drains are canceled as soon as the city has answered")
		return nil
	}
	var rows []*panel.AgentRow
	waits := unfinished(m)
	for i := range m.Agents.Rows {
		r := &m.Agents.Rows[i]
		over := r.State == city.Draining || r.State == city.Exited
		if slices.Contains(d.told, r.Name) && (over || slices.Contains(waits, r)) {
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
	return carry(m, "staying, and canceling the drain of", targetNames(rows), commands)
}

// departureText describes the progress of a departure, or "".
func departureText(m *model) string {
	d := &m.departure
	if !d.waits() {
		return ""
	}
	left := len(unfinished(m))
	return fmt.Sprintf("leaving when all have finished: %d of %d have, at most %s more",
		d.total-left,
		d.total, widget.Age(d.until.Sub(m.now)))
}
