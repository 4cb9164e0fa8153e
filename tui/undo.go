package tui

import (
	"slices"
	"time"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// undoFor is how long undo is possible.
const undoFor = 10 * time.Second

// undo describes how to undo the last verb. The zero value undoes nothing.
type undo struct {
	id       int    // ID of the action
	what     string // "suspending worker-2"
	commands []city.Command
	restore  func(m *model) // undoes changes that exist only in this room
	until    time.Time
}

// reversal returns the commands that undo other commands, in the same order; nil if one of them cannot be undone.
func reversal(m *model, commands []city.Command) []city.Command {
	back := make([]city.Command, len(commands))
	for i, c := range commands {
		if back[i] = reverse(m, c); back[i] == nil {
			return nil
		}
	}
	return back
}

// reverse returns the command that undoes another command in the current state, or nil.
func reverse(m *model, c city.Command) city.Command {
	switch c := c.(type) {
	case city.Suspend:
		return city.Resume(c)
	case city.Resume:
		return city.Suspend(c)
	case city.SuspendRig:
		return city.ResumeRig(c)
	case city.ResumeRig:
		return city.SuspendRig(c)
	case city.Drain:
		return city.Undrain{Agent: c.Agent}
	case city.Undrain:
		return city.Drain{Agent: c.Agent}
	case city.Scale:
		p := m.Pools.Find(c.Pool)
		switch {
		case p == nil:
			return nil
		case isScaling(m, p):
			return city.Scale{Pool: c.Pool, Size: m.scaled.size}
		case p.Override != nil:
			return city.Scale{Pool: c.Pool, Size: *p.Override}
		}
		return city.Scale{Pool: c.Pool, Auto: true}
	}
	return nil
}

// offer replaces the stored undo with the undo of an action that has just started.
func offer(m *model, what string, commands []city.Command) {
	m.undo = undo{}
	if back := reversal(m, commands); len(back) > 0 {
		m.undo = undo{id: m.status.id, what: what, commands: back, until: m.now.Add(undoFor)}
	}
}

// offerAnew restarts the time for undo when an action has ended. Failed commands are not undone.
func offerAnew(m *model, r *feed.Result) {
	u := &m.undo
	if u.id != r.ID || len(u.commands) == 0 {
		return
	}
	if len(r.Failures) == r.Total {
		m.undo = undo{}
		return
	}
	kept := make([]city.Command, 0, len(u.commands))
	for i, c := range u.commands {
		if !slices.Contains(r.Refused, i) {
			kept = append(kept, c)
		}
	}
	u.commands, u.until = kept, m.now.Add(undoFor)
}

// possible returns the undo commands that still have an effect. It leaves out surplus pool members, because they keep
// draining.
func (u *undo) possible(m *model) []city.Command {
	var all []city.Command
	for _, c := range u.commands {
		if back, ok := c.(city.Undrain); ok {
			if r := m.Agents.Find(back.Agent); r != nil && r.Surplus() {
				continue
			}
		}
		all = append(all, c)
	}
	return all
}

// canUndo reports whether the last verb can be undone.
func canUndo(m *model) bool {
	return m.mode != ReadOnly && m.now.Before(m.undo.until) &&
		(m.undo.restore != nil || len(m.undo.possible(m)) > 0)
}

// undoable reports whether the release verb undoes the last verb. In Quarantine, or if the last verb was about other
// agents, it releases the held targets instead.
func undoable(m *model) bool {
	if !canUndo(m) {
		return false
	}
	if a := m.focused().About(); a.Kind != panel.KindAgent && a.Proxy == "" {
		return true
	}
	held := releasable(m)
	return len(held) == 0 || m.focus != panel.IDQuarantine && m.undo.about(held)
}

// about reports whether the undone verb was about all given agents.
func (u *undo) about(rows []*panel.AgentRow) bool {
	return !slices.ContainsFunc(rows, func(r *panel.AgentRow) bool {
		return !slices.ContainsFunc(u.commands, func(c city.Command) bool {
			return c.Target() == r.Name
		})
	})
}

// drains reports whether undo restarts drains that the last verb canceled.
func (u *undo) drains() bool {
	return len(u.commands) > 0 && !slices.ContainsFunc(u.commands, func(c city.Command) bool {
		_, ok := c.(city.Drain)
		return !ok
	})
}

// undoHint returns how long the last verb can still be undone, or "".
func undoHint(m *model) string {
	k := m.keys.KeyNow(releaseID)
	if k == "" || !undoable(m) {
		return ""
	}
	if m.calm {
		return "  " + k + " undoes"
	}
	return "  " + k + " undoes for " + widget.Age(m.undo.until.Sub(m.now)+time.Second-1)
}
