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
		"The city is stopped when the last one has, or after " +
			widget.Duration(longestDrain(m, rows)) + ".",
		"Who has finished is not started anew; " + m.keys.KeyOf("view.back") +
			" stays, and starts them again."}
	ask(m, question{title: "Drain " + whom(rows) + ", then leave?", whom: names(m, rows),
		body: body,
		verb: "drain, then leave", no: "stay", count: len(rows),
		do: func(m *model) []feed.Effect { return depart(m, rows) }})
	return nil
}

// longestDrain is how long the most patient of some agents is given; who has no deadline gets the usual one.
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

// depart tells agents to finish and waits for the ends of their sessions.
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
		m.undo = undo{} // esc takes it back
		d.id = m.status.id
	}
	m.departure = d
	return todo
}

// refusedToDepart no longer waits for those who could not be told to finish.
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

// unfinished are those who are still waited for.
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

// leaveWhenDone leaves once nobody is waited for any longer.
func leaveWhenDone(m *model) {
	if m.departure.waits() && (len(unfinished(m)) == 0 || !m.now.Before(m.departure.until)) {
		m.departure = departure{}
		m.todo = append(m.todo, feed.Quit{Exit: feed.StopCity})
	}
}

// stayHere gives the departure up: of those whom it told to finish, who has not need not, and who has begins anew.
// Who was told by somebody else goes on finishing. While the city has not said who was told at all, it is waited
// for.
func stayHere(m *model) []feed.Effect {
	d := &m.departure
	if len(d.told) > 0 && !d.heard {
		d.given = true
		say(m, "staying; who has been told to finish is told to go on as soon as the city "+
			"has answered")
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
	return carry(m, "staying, and taking back the drain of", whom(rows), commands)
}

// departureText tells how far a departure is, "" if there is none.
func departureText(m *model) string {
	d := &m.departure
	if !d.waits() {
		return ""
	}
	left := len(unfinished(m))
	return fmt.Sprintf("leaving when all have ended: %d of %d have, at most %s more", d.total-left,
		d.total, widget.Age(d.until.Sub(m.now)))
}
