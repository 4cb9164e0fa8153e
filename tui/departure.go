package tui

import (
	"fmt"
	"slices"
	"time"

	"gcity/city"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// departure is leaving once everybody has finished what they do. The zero value waits for nobody.
type departure struct {
	id int // of the action that told them to finish
	// whom it told and is not known to have failed to, in the order of its commands
	told  []string
	heard bool              // it is known how telling them ended
	given bool              // the person stays; what is told is taken back once it is known who was
	lives map[string]string // who is waited for, and the session that is to end
	total int
	until time.Time // when it is left whoever has not finished
}

func (d *departure) waits() bool { return d.total > 0 && !d.given }

// askDrainAll asks whether all shall finish before the city is stopped.
func (m *model) askDrainAll() []effect {
	var rows []*panel.AgentRow
	for i := range m.Agents.Rows {
		if r := &m.Agents.Rows[i]; r.Running && r.Session != nil {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return []effect{finish{StopCity}}
	}
	body := []string{m.drainMeans(rows)[0],
		"The city is stopped when the last one has, or after " +
			widget.Duration(m.longestDrain(rows)) + ".",
		"Who has finished is not started anew; " + m.keys.KeyOf("view.back") +
			" stays, and starts them again."}
	m.ask(question{title: "Drain " + whom(rows) + ", then leave?", whom: m.names(rows), body: body,
		verb: "drain, then leave", no: "stay", count: len(rows),
		do: func(m *model) []effect { return m.depart(rows) }})
	return nil
}

// longestDrain is how long the most patient of some agents is given; who has no deadline gets the usual one.
func (m *model) longestDrain(rows []*panel.AgentRow) time.Duration {
	longest := time.Duration(0)
	for _, r := range rows {
		d := m.drainTimeout(r)
		if d == 0 {
			d = usualDrain
		}
		longest = max(longest, d)
	}
	return longest
}

// depart tells agents to finish and waits for the ends of their sessions.
func (m *model) depart(rows []*panel.AgentRow) []effect {
	d := departure{lives: map[string]string{}, total: len(rows),
		until: m.now.Add(m.longestDrain(rows) + panel.Slack)}
	var commands []city.Command
	for _, r := range rows {
		d.lives[r.Name] = r.Session.ID
		if r.Drainable() {
			commands = append(commands, city.Drain{Agent: r.Name, Final: true})
			d.told = append(d.told, r.Name)
		}
	}
	var todo []effect
	if len(commands) > 0 {
		todo = m.carry("draining", widget.Count(len(commands), "agent"), commands)
		m.undo = undo{} // esc takes it back
		d.id = m.status.id
	}
	m.departure = d
	return todo
}

// refusedToDepart no longer waits for those who could not be told to finish.
func (m *model) refusedToDepart(r *result) {
	d := &m.departure
	if d.total == 0 || d.id != r.id {
		return
	}
	var told []string
	for i, name := range d.told {
		if slices.Contains(r.refused, i) {
			delete(d.lives, name)
		} else {
			told = append(told, name)
		}
	}
	d.told, d.heard = told, true
	if d.given {
		m.todo = append(m.todo, m.stayHere()...)
	}
}

// unfinished are those who are still waited for.
func (m *model) unfinished() []*panel.AgentRow {
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

// leaveWhenDone leaves once nobody is waited for any longer.
func (m *model) leaveWhenDone() {
	if m.departure.waits() && (len(m.unfinished()) == 0 || !m.now.Before(m.departure.until)) {
		m.departure = departure{}
		m.todo = append(m.todo, finish{StopCity})
	}
}

// stayHere gives the departure up: of those whom it told to finish, who has not need not, and who has begins anew.
// Who was told by somebody else goes on finishing. While the city has not said who was told at all, it is waited
// for.
func (m *model) stayHere() []effect {
	d := &m.departure
	if len(d.told) > 0 && !d.heard {
		d.given = true
		m.say("staying; who has been told to finish is told to go on as soon as the city " +
			"has answered")
		return nil
	}
	var rows []*panel.AgentRow
	waits := m.unfinished()
	for i := range m.Agents.Rows {
		r := &m.Agents.Rows[i]
		over := r.State == city.Draining || r.State == city.Exited
		if slices.Contains(d.told, r.Name) && (over || slices.Contains(waits, r)) {
			rows = append(rows, r)
		}
	}
	m.departure = departure{}
	if len(rows) == 0 {
		m.say("staying")
		return nil
	}
	commands := make([]city.Command, len(rows))
	for i, r := range rows {
		commands[i] = city.Undrain{Agent: r.Name}
	}
	return m.carry("staying, and taking back the drain of", whom(rows), commands)
}

// departureText tells how far a departure is, "" if there is none.
func (m *model) departureText() string {
	d := &m.departure
	if !d.waits() {
		return ""
	}
	left := len(m.unfinished())
	return fmt.Sprintf("leaving when all have ended: %d of %d have, at most %s more", d.total-left,
		d.total, widget.Age(d.until.Sub(m.now)))
}
