package state

import (
	"slices"
	"time"

	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/widget"
)

// UndoOver returns the reason why the latest verb can no longer be undone, or "".
func UndoOver(m *Room) string {
	possible, over := m.Undo.Possible(m)
	switch {
	case over == "" || len(possible) > 0 || !m.Now.Before(m.Undo.Until.Add(UndoDuration)):
		return ""
	case len(m.Undo.Commands) > 1:
		return widget.Plain(m.Undo.What) + " cannot be undone anymore: " + over
	}
	return over
}

func (u *Undo) drainedBefore(latest []city.Command) []string {
	names := slices.Clone(u.drained)
	for _, c := range u.Commands {
		if c, ok := c.(city.Undrain); ok {
			names = append(names, c.Agent)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(latest, func(c city.Command) bool { return c.Target() == name })
	})
}

// HowToCancelDrain returns text that says how to cancel drains that undo does not cancel, or "".
func HowToCancelDrain(m *Room) string {
	if CanUndo(m) || m.Undo.ID != 0 {
		return ""
	}
	var shown []string
	for _, name := range m.Undo.drained {
		r := m.Agents.Find(name)
		if r != nil && r.State == city.Draining && !r.Surplus() {
			shown = append(shown, r.Shown)
		}
	}
	key := m.Keys.KeyText(DrainID)
	switch len(shown) {
	case 0:
		return ""
	case 1:
		return "; " + key + " on the row of " + shown[0] + " cancels its drain"
	}
	return "; " + key + " on the row of a draining agent cancels its drain"
}

func (u *Undo) end(m *Room) time.Time {
	possible, _ := u.Possible(m)
	var latest time.Time
	for _, c := range possible {
		deadline := u.drainDeadline(m, c)
		if deadline.IsZero() {
			return u.Until
		}
		if deadline.After(latest) {
			latest = deadline
		}
	}
	if latest.IsZero() || u.Until.Before(latest) {
		return u.Until
	}
	return latest
}

// drainDeadline returns the deadline of a drain; zero = none. It is an estimate until a snapshot shows the drain.
func (u *Undo) drainDeadline(m *Room, back city.Command) time.Time {
	c, ok := back.(city.Undrain)
	if !ok {
		return time.Time{}
	}
	r := m.Agents.Find(c.Agent)
	switch {
	case r == nil:
		return time.Time{}
	case r.State == city.Draining:
		return r.Until
	}
	if d := details.DrainTimeout(m.Pools, r); d > 0 {
		return u.Until.Add(d - UndoDuration)
	}
	return time.Time{}
}

func (u *Undo) noteEffect(m *Room) {
	if m.Snap == nil || u.seen == nil || !m.Now.Before(u.Until.Add(UndoDuration)) {
		return
	}
	u.memo = undoMemo{}
	for _, c := range u.Commands {
		if _, changes, _ := undoTarget(m.Snap, c); changes {
			u.seen[c.Target()] = true
		}
	}
}

// noteDrained updates the status line when a drain can no longer be canceled, because the line still says how the drain
// will end.
func noteDrained(m *Room) {
	s := &m.Status
	if s.ID == 0 || s.ID != m.Undo.ID || s.Pending || s.Failed || len(m.Undo.Commands) != 1 {
		return
	}
	why := UndoOver(m)
	if _, drains := m.Undo.Commands[0].(city.Undrain); drains && why != "" && why != s.Text {
		s.Text, s.Since = why, m.Now
	}
}

func (u *Undo) whyOver(m *Room, back city.Command) string {
	if m.Snap == nil {
		return ""
	}
	name := widget.Plain(back.Target())
	exists, changes, without := undoTarget(m.Snap, back)
	r := m.Agents.Find(back.Target())
	_, cancels := back.(city.Undrain)
	deadline := u.drainDeadline(m, back)
	switch {
	case !exists:
		return name + " no longer exists"
	case cancels && (sessionOf(r) != u.sessions[back.Target()] || passed(m, deadline)):
		return "the drain of " + name + " has ended"
	case cancels && r != nil && r.Surplus():
		return SurplusReason(m, r)
	case !changes && u.seen[back.Target()]: // the snapshot is not older than the action
		return without
	}
	if c, ok := back.(city.Scale); ok {
		return whyNoScale(m, c)
	}
	return ""
}

func whyNoScale(m *Room, c city.Scale) string {
	p := m.Pools.Find(c.Pool)
	if p == nil {
		return ""
	}
	size := c.Size
	if c.Auto {
		size = details.AutoSize(p)
	}
	if leaving := details.PredictLeaving(m.Details(), p.Name, size); len(leaving) > 0 {
		return "it would drain " + details.ListRows(leaving)
	}
	return ""
}

func passed(m *Room, deadline time.Time) bool {
	return !deadline.IsZero() && !m.Now.Before(deadline)
}

// undoTarget reports whether the target of an undo command exists, and whether the command would change it. The result
// without is the reason to show if it would not.
func undoTarget(n *city.Snapshot, back city.Command) (exists, changes bool, without string) {
	name := widget.Plain(back.Target())
	switch c := back.(type) {
	case city.Resume:
		exists, off := isSuspended(n, c.Agent)
		if c.Agent == "" {
			name = "the city"
		}
		return exists, off, name + " is no longer suspended"
	case city.ResumeRig:
		r, ok := n.Rig(c.Rig)
		return ok, ok && r.Suspended, name + " is no longer suspended"
	case city.Undrain:
		a, ok := n.Agent(c.Agent)
		return ok, ok && a.State == city.Draining, name + " is no longer draining"
	case city.Scale:
		p, ok := n.Pool(c.Pool)
		same := ok && c.Auto == (p.Override == nil) && (c.Auto || *p.Override == c.Size)
		return ok, !same, name + " has its former size"
	}
	return true, true, ""
}

// isSuspended reports whether an agent or a pool exists and is suspended. The name "" is the city.
func isSuspended(n *city.Snapshot, name string) (exists, off bool) {
	if name == "" {
		return true, n.Suspended
	}
	if a, ok := n.Agent(name); ok {
		return true, a.Suspended || a.State == city.Suspended
	}
	p, ok := n.Pool(name)
	return ok, ok && p.Suspended
}
