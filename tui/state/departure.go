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

// Departure is the state of waiting for all agents to drain. The zero value means that the user is not leaving.
type Departure struct {
	ID int // ID of the action that drains the agents, or that cancels their drains
	// agents with a drain command that has not failed, or with a drain that is being canceled
	Draining  []string
	responded bool // the results of the drain commands are known
	// cancel the drains when their results are known
	canceled bool
	exit     feed.Exit         // how to leave when the drains are canceled; feed.Ended = stay
	Sessions map[string]string // session IDs of the awaited agents, by name
	Total    int
	Until    time.Time // when to leave, even if some agents have not finished
}

// Waits reports whether the room will be left as soon as the agents have finished.
func (d *Departure) Waits() bool { return d.Total > 0 && !d.canceled }

// Leaves reports whether the room will close without further input.
func (d *Departure) Leaves() bool { return d.Waits() || d.exit != feed.Ended }

// Leave leaves the room. Drains of a departure are canceled first, because a later controller would complete them and
// leave the agents stopped. A second call does not wait for that, because the city might not respond.
func Leave(m *Room, e feed.Exit) []feed.Effect {
	d := &m.Departure
	drains := d.Total > 0 || len(d.Draining) > 0
	if !drains || d.exit != feed.Ended {
		return []feed.Effect{feed.Quit{Exit: e}}
	}
	if d.exit = e; d.Total == 0 {
		return nil // the drains are being canceled
	}
	return cancelDrains(m)
}

// DepartureUndrains returns commands that cancel the drains of a departure.
func DepartureUndrains(m *Room) []city.Command {
	var all []city.Command
	for _, name := range m.Departure.Draining {
		all = append(all, city.Undrain{Agent: name})
	}
	return all
}

// ReceiveDeparture handles the result of drains, or of canceling them. It stops waiting for agents that could not be
// drained.
func ReceiveDeparture(m *Room, r *feed.Result) {
	d := &m.Departure
	if d.ID != r.ID {
		return
	}
	if d.Total == 0 {
		exit := d.exit
		m.Departure = Departure{}
		if exit != feed.Ended && len(r.Failures) == 0 {
			m.Todo = append(m.Todo, feed.Quit{Exit: exit})
		}
		return
	}
	var draining []string
	for i, name := range d.Draining {
		if slices.Contains(r.FailedIndexes, i) {
			delete(d.Sessions, name)
		} else {
			draining = append(draining, name)
		}
	}
	d.Draining, d.responded = draining, true
	if d.canceled {
		m.Todo = append(m.Todo, cancelDrains(m)...)
	}
}

func unfinished(m *Room) []*panel.AgentRow {
	return m.Agents.Where(func(r *panel.AgentRow) bool {
		id, ok := m.Departure.Sessions[r.Name]
		return ok && r.Running && r.Session != nil && r.Session.ID == id
	})
}

// LeaveWhenDone leaves the room when all awaited agents have finished or the time limit has passed.
func LeaveWhenDone(m *Room) {
	if m.Departure.Waits() && (len(unfinished(m)) == 0 || !m.Now.Before(m.Departure.Until)) {
		m.Departure = Departure{}
		m.Todo = append(m.Todo, feed.Quit{Exit: feed.StopCity})
	}
}

// CancelDeparture stops waiting to leave, and cancels the drains that this room started.
func CancelDeparture(m *Room) []feed.Effect {
	m.Departure.exit = feed.Ended
	if m.Departure.Total == 0 {
		ShowSuccess(m, "not quitting; the drains are being canceled")
		return nil
	}
	return cancelDrains(m)
}

func cancelDrains(m *Room) []feed.Effect {
	d := &m.Departure
	if len(d.Draining) > 0 && !d.responded {
		d.canceled = true
		text := "not quitting; the drains will be canceled when the city responds"
		if d.exit != feed.Ended {
			text = DepartureText(m)
		}
		ShowSuccess(m, text)
		return nil
	}
	waits := unfinished(m)
	rows := m.Agents.Where(func(r *panel.AgentRow) bool {
		over := r.State == city.Draining || r.State == city.Exited
		return slices.Contains(d.Draining, r.Name) && (over || slices.Contains(waits, r))
	})
	exit := d.exit
	m.Departure = Departure{}
	if len(rows) == 0 && exit != feed.Ended {
		return []feed.Effect{feed.Quit{Exit: exit}}
	}
	if len(rows) == 0 {
		ShowSuccess(m, "canceled quitting")
		return nil
	}
	for _, r := range rows {
		m.Departure.Draining = append(m.Departure.Draining, r.Name)
	}
	doing := "not quitting, and canceling the drain of"
	if exit != feed.Ended {
		doing = "quitting after canceling the drain of"
	}
	todo := SendCommands(m, doing, details.TargetNames(rows, false), DepartureUndrains(m)...)
	m.Departure.ID, m.Departure.exit = m.Status.ID, exit
	return todo
}

// DepartureText returns a description of the progress of a departure, or "".
func DepartureText(m *Room) string {
	d := &m.Departure
	switch {
	case d.exit != feed.Ended:
		return "quitting when the city has canceled the drains; quit again to leave immediately"
	case !d.Waits():
		return ""
	}
	left := len(unfinished(m))
	return fmt.Sprintf("quitting when all agents have finished: %d of %d done, at most %s left",
		d.Total-left, d.Total, widget.Age(d.Until.Sub(m.Now)))
}

// WhyNoDeparture returns the reason why the room cannot drain all agents again, or "".
func WhyNoDeparture(m *Room) string {
	if d := &m.Departure; len(d.Draining) > 0 && !d.Leaves() {
		return "the previous drains are not canceled yet"
	}
	return DepartureText(m)
}

// RunningAgents returns the number of running agents.
func RunningAgents(m *Room) int {
	return len(m.Agents.Where(func(r *panel.AgentRow) bool { return r.Running }))
}

// DrainAndLeave drains agents and starts waiting for their sessions to end.
func DrainAndLeave(m *Room, rows []*panel.AgentRow) []feed.Effect {
	d := Departure{Sessions: map[string]string{}, Total: len(rows),
		Until: m.Now.Add(details.LongestDrain(m.Pools, rows) + panel.CheckSlack)}
	var commands []city.Command
	for _, r := range rows {
		d.Sessions[r.Name] = r.Session.ID
		if r.Drainable() {
			commands = append(commands, city.Drain{Agent: r.Name, Final: true})
			d.Draining = append(d.Draining, r.Name)
		}
	}
	var todo []feed.Effect
	if len(commands) > 0 {
		todo = SendCommands(m, "draining", widget.Count(len(commands), "agent"), commands...)
		m.Undo = Undo{} // no undo is needed, because esc cancels the drains
		d.ID = m.Status.ID
	}
	m.Departure = d
	return todo
}
