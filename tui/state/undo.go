package state

import (
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// UndoDuration is how long undo is possible.
const UndoDuration = 30 * time.Second

// maxUndos is the maximum number of actions that can be undone one after the other.
const maxUndos = 20

// Undo describes how to undo an action. The zero value undoes nothing.
type Undo struct {
	ID       int    // ID of the action
	What     string // "suspending worker-2"
	Commands []city.Command
	Restore  func(m *Room) // undoes changes that exist only in this room
	Then     func(m *Room) // called when the commands are sent; nil = not called
	Until    time.Time
	sessions map[string]string // sessions of the agents that were draining, by name
	seen     map[string]bool   // names of the targets for which a snapshot has shown the change
}

// reversal returns the commands that undo the given commands, or nil if one of them cannot be undone.
func reversal(m *Room, commands []city.Command) []city.Command {
	back := make([]city.Command, len(commands))
	for i, c := range commands {
		if back[i] = Reverse(m, c); back[i] == nil {
			return nil
		}
	}
	return back
}

// Reverse returns the command that would undo c, or nil if c cannot be undone.
func Reverse(m *Room, c city.Command) city.Command {
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
			return city.Scale{Pool: c.Pool, Size: m.Scaled.Size}
		case p.Override != nil:
			return city.Scale{Pool: c.Pool, Size: *p.Override}
		}
		return city.Scale{Pool: c.Pool, Auto: true}
	}
	return nil
}

// Undos contains the actions that can be undone, oldest first. Undo reverts the newest one that can still be undone.
type Undos struct {
	all     []Undo
	refusal string // why the latest action cannot be undone; "" = it can, or the reason is unknown
	undoing int    // ID of the latest undo
}

// offered returns the newest action that can still be undone, otherwise the newest action.
func (s *Undos) offered(m *Room) *Undo {
	for i := len(s.all) - 1; i >= 0; i-- {
		if s.all[i].works(m) {
			return &s.all[i]
		}
	}
	if len(s.all) == 0 {
		return &Undo{}
	}
	return &s.all[len(s.all)-1]
}

// Offer adds an action that can be undone.
func (s *Undos) Offer(m *Room, u Undo) {
	s.remove(func(old *Undo) bool { // its reason is no longer shown
		return !m.Now.Before(old.Until.Add(UndoDuration))
	})
	s.all, s.refusal = append(s.all, u), ""
	s.all = s.all[max(0, len(s.all)-maxUndos):]
}

func (s *Undos) remove(gone func(u *Undo) bool) {
	s.all = slices.DeleteFunc(s.all, func(u Undo) bool { return gone(&u) })
}

// ForgetMarks removes the undo that would restore cleared marks.
func (s *Undos) ForgetMarks() { s.remove(func(u *Undo) bool { return u.Restore != nil }) }

// Refuse records that the latest action, such as "restarting builder", cannot be undone.
func (s *Undos) Refuse(what string) { s.refusal = widget.Plain(what) + " has no undo" }

// offerUndo stores the undo of a new action. If the action cannot be undone, offerUndo stores the reason.
func offerUndo(m *Room, what string, commands []city.Command) {
	back := reversal(m, commands)
	if len(back) == 0 {
		m.Undos.Refuse(what)
		return
	}
	u := Undo{ID: m.Status.ID, What: what, Commands: back, Until: m.Now.Add(UndoDuration),
		sessions: map[string]string{}, seen: map[string]bool{}}
	for _, c := range back {
		switch c.(type) {
		case city.Drain, city.Undrain:
			u.sessions[c.Target()] = sessionOf(m.Agents.Find(c.Target()))
		}
	}
	m.Undos.Offer(m, u)
}

func sessionOf(r *panel.AgentRow) string {
	if r == nil || r.Session == nil || !r.Running {
		return ""
	}
	return r.Session.ID
}

// RenewUndo restarts the time limit for undo after an action has ended.
func RenewUndo(m *Room, r *feed.Result) {
	at := slices.IndexFunc(m.Undos.all, func(u Undo) bool {
		return u.ID == r.ID && len(u.Commands) > 0
	})
	if at < 0 {
		return
	}
	if len(r.Failures) == r.Total {
		m.Undos.all = slices.Delete(m.Undos.all, at, at+1)
		m.Undos.refusal = "the latest action failed"
		return
	}
	u := &m.Undos.all[at]
	kept := make([]city.Command, 0, len(u.Commands))
	for i, c := range u.Commands {
		if !slices.Contains(r.FailedIndexes, i) {
			kept = append(kept, c)
		}
	}
	u.Commands, u.Until = kept, m.Now.Add(UndoDuration)
}

// Possible returns the undo commands that would still have an effect, or the reason why no command would.
func (u *Undo) Possible(m *Room) (all []city.Command, why string) {
	for _, c := range u.Commands {
		if over := u.whyOver(m, c); over != "" {
			why = over
			continue
		}
		all = append(all, c)
	}
	return all, why
}

// works reports whether the action can still be undone.
func (u *Undo) works(m *Room) bool {
	if !m.Now.Before(u.Until) {
		return false
	}
	possible, _ := u.Possible(m)
	return u.Restore != nil || len(possible) > 0
}

// CanUndo reports whether an action can be undone.
func CanUndo(m *Room) bool { return m.Mode != ReadOnly && m.Undos.offered(m).works(m) }

// NeedUndo returns the reason why no action can be undone, or "".
func NeedUndo(m *Room) string {
	switch {
	case NeedWritable(m) != "":
		return NeedWritable(m)
	case CanUndo(m):
		return ""
	case m.Actions == 0:
		return "no action to undo yet"
	case m.Undos.refusal != "":
		return m.Undos.refusal
	case UndoOver(m) != "":
		return UndoOver(m)
	case len(m.Undos.all) > 0:
		return "the latest action is older than " + widget.Duration(UndoDuration)
	}
	return "the latest action cannot be undone"
}

// RunUndo undoes the newest action that can be undone. An undo cannot be undone, so a second press undoes the action
// before.
func RunUndo(m *Room) []feed.Effect {
	u := *m.Undos.offered(m)
	m.Undos.remove(func(old *Undo) bool { return old.ID == u.ID })
	if u.Restore != nil {
		u.Restore(m)
		return nil
	}
	m.Scaled = Scaling{}
	possible, _ := u.Possible(m)
	todo := send(m, "undoing:", u.What, possible)
	m.Undos.undoing, m.Undos.refusal = m.Status.ID, "the latest action was an undo"
	if u.Then != nil {
		u.Then(m)
	}
	return todo
}

// Undoable reports whether the key of the release verb would undo an action. Acknowledging a watchdog and
// releasing agents can have priority.
func Undoable(m *Room) bool {
	acknowledges := len(m.NamedAgents) == 0 && AcknowledgeableWatchdog(m) != nil
	if !CanUndo(m) || acknowledges {
		return false
	}
	if a := m.Focused().About(); a.Kind != panel.KindAgent && a.NoAgent == "" {
		return true
	}
	held := Releasable(m)
	return len(held) == 0 || m.Focus != panel.IDQuarantine && m.Undos.offered(m).About(held)
}

// About reports whether the verb to undo acted on all given agents.
func (u *Undo) About(rows []*panel.AgentRow) bool {
	return !slices.ContainsFunc(rows, func(r *panel.AgentRow) bool {
		return !slices.ContainsFunc(u.Commands, func(c city.Command) bool {
			return c.Target() == r.Name
		})
	})
}

// Drains reports whether undo restarts drains that the action canceled.
func (u *Undo) Drains() bool {
	return len(u.Commands) > 0 && !slices.ContainsFunc(u.Commands, func(c city.Command) bool {
		_, ok := c.(city.Drain)
		return !ok
	})
}

// UndoText returns text that names what undo does: "undo suspending builder", "drain builder again".
func UndoText(m *Room) string {
	u := m.Undos.offered(m)
	what := widget.Cut(widget.Plain(u.What), 24, m.Look.Glyphs.More)
	switch {
	case u.Drains() && len(u.Commands) == 1:
		name := widget.Plain(u.Commands[0].Target())
		return "drain " + widget.Cut(name, 24, m.Look.Glyphs.More) + " again"
	case u.Drains():
		return "drain " + widget.Count(len(u.Commands), "agent") + " again"
	}
	return strings.TrimSpace("undo " + what)
}

// UndoLine returns the palette line that undoes an action, or "". It returns "" if the release key does that.
func UndoLine(m *Room) string {
	k := m.Keys.MainKey("view.palette")
	if k == "" || !CanUndo(m) || Undoable(m) {
		return ""
	}
	if widget.Width(k) > 1 {
		k += " "
	}
	return k + "undo"
}

// UndoHint returns text for the status line that says how long an action can still be undone, or "". After an undo, it
// names the action that the next undo reverts.
func UndoHint(m *Room) string {
	u, named := m.Undos.offered(m), ""
	switch id := m.Status.ID; {
	case id == 0 || id != u.ID && id != m.Undos.undoing:
		return ""
	case id == m.Undos.undoing:
		named = " " + strings.TrimPrefix(UndoText(m), "undo ")
	}
	k := m.Keys.MainKey(ReleaseID)
	if line := UndoLine(m); line != "" {
		k = line
	} else if k == "" || !Undoable(m) {
		return ""
	}
	if m.ReducedMotion {
		return "  " + k + " undoes" + named
	}
	return "  " + k + " undoes" + named + " for " + widget.Until(u.end(m), m.Now)
}
